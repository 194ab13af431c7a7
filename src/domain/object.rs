//! What every Kubernetes object row shares, and the small objects that are joined to nodes and pods.

use super::node::Toleration;
use super::{Name, Timestamp};

/// Operating system of a node or pod (`kubernetes.io/os` label, `.spec.os.name`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Os {
    /// Windows Server.
    Windows,
    /// Linux.
    Linux,
}

impl Os {
    /// The word in labels, specs and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Windows => "windows",
            Self::Linux => "linux",
        }
    }
}

/// Identity of an object: namespace (none for cluster-scoped kinds), name, and the UID that tells a
/// re-created object of the same name apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// Namespace, `None` for cluster-scoped objects.
    pub namespace: Option<Name>,
    /// Name.
    pub name: Name,
    /// `metadata.uid`.
    pub uid: Name,
}

/// One step of a list-and-watch, folded by the store. A relist does not empty the screen: `Restart` marks,
/// `Upsert` keeps or adds, and `Synced` removes what the new list did not name.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<T> {
    /// A new list begins.
    Restart,
    /// The object exists and looks like this.
    Upsert(T),
    /// The object is gone.
    Delete(ObjectKey),
    /// The list is complete; the watch goes on from here.
    Synced,
}

/// A node's heartbeat: `coordination.k8s.io/v1` Lease in `kube-node-lease`.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeLease {
    /// Name of the node (and of the Lease).
    pub node: Name,
    /// `metadata.uid` of the Lease.
    pub uid: Name,
    /// `spec.renewTime`, by the node's clock; only its *change* is trusted.
    pub renew_time: Option<Timestamp>,
    /// `spec.leaseDurationSeconds`, 40 by default (renewed every 10 s).
    pub duration_seconds: Option<u32>,
}

/// A `DaemonSet` with what the screens say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct DaemonSet {
    /// Identity.
    pub key: ObjectKey,
    /// `status.desiredNumberScheduled`.
    pub desired: u32,
    /// `status.numberReady`.
    pub ready: u32,
    /// `spec.template.spec.nodeSelector`.
    pub node_selector: Box<[(Name, Name)]>,
    /// `securityContext.windowsOptions.hostProcess` of the template.
    pub host_process: bool,
    /// `spec.template.spec.tolerations`.
    pub tolerations: Box<[Toleration]>,
    /// Images of the template's containers.
    pub images: Box<[Name]>,
}

/// An Event, `core/v1` fields (old and new style folded together).
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterEvent {
    /// Identity of the Event object itself.
    pub key: ObjectKey,
    /// Kind of the involved object (`Pod`, `Node`, …).
    pub about_kind: Name,
    /// Namespace of the involved object.
    pub about_namespace: Option<Name>,
    /// Name of the involved object.
    pub about_name: Name,
    /// UID of the involved object, where whoever wrote the event told it.
    pub about_uid: Option<Name>,
    /// Whether `type` is `Warning`.
    pub warning: bool,
    /// `reason`.
    pub reason: Name,
    /// `message` (note), as sent: sanitise before showing.
    pub message: Box<str>,
    /// How often: `count` or `series.count`, at least 1.
    pub count: u32,
    /// Newest of `lastTimestamp`, `series.lastObservedTime`, `eventTime`, creation.
    pub last_seen: Option<Timestamp>,
}
