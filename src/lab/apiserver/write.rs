//! Create, replace, patch and delete.

use super::defaults::leave_out_unset;
use super::deletion::{Deleted, Deletion};
use super::failure::{Failure, Outcome, json_response};
use super::json::text;
use super::kinds::Kind;
use super::managed_fields;
use super::objects::Objects;
use super::patch;
use super::protobuf;
use super::read::{Filter, namespace_of, partial};
use super::request::{Form, Query, Target};
use super::update::Part;
use axum::body::Bytes;
use axum::response::Response;

use chrono::Utc;
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};

/// The body of a request as JSON: JSON itself, YAML, or the protobuf of the few types that `kubectl` sends so.
///
/// # Errors
/// 400 when it cannot be read, 415 for another format.
pub fn body(headers: &HeaderMap, bytes: &Bytes) -> Outcome<Value> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    match content_type(headers) {
        "" | "application/json" => serde_json::from_slice(bytes)
            .map_err(|error| Failure::bad_request(format!("the body of the request is not JSON: {error}"))),
        "application/yaml" => serde_yaml_ng::from_slice(bytes)
            .map_err(|error| Failure::bad_request(format!("the body of the request is not YAML: {error}"))),
        "application/vnd.kubernetes.protobuf" => protobuf::decode(bytes),
        _ => Err(Failure::unsupported_media_type()),
    }
}

fn content_type(headers: &HeaderMap) -> &str {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim()
}

fn answer(code: StatusCode, object: &Value, form: Form) -> Response {
    match form {
        Form::Metadata => json_response(code, &partial(object)),
        Form::Object | Form::Table => json_response(code, object),
    }
}

/// Adds an object.
pub fn create(
    objects: &Objects,
    kind: &'static Kind,
    target: &Target,
    query: &Query,
    object: Value,
    form: Form,
) -> Outcome<Response> {
    let (own, namespace) = (
        text(&object, "/metadata/namespace").to_owned(),
        namespace_of(kind, target),
    );
    if kind.namespaced && !own.is_empty() && own != namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    check_type(kind, &object)?;
    let created = objects.create(kind, namespace, object, query.dry_run())?;
    Ok(answer(StatusCode::CREATED, &created, form))
}

/// Writes a whole object over the one that is there.
pub fn replace(
    objects: &Objects,
    kind: &'static Kind,
    target: &Target,
    query: &Query,
    (headers, bytes): (&HeaderMap, &Bytes),
    form: Form,
) -> Outcome<Response> {
    let object = body(headers, bytes)?;
    check_type(kind, &object)?;
    let own = text(&object, "/metadata/name");
    if own != target.name {
        return Err(Failure::bad_request(format!(
            "the name of the object ({own}) does not match the name on the URL ({})",
            target.name
        )));
    }
    let place = (namespace_of(kind, target), target.name.as_str());
    let (part, manager) = (part(kind, target)?, managed_fields::manager(query, headers));
    let updated = objects.update(kind, place, part, query.dry_run(), |old| {
        Ok(booked(kind, &manager, old, object, part))
    })?;
    Ok(answer(StatusCode::OK, &updated, form))
}

/// Changes an object by a patch, in the format that the content type names.
pub fn patch(
    objects: &Objects,
    kind: &'static Kind,
    target: &Target,
    query: &Query,
    (headers, bytes): (&HeaderMap, &Bytes),
    form: Form,
) -> Outcome<Response> {
    let format = patch::Format::of(content_type(headers))?;
    let change: Value = serde_json::from_slice(bytes)
        .map_err(|error| Failure::bad_request(format!("the patch is not JSON: {error}")))?;
    let place = (namespace_of(kind, target), target.name.as_str());
    let (part, manager) = (part(kind, target)?, managed_fields::manager(query, headers));
    let updated = objects.update(kind, place, part, query.dry_run(), |old| {
        let wanted = format.apply(kind, old, &change)?;
        check_same_uid(kind, old, &wanted)?;
        Ok(booked(kind, &manager, old, wanted, part))
    })?;
    Ok(answer(StatusCode::OK, &updated, form))
}

