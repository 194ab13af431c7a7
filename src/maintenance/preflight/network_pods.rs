//! The node's network pods: after the restart they are the gate before the uncordon.

use super::Weight;
use super::assess::{Case, workload};
use super::notes::{Notes, count, listed};
use crate::maintenance::network::is_network_pod;
use crate::maintenance::pods::is_ready;

pub fn judge(case: &Case<'_>, notes: &mut Notes) {
    let name = &case.place.node.name;
    let selector = case.options.network_selector.as_ref();
    let network: Vec<_> = case
        .pods
        .iter()
        .map(|(pod, _)| *pod)
        .filter(|pod| is_network_pod(pod, selector))
        .collect();
    if network.is_empty() {
        let looked_for = selector.map_or_else(
            || "no DaemonSet pod of a known network (Calico, kube-proxy, flannel, Antrea, Azure CNI, OVN, Cilium, …)".to_owned(),
            |selector| format!("no pod with {selector}"),
        );
        let text = format!("{looked_for} is on node {name}");
        if case.options.no_network_gate || case.options.no_restart {
            let text = format!("{text}: after the restart nothing waits for its network, as you asked");
            notes.add(Weight::Info, text, "");
        } else {
            notes.add(
                Weight::Refuses,
                format!("{text}: it could not be seen when its network is back"),
                "name them with --network-selector, or go without with --no-network-gate",
            );
        }
        return;
    }
    let unhealthy: Vec<String> = network
        .iter()
        .filter(|pod| !is_ready(pod))
        .map(|pod| {
            format!(
                "{}/{} ({}, {} of {} ready)",
                pod.namespace, pod.name, pod.state, pod.ready, pod.ready_of
            )
        })
        .collect();
    if unhealthy.is_empty() {
        let text = format!(
            "{} of node {name} must start anew before it is uncordoned: {}",
            count(network.len(), "network pod"),
            listed(network.iter().map(|pod| workload(pod)))
        );
        notes.add(Weight::Info, text, "");
    } else {
        notes.add(
            Weight::Warning,
            format!(
                "the network of node {name} is not healthy now: {}",
                listed(unhealthy)
            ),
            "it is a gate after the restart: look at their logs before you begin",
        );
    }
}
