//! `v1` Node.

use super::super::intern::Interner;
use super::managed::Cordoner;
use super::value::{List, Text};
use super::{Meta, time};
use crate::domain::Name;
use crate::domain::node::{self, ConditionStatus, CordonedBy, NodeResources};
use crate::domain::object::Os;
use crate::domain::quantity;
use serde::Deserialize;

/// A Node.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a, Cordoner<'a>>,
    /// Spec.
    pub spec: Spec<'a>,
    /// Status.
    pub status: Status<'a>,
}

/// `spec`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Spec<'a> {
    /// Cordoned.
    pub unschedulable: bool,
    /// Taints.
    #[serde(borrow)]
    pub taints: List<Taint<'a>>,
}

/// A taint.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Taint<'a> {
    /// Key.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// Value.
    pub value: Text<'a>,
    /// Effect.
    pub effect: Text<'a>,
}

/// `status`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Status<'a> {
    /// Addresses.
    #[serde(borrow)]
    pub addresses: List<Address<'a>>,
    /// Conditions.
    pub conditions: List<Condition<'a>>,
    /// What the kubelet says about the machine.
    pub node_info: Info<'a>,
    /// All there is.
    pub capacity: Amounts<'a>,
    /// What pods may use.
    pub allocatable: Amounts<'a>,
}

/// An address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Address<'a> {
    /// `InternalIP`, `Hostname`, …
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    /// The address.
    pub address: Text<'a>,
}

/// A condition.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Condition<'a> {
    /// `Ready`, …
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    /// `True`, `False`, `Unknown`.
    pub status: Text<'a>,
    /// Reason.
    pub reason: Text<'a>,
    /// Message.
    pub message: Text<'a>,
    /// When the status changed.
    pub last_transition_time: Text<'a>,
}

/// `status.nodeInfo`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Info<'a> {
    /// Boot id.
    #[serde(rename = "bootID", borrow)]
    pub boot_id: Text<'a>,
    /// Architecture of the CPU.
    pub architecture: Text<'a>,
    /// Kernel version.
    pub kernel_version: Text<'a>,
    /// Name of the operating system.
    pub os_image: Text<'a>,
    /// Container runtime and version.
    pub container_runtime_version: Text<'a>,
    /// Kubelet version.
    pub kubelet_version: Text<'a>,
    /// `linux` or `windows`.
    pub operating_system: Text<'a>,
}

/// Amounts of resources.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Amounts<'a> {
    /// CPUs.
    #[serde(borrow)]
    pub cpu: Text<'a>,
    /// Memory.
    pub memory: Text<'a>,
    /// Number of pods.
    pub pods: Text<'a>,
}

const ROLE_LABEL: &str = "node-role.kubernetes.io/";
const OS_LABEL: &str = "kubernetes.io/os";
const WINDOWS_BUILD_LABEL: &str = "node.kubernetes.io/windows-build";

/// The operating system with this name in labels and `spec.os.name`.
pub fn os(name: &str) -> Option<Os> {
    match name {
        "windows" => Some(Os::Windows),
        "linux" => Some(Os::Linux),
        _ => None,
    }
}

impl Node<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> node::Node {
        let meta = &self.metadata;
        let info = &self.status.node_info;
        node::Node {
            name: names.get(&meta.name),
            uid: meta.uid.to_name(),
            os: meta
                .labels
                .find(OS_LABEL)
                .and_then(os)
                .or_else(|| os(&info.operating_system)),
            created_at: time::parse(&meta.creation_timestamp),
            roles: self.roles(names),
            internal_ips: self
                .status
                .addresses
                .iter()
                .filter(|address| &*address.kind == "InternalIP")
                .filter_map(|address| address.address.parse().ok())
                .collect(),
            kubelet_version: names.get(&info.kubelet_version),
            kernel_version: names.get(&info.kernel_version),
            os_image: names.get(&info.os_image),
            architecture: names.get(&info.architecture),
            container_runtime: names.get(&info.container_runtime_version),
            boot_id: info.boot_id.to_name(),
            windows_build_label: meta
                .labels
                .find(WINDOWS_BUILD_LABEL)
                .map(|build| names.get(build)),
            unschedulable: self.spec.unschedulable,
            cordoned_by: self.cordoned_by(names),
            maintenance: meta
                .annotations
                .as_ref()
                .and_then(|annotations| annotations.maintenance.clone()),
            proven_boot: meta
                .annotations
                .as_ref()
                .and_then(|annotations| annotations.proven_boot.clone()),
            taints: self.spec.taints.iter().map(|taint| taint.to_row(names)).collect(),
            conditions: self
                .status
                .conditions
                .iter()
                .map(|condition| condition.to_row(names))
                .collect(),
            capacity: self.status.capacity.to_row(),
            allocatable: self.status.allocatable.to_row(),
        }
    }

    fn cordoned_by(&self, names: &mut Interner) -> Option<CordonedBy> {
        let entry = self.metadata.managed_fields.0.as_ref()?;
        self.spec.unschedulable.then(|| CordonedBy {
            manager: names.get(&entry.manager),
            at: time::parse(&entry.time),
        })
    }

    fn roles(&self, names: &mut Interner) -> Box<[Name]> {
        self.metadata
            .labels
            .iter()
            .filter_map(|(key, _)| key.strip_prefix(ROLE_LABEL))
            .filter(|role| !role.is_empty())
            .map(|role| names.get(role))
            .collect()
    }
}

impl Taint<'_> {
    fn to_row(&self, names: &mut Interner) -> node::Taint {
        node::Taint {
            key: names.get(&self.key),
            value: names.get(&self.value),
            effect: names.get(&self.effect),
        }
    }
}

impl Condition<'_> {
    fn to_row(&self, names: &mut Interner) -> node::Condition {
        node::Condition {
            kind: names.get(&self.kind),
            status: match &*self.status {
                "True" => ConditionStatus::True,
                "False" => ConditionStatus::False,
                _ => ConditionStatus::Unknown,
            },
            reason: names.get(&self.reason),
            message: names.get(&self.message),
            since: time::parse(&self.last_transition_time),
        }
    }
}

impl Amounts<'_> {
    fn to_row(&self) -> NodeResources {
        NodeResources {
            cpu_millicores: quantity::millicores(&self.cpu).ok(),
            memory_bytes: quantity::bytes(&self.memory).ok(),
            pods: self.pods.parse().ok(),
        }
    }
}
