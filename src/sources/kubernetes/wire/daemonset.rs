//! `apps/v1` `DaemonSet`.

use super::super::intern::Interner;
use super::Meta;
use super::pod::SecurityContext;
use super::value::{List, Pairs, Text};
use crate::domain::{node, object};
use serde::Deserialize;

/// A `DaemonSet`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct DaemonSet<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Spec.
    pub spec: Spec<'a>,
    /// Status.
    pub status: Status,
}

/// `spec`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Spec<'a> {
    /// Template of its pods.
    #[serde(borrow)]
    pub template: Template<'a>,
}

/// `spec.template`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Template<'a> {
    /// Spec of its pods.
    #[serde(borrow)]
    pub spec: TemplateSpec<'a>,
}

/// `spec.template.spec`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TemplateSpec<'a> {
    /// Which nodes it wants.
    #[serde(borrow)]
    pub node_selector: Pairs<'a>,
    /// Security context of the pod.
    pub security_context: Option<SecurityContext>,
    /// The taints that its pods put up with.
    pub tolerations: List<Toleration<'a>>,
    /// Containers.
    pub containers: List<TemplateContainer<'a>>,
}

/// A toleration.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Toleration<'a> {
    /// Key; empty for every key.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// `Equal` or `Exists`.
    pub operator: Text<'a>,
    /// Value.
    pub value: Text<'a>,
    /// Effect; empty for every effect.
    pub effect: Text<'a>,
}

/// A container of the template.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TemplateContainer<'a> {
    /// Image.
    #[serde(borrow)]
    pub image: Text<'a>,
    /// Security context of the container.
    pub security_context: Option<SecurityContext>,
}

/// `status`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Status {
    /// How many nodes should run it.
    pub desired_number_scheduled: i64,
    /// How many run it and are ready.
    pub number_ready: i64,
}

impl DaemonSet<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> object::DaemonSet {
        let template = &self.spec.template.spec;
        object::DaemonSet {
            key: self.metadata.key(names),
            desired: u32::try_from(self.status.desired_number_scheduled).unwrap_or(0),
            ready: u32::try_from(self.status.number_ready).unwrap_or(0),
            node_selector: names.pairs(&template.node_selector),
            host_process: SecurityContext::is_host_process(template.security_context.as_ref())
                || template
                    .containers
                    .iter()
                    .any(|container| SecurityContext::is_host_process(container.security_context.as_ref())),
            tolerations: template
                .tolerations
                .iter()
                .map(|toleration| toleration.to_row(names))
                .collect(),
            images: template
                .containers
                .iter()
                .map(|container| names.get(&container.image))
                .collect(),
        }
    }
}

impl Toleration<'_> {
    fn to_row(&self, names: &mut Interner) -> node::Toleration {
        let mut present = |text: &Text<'_>| text.present().map(|text| names.get(text));
        node::Toleration {
            key: present(&self.key),
            effect: present(&self.effect),
            value: (&*self.operator != "Exists").then(|| names.get(&self.value)),
        }
    }
}
