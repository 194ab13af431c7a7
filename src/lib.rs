//! drainboard: a terminal dashboard for hybrid (Linux + Windows) Kubernetes clusters.
//!
//! The layers and their one direction of dependencies are described in `ARCHITECTURE.md`:
//! [`domain`] (pure facts) ← [`sources`] (all contact with the outside) and [`store`] (the only state,
//! joins, view models) ← [`tui`] and [`cli`]; [`lab`] plays a cluster for the demo and the tests.

pub mod cli;
pub mod domain;
pub mod findings;
pub mod lab;
pub mod maintenance;
pub mod runner;
pub mod sources;
pub mod store;
pub mod tui;
