//! `metadata.managedFields` of a node: who set `spec.unschedulable`. Everything else in it is skipped without being
//! stored; it is half of what an object weighs.

use super::value::Text;
use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::fmt;

/// The newest entry that has `f:unschedulable` in its `f:spec`, if there is one.
#[derive(Debug, Default)]
pub struct Cordoner<'a>(pub Option<Entry<'a>>);

/// An entry of `managedFields`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Entry<'a> {
    /// Field manager, e.g. `kubectl-cordon`.
    #[serde(borrow)]
    pub manager: Text<'a>,
    /// When the manager last changed one of its fields, RFC 3339.
    pub time: Text<'a>,
    /// Its fields.
    #[serde(rename = "fieldsV1")]
    fields: Option<Fields>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(rename = "f:spec")]
    spec: Option<SpecFields>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct SpecFields {
    #[serde(rename = "f:unschedulable")]
    unschedulable: Option<IgnoredAny>,
}

impl Entry<'_> {
    fn has_unschedulable(&self) -> bool {
        self.fields
            .as_ref()
            .and_then(|fields| fields.spec.as_ref())
            .is_some_and(|spec| spec.unschedulable.is_some())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Cordoner<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;

        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Cordoner<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of managed fields or null")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut found: Option<Entry<'de>> = None;
                while let Some(entry) = entries.next_element::<Entry<'de>>()? {
                    // Times of one format: the order of the text is the order of time.
                    let newer = found.as_ref().is_none_or(|found| *entry.time >= *found.time);
                    if entry.has_unschedulable() && newer {
                        found = Some(entry);
                    }
                }
                Ok(Cordoner(found))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Cordoner::default())
            }
        }

        deserializer.deserialize_any(EntriesVisitor)
    }
}
