//! Volumes, claims, classes and CSI drivers, with the indexes that join them to pods and nodes.

use super::cluster::{Effect, ended};
use super::fold::{Folded, Touched};
use crate::domain::Name;
use crate::domain::object::Change;
use crate::domain::pod::{ContainerState, Pod};
use crate::domain::smb::handle::{Handle, staging_hash};
use crate::domain::smb::remote::RemotePath;
use crate::domain::smb::{DRIVER, is_plugin_image};
use crate::domain::storage::{
    CsiDriver, CsiNode, CsiSource, PersistentVolume, StorageClass, VolumeClaim, VolumeSource,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Storage objects, and who uses them.
#[derive(Default)]
pub struct Storage {
    /// Volumes.
    pub volumes: Folded<PersistentVolume>,
    /// Claims.
    pub claims: Folded<VolumeClaim>,
    /// Classes.
    pub classes: Folded<StorageClass>,
    /// Drivers by node.
    pub csi_nodes: Folded<CsiNode>,
    /// Drivers of the cluster.
    pub csi_drivers: Folded<CsiDriver>,
    /// What a mapping hangs on has changed since the mappings were joined.
    pub changed: bool,
    smb: BTreeMap<u32, Share>,
    by_hash: HashMap<Name, u32>,
    nfs: BTreeSet<u32>,
    pods_of_claim: HashMap<(Name, Name), Vec<u32>>,
    plugin_pods: BTreeSet<u32>,
}

/// What an SMB volume maps.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// Share with directory; `None` where the volume does not say it.
    pub remote: Option<RemotePath>,
    /// SHA-256 of the volume handle.
    pub hash: Name,
}

