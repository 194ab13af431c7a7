//! Fake kubelets: they register their nodes, renew Leases, run pods and serve logs. All of them live in one
//! task with one watch on pods, so that five hundred cost as little as four.

mod facts;
mod fleet;
mod life;
pub mod logs;
pub mod node_object;
mod plan;
pub mod server;
mod status;

pub use fleet::{Fleet, Past, Pasts};
