//! The stories told against the real control plane, etcd, kube-state-metrics and Prometheus.
//!
//! They run beside the cluster that `tests/real/enter` brings up, and only there:
//! `tests/real/run` compiles this file, enters and starts it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a story whose scene is missing ends at once"
)]

#[path = "../contract/mod.rs"]
mod contract;
#[path = "../terminal/desk.rs"]
#[allow(dead_code, reason = "shared with the tests of the terminal")]
mod desk;
mod drainboard;
mod keys;
mod lab;
mod maintenance;
mod parts;
mod witness;

mod other_hands;
mod outages;
mod read_only;
mod the_contract;
mod the_figures;
mod the_lint;
mod the_lists;
mod the_parts_answer;
mod workflow;