impl Storage {
    /// Folds changes of volumes.
    pub fn apply_volumes(&mut self, changes: Vec<Change<PersistentVolume>>) -> Effect {
        let (smb, by_hash, nfs) = (&mut self.smb, &mut self.by_hash, &mut self.nfs);
        let changed = &mut self.changed;
        for change in changes {
            self.volumes
                .apply(change, &mut |touched: Touched<'_, PersistentVolume>| {
                    *changed = true;
                    if let Some(gone) = smb.remove(&touched.slot) {
                        by_hash.remove(&gone.hash);
                    }
                    nfs.remove(&touched.slot);
                    match touched.after.map(|volume| &volume.source) {
                        Some(VolumeSource::Csi(csi)) if &*csi.driver == DRIVER => {
                            let share = Share::of(csi);
                            by_hash.insert(share.hash.clone(), touched.slot);
                            smb.insert(touched.slot, share);
                        }
                        Some(VolumeSource::Csi(csi)) if csi.driver.starts_with("nfs.") => {
                            nfs.insert(touched.slot);
                        }
                        Some(VolumeSource::Nfs) => {
                            nfs.insert(touched.slot);
                        }
                        Some(VolumeSource::Csi(_) | VolumeSource::Other) | None => {}
                    }
                });
        }
        self.effect()
    }

    /// Folds changes of claims.
    pub fn apply_claims(&mut self, changes: Vec<Change<VolumeClaim>>) -> Effect {
        let changed = &mut self.changed;
        for change in changes {
            self.claims.apply(change, &mut |_| *changed = true);
        }
        self.effect()
    }

    /// Folds changes of classes.
    pub fn apply_classes(&mut self, changes: Vec<Change<StorageClass>>) -> Effect {
        let changed = &mut self.changed;
        for change in changes {
            self.classes.apply(change, &mut |_| *changed = true);
        }
        self.effect()
    }

    /// Folds changes of the drivers of nodes.
    pub fn apply_csi_nodes(&mut self, changes: Vec<Change<CsiNode>>) -> Effect {
        let changed = &mut self.changed;
        for change in changes {
            self.csi_nodes.apply(change, &mut |_| *changed = true);
        }
        self.effect()
    }

    /// Folds changes of the cluster's drivers.
    pub fn apply_csi_drivers(&mut self, changes: Vec<Change<CsiDriver>>) -> Effect {
        let changed = &mut self.changed;
        for change in changes {
            self.csi_drivers.apply(change, &mut |_| *changed = true);
        }
        self.effect()
    }

    fn effect(&self) -> Effect {
        Effect {
            visible: self.changed,
            rejoin: false,
        }
    }

    /// A pod came, went or changed.
    pub fn pod_changed(&mut self, touched: &Touched<'_, Pod>) {
        let plugin = touched.after.is_some_and(runs_plugin);
        let was_plugin = self.plugin_pods.contains(&touched.slot);
        if plugin {
            self.plugin_pods.insert(touched.slot);
        } else if was_plugin {
            self.plugin_pods.remove(&touched.slot);
        }
        let (before, after) = (claims(touched.before), claims(touched.after));
        let with_claims = !before.is_empty() || !after.is_empty();
        if before != after {
            self.index(touched.before, touched.slot, false);
            self.index(touched.after, touched.slot, true);
        }
        let matters = with_claims && standing(touched.before) != standing(touched.after);
        self.changed |= matters || plugin || was_plugin;
    }

    fn index(&mut self, pod: Option<&Pod>, slot: u32, added: bool) {
        let Some(pod) = pod else { return };
        for claim in &pod.claims {
            let key = (pod.namespace.clone(), claim.clone());
            if added {
                self.pods_of_claim.entry(key).or_default().push(slot);
            } else if let Some(slots) = self.pods_of_claim.get_mut(&key) {
                slots.retain(|other| *other != slot);
                if slots.is_empty() {
                    self.pods_of_claim.remove(&key);
                }
            }
        }
    }

    /// SMB volumes with what they map.
    pub fn smb_volumes(&self) -> impl Iterator<Item = (&PersistentVolume, &Share)> {
        self.smb
            .iter()
            .filter_map(|(slot, share)| Some((self.volumes.get(*slot)?, share)))
    }

    /// NFS volumes.
    pub fn nfs_volumes(&self) -> impl Iterator<Item = &PersistentVolume> {
        self.nfs.iter().filter_map(|slot| self.volumes.get(*slot))
    }

    /// The SMB volume whose handle has this SHA-256.
    pub fn share_of_hash(&self, hash: &Name) -> Option<&Share> {
        self.smb.get(self.by_hash.get(hash)?)
    }

    /// The claim that a volume is bound to: it must name the volume too.
    pub fn claim_of(&self, volume: &PersistentVolume) -> Option<&VolumeClaim> {
        let (namespace, name) = volume.claim.clone()?;
        let claim = self.claims.find(&(Some(namespace), name))?;
        (claim.volume.as_ref() == Some(&volume.key.name)).then_some(claim)
    }

    /// Slots of the pods that mount this claim.
    pub fn pods_of_claim(&self, claim: &(Name, Name)) -> &[u32] {
        self.pods_of_claim.get(claim).map_or(&[], Vec::as_slice)
    }

    /// Slots of the pods that run csi-driver-smb's plugin.
    pub fn plugin_pods(&self) -> impl Iterator<Item = u32> {
        self.plugin_pods.iter().copied()
    }

    /// Whether the cluster has anything to do with SMB.
    pub fn uses_smb(&self) -> bool {
        !self.smb.is_empty()
            || self.csi_drivers.find(&(None, DRIVER.into())).is_some()
            || self.classes.iter().any(|class| &*class.provisioner == DRIVER)
    }

    /// The options with which a volume is mounted: its own, which are a copy of its class's at the time.
    pub fn mount_options<'a>(&'a self, volume: &'a PersistentVolume) -> &'a [Name] {
        let of_class = || {
            let class = self.classes.find(&(None, volume.class.clone()?))?;
            Some(&*class.mount_options)
        };
        if volume.mount_options.is_empty() {
            of_class().unwrap_or_default()
        } else {
            &volume.mount_options
        }
    }
}

impl Share {
    fn of(csi: &CsiSource) -> Self {
        let said = csi
            .source
            .as_deref()
            .and_then(|source| RemotePath::of_volume(source, csi.sub_dir.as_deref()));
        let in_handle = || Handle::parse(&csi.handle)?.remote();
        Self {
            // The handle's directory has its placeholders filled in.
            remote: in_handle().or(said),
            hash: staging_hash(&csi.handle).into(),
        }
    }
}

fn claims(pod: Option<&Pod>) -> &[Name] {
    pod.map_or(&[], |pod| &pod.claims)
}

fn runs_plugin(pod: &Pod) -> bool {
    pod.containers
        .iter()
        .any(|container| is_plugin_image(&container.image))
}

/// What of a pod decides over the mappings that it uses.
fn standing(pod: Option<&Pod>) -> Option<(Option<&Name>, bool, bool)> {
    pod.map(|pod| (pod.node.as_ref(), ended(pod), running_since(pod).is_some()))
}

/// When the first container of the pod that runs was started: by then its volumes were mounted.
pub fn running_since(pod: &Pod) -> Option<crate::domain::Timestamp> {
    pod.containers
        .iter()
        .filter_map(|container| match container.state {
            ContainerState::Running(since) => since,
            _ => None,
        })
        .min()
}
