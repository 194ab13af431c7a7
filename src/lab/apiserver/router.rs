//! The way of a request: fault plan, authentication, authorization, and then whoever answers its path.

use super::access;
use super::aggregate::AggregatedApis;
use super::audit::{Audit, AuditEntry};
use super::binding;
use super::discovery;
use super::eviction;
use super::failure::{Failure, Outcome, json_response};
use super::faults::FaultPlan;
use super::kinds::{self, Kind};
use super::logs;
use super::objects::Objects;
use super::openapi;
use super::proxy;
use super::read;
use super::request::{Form, Query, Target};
use super::users::{User, Users};
use super::watch;
use super::write;
use crate::lab::backends::Backends;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use chrono::Utc;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde_json::Value;

/// The largest body that is read (the real server: 3 MiB).
const LARGEST_BODY: usize = 3 << 20;

/// Everything that answers requests.
#[derive(Clone)]
pub struct Server {
    pub(super) objects: Objects,
    pub(super) backends: Backends,
    pub(super) users: Users,
    pub(super) faults: FaultPlan,
    pub(super) audit: Audit,
    pub(super) aggregated: AggregatedApis,
}

/// Answers any request.
pub async fn handle(State(server): State<Server>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    if let Some(faulty) = server.faults.meet(&path).await {
        return faulty;
    }
    let user = match server.users.authenticate(request.headers()) {
        Ok(user) => user,
        Err(failure) => return failure.into_response(),
    };
    if let Some(public) = health(request.method(), &path) {
        return public;
    }
    let query = Query::parse(request.uri().query().unwrap_or_default());
    let Some(target) = Target::parse(request.method(), &path, &query) else {
        return server
            .outside_of_resources(user, &path, request.method().clone(), request.headers().clone())
            .await;
    };
    let write = !matches!(target.verb, "get" | "list" | "watch");
    let entry = write.then(|| AuditEntry {
        user: user.map_or("system:anonymous", User::name).to_owned(),
        verb: target.verb.to_owned(),
        path: request
            .uri()
            .path_and_query()
            .map(ToString::to_string)
            .unwrap_or_default(),
        code: 0,
    });
    let response = server
        .resource(user, &target, &query, request)
        .await
        .unwrap_or_else(IntoResponse::into_response);
    if let Some(entry) = entry {
        server.audit.add(AuditEntry {
            code: response.status().as_u16(),
            ..entry
        });
    }
    response
}

/// The health endpoints and the version, which need no rights.
fn health(method: &Method, path: &str) -> Option<Response> {
    let known = matches!(
        path,
        "/healthz" | "/livez" | "/readyz" | "/healthz/ping" | "/livez/ping" | "/readyz/ping"
    );
    if known && method == Method::GET {
        return Some("ok".into_response());
    }
    (path == "/version" || path == "/version/").then(|| json_response(StatusCode::OK, &discovery::version()))
}

/// The answer of the real server to a path outside of what it serves.
fn no_page() -> Response {
    (StatusCode::NOT_FOUND, "404 page not found\n").into_response()
}

impl Server {
    /// Discovery, schemas and unknown paths. The real server lets every authenticated user read them.
    async fn outside_of_resources(
        &self,
        user: Option<User>,
        path: &str,
        method: Method,
        headers: HeaderMap,
    ) -> Response {
        if user.is_none() {
            return Failure::forbidden_path(&method.as_str().to_lowercase(), path).into_response();
        }
        if let Some(api) = self.aggregated.find(path) {
            return match Request::get(path).body(Body::empty()) {
                Ok(request) => api.call(request).await,
                Err(error) => Failure::bad_request(error.to_string()).into_response(),
            };
        }
        if let Some(document) = openapi::answer(path) {
            return document;
        }
        match discovery::answer(path, &headers, &self.aggregated.all()).await {
            Some(response) => response,
            None => no_page(),
        }
    }

