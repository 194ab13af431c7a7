//! An embedded Kubernetes API server on loopback, true enough for `kube` and for a real `kubectl`: objects with
//! revisions, watches with a history window, server-side tables, patches, evictions against disruption budgets,
//! logs and proxies into the simulated cluster. It holds what its clients put into it and runs no controllers.

mod access;
mod aggregate;
mod audit;
mod binding;
mod defaults;
mod deletion;
mod discovery;
mod eviction;
mod failure;
mod faults;
mod history;
mod json;
mod kinds;
mod logs;
mod managed_fields;
mod objects;
mod openapi;
mod patch;
mod protobuf;
mod proxy;
mod random;
mod read;
mod request;
mod router;
mod selectors;
mod table;
pub(in crate::lab) mod tls;
mod update;
mod users;
mod watch;
mod write;

pub use aggregate::AggregatedApis;
pub use audit::{Audit, AuditEntry};
pub use failure::Failure;
pub use faults::{Fault, FaultPlan};
pub use selectors::{label_selector, selects};
pub use users::{Right, User};

use super::backends::Backends;
use axum::Router;
use k8s_openapi::ByteString;
use objects::Objects;
use router::Server;
use serde_json::{Value, json};
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tls::{Endpoint, Identity};
use users::Users;

/// How the server is set up.
#[derive(Clone)]
pub struct ApiServerOptions {
    /// Port on loopback; 0 takes a free one.
    pub port: u16,
    /// What proxies and logs reach.
    pub backends: Backends,
    /// Changes of each resource that a watch can still replay; older ones are answered with 410.
    pub history: usize,
}

impl Default for ApiServerOptions {
    fn default() -> Self {
        Self {
            port: 0,
            backends: Backends::default(),
            history: 10_000,
        }
    }
}

/// A running server. It ends when it is stopped or dropped.
pub struct ApiServer {
    url: String,
    authority_pem: String,
    server: Server,
    endpoint: Endpoint,
}

impl ApiServer {
    /// Starts it with the namespaces that every cluster has.
    ///
    /// # Errors
    /// When the port cannot be opened or the certificates cannot be made.
    pub async fn start(options: ApiServerOptions) -> io::Result<Self> {
        let identity = Identity::generate(&["127.0.0.1", "localhost"])?;
        let server = Server {
            objects: Objects::new(options.history),
            backends: options.backends,
            users: Users::default(),
            faults: FaultPlan::default(),
            audit: Audit::default(),
            aggregated: AggregatedApis::default(),
        };
        for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
            let namespace = json!({ "metadata": { "name": name } });
            server
                .objects
                .create(&kinds::NAMESPACES, "", namespace, false)
                .map_err(|failure| io::Error::other(failure.message))?;
        }
        let app = Router::new().fallback(router::handle).with_state(server.clone());
        let endpoint = Endpoint::open((Ipv4Addr::LOCALHOST, options.port).into(), &identity, app).await?;
        let url = format!("https://{}", endpoint.address());
        Ok(Self {
            url,
            authority_pem: identity.authority_pem,
            server,
            endpoint,
        })
    }

    /// `https://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate of the authority that signed the server's certificate, as PEM.
    pub fn authority_pem(&self) -> &str {
        &self.authority_pem
    }

    /// A kubeconfig (YAML) with one context, `lab`, for this user.
    pub fn kubeconfig(&self, user: User) -> String {
        // JSON is YAML; no serializer can fail here.
        self.kubeconfig_value(user).to_string()
    }

    fn kubeconfig_value(&self, user: User) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Config", "preferences": {}, "current-context": "lab",
            "clusters": [{ "name": "lab", "cluster": {
                "server": self.url, "certificate-authority-data": ByteString(self.authority_pem.clone().into_bytes()),
            }}],
            "users": [{ "name": user.name(), "user": { "token": self.server.users.token(user) } }],
            "contexts": [{ "name": "lab", "context": { "cluster": "lab", "user": user.name() } }],
        })
    }

    /// All objects of a resource (`("apps", "daemonsets")`), for tests that look behind the API.
    pub fn objects(&self, group: &str, plural: &str) -> Vec<Arc<Value>> {
        let kind = kinds::find(group, "v1", plural);
        kind.map(|kind| self.server.objects.list(kind).1.into_values().collect())
            .unwrap_or_default()
    }

    /// Forgets the history of a resource (`nodes` of the core group: `("", "nodes")`), as a compaction does: a watch
    /// or page from before gets 410.
    pub fn compact(&self, group: &str, plural: &str) {
        if let Some(kind) = kinds::find(group, "v1", plural) {
            self.server.objects.compact(kind);
        }
    }

    /// The switchable faults.
    pub fn faults(&self) -> &FaultPlan {
        &self.server.faults
    }

    /// The writes so far.
    pub fn audit(&self) -> &Audit {
        &self.server.audit
    }

    /// The aggregated APIs, such as `metrics.k8s.io`.
    pub fn aggregated(&self) -> &AggregatedApis {
        &self.server.aggregated
    }

    /// Replaces what a user may do.
    pub fn grant(&self, user: User, rights: Vec<Right>) {
        self.server.users.grant(user, rights);
    }

    /// Stops it: the port is closed and open connections break.
    pub async fn stop(self) {
        self.endpoint.close().await;
    }
}
