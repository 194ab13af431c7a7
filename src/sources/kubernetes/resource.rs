//! The watched resources: where each lives, how it is decoded, which message carries it.

use super::failure::{Asked, Failure};
use super::intern::Interner;
use super::protobuf;
use super::wire;
use super::wire::value::Text;
use crate::domain::budget::DisruptionBudget;
use crate::domain::object::{Change, ClusterEvent, DaemonSet, NodeLease};
use crate::domain::storage::{CsiDriver, CsiNode, PersistentVolume, StorageClass, VolumeClaim};
use crate::domain::{Name, node, pod};
use crate::sources::event::{Payload, Watched};
use serde::Deserialize;

/// Makes a row of an item of a list in protobuf.
pub type FromProtobuf<Row> = fn(&[u8], &mut Interner) -> Result<Row, Failure>;

/// A resource that is listed and watched.
pub trait Resource: Send + Sync + 'static {
    /// The lean wire type.
    type Wire<'de>: Deserialize<'de>;
    /// The row it becomes.
    type Row: Send + Sync + 'static;
    /// Which watch this is.
    const WATCHED: Watched;
    /// Path of the API group and version.
    const GROUP: &'static str;
    /// How an item of a list in protobuf becomes a row; `None` where lists are short enough for JSON.
    const PROTOBUF: Option<FromProtobuf<Self::Row>> = None;

    /// Resource version of a decoded object.
    fn version<'w, 'de>(wire: &'w Self::Wire<'de>) -> &'w Text<'de>;
    /// The row of a decoded object.
    fn row(wire: &Self::Wire<'_>, names: &mut Interner) -> Self::Row;
    /// The message with these changes.
    fn payload(changes: Vec<Change<Self::Row>>) -> Payload;
}

/// What of a resource is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Only in this namespace.
    pub namespace: Option<Name>,
    /// Only with these labels (evaluated by the server).
    pub selector: Option<String>,
}

impl Target {
    /// Path of the collection.
    pub fn path<R: Resource>(&self) -> String {
        let plural = R::WATCHED.plural();
        match &self.namespace {
            Some(namespace) => format!("{}/namespaces/{namespace}/{plural}", R::GROUP),
            None => format!("{}/{plural}", R::GROUP),
        }
    }

    /// What is asked for, in words.
    pub fn asked<R: Resource>(&self, verb: &'static str) -> Asked {
        let plural = R::WATCHED.plural();
        Asked {
            verb,
            object: match &self.namespace {
                Some(namespace) => format!("{plural} in namespace {namespace}"),
                None => plural.to_owned(),
            },
            all_namespaces: self.namespace.is_none() && R::WATCHED.is_namespaced(),
        }
    }
}

/// Nodes.
pub enum Nodes {}
/// Pods.
pub enum Pods {}
/// Heartbeats of nodes.
pub enum Leases {}
/// `DaemonSets`.
pub enum DaemonSets {}
/// Events.
pub enum Events {}
/// `PodDisruptionBudget`s.
pub enum Budgets {}
/// Volumes.
pub enum PersistentVolumes {}
/// Claims.
pub enum VolumeClaims {}
/// Classes of volumes.
pub enum StorageClasses {}
/// CSI drivers by node.
pub enum CsiNodes {}
/// CSI drivers of the cluster.
pub enum CsiDrivers {}

macro_rules! resource {
    ($marker:ty, $wire:ident :: $kind:ident => $row:ty, $watched:ident, $group:literal $(, $protobuf:path)?) => {
        impl Resource for $marker {
            type Wire<'de> = wire::$wire::$kind<'de>;
            type Row = $row;
            const WATCHED: Watched = Watched::$watched;
            const GROUP: &'static str = $group;
            $(const PROTOBUF: Option<FromProtobuf<$row>> = Some($protobuf);)?

            fn version<'w, 'de>(wire: &'w Self::Wire<'de>) -> &'w Text<'de> {
                &wire.metadata.resource_version
            }

            fn row(wire: &Self::Wire<'_>, names: &mut Interner) -> Self::Row {
                wire.to_row(names)
            }

            fn payload(changes: Vec<Change<Self::Row>>) -> Payload {
                Payload::$watched(changes)
            }
        }
    };
}

resource!(Nodes, node::Node => node::Node, Nodes, "/api/v1");
resource!(Pods, pod::Pod => pod::Pod, Pods, "/api/v1", protobuf::pod::row);
resource!(Leases, lease::Lease => NodeLease, Leases, "/apis/coordination.k8s.io/v1");
resource!(DaemonSets, daemonset::DaemonSet => DaemonSet, DaemonSets, "/apis/apps/v1");
resource!(Events, event::Event => ClusterEvent, Events, "/api/v1");
resource!(Budgets, budget::DisruptionBudget => DisruptionBudget, Budgets, "/apis/policy/v1");
resource!(PersistentVolumes, storage::PersistentVolume => PersistentVolume, PersistentVolumes, "/api/v1");
resource!(VolumeClaims, storage::VolumeClaim => VolumeClaim, VolumeClaims, "/api/v1");
resource!(StorageClasses, storage::StorageClass => StorageClass, StorageClasses, "/apis/storage.k8s.io/v1");
resource!(CsiNodes, storage::CsiNode => CsiNode, CsiNodes, "/apis/storage.k8s.io/v1");
resource!(CsiDrivers, storage::CsiDriver => CsiDriver, CsiDrivers, "/apis/storage.k8s.io/v1");
