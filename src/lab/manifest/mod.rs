//! Workloads as short descriptions, and the Kubernetes objects that they become.

mod container;
mod objects;
mod workload;

pub use container::{Container, Probe};
pub use objects::tolerate_as_daemon;
pub use workload::{PodSeed, Volume, Workload, WorkloadKind};
