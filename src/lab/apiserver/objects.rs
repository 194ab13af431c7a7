//! The memory of the embedded API server: every object by resource, namespace and name, with one revision
//! counter, optimistic concurrency, graceful deletion of pods, and a window of history for watches and paging.

use super::defaults;
use super::failure::{Failure, Outcome};
use super::history::{Change, ChangeKind, Expired, Shelf};
use super::kinds::{self, Kind};
use super::random;
use chrono::{DateTime, Duration, SecondsFormat, Utc};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Namespace (empty for cluster-scoped objects) and name.
pub type Key = (String, String);

/// Objects by key, in the order in which a list shows them.
pub type Snapshot = BTreeMap<Key, Arc<Value>>;

/// Which half of an object a write may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Metadata and spec; the status stays, if the resource has a status subresource.
    Main,
    /// Metadata and status; the spec stays.
    Status,
}

/// The part of `DeleteOptions` that the server obeys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deletion {
    /// Seconds; `None` is the object's own grace period.
    pub grace_period: Option<i64>,
    /// Delete only the object with this UID.
    pub uid: Option<String>,
    /// Delete only this version of the object.
    pub resource_version: Option<String>,
    /// Say what would happen and change nothing.
    pub dry_run: bool,
}

/// What a deletion did.
#[derive(Debug, Clone, PartialEq)]
pub enum Deleted {
    /// The object is gone; this was its last state.
    Gone(Arc<Value>),
    /// The object is only marked: a kubelet has to end it (or the namespace has to empty).
    Marked(Arc<Value>),
}

struct Inner {
    revision: u64,
    shelves: HashMap<&'static Kind, Shelf>,
}

/// All objects. Cheap to clone; all clones are one store.
#[derive(Clone)]
pub struct Objects {
    inner: Arc<Mutex<Inner>>,
}

