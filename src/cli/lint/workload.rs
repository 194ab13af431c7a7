//! The pod templates of a file: of every workload kind, and of what looks like one.

use super::tree::{Node, Value};
use crate::findings::Object;

/// An object that holds a pod spec.
#[derive(Clone, Debug)]
pub struct Workload<'a> {
    /// The object.
    pub object: Object,
    /// Its pod spec.
    pub spec: &'a Node,
}

/// Where the pod spec of a kind stands. Whatever else has a template with containers is a workload too: custom kinds
/// copy the Deployment's shape.
fn pod_spec(object: &Node) -> Option<&Node> {
    let path: &[&str] = match object.get("kind").and_then(Node::text) {
        Some("Pod") => &["spec"],
        Some("PodTemplate") => &["template", "spec"],
        Some("CronJob") => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => &["spec", "template", "spec"],
    };
    object.at(path).filter(|spec| spec.get("containers").is_some())
}

/// Every object of these documents, those in lists too.
pub fn objects(documents: &[Node]) -> Vec<&Node> {
    let mut found = Vec::new();
    for document in documents {
        let kind = document.get("kind").and_then(Node::text).unwrap_or_default();
        match document.get("items") {
            Some(items) if kind.ends_with("List") => found.extend(objects(items.items())),
            _ => found.push(document),
        }
    }
    found
}

/// The workload that this object is, if it is one.
pub fn workload(object: &Node) -> Option<Workload<'_>> {
    let spec = pod_spec(object)?;
    let kind = object.get("kind").and_then(Node::text).unwrap_or("object");
    Some(Workload {
        object: identity(object, kind),
        spec,
    })
}

/// Kind, namespace and name as written; `generateName` where there is no name.
fn identity(object: &Node, kind: &str) -> Object {
    let meta = |key: &str| object.at(&["metadata", key]).and_then(Node::text);
    let name = meta("name")
        .or_else(|| meta("generateName"))
        .unwrap_or("without name");
    Object {
        kind: kind.into(),
        namespace: meta("namespace").map(Into::into),
        name: name.into(),
    }
}

/// The line to which a way from the pod spec leads, or that of the nearest field above it.
pub fn line_of(spec: &Node, steps: &[crate::findings::manifest::Step]) -> u64 {
    use crate::findings::manifest::Step;
    let mut here = spec;
    for step in steps {
        let next = match (step, &here.value) {
            (Step::Key(key), Value::Map(_)) => here.get(key),
            (Step::Item(index), Value::List(items)) => items.get(*index),
            _ => None,
        };
        match next {
            Some(node) => here = node,
            None => break,
        }
    }
    here.line
}
