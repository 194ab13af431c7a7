//! What else lives on the node: logs and metrics of the whole cluster may go with it.

use super::Weight;
use super::assess::Case;
use super::notes::{Notes, listed};
use super::survey::NodePort;
use crate::domain::object::Os;
use crate::domain::pod::Pod;
use crate::maintenance::pods::Stays;
use crate::maintenance::pods::Verdict;
use std::collections::BTreeSet;

/// What a pod does for the observation of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Loki,
    LokiGateway,
    Prometheus,
}

impl Role {
    /// By the labels that the charts of Loki and Prometheus set.
    fn of(pod: &Pod) -> Option<Self> {
        let label = |name: &str| {
            let found = pod.labels.iter().find(|(label, _)| &**label == name);
            found.map(|(_, value)| &**value)
        };
        let gateway = label("app.kubernetes.io/component") == Some("gateway");
        match label("app.kubernetes.io/name").or_else(|| label("app"))? {
            "loki" if gateway => Some(Self::LokiGateway),
            "loki" => Some(Self::Loki),
            "loki-gateway" => Some(Self::LokiGateway),
            "prometheus" => Some(Self::Prometheus),
            _ => None,
        }
    }

    const fn consequence(self) -> &'static str {
        match self {
            Self::Loki => {
                "no logs are taken in or found until it is ready again, those of the Windows nodes included"
            }
            Self::LokiGateway => {
                "the agents, those of the Windows nodes included, cannot send their logs until it is ready again"
            }
            Self::Prometheus => {
                "no metrics are collected or shown until it is ready again, those of the Windows nodes included"
            }
        }
    }
}

pub fn judge(case: &Case<'_>, notes: &mut Notes) {
    for (pod, verdict) in &case.pods {
        if matches!(verdict, Verdict::Stays(Stays::DaemonSet | Stays::Mirror)) {
            continue;
        }
        if let Some(role) = Role::of(pod) {
            leaves(pod, role, notes);
        }
    }
    node_ports(case, notes);
}

fn leaves(pod: &Pod, role: Role, notes: &mut Notes) {
    let history = if pod.empty_dir && role != Role::LokiGateway {
        "; its history is in an emptyDir and is gone afterwards"
    } else {
        ""
    };
    let remedy = if history.is_empty() {
        "what you see of the cluster has a gap meanwhile"
    } else {
        "export what you still need of it first; a PersistentVolume would keep it"
    };
    notes.add(
        Weight::Warning,
        format!(
            "{}/{} is on this node: {}{history}",
            pod.namespace,
            pod.name,
            role.consequence()
        ),
        remedy,
    );
}

/// Ports that are open on this node's own address: whoever was told this address loses them, wherever the pods are.
fn node_ports(case: &Case<'_>, notes: &mut Notes) {
    let services = match &case.survey.node_ports {
        Ok(services) => services,
        Err(reason) => return notes.unknown("which node ports are served from this node", reason),
    };
    let selected = |service: &'_ NodePort| -> Vec<&Pod> {
        let pods = case.survey.pods.iter();
        pods.filter(|pod| service.serves(pod)).collect()
    };
    let mut others = BTreeSet::new();
    for service in services {
        let pods = selected(service);
        let observes = pods.iter().any(|pod| Role::of(pod).is_some());
        let text = service.text();
        if observes && case.place.node.os != Some(Os::Windows) {
            let address = case
                .place
                .node
                .internal_ips
                .first()
                .map_or_else(|| "its address".to_owned(), ToString::to_string);
            notes.add(
                Weight::Warning,
                format!("{text} answers on this node at {address} too: agents that send there lose it while it restarts"),
                "point them at a neighbouring node first, if they name this one",
            );
        } else if pods
            .iter()
            .any(|pod| pod.node.as_ref() == Some(&case.survey.node))
        {
            others.insert(text);
        }
    }
    if !others.is_empty() {
        let text = format!(
            "pods behind a node port are on this node: {}; clients that name this node's address lose it while it \
             restarts",
            listed(others)
        );
        notes.add(Weight::Info, text, "");
    }
}

impl NodePort {
    fn serves(&self, pod: &Pod) -> bool {
        self.namespace == pod.namespace
            && self
                .selector
                .as_ref()
                .is_some_and(|selector| selector.selects(&pod.labels))
    }

    fn text(&self) -> String {
        format!(
            "node port {} ({}/{})",
            listed(&*self.ports),
            self.namespace,
            self.name
        )
    }
}
