//! Workloads as short descriptions, and the Kubernetes objects that they become.

mod container;
mod workload;

pub use container::{Container, Probe};
pub use workload::{PodSeed, Volume, Workload, WorkloadKind};
