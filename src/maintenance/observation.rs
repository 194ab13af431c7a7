//! What is known of the cluster at one moment, as far as a maintenance of one node decides on it.

use super::pods::{OwnerKey, PodRef};
use crate::domain::Name;
use crate::domain::budget::DisruptionBudget;
use crate::domain::node::Node;
use crate::domain::pod::Pod;
use std::collections::BTreeMap;

/// A moment of the cluster, from watches that have listed everything once. It may be late; it never runs ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// The node; `None`: there is no such node.
    pub node: Option<Node>,
    /// Pods bound to the node, ended ones too.
    pub pods: Vec<Pod>,
    /// Ready pods of each controller on any node: of those with a pod on this node, and of those asked for.
    pub ready: BTreeMap<OwnerKey, u32>,
    /// Disruption budgets of all namespaces that are watched.
    pub budgets: Vec<DisruptionBudget>,
    /// Pods (UID) that cannot be stopped, and what the kubelet says of it (`FailedKillPod`).
    pub unkillable: BTreeMap<Name, String>,
    /// Pods of the node (UID) whose probes time out, and the probe's words: they may have no network.
    pub probes_time_out: BTreeMap<Name, (PodRef, String)>,
}
