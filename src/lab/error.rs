//! What can go wrong while the lab acts.

use std::path::PathBuf;

/// A failure of the lab: what failed on which object, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The API server refused or did not answer.
    #[error("cannot {verb} {object} in the lab's cluster: {source}")]
    Api {
        /// What was attempted.
        verb: &'static str,
        /// On what.
        object: String,
        /// What the client says.
        #[source]
        source: Box<kube::Error>,
    },
    /// The kubeconfig cannot be used.
    #[error("cannot use kubeconfig {path}: {reason}; give one that names the test cluster with --kubeconfig")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The server is not marked as a lab.
    #[error(
        "{server} is not marked as a lab, nothing was done there: if it is a throw-away test cluster, mark it \
         with `kubectl annotate namespace kube-system {annotation}=true`",
        annotation = super::LAB_ANNOTATION
    )]
    NotALab {
        /// URL of the server.
        server: String,
    },
    /// The node that should play something does not exist.
    #[error("there is no node `{node}` in the lab's cluster: `drainboard nodes` lists those there are")]
    UnknownNode {
        /// Its name.
        node: String,
    },
    /// The node plays something already.
    #[error(
        "node {node} is still in the middle of `{what}`, nothing was asked: a restart is over when the pods of the \
         node's network have restarted"
    )]
    AlreadyPlaying {
        /// The node.
        node: String,
        /// What it plays.
        what: String,
    },
    /// Nobody began to play what was asked.
    #[error(
        "nobody began to play `{verb}` on node {node} within {seconds} s, the request was taken back: is `drainboard \
         demo --serve` or `drainboard lab attach` running for {server}, with this node?"
    )]
    NobodyPlays {
        /// URL of the server.
        server: String,
        /// The node.
        node: String,
        /// What was asked.
        verb: &'static str,
        /// How long was waited.
        seconds: u64,
    },
    /// A file that the lab did not write is in the way.
    #[error(
        "{path} exists and was not written by drainboard, so it is left alone: give another file with --kubeconfig"
    )]
    ForeignFile {
        /// The file.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("cannot {verb} {path}: {source}")]
    File {
        /// What was attempted.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// An address could not be bound.
    #[error(
        "cannot listen on {address} for the simulated {role}: {source}; the node addresses must exist here \
         (in a network namespace: `ip address add {ip}/32 dev lo`)",
        ip = address.ip()
    )]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// Who would have answered there.
        role: &'static str,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The embedded API server did not start.
    #[error("cannot start the embedded API server on loopback: {0}")]
    ApiServer(#[source] std::io::Error),
    /// A certificate could not be made.
    #[error("cannot make the lab's certificate: {0}")]
    Certificate(String),
    /// The simulated cluster did not come up.
    #[error("the simulated cluster is not ready after {seconds} s: {missing}")]
    NotReady {
        /// How long was waited.
        seconds: u64,
        /// What is missing.
        missing: String,
    },
    /// An object of the lab's own data has no address in the API.
    #[error("the lab does not know where objects of kind {kind} ({api_version}) live in the API")]
    UnknownKind {
        /// `apiVersion`.
        api_version: String,
        /// `kind`.
        kind: String,
    },
}

impl LabError {
    pub(super) fn api(verb: &'static str, object: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let object = object.into();
        move |source| Self::Api {
            verb,
            object,
            source: Box::new(source),
        }
    }

    /// Whether the API server answered with this HTTP status.
    pub fn has_status(&self, code: u16) -> bool {
        matches!(self, Self::Api { source, .. }
            if matches!(source.as_ref(), kube::Error::Api(status) if status.code == code))
    }
}
