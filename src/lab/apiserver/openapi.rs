//! The part of the `OpenAPI` v3 documents that `kubectl` reads before it writes: which parameters a patch takes. With
//! `fieldValidation` among them it leaves the validation to the server and asks for no schema.

use super::failure::json_response;
use super::kinds::{self, Kind};
use axum::response::Response;
use http::StatusCode;
use serde_json::{Map, Value, json};

/// The document at `path`, if there is one.
pub fn answer(path: &str) -> Option<Response> {
    let document = match path.strip_prefix("/openapi/v3")? {
        "" | "/" => index(),
        "/api/v1" => group_version(""),
        other => {
            let group = other.strip_prefix("/apis/")?.strip_suffix("/v1")?;
            group_version(kinds::groups().into_iter().find(|known| *known == group)?)
        }
    };
    Some(json_response(StatusCode::OK, &document))
}

fn base(group: &str) -> String {
    if group.is_empty() {
        "api/v1".to_owned()
    } else {
        format!("apis/{group}/v1")
    }
}

fn index() -> Value {
    let groups = std::iter::once("").chain(kinds::groups());
    let paths: Map<String, Value> = groups
        .map(|group| {
            (
                base(group),
                json!({ "serverRelativeURL": format!("/openapi/v3/{}", base(group)) }),
            )
        })
        .collect();
    json!({ "paths": paths })
}

fn group_version(group: &str) -> Value {
    let paths: Map<String, Value> = kinds::all()
        .filter(|kind| kind.group == group)
        .map(patch_path)
        .collect();
    json!({
        "openapi": "3.0.0", "info": { "title": "Kubernetes", "version": "v1.37.2" }, "paths": paths, "components": {},
    })
}

/// The path of one object of this kind, with its patch.
fn patch_path(kind: &Kind) -> (String, Value) {
    let namespace = if kind.namespaced {
        "namespaces/{namespace}/"
    } else {
        ""
    };
    let path = format!("/{}/{namespace}{}/{{name}}", base(kind.group), kind.plural);
    let parameter = |name: &str| json!({ "name": name, "in": "query", "schema": { "type": "string" } });
    let operation = json!({ "patch": {
        "parameters": [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")],
        "responses": { "200": { "description": "OK" } },
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": { "group": kind.group, "kind": kind.kind, "version": kind.version },
    }});
    (path, operation)
}