/// A patch that names another UID wants to change it, unless it is about another version anyway; in a whole object the
/// UID is a precondition.
fn check_same_uid(kind: &Kind, old: &Value, wanted: &Value) -> Outcome<()> {
    let differ = |pointer: &str| text(wanted, pointer) != text(old, pointer);
    let uid = text(wanted, "/metadata/uid");
    if uid.is_empty() || !differ("/metadata/uid") || differ("/metadata/resourceVersion") {
        return Ok(());
    }
    let why = format!("Invalid value: {uid:?}: field is immutable");
    let name = text(old, "/metadata/name");
    Err(Failure::invalid(kind, name, "metadata.uid", &why))
}

/// The wanted object, with whom its fields belong to. What a write of the status changes is not kept.
fn booked(kind: &Kind, manager: &str, old: &Value, mut wanted: Value, part: Part) -> Value {
    // Of any other shape it is refused later.
    if part == Part::Main && wanted["metadata"].is_object() {
        leave_out_unset(kind, &mut wanted);
        managed_fields::book(kind, manager, old, &mut wanted, Utc::now());
    }
    wanted
}

fn part(kind: &Kind, target: &Target) -> Outcome<Part> {
    match target.subresource.as_str() {
        "" => Ok(Part::Main),
        "status" if kind.status => Ok(Part::Status),
        _ => Err(Failure::unknown_path()),
    }
}

fn check_type(kind: &Kind, object: &Value) -> Outcome<()> {
    let (own, version) = (text(object, "/kind"), text(object, "/apiVersion"));
    if (own.is_empty() || own == kind.kind) && (version.is_empty() || version == kind.api_version()) {
        return Ok(());
    }
    Err(Failure::bad_request(format!(
        "the API version and kind in the data ({version}, {own}) do not match the expected ({}, {})",
        kind.api_version(),
        kind.kind
    )))
}

/// What `DeleteOptions` and the query ask for.
pub fn deletion(query: &Query, options: &Value) -> Outcome<Deletion> {
    let in_query = query.number::<i64>("gracePeriodSeconds")?;
    let precondition = |field: &str| {
        let value = text(options, &format!("/preconditions/{field}"));
        (!value.is_empty()).then(|| value.to_owned())
    };
    Ok(Deletion {
        grace_period: options["gracePeriodSeconds"].as_i64().or(in_query),
        uid: precondition("uid"),
        resource_version: precondition("resourceVersion"),
        dry_run: query.dry_run()
            || options["dryRun"]
                .as_array()
                .is_some_and(|list| list.contains(&json!("All"))),
    })
}

/// Deletes one object.
pub fn delete(
    objects: &Objects,
    kind: &'static Kind,
    target: &Target,
    query: &Query,
    options: &Value,
) -> Outcome<Response> {
    let deletion = deletion(query, options)?;
    let deleted = objects.delete(
        kind,
        namespace_of(kind, target),
        &target.name,
        &deletion,
        Utc::now(),
    )?;
    let body = match &deleted {
        Deleted::Marked(object) => (**object).clone(),
        Deleted::Gone(object) if kind.kind == "Pod" => (**object).clone(),
        Deleted::Gone(object) => {
            let mut details = json!({
                "name": target.name, "kind": kind.plural, "uid": object["metadata"]["uid"],
            });
            if !kind.group.is_empty() {
                details["group"] = json!(kind.group);
            }
            json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
        }
    };
    Ok(json_response(StatusCode::OK, &body))
}

/// Deletes every object that the selectors choose.
pub fn delete_collection(
    objects: &Objects,
    kind: &'static Kind,
    target: &Target,
    query: &Query,
    options: &Value,
) -> Outcome<Response> {
    let filter = Filter::new(kind, target, query)?;
    let deletion = deletion(query, options)?;
    let (revision, snapshot) = objects.list(kind);
    let mut items = Vec::new();
    for ((namespace, name), object) in snapshot
        .iter()
        .filter(|(key, object)| filter.matches(key, object))
    {
        match objects.delete(kind, namespace, name, &deletion, Utc::now()) {
            Ok(Deleted::Gone(object) | Deleted::Marked(object)) => items.push((*object).clone()),
            // Somebody else was quicker.
            Err(failure) if failure.code == 404 => items.push((**object).clone()),
            Err(failure) => return Err(failure),
        }
    }
    let body = json!({
        "kind": format!("{}List", kind.kind), "apiVersion": kind.api_version(),
        "metadata": { "resourceVersion": revision.to_string() }, "items": items,
    });
    Ok(json_response(StatusCode::OK, &body))
}
