//! Volumes that Windows cannot mount.

use super::place::Place;
use super::remark::Remark;
use super::template::{Mounter, PodTemplate};
use crate::findings::Severity;

/// CSI driver for NFS; it has no Windows plugin.
const NFS_DRIVER: &str = "nfs.csi.k8s.io";

/// Why a volume of that driver is not mounted.
const NO_PLUGIN: &str = "csi-driver-nfs has no Windows plugin. The scheduler places the pod all the same, and it stays in \
     ContainerCreating: driver name nfs.csi.k8s.io not found in the list of registered CSI drivers (or, without the CSIDriver \
     object, timed out waiting for external-attacher).";

/// Why kubelet's own `nfs` is not.
const NO_CLIENT: &str = "The kubelet on Windows mounts nothing but SMB by itself. The scheduler places the pod all the same, and it \
     stays in ContainerCreating: only cifs mount is supported now.";

/// The rules.
pub fn judge(template: &PodTemplate) -> Vec<Remark> {
    let nfs = template
        .volumes
        .iter()
        .enumerate()
        .filter(|(_, volume)| match &volume.mounter {
            Mounter::Nfs => true,
            Mounter::Csi(driver) => &**driver == NFS_DRIVER,
            Mounter::Other => false,
        });
    nfs.map(|(index, volume)| {
        let through = volume
            .claim
            .as_ref()
            .map_or_else(String::new, |claim| format!(" through the claim {claim}"));
        let (kind, why) = match &volume.mounter {
            Mounter::Csi(driver) => (format!("CSI driver {driver}"), NO_PLUGIN),
            Mounter::Nfs | Mounter::Other => ("nfs".to_owned(), NO_CLIENT),
        };
        Remark::about(
            template,
            (Severity::Critical, "nfs-volume"),
            Place::spec().field("volumes").item(index),
            format!("volume {}: NFS in a Windows pod", volume.name),
        )
        .seen(format!("volume {}: {kind}{through}", volume.name))
        .why(why)
        .remedy("put data that both systems need on an SMB share: a StorageClass of smb.csi.k8s.io")
    })
    .collect()
}
