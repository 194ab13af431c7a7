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

#[cfg(test)]
mod tests {
    use super::super::super::intern::Interner;
    use super::super::node::Node;
    use crate::domain::node::CordonedBy;
    use serde_json::{Value, json};

    fn cordoned_by(unschedulable: bool, managed: &Value) -> Option<CordonedBy> {
        let text = json!({
            "metadata": {"name": "k8s-lab-win-1", "uid": "u", "managedFields": managed},
            "spec": {"unschedulable": unschedulable},
        })
        .to_string();
        let wire: Node<'_> = serde_json::from_str(&text).unwrap();
        wire.to_row(&mut Interner::default()).cordoned_by
    }

    fn entry(manager: &str, time: &str, fields: &Value) -> Value {
        json!({"apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields, "manager": manager,
            "operation": "Update", "time": time})
    }

    /// As a real API server writes it: the node controller sets the taint that follows the cordon.
    fn after_a_cordon() -> Vec<Value> {
        vec![
            entry(
                "kubelet.exe",
                "2026-11-30T08:00:00Z",
                &json!({"f:metadata": {"f:annotations": {".": {}}}}),
            ),
            entry(
                "kubectl-cordon",
                "2026-12-01T04:00:00Z",
                &json!({"f:spec": {"f:unschedulable": {}}}),
            ),
            entry(
                "kube-controller-manager",
                "2026-12-01T04:00:01Z",
                &json!({"f:spec": {"f:taints": {}}}),
            ),
            json!({"manager": "kubelet.exe", "operation": "Update", "subresource": "status",
                "fieldsV1": {"f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": {"f:status": {}}}}}}),
        ]
    }

    #[test]
    fn who_set_unschedulable_cordoned_the_node() {
        let by = cordoned_by(true, &Value::from(after_a_cordon())).unwrap();
        assert_eq!(&*by.manager, "kubectl-cordon");
        assert_eq!(by.at.unwrap().to_rfc3339(), "2026-12-01T04:00:00+00:00");
    }

    #[test]
    fn of_two_who_set_it_the_later_counts_wherever_it_stands() {
        let later = entry(
            "drainboard",
            "2026-12-01T05:00:00Z",
            &json!({"f:metadata": {}, "f:spec": {"f:taints": {}, "f:unschedulable": {}}}),
        );
        let mut last = after_a_cordon();
        last.push(later.clone());
        let mut first = after_a_cordon();
        first.insert(0, later);
        for managed in [last, first] {
            assert_eq!(
                &*cordoned_by(true, &managed.into()).unwrap().manager,
                "drainboard"
            );
        }
    }

    #[test]
    fn without_a_cordon_or_without_the_field_nobody_is_named() {
        assert_eq!(cordoned_by(false, &Value::from(after_a_cordon())), None);
        let without: Vec<Value> = after_a_cordon().drain(..1).collect();
        for managed in [
            Value::from(without),
            json!(null),
            json!([]),
            json!([{"manager": "m", "fieldsV1": null}, {"fieldsV1": {"f:spec": null}}]),
        ] {
            assert_eq!(cordoned_by(true, &managed), None, "{managed}");
        }
    }

    #[test]
    fn a_time_that_is_missing_is_absent() {
        let managed = json!([{"manager": "old-client", "fieldsV1": {"f:spec": {"f:unschedulable": {}}}}]);
        let by = cordoned_by(true, &managed).unwrap();
        assert_eq!((&*by.manager, by.at), ("old-client", None));
    }
}
