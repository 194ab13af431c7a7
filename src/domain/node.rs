//! A node, with what the program shows or decides on and nothing more.

use super::object::Os;
use super::{Name, Timestamp};
use std::net::IpAddr;

/// A node row, about 1 KB.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// `metadata.name`.
    pub name: Name,
    /// `metadata.uid`: a node that was deleted and joined again is another node.
    pub uid: Name,
    /// Label `kubernetes.io/os`, else `status.nodeInfo.operatingSystem`.
    pub os: Option<Os>,
    /// `metadata.creationTimestamp`.
    pub created_at: Option<Timestamp>,
    /// Roles from `node-role.kubernetes.io/…` labels.
    pub roles: Box<[Name]>,
    /// Every `InternalIP`; the first is shown. Exporter instances are mapped to nodes by these.
    pub internal_ips: Box<[IpAddr]>,
    /// `status.nodeInfo.kubeletVersion`.
    pub kubelet_version: Name,
    /// `status.nodeInfo.kernelVersion`; on Windows `Major.Minor.Build.Revision`.
    pub kernel_version: Name,
    /// `status.nodeInfo.osImage`.
    pub os_image: Name,
    /// `status.nodeInfo.architecture`: `amd64`, `arm64`, …
    pub architecture: Name,
    /// `status.nodeInfo.containerRuntimeVersion`.
    pub container_runtime: Name,
    /// `status.nodeInfo.bootID`, an opaque string (a counter on Windows, a UUID on Linux); may be empty.
    pub boot_id: Name,
    /// Label `node.kubernetes.io/windows-build`, e.g. `10.0.26100`.
    pub windows_build_label: Option<Name>,
    /// `spec.unschedulable`: cordoned.
    pub unschedulable: bool,
    /// Who cordoned it, if it is cordoned and `metadata.managedFields` tells.
    pub cordoned_by: Option<CordonedBy>,
    /// Annotation `drainboard.io/maintenance`: the record of a maintenance under way, as written.
    pub maintenance: Option<Name>,
    /// Annotation `drainboard.io/proven-boot`: the boot id at which the last maintenance found everything well.
    pub proven_boot: Option<Name>,
    /// `spec.taints`.
    pub taints: Box<[Taint]>,
    /// `status.conditions`.
    pub conditions: Box<[Condition]>,
    /// `status.capacity`.
    pub capacity: NodeResources,
    /// `status.allocatable`.
    pub allocatable: NodeResources,
}

/// Who set `spec.unschedulable`: the entry of `metadata.managedFields` that has the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CordonedBy {
    /// Field manager, as it named itself (`kubectl-cordon`, `drainboard`, …): sanitise before showing.
    pub manager: Name,
    /// When this manager last changed any field of its own, by the API server's clock: the cordon is as old, or older.
    pub at: Option<Timestamp>,
}

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Key.
    pub key: Name,
    /// Value, may be empty.
    pub value: Name,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: Name,
}

/// A toleration of a pod: the taint that it puts up with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toleration {
    /// Key; `None` tolerates every key.
    pub key: Option<Name>,
    /// Value; `None` tolerates every value (`operator: Exists`).
    pub value: Option<Name>,
    /// Effect; `None` tolerates every effect.
    pub effect: Option<Name>,
}

impl Toleration {
    /// Whether a pod with it puts up with this taint.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.key.as_ref().is_none_or(|key| *key == taint.key)
            && self.value.as_ref().is_none_or(|value| *value == taint.value)
            && self.effect.as_ref().is_none_or(|effect| *effect == taint.effect)
    }
}

/// A node condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `Ready`, `MemoryPressure`, …
    pub kind: Name,
    /// True, False or Unknown.
    pub status: ConditionStatus,
    /// Machine-readable reason.
    pub reason: Name,
    /// Text for people, as sent: sanitise before showing.
    pub message: Name,
    /// `lastTransitionTime`.
    pub since: Option<Timestamp>,
}

/// Status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionStatus {
    /// `True`.
    True,
    /// `False`.
    False,
    /// `Unknown`, or a value that the API does not define.
    Unknown,
}

/// Amounts of a node; `None` where the node does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeResources {
    /// CPU in thousandths of a CPU.
    pub cpu_millicores: Option<u64>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Pods.
    pub pods: Option<u32>,
}

/// What only the node page shows; fetched when the page is opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeDetail {
    /// Images in the node's store (`status.images`, at most 50 as the kubelet reports them): one name, bytes.
    pub images: Box<[(Name, u64)]>,
    /// Registered CSI drivers (CSINode): driver name. `Err` holds the reason why they are unknown.
    pub csi_drivers: Option<Box<[Name]>>,
}
