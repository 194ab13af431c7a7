//! The cluster of the article as data: four machines, their pods with names, addresses and ages, and the
//! objects around them, as they stood when its author looked at them by hand.

mod machines;
mod monitoring;
mod platform;
pub mod policy;
pub mod services;
pub mod storage;
pub mod windows_demo;

pub use machines::{machines, machines_with};
pub use monitoring::PROMETHEUS_POD;

use super::manifest::Workload;

/// Every workload with its pods.
pub fn workloads() -> Vec<Workload> {
    let mut all = windows_demo::workloads();
    all.extend(platform::workloads());
    all.extend(monitoring::workloads());
    all
}

/// The Windows node.
pub const WINDOWS_NODE: &str = "k8s-lab-win-1";
/// The control plane.
pub const MASTER: &str = "k8s-lab-master-1";
/// First Linux worker.
pub const NODE_1: &str = "k8s-lab-node-1";
/// Second Linux worker.
pub const NODE_2: &str = "k8s-lab-node-2";
/// The cluster's version.
pub const VERSION: &str = "v1.37.2";
/// Name of the RuntimeClass for Windows pods.
pub const RUNTIME_CLASS: &str = "windows-2025";
/// Value of the label `node.kubernetes.io/windows-build`.
pub const WINDOWS_BUILD: &str = "10.0.26100";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn seven_pods_run_in_win_demo_and_none_of_them_has_an_emptydir() {
        let demo: Vec<_> = workloads()
            .into_iter()
            .filter(|workload| workload.namespace == "win-demo")
            .collect();
        let pods: usize = demo.iter().map(|workload| workload.pods.len()).sum();
        assert_eq!(pods, 7);
        for workload in &demo {
            for (name, volume) in &workload.volumes {
                assert!(!volume.is_empty_dir(), "{}: volume {name}", workload.name);
            }
        }
    }

    #[test]
    fn names_and_pod_addresses_are_unique() {
        let mut names = BTreeSet::new();
        let mut addresses = BTreeSet::new();
        for workload in workloads() {
            for pod in &workload.pods {
                assert!(
                    names.insert((workload.namespace, pod.name.clone())),
                    "{} twice",
                    pod.name
                );
                if !workload.host_network {
                    assert!(addresses.insert(pod.address), "{} twice", pod.address);
                }
            }
        }
    }

    #[test]
    fn the_windows_node_has_twelve_pods_of_which_five_belong_to_daemonsets() {
        let on_windows: Vec<_> = workloads()
            .into_iter()
            .flat_map(|workload| {
                let kind = workload.kind;
                workload.pods.into_iter().map(move |pod| (kind, pod))
            })
            .filter(|(_, pod)| pod.node == WINDOWS_NODE)
            .collect();
        let daemons = on_windows
            .iter()
            .filter(|(kind, _)| *kind == super::super::manifest::WorkloadKind::DaemonSet)
            .count();
        assert_eq!((on_windows.len(), daemons), (12, 5));
    }
}
