//! Aggregated APIs (`metrics.k8s.io`): paths that another server answers behind this one.

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError, RwLock};
use tower::ServiceExt;

/// One aggregated group and version.
#[derive(Clone)]
pub struct Aggregated {
    /// API group.
    pub group: String,
    /// API version.
    pub version: String,
    router: Router,
}

impl Aggregated {
    fn prefix(&self) -> String {
        format!("/apis/{}/{}", self.group, self.version)
    }

    /// Passes a request on.
    pub async fn call(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.into_response()
    }

    /// Its entry in the aggregated discovery document: what the server behind it lists, or "stale" when it does not
    /// answer.
    pub async fn discovery(&self) -> Value {
        let version = match self.resources().await {
            Some(resources) => {
                json!({ "version": self.version, "freshness": "Current", "resources": resources })
            }
            None => json!({ "version": self.version, "freshness": "Stale" }),
        };
        json!({ "metadata": { "name": self.group, "creationTimestamp": null }, "versions": [version] })
    }

    async fn resources(&self) -> Option<Vec<Value>> {
        let request = Request::get(self.prefix()).body(Body::empty()).ok()?;
        let response = self.call(request).await;
        if response.status() != StatusCode::OK {
            return None;
        }
        let bytes = response.into_body().collect().await.ok()?.to_bytes();
        let list: Value = serde_json::from_slice(&bytes).ok()?;
        let resources = list["resources"].as_array()?;
        Some(resources.iter().map(|resource| json!({
            "resource": resource["name"], "singularResource": resource["singularName"], "verbs": resource["verbs"],
            "scope": if resource["namespaced"] == true { "Namespaced" } else { "Cluster" },
            "responseKind": { "group": self.group, "version": self.version, "kind": resource["kind"] },
        })).collect())
    }
}

/// All aggregated APIs. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct AggregatedApis {
    apis: Arc<RwLock<Vec<Aggregated>>>,
}

impl AggregatedApis {
    /// From now on `router` answers below `/apis/GROUP/VERSION`, and is asked with the whole path.
    pub fn register(&self, group: &str, version: &str, router: Router) {
        self.remove(group, version);
        let api = Aggregated {
            group: group.to_owned(),
            version: version.to_owned(),
            router,
        };
        self.apis
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(api);
    }

    /// The group and version are not served any longer.
    pub fn remove(&self, group: &str, version: &str) {
        let mut apis = self.apis.write().unwrap_or_else(PoisonError::into_inner);
        apis.retain(|api| api.group != group || api.version != version);
    }

    /// All of them.
    pub fn all(&self) -> Vec<Aggregated> {
        self.apis.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Who answers this path.
    pub fn find(&self, path: &str) -> Option<Aggregated> {
        self.all().into_iter().find(|api| {
            path.strip_prefix(&api.prefix())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}
