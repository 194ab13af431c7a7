//! Volumes, claims, classes and CSI drivers, with what the program shows or decides on and nothing more.

use super::Name;
use super::object::ObjectKey;

/// A `v1` `PersistentVolume`.
#[derive(Clone, Debug, PartialEq)]
pub struct PersistentVolume {
    /// Identity.
    pub key: ObjectKey,
    /// `status.phase` (`Bound`, `Released`, …).
    pub phase: Name,
    /// `spec.storageClassName`, `None` where it is empty.
    pub class: Option<Name>,
    /// Claim that it is bound to or reserved for: namespace, name.
    pub claim: Option<(Name, Name)>,
    /// `spec.mountOptions`.
    pub mount_options: Box<[Name]>,
    /// What is mounted.
    pub source: VolumeSource,
}

/// What a volume is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum VolumeSource {
    /// `spec.csi`.
    Csi(CsiSource),
    /// `spec.nfs`, mounted by the kubelet itself.
    Nfs,
    /// Anything else.
    Other,
}

/// `spec.csi` of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct CsiSource {
    /// Driver.
    pub driver: Name,
    /// `volumeHandle`, opaque to Kubernetes.
    pub handle: Name,
    /// `volumeAttributes.source` (csi-driver-smb: `//server/share`).
    pub source: Option<Name>,
    /// `volumeAttributes.subDir`, whatever the case of its key.
    pub sub_dir: Option<Name>,
    /// `nodeStageSecretRef`: namespace, name. Only its name is ever read.
    pub stage_secret: Option<(Name, Name)>,
}

/// A `v1` `PersistentVolumeClaim`.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeClaim {
    /// Identity.
    pub key: ObjectKey,
    /// `status.phase` (`Pending`, `Bound`, `Lost`).
    pub phase: Name,
    /// `spec.volumeName`, `None` while it is not bound.
    pub volume: Option<Name>,
}

/// A `storage.k8s.io/v1` `StorageClass`.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageClass {
    /// Identity.
    pub key: ObjectKey,
    /// Driver.
    pub provisioner: Name,
    /// `parameters.source`.
    pub source: Option<Name>,
    /// `mountOptions`, copied into each volume of the class.
    pub mount_options: Box<[Name]>,
}

/// A `storage.k8s.io/v1` `CSINode`: the drivers that have registered with the kubelet of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct CsiNode {
    /// Identity; its name is the node's.
    pub key: ObjectKey,
    /// `spec.drivers[].name`.
    pub drivers: Box<[Name]>,
}

/// A `storage.k8s.io/v1` `CSIDriver`: a driver that is installed in the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct CsiDriver {
    /// Identity; its name is the driver's.
    pub key: ObjectKey,
    /// `spec.attachRequired`, `true` by default: without the object the cluster waits for an attacher.
    pub attach_required: bool,
}
