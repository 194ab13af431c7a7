//! What the other objects of the files tell about a workload: its RuntimeClass, and who mounts the volumes of its claims.

use super::reader::{Reader, pairs, tolerations};
use super::tree::Node;
use crate::domain::Name;
use crate::findings::manifest::template::{Mounter, Scheduling};
use std::collections::BTreeMap;

/// The objects that matter beside the workloads.
#[derive(Debug, Default)]
pub struct Around {
    runtime_classes: BTreeMap<Name, Scheduling>,
    /// Provisioner of each `StorageClass`.
    provisioners: BTreeMap<Name, Name>,
    /// Who mounts each `PersistentVolume`.
    volumes: BTreeMap<Name, Mounter>,
    /// Claims by namespace and name.
    claims: BTreeMap<(Option<Name>, Name), Claim>,
}

#[derive(Debug)]
struct Claim {
    class: Option<Name>,
    volume: Option<Name>,
}

impl Around {
    /// Remembers an object, if it is of a kind that matters.
    pub fn note(&mut self, object: &Node) {
        let text = |path: &[&str]| object.at(path).and_then(Node::text).map(Name::from);
        let Some(name) = text(&["metadata", "name"]) else {
            return;
        };
        match object.get("kind").and_then(Node::text) {
            Some("RuntimeClass") => {
                self.runtime_classes.insert(name, scheduling(object));
            }
            Some("StorageClass") => {
                if let Some(provisioner) = text(&["provisioner"]) {
                    self.provisioners.insert(name, provisioner);
                }
            }
            Some("PersistentVolume") => {
                let driver = text(&["spec", "csi", "driver"]).map(Mounter::Csi);
                let nfs = object.at(&["spec", "nfs"]).map(|_| Mounter::Nfs);
                self.volumes
                    .insert(name, driver.or(nfs).unwrap_or(Mounter::Other));
            }
            Some("PersistentVolumeClaim") => {
                let claim = Claim {
                    class: text(&["spec", "storageClassName"]),
                    volume: text(&["spec", "volumeName"]),
                };
                self.claims
                    .insert((text(&["metadata", "namespace"]), name), claim);
            }
            _ => {}
        }
    }

    /// What a RuntimeClass brings, if it is in the files.
    pub fn scheduling(&self, runtime_class: &str) -> Option<&Scheduling> {
        self.runtime_classes.get(runtime_class)
    }

    /// Who mounts the volume of this claim, as far as the files tell.
    pub fn mounter(&self, namespace: Option<&Name>, claim: &Name) -> Mounter {
        let known = self
            .claims
            .get(&(namespace.cloned(), claim.clone()))
            .and_then(|claim| {
                let volume = claim.volume.as_ref().and_then(|volume| self.volumes.get(volume));
                let class = claim
                    .class
                    .as_ref()
                    .and_then(|class| self.provisioners.get(class));
                volume.cloned().or_else(|| class.cloned().map(Mounter::Csi))
            });
        known.unwrap_or(Mounter::Other)
    }
}

fn scheduling(object: &Node) -> Scheduling {
    // A RuntimeClass that is wrong in itself is no workload's fault.
    let mut reader = Reader::default();
    let brought = object.get("scheduling");
    Scheduling {
        node_selector: pairs(&mut reader, brought.and_then(|part| part.get("nodeSelector"))),
        tolerations: tolerations(&mut reader, brought.and_then(|part| part.get("tolerations"))),
    }
}
