//! Fake kubelets: they register their nodes, renew Leases, run pods, serve logs and restart when they are asked to.
//! All of them live in one task with one watch on nodes and one on pods, so that five hundred cost as little as four.

mod ending;
mod errand;
mod facts;
mod fleet;
mod life;
pub mod logs;
mod means;
pub mod node_object;
mod plan;
mod progress;
mod recorder;
mod report;
pub mod restart;
pub mod server;
mod smb_log;
mod station;
mod status;
mod truth;
mod unconnected;

pub use fleet::{Fleet, Past, Pasts};