impl Objects {
    /// An empty store that remembers `history` changes of each resource.
    pub fn new(history: usize) -> Self {
        let shelves = kinds::all().map(|kind| (kind, Shelf::new(history))).collect();
        // A real cluster is never at revision 0, which means "any" in a request.
        Self {
            inner: Arc::new(Mutex::new(Inner { revision: 1, shelves })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The revision of the latest change of any object.
    pub fn revision(&self) -> u64 {
        self.lock().revision
    }

    /// One object.
    pub fn get(&self, kind: &'static Kind, namespace: &str, name: &str) -> Outcome<Arc<Value>> {
        self.lock().get(kind, &key(namespace, name))
    }

    /// All objects of a resource as they are now, with the revision they are at.
    pub fn list(&self, kind: &'static Kind) -> (u64, Snapshot) {
        let inner = self.lock();
        (
            inner.revision,
            inner.shelves.get(kind).map(Shelf::objects).unwrap_or_default(),
        )
    }

    /// All objects of a resource as they were at `revision`.
    pub fn list_at(&self, kind: &'static Kind, revision: u64) -> Result<Snapshot, Expired> {
        let inner = self.lock();
        inner
            .shelves
            .get(kind)
            .map_or_else(|| Ok(Snapshot::new()), |shelf| shelf.objects_at(revision))
    }

    /// The changes of a resource after `revision`, oldest first.
    pub fn changes_after(&self, kind: &'static Kind, revision: u64) -> Result<Vec<Change>, Expired> {
        let inner = self.lock();
        inner
            .shelves
            .get(kind)
            .map_or_else(|| Ok(Vec::new()), |shelf| shelf.changes_after(revision))
    }

    /// Wakes when a resource changes; the value is the revision of its latest change.
    pub fn subscribe(&self, kind: &'static Kind) -> watch::Receiver<u64> {
        let inner = self.lock();
        inner
            .shelves
            .get(kind)
            .map_or_else(|| watch::channel(0).1, Shelf::subscribe)
    }

    /// Forgets the history of a resource, as a compaction does: older watches and pages get 410.
    pub fn compact(&self, kind: &'static Kind) {
        let mut inner = self.lock();
        let revision = inner.revision;
        if let Some(shelf) = inner.shelves.get_mut(kind) {
            shelf.compact(revision);
        }
    }

    /// Adds an object: identity, creation time and defaults are set here.
    ///
    /// # Errors
    /// 404 when the namespace does not exist, 403 when it is being deleted, 409 when the name is taken, 422
    /// without a name.
    pub fn create(
        &self,
        kind: &'static Kind,
        namespace: &str,
        object: Value,
        dry_run: bool,
    ) -> Outcome<Arc<Value>> {
        let mut inner = self.lock();
        let object = inner.admit(kind, namespace, object)?;
        let key = key(namespace, text(&object, "/metadata/name"));
        if inner.get(kind, &key).is_ok() {
            return Err(Failure::already_exists(kind, &key.1));
        }
        if dry_run {
            return Ok(Arc::new(object));
        }
        Ok(inner.record(kind, key, ChangeKind::Added, object))
    }

    /// Reads, changes and writes one object as one step. `change` gets the current object and returns the wanted one.
    ///
    /// # Errors
    /// 404 when there is no such object, 409 when the wanted object carries another resource version or UID, and
    /// what `change` itself refuses.
    pub fn update(
        &self,
        kind: &'static Kind,
        (namespace, name): (&str, &str),
        part: Part,
        dry_run: bool,
        change: impl FnOnce(&Value) -> Outcome<Value>,
    ) -> Outcome<Arc<Value>> {
        let mut inner = self.lock();
        let key = key(namespace, name);
        let old = inner.get(kind, &key)?;
        let wanted = change(&old)?;
        check_shape(&wanted)?;
        check_preconditions(kind, &key.1, &old, &wanted)?;
        let new = merge_parts(kind, &old, wanted, part);
        if dry_run || new == *old {
            return Ok(Arc::new(new));
        }
        Ok(inner.record(kind, key, ChangeKind::Modified, new))
    }

    /// Deletes an object. A pod on a node is only marked, unless the grace period is 0; a namespace with content too.
    ///
    /// # Errors
    /// 404 when there is no such object, 409 when a precondition does not hold.
    pub fn delete(
        &self,
        kind: &'static Kind,
        namespace: &str,
        name: &str,
        deletion: &Deletion,
        now: DateTime<Utc>,
    ) -> Outcome<Deleted> {
        let mut inner = self.lock();
        let key = key(namespace, name);
        let object = inner.get(kind, &key)?;
        check_deletion(kind, name, &object, deletion)?;
        if kind == &kinds::NAMESPACES {
            return Ok(inner.delete_namespace(&key, &object, deletion, now));
        }
        let grace = if kind == &kinds::PODS {
            pod_grace(&object, deletion)
        } else {
            0
        };
        if grace == 0 {
            if !deletion.dry_run {
                let gone = inner.record(kind, key, ChangeKind::Deleted, (*object).clone());
                inner.finish_namespace(namespace);
                return Ok(Deleted::Gone(gone));
            }
            return Ok(Deleted::Gone(object));
        }
        let already = object
            .pointer("/metadata/deletionGracePeriodSeconds")
            .and_then(Value::as_i64);
        if deletion.dry_run || already.is_some_and(|already| already <= grace) {
            return Ok(Deleted::Marked(object));
        }
        let marked = marked_for_deletion(&object, grace, now);
        Ok(Deleted::Marked(inner.record(
            kind,
            key,
            ChangeKind::Modified,
            marked,
        )))
    }
}

impl Inner {
    fn get(&self, kind: &'static Kind, key: &Key) -> Outcome<Arc<Value>> {
        self.shelves
            .get(kind)
            .and_then(|shelf| shelf.get(key))
            .ok_or_else(|| Failure::not_found(kind, &key.1))
    }

    /// Checks and completes an object before it is added.
    fn admit(&self, kind: &'static Kind, namespace: &str, mut object: Value) -> Outcome<Value> {
        check_shape(&object)?;
        let name = match (
            text(&object, "/metadata/name"),
            text(&object, "/metadata/generateName"),
        ) {
            ("", "") => {
                return Err(Failure::invalid(
                    kind,
                    "",
                    "metadata.name",
                    "Required value: name or generateName is required",
                ));
            }
            ("", prefix) => format!("{prefix}{}", random::name_suffix()),
            (name, _) => name.to_owned(),
        };
        if !is_name(&name) {
            let why = format!("Invalid value: {name:?}: a lowercase RFC 1123 subdomain is required");
            return Err(Failure::invalid(kind, &name, "metadata.name", &why));
        }
        if kind.namespaced {
            let of_namespace = self.get(&kinds::NAMESPACES, &key("", namespace))?;
            if of_namespace.pointer("/metadata/deletionTimestamp").is_some() {
                let why = format!(
                    "unable to create new content in namespace {namespace} because it is being terminated"
                );
                let mut failure = Failure::forbidden(kind, &name, &why);
                failure.details["causes"] = json!([{
                    "reason": "NamespaceTerminating", "message": format!("namespace {namespace} is being terminated"),
                    "field": "metadata.namespace",
                }]);
                return Err(failure);
            }
        }
        let metadata = metadata_mut(&mut object);
        metadata["name"] = json!(name);
        metadata["uid"] = json!(random::uid());
        metadata["creationTimestamp"] = json!(timestamp(Utc::now()));
        for server_owned in [
            "resourceVersion",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
            "selfLink",
        ] {
            remove(metadata, server_owned);
        }
        if kind.generation {
            metadata["generation"] = json!(1);
        }
        if kind.namespaced {
            metadata["namespace"] = json!(namespace);
        }
        object["kind"] = json!(kind.kind);
        object["apiVersion"] = json!(kind.api_version());
        let runtime_class = text(&object, "/spec/runtimeClassName").to_owned();
        let runtime_class = (kind == &kinds::PODS && !runtime_class.is_empty())
            .then(|| {
                self.get(&kinds::RUNTIME_CLASSES, &key("", &runtime_class))
                    .map_err(|_| {
                        Failure::forbidden(
                            kind,
                            &name,
                            &format!("pod rejected: RuntimeClass {runtime_class:?} not found"),
                        )
                    })
            })
            .transpose()?;
        defaults::complete(kind, &mut object, runtime_class.as_deref())?;
        Ok(object)
    }

    /// Gives the object the next revision and keeps the change.
    fn record(&mut self, kind: &'static Kind, key: Key, change: ChangeKind, mut object: Value) -> Arc<Value> {
        self.revision += 1;
        metadata_mut(&mut object)["resourceVersion"] = json!(self.revision.to_string());
        let object = Arc::new(object);
        if let Some(shelf) = self.shelves.get_mut(kind) {
            shelf.record(self.revision, key, change, Arc::clone(&object));
        }
        object
    }

    /// Marks a namespace, deletes its content, and removes it when nothing is left in it.
    fn delete_namespace(
        &mut self,
        key: &Key,
        object: &Arc<Value>,
        deletion: &Deletion,
        now: DateTime<Utc>,
    ) -> Deleted {
        if deletion.dry_run || object.pointer("/metadata/deletionTimestamp").is_some() {
            return Deleted::Marked(Arc::clone(object));
        }
        let mut marked = marked_for_deletion(object, 0, now);
        remove(metadata_mut(&mut marked), "deletionGracePeriodSeconds");
        marked["status"]["phase"] = json!("Terminating");
        let marked = self.record(&kinds::NAMESPACES, key.clone(), ChangeKind::Modified, marked);
        for kind in kinds::all().filter(|kind| kind.namespaced) {
            let content = self.shelves.get(kind).map(Shelf::objects).unwrap_or_default();
            for (key, object) in content.into_iter().filter(|(content, _)| content.0 == key.1) {
                let grace = if kind == &kinds::PODS {
                    pod_grace(&object, &Deletion::default())
                } else {
                    0
                };
                if grace == 0 {
                    self.record(kind, key, ChangeKind::Deleted, (*object).clone());
                } else if object.pointer("/metadata/deletionTimestamp").is_none() {
                    self.record(
                        kind,
                        key,
                        ChangeKind::Modified,
                        marked_for_deletion(&object, grace, now),
                    );
                }
            }
        }
        self.finish_namespace(&key.1);
        Deleted::Marked(marked)
    }

    /// Removes a namespace that is being deleted once it is empty.
    fn finish_namespace(&mut self, namespace: &str) {
        let own = key("", namespace);
        let Ok(object) = self.get(&kinds::NAMESPACES, &own) else {
            return;
        };
        let empty = kinds::all().filter(|kind| kind.namespaced).all(|kind| {
            self.shelves
                .get(kind)
                .is_none_or(|shelf| !shelf.has_namespace(namespace))
        });
        if empty && object.pointer("/metadata/deletionTimestamp").is_some() {
            self.record(&kinds::NAMESPACES, own, ChangeKind::Deleted, (*object).clone());
        }
    }
}

fn key(namespace: &str, name: &str) -> Key {
    (namespace.to_owned(), name.to_owned())
}

/// The text at a JSON pointer, or nothing.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// A time as the API writes it: UTC, whole seconds.
pub fn timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The metadata of an object (which must be a JSON object), made if it is missing.
pub fn metadata_mut(object: &mut Value) -> &mut Value {
    let metadata = &mut object["metadata"];
    if !metadata.is_object() {
        *metadata = json!({});
    }
    metadata
}

/// Takes a field out of a JSON object.
pub fn remove(object: &mut Value, field: &str) {
    if let Some(fields) = object.as_object_mut() {
        fields.remove(field);
    }
}

/// An object is a JSON object, and so are its parts.
fn check_shape(object: &Value) -> Outcome<()> {
    if !object.is_object() {
        return Err(Failure::bad_request("the object provided is not a JSON object"));
    }
    for part in ["metadata", "spec", "status"] {
        if !object[part].is_null() && !object[part].is_object() {
            return Err(Failure::bad_request(format!(
                "the object provided is unrecognized: {part} is not a JSON object"
            )));
        }
    }
    Ok(())
}

/// Whether a name can stand in a URL and in a DNS name: what the API accepts for nearly every resource.
fn is_name(name: &str) -> bool {
    let inner = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    name.len() <= 253
        && name
            .bytes()
            .all(|letter| inner(letter) || letter == b'-' || letter == b'.')
        && name.bytes().next().is_some_and(inner)
        && name.bytes().last().is_some_and(inner)
}

fn check_preconditions(kind: &Kind, name: &str, old: &Value, wanted: &Value) -> Outcome<()> {
    let (version, current) = (
        text(wanted, "/metadata/resourceVersion"),
        text(old, "/metadata/resourceVersion"),
    );
    if !version.is_empty() && version != current {
        return Err(Failure::conflict(
            kind,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        ));
    }
    let (uid, current) = (text(wanted, "/metadata/uid"), text(old, "/metadata/uid"));
    if !uid.is_empty() && uid != current {
        let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {current}");
        return Err(Failure::conflict(kind, name, &why));
    }
    Ok(())
}

fn check_deletion(kind: &Kind, name: &str, object: &Value, deletion: &Deletion) -> Outcome<()> {
    let differs = |what: &str, wanted: &Option<String>, current: &str| match wanted {
        Some(wanted) if wanted != current => Err(Failure::conflict(
            kind,
            name,
            &format!(
                "the {what} in the precondition ({wanted}) does not match the {what} in record ({current}). The \
                 object might have been {}",
                if what == "UID" {
                    "deleted and then recreated"
                } else {
                    "modified"
                }
            ),
        )),
        _ => Ok(()),
    };
    differs("UID", &deletion.uid, text(object, "/metadata/uid"))?;
    differs(
        "ResourceVersion",
        &deletion.resource_version,
        text(object, "/metadata/resourceVersion"),
    )
}

/// Seconds a pod gets to end: none without a node or when it has ended already.
fn pod_grace(pod: &Value, deletion: &Deletion) -> i64 {
    let ended = matches!(text(pod, "/status/phase"), "Succeeded" | "Failed");
    if text(pod, "/spec/nodeName").is_empty() || ended {
        return 0;
    }
    let own = pod
        .pointer("/spec/terminationGracePeriodSeconds")
        .and_then(Value::as_i64);
    deletion.grace_period.or(own).unwrap_or(30).max(0)
}

fn marked_for_deletion(object: &Value, grace: i64, now: DateTime<Utc>) -> Value {
    let mut marked = object.clone();
    let metadata = metadata_mut(&mut marked);
    metadata["deletionTimestamp"] = json!(timestamp(now + Duration::seconds(grace)));
    metadata["deletionGracePeriodSeconds"] = json!(grace);
    if let Some(generation) = metadata.get("generation").and_then(Value::as_i64) {
        metadata["generation"] = json!(generation + 1);
    }
    marked
}

/// The object that is stored when `wanted` is written over `old`: identity and the other part stay as they were.
fn merge_parts(kind: &Kind, old: &Value, mut wanted: Value, part: Part) -> Value {
    for owned in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "resourceVersion",
    ] {
        let metadata = metadata_mut(&mut wanted);
        match old["metadata"].get(owned) {
            Some(value) => metadata[owned] = value.clone(),
            None => remove(metadata, owned),
        }
    }
    wanted["kind"] = json!(kind.kind);
    wanted["apiVersion"] = json!(kind.api_version());
    match part {
        Part::Status => {
            let mut merged = old.clone();
            merged["metadata"] = wanted["metadata"].take();
            match wanted["status"].take() {
                Value::Null => remove(&mut merged, "status"),
                status => merged["status"] = status,
            }
            merged
        }
        Part::Main => {
            if kind.status {
                match old.get("status") {
                    Some(status) => wanted["status"] = status.clone(),
                    None => remove(&mut wanted, "status"),
                }
            }
            if kind.generation && wanted.get("spec") != old.get("spec") {
                let generation = old
                    .pointer("/metadata/generation")
                    .and_then(Value::as_i64)
                    .unwrap_or(0);
                metadata_mut(&mut wanted)["generation"] = json!(generation + 1);
            }
            wanted
        }
    }
}
