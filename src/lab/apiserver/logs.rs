//! `pods/log`: what the kubelet of the pod's node says.

use super::failure::{Failure, Outcome};
use super::json::text;
use super::kinds::{NODES, PODS};
use super::objects::Objects;
use super::proxy::pass_on;
use super::request::{Query, Target};
use crate::lab::backends::Backends;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};

/// Where a kubelet listens when its node does not say otherwise.
const KUBELET_PORT: u16 = 10250;

/// Streams the log of a container from its kubelet, which gets the same options in its query.
///
/// # Errors
/// 404 without the pod, 400 for a container that it does not have, 500 when the kubelet cannot be reached, and what
/// the kubelet refuses.
pub async fn logs(
    objects: &Objects,
    backends: &Backends,
    target: &Target,
    query: &Query,
    request: Request,
) -> Outcome<Response> {
    let pod = objects.get(&PODS, &target.namespace, &target.name)?;
    let container = container(&pod, query.get("container"))?;
    let node = text(&pod, "/spec/nodeName");
    if node.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let path = format!("/containerLogs/{}/{}/{container}", target.namespace, target.name);
    let kubelet = kubelet(objects, node)?;
    let question = request.uri().query().unwrap_or_default().to_owned();
    let request = Request::get(format!("{path}?{question}"))
        .body(Body::empty())
        .map_err(|error| Failure::bad_request(error.to_string()))?;
    let mut response = pass_on(backends, kubelet, &path, request).await.map_err(|_| {
        internal(&format!(
            "Get \"https://{kubelet}{path}\": dial tcp {kubelet}: connect: connection refused"
        ))
    })?;
    if response.status() != StatusCode::OK {
        return Err(kubelet_refusal(&target.name, response).await);
    }
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

/// The container to read: the one asked for, or the only one.
fn container(pod: &Value, asked: Option<&str>) -> Outcome<String> {
    let names = |list: &str| -> Vec<String> {
        let containers = pod["spec"][list].as_array().into_iter().flatten();
        containers
            .map(|container| text(container, "/name").to_owned())
            .collect()
    };
    let all = [
        names("initContainers"),
        names("containers"),
        names("ephemeralContainers"),
    ]
    .concat();
    let name = text(pod, "/metadata/name");
    match (asked, names("containers").as_slice()) {
        (Some(asked), _) if all.iter().any(|one| one == asked) => Ok(asked.to_owned()),
        (Some(asked), _) => Err(Failure::bad_request(format!(
            "container {asked} is not valid for pod {name}"
        ))),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(Failure::bad_request(format!(
            "a container name must be specified for pod {name}, choose one of: [{}]",
            all.join(" ")
        ))),
    }
}

fn kubelet(objects: &Objects, node: &str) -> Outcome<SocketAddr> {
    let object = objects.get(&NODES, "", node)?;
    let addresses = object["status"]["addresses"].as_array();
    let internal_ip = addresses
        .into_iter()
        .flatten()
        .find(|one| text(one, "/type") == "InternalIP")
        .and_then(|one| text(one, "/address").parse::<IpAddr>().ok())
        .ok_or_else(|| internal(&format!("no preferred addresses found for node {node:?}")))?;
    let port = object
        .pointer("/status/daemonEndpoints/kubeletEndpoint/Port")
        .and_then(Value::as_u64);
    let port = port
        .and_then(|port| u16::try_from(port).ok())
        .filter(|&port| port > 0)
        .unwrap_or(KUBELET_PORT);
    Ok(SocketAddr::new(internal_ip, port))
}

fn internal(why: &str) -> Failure {
    let mut failure = Failure::new(500, "InternalError", format!("Internal error occurred: {why}"));
    failure.details = json!({ "causes": [{ "message": why }] });
    failure
}

/// A refusal of the kubelet, as the API server words it.
async fn kubelet_refusal(pod: &str, response: Response) -> Failure {
    let code = response.status().as_u16();
    let body = response
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let said = String::from_utf8_lossy(&body).into_owned();
    let mut failure = match code {
        400 => return Failure::bad_request(said),
        500 => return internal(&said),
        404 => Failure::new(
            404,
            "NotFound",
            format!("the server could not find the requested resource ( pods/log {pod})"),
        ),
        503 => Failure::unavailable(format!(
            "the server is currently unable to handle the request ( pods/log {pod})"
        )),
        _ => Failure::new(
            code,
            "",
            format!(
                "an error on the server ({said:?}) has prevented the request from succeeding ( pods/log {pod})"
            ),
        ),
    };
    failure.details = json!({ "name": pod, "kind": "pods/log" });
    failure
}
