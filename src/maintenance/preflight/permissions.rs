//! Whether we may do what the later steps need: better refused now than with the node half drained.

use super::Weight;
use super::notes::Notes;
use super::survey::Survey;
use crate::domain::Name;
use crate::maintenance::options::Reboot;
use std::fmt;

/// Namespace of the pools' Leases.
pub const LEASE_NAMESPACE: &str = "kube-system";

/// Something that a step does, as the API server's authorization sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Verb.
    pub verb: &'static str,
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Resource.
    pub resource: &'static str,
    /// Subresource, may be empty.
    pub subresource: &'static str,
    /// Namespace; `None` for the whole cluster.
    pub namespace: Option<Name>,
    /// Name of the object; `None` for any.
    pub name: Option<Name>,
    /// Who needs it.
    pub needed_for: &'static str,
    /// What it means when it is denied.
    pub denied: Weight,
}

/// `create pods/eviction in namespace win-demo`.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if !self.subresource.is_empty() {
            write!(f, "/{}", self.subresource)?;
        }
        match (&self.name, &self.namespace) {
            (Some(name), None) => write!(f, " {name}"),
            (_, Some(namespace)) => write!(f, " in namespace {namespace}"),
            (None, None) => Ok(()),
        }
    }
}

impl Access {
    const fn new(
        verb: &'static str,
        (group, resource): (&'static str, &'static str),
        needed_for: &'static str,
    ) -> Self {
        Self {
            verb,
            group,
            resource,
            subresource: "",
            namespace: None,
            name: None,
            needed_for,
            denied: Weight::Refuses,
        }
    }
}

/// Everything that a maintenance of this node does, with pods in these namespaces and a restart by these means.
pub fn needed(
    node: &Name,
    namespaces: impl IntoIterator<Item = Name>,
    reboot: Option<&Reboot>,
) -> Vec<Access> {
    const NODES: (&str, &str) = ("", "nodes");
    const PODS: (&str, &str) = ("", "pods");
    const LEASES: (&str, &str) = ("coordination.k8s.io", "leases");
    const BUDGETS: (&str, &str) = ("policy", "poddisruptionbudgets");
    let lease = |verb| Access {
        namespace: Some(LEASE_NAMESPACE.into()),
        ..Access::new(verb, LEASES, "the Lease of the pool")
    };
    let budgets = |verb| Access {
        // Without it each refused eviction is tried again every 5 s instead of at once.
        denied: Weight::Warning,
        ..Access::new(verb, BUDGETS, "the drain, to go on as soon as a budget opens")
    };
    let mut needed = vec![
        Access {
            name: Some(node.clone()),
            ..Access::new("patch", NODES, "cordon, record and uncordon")
        },
        Access {
            name: Some(node.clone()),
            ..Access::new("get", NODES, "the proof of the restart")
        },
        Access::new("list", NODES, "the proof of the restart and the pool"),
        Access::new("watch", NODES, "the proof of the restart"),
        Access::new("get", PODS, "the drain"),
        Access::new("list", PODS, "the drain and its end"),
        Access::new("watch", PODS, "the drain and the way back of the pods"),
        lease("get"),
        lease("create"),
        lease("update"),
        budgets("list"),
        budgets("watch"),
    ];
    needed.extend(namespaces.into_iter().map(|namespace| Access {
        subresource: "eviction",
        namespace: Some(namespace),
        ..Access::new("create", PODS, "the drain")
    }));
    if let Some(Reboot::Pod(place)) = reboot {
        let there = |verb, subresource| Access {
            subresource,
            namespace: Some(place.namespace.clone()),
            ..Access::new(verb, PODS, "--reboot-pod")
        };
        needed.extend([
            there("create", ""),
            there("get", ""),
            there("get", "log"),
            there("delete", ""),
        ]);
    }
    needed
}

pub(super) fn judge(survey: &Survey, notes: &mut Notes) {
    let mut unknown: Vec<(String, &str)> = Vec::new();
    for (access, answer) in &survey.permissions {
        match answer {
            Ok(true) => {}
            Ok(false) => notes.add(
                access.denied,
                format!("you may not {access}: it is needed for {}", access.needed_for),
                format!("ask for a role that may {access}"),
            ),
            Err(reason) => unknown.push((access.to_string(), reason)),
        }
    }
    if let Some((_, reason)) = unknown.first() {
        let asked = super::notes::listed(unknown.iter().map(|(access, _)| access));
        notes.unknown(&format!("the permission to {asked}"), reason);
    }
}