    async fn resource(
        &self,
        user: Option<User>,
        target: &Target,
        query: &Query,
        request: Request,
    ) -> Outcome<Response> {
        let review = matches!(
            target.group.as_str(),
            "authorization.k8s.io" | "authentication.k8s.io"
        );
        if review && target.verb == "create" && user.is_some() {
            let answer = access::review(&self.users, user, &target.resource, &json_body(request).await?)?;
            return Ok(json_response(StatusCode::CREATED, &answer));
        }
        self.users.authorize(user, target)?;
        if let Some(api) = self.aggregated.find(request.uri().path()) {
            return Ok(api.call(request).await);
        }
        let Some(kind) = kinds::find(&target.group, &target.version, &target.resource) else {
            let group_is_served =
                kinds::all().any(|kind| kind.group == target.group && kind.version == target.version);
            return if group_is_served {
                Err(Failure::unknown_path())
            } else {
                Ok(no_page())
            };
        };
        match (kind.kind, target.subresource.as_str(), target.verb) {
            (_, "", _) => self.object(kind, target, query, request).await,
            (_, "status", "get" | "update" | "patch") if kind.status => {
                self.object(kind, target, query, request).await
            }
            ("Pod", "eviction", "create") => eviction::evict(
                &self.objects,
                target,
                query,
                &json_body(request).await?,
                Utc::now(),
            ),
            ("Pod", "binding", "create") => {
                binding::bind(&self.objects, target, query, &json_body(request).await?)
            }
            ("Pod", "log", "get") => logs::logs(&self.objects, &self.backends, target, query, request).await,
            ("Pod", "proxy", _) => proxy::pod(&self.objects, &self.backends, target, request).await,
            ("Service", "proxy", _) => proxy::service(&self.objects, &self.backends, target, request).await,
            (_, "status", _) | ("Pod", "eviction" | "binding" | "log", _) => {
                Err(Failure::method_not_allowed())
            }
            _ => Err(Failure::unknown_path()),
        }
    }

    async fn object(
        &self,
        kind: &'static Kind,
        target: &Target,
        query: &Query,
        request: Request,
    ) -> Outcome<Response> {
        let form = Form::accepted(request.headers());
        let (parts, body) = request.into_parts();
        let (headers, bytes) = (&parts.headers, collect(body).await?);
        let everywhere = kind.namespaced && target.namespace.is_empty();
        match target.verb {
            "get" => read::get(&self.objects, kind, target, query, form),
            "list" => read::list(&self.objects, kind, target, query, form),
            "watch" => watch::watch(&self.objects, &self.faults, kind, target, query, form),
            _ if everywhere => Err(Failure::method_not_allowed()),
            "create" if target.name.is_empty() => write::create(
                &self.objects,
                kind,
                target,
                query,
                write::body(headers, &bytes)?,
                form,
            ),
            "update" if !target.name.is_empty() => {
                write::replace(&self.objects, kind, target, query, (headers, &bytes), form)
            }
            "patch" if !target.name.is_empty() => {
                write::patch(&self.objects, kind, target, query, (headers, &bytes), form)
            }
            "delete" => write::delete(&self.objects, kind, target, query, &write::body(headers, &bytes)?),
            "deletecollection" => {
                write::delete_collection(&self.objects, kind, target, query, &write::body(headers, &bytes)?)
            }
            _ => Err(Failure::method_not_allowed()),
        }
    }
}

/// The whole body of a request.
///
/// # Errors
/// 413 when it is too large, 400 when the client breaks off.
async fn collect(body: Body) -> Outcome<axum::body::Bytes> {
    match Limited::new(body, LARGEST_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(Failure::new(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: limit is {LARGEST_BODY}"),
        )),
        Err(error) => Err(Failure::bad_request(format!(
            "the body of the request cannot be read: {error}"
        ))),
    }
}

/// The whole body of a request as JSON.
async fn json_body(request: Request) -> Outcome<Value> {
    let (parts, body) = request.into_parts();
    write::body(&parts.headers, &collect(body).await?)
}
