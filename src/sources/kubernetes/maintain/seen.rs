//! A node as it is looked at before it is changed: whose it is, who cordoned it, and in which version.

use crate::domain::Timestamp;
use crate::domain::text::sanitise;
use crate::maintenance::record::Record;
use crate::sources::kubernetes::wire::node::{Spec, Status};
use crate::sources::kubernetes::wire::value::{List, Pairs, Text};
use crate::sources::kubernetes::wire::{Annotations, time};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::net::IpAddr;

/// Name under which this program's changes are kept in `managedFields`.
pub const MANAGER: &str = "drainboard";

/// A node.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SeenNode<'a> {
    /// `Node`, which tells it from other answers. Items of a list have none.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// Metadata.
    pub metadata: SeenMeta<'a>,
    /// Spec.
    pub spec: Spec<'a>,
    /// Status.
    pub status: Status<'a>,
}

/// Its metadata.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SeenMeta<'a> {
    /// Name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// UID.
    pub uid: Text<'a>,
    /// The version that a change must still find.
    pub resource_version: Text<'a>,
    /// Labels.
    pub labels: Pairs<'a>,
    annotations: Option<Annotations>,
    managed_fields: List<ManagedBy<'a>>,
}

/// An entry of `managedFields`: who set which fields, and when.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ManagedBy<'a> {
    #[serde(borrow)]
    manager: Text<'a>,
    time: Text<'a>,
    fields_v1: Option<Fields>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(rename = "f:spec")]
    spec: Option<SpecFields>,
    #[serde(rename = "f:metadata")]
    metadata: Option<MetaFields>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SpecFields {
    #[serde(rename = "f:unschedulable")]
    unschedulable: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MetaFields {
    #[serde(rename = "f:annotations")]
    annotations: Option<AnnotationFields>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnnotationFields {
    #[serde(rename = "f:drainboard.io/maintenance")]
    maintenance: Option<IgnoredAny>,
}

/// Whose maintenance a node is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Nobody's.
    Nobody,
    /// Of the maintenance that asks.
    Ours,
    /// Another one's: by whom, and with which id where the record is understood.
    Other(String),
}

impl SeenNode<'_> {
    /// The record in its annotation, as written.
    pub fn record(&self) -> Option<&str> {
        self.metadata.annotations.as_ref()?.maintenance.as_deref()
    }

    /// Whose maintenance it is in, asked by the maintenance `id`.
    pub fn owner(&self, id: &str) -> Owner {
        match self.record().map(Record::parse) {
            None => Owner::Nobody,
            Some(Ok(record)) if record.id == id => Owner::Ours,
            Some(Ok(record)) => {
                Owner::Other(sanitise(&format!("{} ({})", record.by, record.id)).into_owned())
            }
            Some(Err(_)) => Owner::Other(
                "somebody whose record is not understood (a newer version of this program?)".to_owned(),
            ),
        }
    }

    /// When the record was last written: by the server's word, else when the maintenance was started.
    pub fn record_written(&self) -> Option<Timestamp> {
        let writes_it = |entry: &&ManagedBy<'_>| {
            let metadata = entry
                .fields_v1
                .as_ref()
                .and_then(|fields| fields.metadata.as_ref());
            let annotations = metadata.and_then(|metadata| metadata.annotations.as_ref());
            annotations.is_some_and(|annotations| annotations.maintenance.is_some())
        };
        let entries = self.metadata.managed_fields.iter().filter(writes_it);
        let written = entries.filter_map(|entry| time::parse(&entry.time)).max();
        written.or_else(|| Some(Record::parse(self.record()?).ok()?.started_at))
    }

    /// Who set `spec.unschedulable`, by the server's word.
    pub fn cordoned_by(&self) -> impl Iterator<Item = &str> {
        let sets_it = |entry: &&ManagedBy<'_>| {
            let spec = entry.fields_v1.as_ref().and_then(|fields| fields.spec.as_ref());
            spec.is_some_and(|spec| spec.unschedulable.is_some())
        };
        let entries = self.metadata.managed_fields.iter().filter(sets_it);
        entries.map(|entry| &*entry.manager)
    }

    /// Its first `InternalIP`.
    pub fn address(&self) -> Option<IpAddr> {
        let addresses = self.status.addresses.iter();
        addresses
            .filter(|address| &*address.kind == "InternalIP")
            .find_map(|address| address.address.parse().ok())
    }
}
