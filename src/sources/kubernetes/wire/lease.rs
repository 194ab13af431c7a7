//! Heartbeats of nodes: `coordination.k8s.io/v1` Lease.

use super::super::intern::Interner;
use super::value::Text;
use super::{Meta, time};
use crate::domain::object::NodeLease;
use serde::Deserialize;

/// A Lease.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Lease<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Spec.
    pub spec: Spec<'a>,
}

/// `spec` of a Lease.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Spec<'a> {
    /// When the holder renewed it, by the holder's clock.
    #[serde(borrow)]
    pub renew_time: Text<'a>,
    /// How long it holds, seconds.
    pub lease_duration_seconds: Option<i64>,
}

impl Lease<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> NodeLease {
        NodeLease {
            node: names.get(&self.metadata.name),
            uid: self.metadata.uid.to_name(),
            renew_time: time::parse(&self.spec.renew_time),
            duration_seconds: self
                .spec
                .lease_duration_seconds
                .and_then(|seconds| u32::try_from(seconds).ok()),
        }
    }
}
