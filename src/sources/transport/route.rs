//! Where a backend is and what its error statuses mean there.

use super::failure::{Failure, FailureKind, is_api_status, message_of};
use std::fmt;

/// What answers: whose name and flags an advice tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Prometheus.
    Prometheus,
    /// Loki.
    Loki,
}

impl Backend {
    /// The flag of its address.
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Prometheus => "--prometheus",
            Self::Loki => "--loki",
        }
    }

    /// An address of its kind.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Prometheus => "https://prometheus.example:9090",
            Self::Loki => "https://loki.example:3100",
        }
    }

    /// How it is told to serve under a path prefix.
    const fn prefix_option(self) -> &'static str {
        match self {
            Self::Prometheus => "--web.route-prefix",
            Self::Loki => "server.http_path_prefix",
        }
    }

    /// What a question that it does not understand may mean.
    const fn not_understood(self) -> &'static str {
        match self {
            Self::Prometheus => {
                "this server does not understand the question: check that it is a Prometheus of version 2 or newer, \
                 and the label matcher"
            }
            Self::Loki => "correct the query; labels and their values are those of this Loki",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prometheus => "Prometheus",
            Self::Loki => "Loki",
        })
    }
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// A server at this address (without user, password and query).
    Direct {
        /// Its URL.
        url: String,
        /// What it is.
        backend: Backend,
    },
    /// A service, through the API server.
    Service {
        /// Namespace.
        namespace: String,
        /// Name.
        name: String,
        /// `http` or `https`, as spoken behind the API server.
        scheme: &'static str,
        /// Port, by name or number.
        port: String,
        /// What it is.
        backend: Backend,
    },
    /// A pod, through the API server.
    Pod {
        /// Namespace.
        namespace: String,
        /// Name.
        name: String,
        /// Port number.
        port: u16,
    },
    /// The API server itself.
    Api,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct { url, .. } => f.write_str(url),
            Self::Service { namespace, name, .. } => {
                write!(f, "service {namespace}/{name} through the API server")
            }
            Self::Pod { namespace, name, .. } => write!(f, "pod {namespace}/{name} through the API server"),
            Self::Api => f.write_str("the API server"),
        }
    }
}

impl Route {
    /// Path of the API server under which the backend's own paths begin.
    pub fn prefix(&self) -> String {
        match self {
            Self::Direct { .. } | Self::Api => String::new(),
            Self::Service {
                namespace,
                name,
                scheme,
                port,
                ..
            } => {
                // `http` is what the API server speaks when nothing is said.
                let scheme = if *scheme == "http" { "" } else { "https:" };
                format!("/api/v1/namespaces/{namespace}/services/{scheme}{name}:{port}/proxy")
            }
            Self::Pod {
                namespace,
                name,
                port,
            } => format!("/api/v1/namespaces/{namespace}/pods/{name}:{port}/proxy"),
        }
    }

    /// What an error status means here, and what to do.
    pub fn refusal(&self, path: &str, status: u16, body: &[u8]) -> Failure {
        let message = message_of(body);
        let from_api = matches!(self, Self::Api) || is_api_status(body);
        let said = if message.is_empty() {
            String::new()
        } else {
            format!(": {message}")
        };
        let who = if from_api && *self != Self::Api {
            format!("the API server answered {status} for {path} of {self}{said}")
        } else {
            format!("{self} answered {status} for {path}{said}")
        };
        Failure {
            said: message,
            ..Failure::new(kind_of(status), who, self.advice(status, from_api))
        }
    }

    fn advice(&self, status: u16, from_api: bool) -> String {
        match (self, status) {
            (Self::Direct { backend, .. }, 401 | 403) => format!(
                "check user and password, token, headers and client certificate of the {backend} options; a tenant \
                 or role may be needed too"
            ),
            (_, 401) if from_api => "log in again: the credentials of the kubeconfig were refused".to_owned(),
            (Self::Service { backend, .. }, 401 | 403) if !from_api => format!(
                "it wants credentials of its own, and these cannot pass the API server's proxy: give its address \
                 with {} and the credentials with it",
                backend.flag()
            ),
            (
                Self::Service {
                    namespace, backend, ..
                },
                403,
            ) => format!(
                "ask for a role in namespace {namespace} with verb get on services/proxy, or give an address with {}",
                backend.flag()
            ),
            (Self::Pod { namespace, .. }, 403) => {
                format!("ask for a role in namespace {namespace} with verb get on pods/proxy")
            }
            (Self::Api, 403) => "ask for a role that may read this".to_owned(),
            (Self::Direct { url, backend }, 404) => format!(
                "check that {url} is the server itself, with its path prefix if it has one ({})",
                backend.prefix_option()
            ),
            (_, 404) if from_api => "it may just have been replaced: it is looked for again".to_owned(),
            (Self::Service { backend, .. }, 404) => format!(
                "it may serve under a path prefix: give its whole address with {}",
                backend.flag()
            ),
            (_, 429) => "nothing: it is asked again later".to_owned(),
            (Self::Service { namespace, name, .. }, 502..=504) => format!(
                "look at its pods: `kubectl -n {namespace} get endpoints {name}`; it is tried again by itself"
            ),
            (Self::Pod { namespace, name, .. }, 500..=504) => format!(
                "look at the pod: `kubectl -n {namespace} describe pod {name}`; it is tried again by itself"
            ),
            (Self::Direct { backend, .. } | Self::Service { backend, .. }, 400 | 422) => {
                backend.not_understood().to_owned()
            }
            _ => "look at its log; it is tried again by itself".to_owned(),
        }
    }

    /// What to do when there is no connection or no answer in time.
    pub fn unreachable_advice(&self) -> String {
        match self {
            Self::Direct { url, .. } => format!(
                "check that {url} is up and reachable from here (VPN, firewall, HTTPS_PROXY), and its CA file if it \
                 has its own; it is tried again by itself"
            ),
            Self::Service { namespace, name, .. } => format!(
                "check the API server, and the pods behind the service: `kubectl -n {namespace} get endpoints \
                 {name}`; it is tried again by itself"
            ),
            Self::Pod { namespace, name, .. } => format!(
                "check the node of pod {namespace}/{name} and the firewall on its port; it is tried again by itself"
            ),
            Self::Api => "check the API server; it is tried again by itself".to_owned(),
        }
    }
}

fn kind_of(status: u16) -> FailureKind {
    match status {
        401 => FailureKind::Unauthorized,
        403 => FailureKind::Forbidden,
        404 => FailureKind::NotFound,
        429 => FailureKind::Busy,
        other => FailureKind::Status(other),
    }
}
