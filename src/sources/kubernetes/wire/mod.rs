//! The API's JSON as lean types: only the fields that the program shows or decides on, borrowed from the
//! bytes of the answer. Unknown fields are skipped without being stored, and so are managed fields but a node's.
//! Wire types end here: each has a function that turns it into a row of `domain`.

pub mod budget;
pub mod daemonset;
pub mod event;
pub mod lease;
mod managed;
pub mod node;
pub mod pod;
mod pod_row;
pub mod storage;
pub mod time;
pub mod value;

#[cfg(test)]
mod tests;

use crate::domain::Name;
use crate::domain::object::ObjectKey;
use serde::Deserialize;
use serde::de::IgnoredAny;
use value::{List, Pairs, Text};

use super::intern::Interner;

/// `metadata` of any object; `M` is what is read of its managed fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Meta<'a, M = IgnoredAny> {
    /// Name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Namespace, empty for cluster-scoped objects.
    pub namespace: Text<'a>,
    /// UID.
    pub uid: Text<'a>,
    /// Where a watch goes on from here.
    pub resource_version: Text<'a>,
    /// Counts the changes of the spec, where the kind does that.
    pub generation: Option<i64>,
    /// RFC 3339.
    pub creation_timestamp: Text<'a>,
    /// RFC 3339, empty while nobody deleted the object.
    pub deletion_timestamp: Text<'a>,
    /// Labels.
    pub labels: Pairs<'a>,
    /// The annotations that matter.
    pub annotations: Option<Annotations>,
    /// Owners.
    pub owner_references: List<OwnerReference<'a>>,
    /// Who manages which field.
    pub managed_fields: M,
}

/// The annotations that matter.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Annotations {
    /// A static pod's mirror carries it.
    #[serde(rename = "kubernetes.io/config.mirror")]
    pub mirror: Option<IgnoredAny>,
    /// A node that is being worked on carries the record ([`crate::maintenance::record`]).
    #[serde(rename = "drainboard.io/maintenance")]
    pub maintenance: Option<Name>,
    /// The boot that the last maintenance of a node proved.
    #[serde(rename = "drainboard.io/proven-boot")]
    pub proven_boot: Option<Name>,
}

/// An owner.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct OwnerReference<'a> {
    /// Kind.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// Name.
    pub name: Text<'a>,
    /// Whether it is the controlling one.
    pub controller: Option<bool>,
}

/// An object of which only the metadata counts (what was deleted, where a watch stands).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Bare<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
}

impl<M> Meta<'_, M> {
    /// Identity of the object.
    pub fn key(&self, names: &mut Interner) -> ObjectKey {
        ObjectKey {
            namespace: (!self.namespace.is_empty()).then(|| names.get(&self.namespace)),
            name: self.name.to_name(),
            uid: self.uid.to_name(),
        }
    }
}

/// One line of a watch.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", content = "object", rename_all = "UPPERCASE")]
#[serde(bound(deserialize = "W: Deserialize<'de>, 'de: 'a"))]
pub enum WatchLine<'a, W> {
    /// A new object.
    Added(W),
    /// A changed object.
    Modified(W),
    /// An object that is gone, in its last state.
    Deleted(Bare<'a>),
    /// Nothing changed up to this resource version.
    Bookmark(Bare<'a>),
    /// The watch ends with this error.
    Error(Status<'a>),
}

/// `v1` Status: how the API server words errors.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status<'a> {
    /// `Status`, which tells it from other answers.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// HTTP status code.
    pub code: Option<u16>,
    /// Machine-readable reason, e.g. `Expired`.
    pub reason: Text<'a>,
    /// Text for people.
    pub message: Text<'a>,
    /// `Success` or `Failure`.
    pub status: Text<'a>,
    /// What the failure is about.
    pub details: Option<StatusDetails<'a>>,
}

/// `details` of a Status.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StatusDetails<'a> {
    /// Name of the object.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// How long to wait, seconds.
    pub retry_after_seconds: Option<i64>,
    /// The reasons one by one.
    pub causes: List<StatusCause<'a>>,
}

/// One reason of a failure.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StatusCause<'a> {
    /// Machine-readable, e.g. `DisruptionBudget`.
    #[serde(borrow)]
    pub reason: Text<'a>,
    /// Text for people.
    pub message: Text<'a>,
}

impl Status<'_> {
    /// The cause with this reason.
    pub fn cause(&self, reason: &str) -> Option<&StatusCause<'_>> {
        let causes = &self.details.as_ref()?.causes;
        causes.iter().find(|cause| &*cause.reason == reason)
    }
}

/// What stands around the items of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Envelope<'a> {
    /// `PodList`, …
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// List metadata.
    pub metadata: ListMeta<'a>,
}

/// `metadata` of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ListMeta<'a> {
    /// From here a watch goes on.
    #[serde(borrow)]
    pub resource_version: Text<'a>,
    /// Token of the next page, empty on the last one.
    #[serde(rename = "continue")]
    pub next_page: Text<'a>,
}
