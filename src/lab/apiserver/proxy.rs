//! `pods/proxy` and `services/proxy`: a request passed on into the simulated cluster, with the refusals of the real
//! server when there is nobody to pass it to.

use super::failure::{Failure, Outcome};
use super::json::{condition_is_true, text};
use super::kinds::{PODS, SERVICES};
use super::objects::Objects;
use super::request::Target;
use super::selectors::{selector_of, selects};
use crate::lab::backends::Backends;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{Uri, header};
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};
use tower::ServiceExt;

/// `name`, `name:port` or `scheme:name:port`.
fn split(id: &str) -> Option<(&str, &str)> {
    let parts: Vec<&str> = id.split(':').collect();
    let (scheme, name, port) = match parts.as_slice() {
        [name] => ("", *name, ""),
        [name, port] => ("", *name, *port),
        [scheme, name, port] => (*scheme, *name, *port),
        _ => return None,
    };
    (!name.is_empty() && matches!(scheme, "" | "http" | "https")).then_some((name, port))
}

/// Passes a request on to a pod.
pub async fn pod(
    objects: &Objects,
    backends: &Backends,
    target: &Target,
    request: Request,
) -> Outcome<Response> {
    let invalid = || Failure::bad_request(format!("invalid pod request {:?}", target.name));
    let (name, port) = split(&target.name).ok_or_else(invalid)?;
    let pod = objects.get(&PODS, &target.namespace, name)?;
    let address = pod_address(&pod).ok_or_else(|| Failure::bad_request("address not allowed"))?;
    let port = if port.is_empty() {
        first_port(&pod).unwrap_or(80)
    } else {
        port.parse().map_err(|_| invalid())?
    };
    pass_on(backends, SocketAddr::new(address, port), &target.rest, request).await
}

/// Passes a request on to a ready pod behind a service.
pub async fn service(
    objects: &Objects,
    backends: &Backends,
    target: &Target,
    request: Request,
) -> Outcome<Response> {
    let invalid = || Failure::bad_request(format!("invalid service request {:?}", target.name));
    let (name, port) = split(&target.name).ok_or_else(invalid)?;
    let nobody = || Failure::unavailable(format!("no endpoints available for service {name:?}"));
    let service = objects.get(&SERVICES, &target.namespace, name);
    let ports = |service: &Value| service["spec"]["ports"].as_array().cloned().unwrap_or_default();
    // The real server looks for the service itself only to translate a port number; for a port name it goes by the
    // endpoints, and those of a service that does not exist are none.
    let (service, port) = if let Ok(number) = port.parse::<i64>() {
        let service = service?;
        let port = ports(&service).into_iter().find(|one| one["port"] == number);
        let missing = || Failure::unavailable(format!("no service port {number} found for service {name:?}"));
        (service, port.ok_or_else(missing)?)
    } else {
        let service = service.map_err(|_| nobody())?;
        let port = ports(&service).into_iter().find(|one| text(one, "/name") == port);
        (service, port.ok_or_else(nobody)?)
    };
    let address = endpoint(objects, &service, &port).ok_or_else(nobody)?;
    pass_on(backends, address, &target.rest, request).await
}

/// Where a ready pod that the service selects serves this port.
fn endpoint(objects: &Objects, service: &Value, port: &Value) -> Option<SocketAddr> {
    let selector = service["spec"]["selector"]
        .as_object()
        .filter(|labels| !labels.is_empty())?;
    let selector = selector_of(&serde_json::json!({ "matchLabels": selector }));
    let (_, pods) = objects.list(&PODS);
    pods.iter()
        .filter(|((namespace, _), pod)| {
            namespace == text(service, "/metadata/namespace") && selects(&selector, pod)
        })
        .filter(|(_, pod)| is_endpoint(pod))
        .find_map(|(_, pod)| Some(SocketAddr::new(pod_address(pod)?, target_port(pod, port)?)))
}

/// Ready and not on its way out.
fn is_endpoint(pod: &Value) -> bool {
    pod.pointer("/metadata/deletionTimestamp").is_none() && condition_is_true(pod, "Ready")
}

fn pod_address(pod: &Value) -> Option<IpAddr> {
    text(pod, "/status/podIP").parse().ok()
}

fn container_ports(pod: &Value) -> impl Iterator<Item = &Value> {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    containers.flat_map(|container| container["ports"].as_array().into_iter().flatten())
}

fn first_port(pod: &Value) -> Option<u16> {
    container_ports(pod).next().and_then(port_number)
}

fn port_number(port: &Value) -> Option<u16> {
    port["containerPort"]
        .as_u64()
        .and_then(|number| u16::try_from(number).ok())
}

/// The number behind `targetPort`, which may be the name of a container's port.
fn target_port(pod: &Value, port: &Value) -> Option<u16> {
    match &port["targetPort"] {
        Value::Number(number) => number.as_u64().and_then(|number| u16::try_from(number).ok()),
        Value::String(name) => container_ports(pod)
            .find(|one| text(one, "/name") == name)
            .and_then(port_number),
        _ => None,
    }
}

/// Asks whoever answers at `address` for `path`, with the query, headers and body of the request; the caller's
/// credentials stay here.
pub async fn pass_on(
    backends: &Backends,
    address: SocketAddr,
    path: &str,
    mut request: Request,
) -> Outcome<Response> {
    let refused = || {
        let message =
            format!("error trying to reach service: dial tcp {address}: connect: connection refused");
        Failure::unavailable(message)
    };
    let router = backends.find(&address).ok_or_else(refused)?;
    let query = request
        .uri()
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    let path = if path.is_empty() { "/" } else { path };
    *request.uri_mut() = format!("{path}{query}")
        .parse::<Uri>()
        .map_err(|error| Failure::bad_request(format!("the proxied path cannot be read: {error}")))?;
    request.headers_mut().remove(header::AUTHORIZATION);
    Ok(router.oneshot(request).await.into_response())
}
