//! Volumes, claims, classes and CSI drivers: `v1` and `storage.k8s.io/v1`.

use super::super::intern::Interner;
use super::Meta;
use super::value::{List, Pairs, Text};
use crate::domain::{Name, storage};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A `PersistentVolume`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PersistentVolume<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Spec.
    pub spec: VolumeSpec<'a>,
    /// Status.
    pub status: Status<'a>,
}

/// `spec` of a volume.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VolumeSpec<'a> {
    /// Class.
    #[serde(borrow)]
    pub storage_class_name: Text<'a>,
    /// Claim.
    pub claim_ref: Option<Reference<'a>>,
    /// Mount options.
    pub mount_options: List<Text<'a>>,
    /// A CSI volume.
    pub csi: Option<CsiSource<'a>>,
    /// An NFS volume of the kubelet's own.
    pub nfs: Option<IgnoredAny>,
}

/// A reference to an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Reference<'a> {
    /// Namespace.
    #[serde(borrow)]
    pub namespace: Text<'a>,
    /// Name.
    pub name: Text<'a>,
}

/// `spec.csi` of a volume.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CsiSource<'a> {
    /// Driver.
    #[serde(borrow)]
    pub driver: Text<'a>,
    /// Handle.
    pub volume_handle: Text<'a>,
    /// What the driver needs to know.
    pub volume_attributes: Pairs<'a>,
    /// Secret of the account.
    pub node_stage_secret_ref: Option<Reference<'a>>,
}

/// `status` of a volume or claim.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status<'a> {
    /// Phase.
    #[serde(borrow)]
    pub phase: Text<'a>,
}

/// A `PersistentVolumeClaim`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct VolumeClaim<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Spec.
    pub spec: ClaimSpec<'a>,
    /// Status.
    pub status: Status<'a>,
}

/// `spec` of a claim.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClaimSpec<'a> {
    /// Volume.
    #[serde(borrow)]
    pub volume_name: Text<'a>,
}

/// A `StorageClass`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StorageClass<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Driver.
    pub provisioner: Text<'a>,
    /// What the driver needs to know.
    pub parameters: Pairs<'a>,
    /// Mount options.
    pub mount_options: List<Text<'a>>,
}

/// A `CSINode`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CsiNode<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Spec.
    pub spec: CsiNodeSpec<'a>,
}

/// `spec` of a `CSINode`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CsiNodeSpec<'a> {
    /// Registered drivers.
    #[serde(borrow)]
    pub drivers: List<Registered<'a>>,
}

/// A registered driver.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Registered<'a> {
    /// Name.
    #[serde(borrow)]
    pub name: Text<'a>,
}

/// A `CSIDriver`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CsiDriver<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Spec.
    pub spec: CsiDriverSpec,
}

/// `spec` of a `CSIDriver`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CsiDriverSpec {
    /// Whether volumes are attached before they are mounted.
    pub attach_required: Option<bool>,
}

impl PersistentVolume<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> storage::PersistentVolume {
        let spec = &self.spec;
        let source = match (&spec.csi, &spec.nfs) {
            (Some(csi), _) => storage::VolumeSource::Csi(csi.to_row(names)),
            (None, Some(_)) => storage::VolumeSource::Nfs,
            (None, None) => storage::VolumeSource::Other,
        };
        storage::PersistentVolume {
            key: self.metadata.key(names),
            phase: names.get(&self.status.phase),
            class: present(&spec.storage_class_name, names),
            claim: spec.claim_ref.as_ref().map(|claim| claim.to_row(names)),
            mount_options: shared(&spec.mount_options, names),
            source,
        }
    }
}

impl CsiSource<'_> {
    fn to_row(&self, names: &mut Interner) -> storage::CsiSource {
        storage::CsiSource {
            driver: names.get(&self.driver),
            handle: self.volume_handle.to_name(),
            source: attribute(&self.volume_attributes, "source", names),
            sub_dir: attribute(&self.volume_attributes, "subdir", names),
            stage_secret: self
                .node_stage_secret_ref
                .as_ref()
                .map(|secret| secret.to_row(names)),
        }
    }
}

impl Reference<'_> {
    fn to_row(&self, names: &mut Interner) -> (Name, Name) {
        (names.get(&self.namespace), names.get(&self.name))
    }
}

impl VolumeClaim<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> storage::VolumeClaim {
        storage::VolumeClaim {
            key: self.metadata.key(names),
            phase: names.get(&self.status.phase),
            volume: present(&self.spec.volume_name, names),
        }
    }
}

impl StorageClass<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> storage::StorageClass {
        storage::StorageClass {
            key: self.metadata.key(names),
            provisioner: names.get(&self.provisioner),
            source: attribute(&self.parameters, "source", names),
            mount_options: shared(&self.mount_options, names),
        }
    }
}

impl CsiNode<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> storage::CsiNode {
        storage::CsiNode {
            key: self.metadata.key(names),
            drivers: self
                .spec
                .drivers
                .iter()
                .map(|driver| names.get(&driver.name))
                .collect(),
        }
    }
}

impl CsiDriver<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> storage::CsiDriver {
        storage::CsiDriver {
            key: self.metadata.key(names),
            attach_required: self.spec.attach_required.unwrap_or(true),
        }
    }
}

fn present(text: &Text<'_>, names: &mut Interner) -> Option<Name> {
    text.present().map(|text| names.get(text))
}

fn shared(texts: &[Text<'_>], names: &mut Interner) -> Box<[Name]> {
    texts.iter().map(|text| names.get(text)).collect()
}

/// The driver takes its parameters in any case.
fn attribute(pairs: &Pairs<'_>, wanted: &str, names: &mut Interner) -> Option<Name> {
    let found = pairs.iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted));
    found
        .filter(|(_, value)| !value.is_empty())
        .map(|(_, value)| names.get(value))
}
