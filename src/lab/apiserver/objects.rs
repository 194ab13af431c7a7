//! The memory of the embedded API server: every object by resource, namespace and name, with one revision
//! counter, optimistic concurrency, graceful deletion of pods, and a window of history for watches and paging.

use super::defaults;
use super::deletion::{self, Deleted, Deletion};
use super::failure::{Failure, Outcome};
use super::history::{Change, ChangeKind, Expired, Shelf};
use super::json::{metadata_mut, remove, text, timestamp};
use super::kinds::{self, Kind};
use super::random;
use super::update::{Part, check_preconditions, merge_parts};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Namespace (empty for cluster-scoped objects) and name.
pub type Key = (String, String);

/// Objects by key, in the order in which a list shows them.
pub type Snapshot = BTreeMap<Key, Arc<Value>>;

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
        if let Some(shelf) = self.lock().shelves.get_mut(kind) {
            shelf.compact();
        }
    }

    /// Adds an object: identity, creation time and defaults are set here. Unlike the real server it keeps a creation
    /// time in the past, so that the lab's cluster can be older than the lab.
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
        deletion::check(kind, &object, deletion)?;
        if kind == &kinds::NAMESPACES {
            return Ok(inner.delete_namespace(&key, &object, deletion, now));
        }
        let grace = deletion::grace(kind, &object, deletion);
        if deletion.dry_run {
            return Ok(if grace == 0 {
                Deleted::Gone(object)
            } else {
                Deleted::Marked(object)
            });
        }
        if grace == 0 {
            let gone = inner.remove(kind, key, &object, now);
            inner.finish_namespace(namespace);
            return Ok(Deleted::Gone(gone));
        }
        Ok(Deleted::Marked(match deletion::mark(&object, grace, now) {
            Some(marked) => inner.record(kind, key, ChangeKind::Modified, marked),
            None => object,
        }))
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
            let why = format!(
                "Invalid value: {name:?}: a lowercase RFC 1123 subdomain must consist of \
                 lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
            );
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
        let now = Utc::now();
        let given = text(&object, "/metadata/creationTimestamp")
            .parse::<DateTime<Utc>>()
            .ok();
        let created = given.filter(|&given| given < now).unwrap_or(now);
        let metadata = metadata_mut(&mut object);
        metadata["name"] = json!(name);
        metadata["uid"] = json!(random::uid());
        metadata["creationTimestamp"] = json!(timestamp(created));
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

    /// Removes an object. A pod is first marked with no grace, so that a watch sees both, as on the real server.
    fn remove(
        &mut self,
        kind: &'static Kind,
        key: Key,
        object: &Arc<Value>,
        now: DateTime<Utc>,
    ) -> Arc<Value> {
        let marked = if kind == &kinds::PODS {
            deletion::mark(object, 0, now)
        } else {
            None
        };
        let last = match marked {
            Some(marked) => self.record(kind, key.clone(), ChangeKind::Modified, marked),
            None => Arc::clone(object),
        };
        self.record(kind, key, ChangeKind::Deleted, (*last).clone())
    }

    /// Marks a namespace, deletes its content, and removes it when nothing is left in it.
    fn delete_namespace(
        &mut self,
        own: &Key,
        object: &Arc<Value>,
        options: &Deletion,
        now: DateTime<Utc>,
    ) -> Deleted {
        let Some(mut marked) = deletion::mark(object, 0, now).filter(|_| !options.dry_run) else {
            return Deleted::Marked(Arc::clone(object));
        };
        remove(metadata_mut(&mut marked), "deletionGracePeriodSeconds");
        marked["status"]["phase"] = json!("Terminating");
        let marked = self.record(&kinds::NAMESPACES, own.clone(), ChangeKind::Modified, marked);
        for kind in kinds::all().filter(|kind| kind.namespaced) {
            let content = self.shelves.get(kind).map(Shelf::objects).unwrap_or_default();
            for (key, object) in content.into_iter().filter(|(key, _)| key.0 == own.1) {
                let grace = deletion::grace(kind, &object, &Deletion::default());
                if grace == 0 {
                    self.remove(kind, key, &object, now);
                } else if let Some(marked) = deletion::mark(&object, grace, now) {
                    self.record(kind, key, ChangeKind::Modified, marked);
                }
            }
        }
        self.finish_namespace(&own.1);
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
