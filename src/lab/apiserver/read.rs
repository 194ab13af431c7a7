//! Get and list: selectors, paging, and the three forms of an answer (objects, table, metadata).

use super::failure::{Failure, Outcome, json_response};
use super::json::text;
use super::kinds::Kind;
use super::objects::{Key, Objects, Snapshot};
use super::request::{Form, Query, Target};
use super::selectors::{FieldSelector, label_selector, selects};
use super::table;
use crate::domain::selector::LabelSelector;
use axum::response::Response;
use chrono::Utc;
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

/// Which objects of a resource a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    namespace: String,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Filter {
    /// Reads namespace and selectors.
    ///
    /// # Errors
    /// 400 for a selector that cannot be read or a field that is not selectable.
    pub fn new(kind: &Kind, target: &Target, query: &Query) -> Outcome<Self> {
        let mut fields = query.get("fieldSelector").unwrap_or_default().to_owned();
        if !target.name.is_empty() {
            // `watch` on one object.
            fields = format!("{fields},metadata.name={}", target.name);
        }
        Ok(Self {
            namespace: if kind.namespaced {
                target.namespace.clone()
            } else {
                String::new()
            },
            labels: label_selector(query.get("labelSelector").unwrap_or_default())?,
            fields: FieldSelector::parse(&fields, kind.kind)?,
        })
    }

    /// Whether an object is meant.
    pub fn matches(&self, key: &Key, object: &Value) -> bool {
        (self.namespace.is_empty() || self.namespace == key.0)
            && selects(&self.labels, object)
            && self.fields.matches(object)
    }

    /// Whether it selects by more than the namespace.
    fn selects(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }
}

/// One object.
pub fn get(
    objects: &Objects,
    kind: &'static Kind,
    target: &Target,
    query: &Query,
    form: Form,
) -> Outcome<Response> {
    let object = objects.get(kind, namespace_of(kind, target), &target.name)?;
    let body = match form {
        Form::Object => (*object).clone(),
        Form::Metadata => partial(&object),
        Form::Table => {
            let version = text(&object, "/metadata/resourceVersion").to_owned();
            table::table(
                kind,
                &[object],
                &json!({ "resourceVersion": version }),
                query,
                true,
                Utc::now(),
            )
        }
    };
    Ok(json_response(StatusCode::OK, &body))
}

/// The namespace under which an object of this path is kept.
pub fn namespace_of<'a>(kind: &Kind, target: &'a Target) -> &'a str {
    if kind.namespaced { &target.namespace } else { "" }
}

/// Metadata only.
pub fn partial(object: &Value) -> Value {
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"] })
}

/// A list, whole or one page of it.
///
/// # Errors
/// 400 for unreadable parameters, 410 when a page token is older than the history, 504 when a revision is asked for
/// that the server has not reached.
pub fn list(
    objects: &Objects,
    kind: &'static Kind,
    target: &Target,
    query: &Query,
    form: Form,
) -> Outcome<Response> {
    let filter = Filter::new(kind, target, query)?;
    let limit = query.number::<usize>("limit")?.filter(|&limit| limit > 0);
    let (revision, after, snapshot) = match query.get("continue") {
        Some(token) => resume(objects, kind, token)?,
        None => first_page(objects, kind, query)?,
    };
    let mut matching = snapshot.iter().filter(|(key, object)| {
        after.as_ref().is_none_or(|after| *key > after) && filter.matches(key, object)
    });
    let mut items: Vec<Arc<Value>> = Vec::new();
    let mut last = None;
    for (key, object) in matching.by_ref().take(limit.unwrap_or(usize::MAX)) {
        last = Some(key);
        items.push(Arc::clone(object));
    }
    let remaining = matching.count();
    let mut metadata = json!({ "resourceVersion": revision.to_string() });
    if remaining > 0
        && let Some((namespace, name)) = last
    {
        metadata["continue"] = json!(format!("{revision}/{namespace}/{name}"));
        if !filter.selects() {
            metadata["remainingItemCount"] = json!(remaining);
        }
    }
    let body = match form {
        Form::Table => table::table(kind, &items, &metadata, query, true, Utc::now()),
        Form::Metadata => json!({
            "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
            "items": items.iter().map(|item| partial(item)).collect::<Vec<_>>(),
        }),
        Form::Object => json!({
            "kind": format!("{}List", kind.kind), "apiVersion": kind.api_version(), "metadata": metadata,
            "items": items.iter().map(|item| without_type(item)).collect::<Vec<_>>(),
        }),
    };
    Ok(json_response(StatusCode::OK, &body))
}

/// Items of a list do not repeat their kind.
fn without_type(object: &Value) -> Value {
    let mut item = object.clone();
    if let Some(fields) = item.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    item
}

type Page = (u64, Option<Key>, Snapshot);

fn first_page(objects: &Objects, kind: &'static Kind, query: &Query) -> Outcome<Page> {
    let asked = query.number::<u64>("resourceVersion")?.unwrap_or(0);
    let current = objects.revision();
    if asked > current {
        return Err(too_large(asked, current));
    }
    if query.get("resourceVersionMatch") == Some("Exact") {
        let snapshot = objects
            .list_at(kind, asked)
            .map_err(|_| Failure::expired("The resourceVersion for the provided list is too old."))?;
        return Ok((asked, None, snapshot));
    }
    let (revision, snapshot) = objects.list(kind);
    Ok((revision, None, snapshot))
}

/// 504 for a revision from the future.
pub fn too_large(asked: u64, current: u64) -> Failure {
    let message = format!("Too large resource version: {asked}, current: {current}");
    let mut failure = Failure::new(504, "Timeout", format!("Timeout: {message}"));
    failure.details = json!({
        "causes": [{ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" }],
        "retryAfterSeconds": 1,
    });
    failure.retry_after = Some(1);
    failure
}

fn resume(objects: &Objects, kind: &'static Kind, token: &str) -> Outcome<Page> {
    let invalid = || Failure::bad_request("continue key is not valid: encoded start key is not recognized");
    let mut parts = token.splitn(3, '/');
    let revision = parts
        .next()
        .and_then(|revision| revision.parse().ok())
        .ok_or_else(invalid)?;
    let namespace = parts.next().ok_or_else(invalid)?.to_owned();
    let name = parts.next().ok_or_else(invalid)?.to_owned();
    let snapshot = objects.list_at(kind, revision).map_err(|_| {
        Failure::expired(
            "The provided continue parameter is too old to display a consistent list result. You must start a new \
             list without the continue parameter.",
        )
    })?;
    Ok((revision, Some((namespace, name)), snapshot))
}
