//! Details of single objects, fetched when the operator opens a page or a YAML view.

mod node;
mod pod;
mod yaml;

use super::failure::{Asked, Failure};
use super::http::ApiServer;
use crate::domain::object::ObjectKey;
use crate::sources::context::EventSink;
use crate::sources::event::{Detail, DetailKey, Kind, Payload};
use serde::de::DeserializeOwned;
use std::fmt::Write as _;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

/// Answers each key with one message, several at a time, until the task is dropped.
pub async fn run(api: ApiServer, sink: EventSink, mut keys: UnboundedReceiver<DetailKey>) {
    let mut fetches = JoinSet::new();
    loop {
        tokio::select! {
            key = keys.recv() => {
                let Some(key) = key else { return };
                let (api, sink) = (api.clone(), sink.clone());
                fetches.spawn(async move {
                    let answer = fetch(&api, &key).await;
                    sink.send(Payload::Detail(key, answer)).await;
                });
            }
            Some(_) = fetches.join_next() => {}
        }
    }
}

async fn fetch(api: &ApiServer, key: &DetailKey) -> Result<Detail, String> {
    match key {
        DetailKey::Node(name) => node::fetch(api, name).await.map(Detail::Node),
        DetailKey::Pod(namespace, name) => pod::fetch(api, namespace, name).await.map(Detail::Pod),
        DetailKey::Yaml(kind, object) => yaml::fetch(api, *kind, object).await.map(Detail::Yaml),
    }
}

/// One object: where it is, and how it is called in messages.
struct Object {
    path: String,
    title: String,
}

impl Object {
    fn node(name: &str) -> Self {
        Self {
            path: format!("/api/v1/nodes/{}", segment(name)),
            title: format!("node {name}"),
        }
    }

    fn pod(namespace: &str, name: &str) -> Self {
        Self {
            path: format!("/api/v1/namespaces/{}/pods/{}", segment(namespace), segment(name)),
            title: format!("pod {namespace}/{name}"),
        }
    }

    fn csi_node(name: &str) -> Self {
        Self {
            path: format!("/apis/storage.k8s.io/v1/csinodes/{}", segment(name)),
            title: format!("CSINode {name}"),
        }
    }

    fn of(kind: Kind, key: &ObjectKey) -> Self {
        match kind {
            Kind::Node => Self::node(&key.name),
            Kind::Pod => Self::pod(key.namespace.as_deref().unwrap_or_default(), &key.name),
        }
    }

    /// Fetches and decodes it.
    async fn get<T: DeserializeOwned>(&self, api: &ApiServer) -> Result<T, String> {
        let outcome = api.get(&self.path).await;
        outcome
            .and_then(|body| serde_json::from_slice(&body).map_err(|error| Failure::of_json(&error)))
            .map_err(|failure| self.failed(api, &failure))
    }

    fn failed(&self, api: &ApiServer, failure: &Failure) -> String {
        let asked = Asked {
            verb: "get",
            object: self.title.clone(),
            all_namespaces: false,
        };
        let problem = failure.problem(&asked, &api.scope);
        format!("{}; {}", problem.what, problem.next_step)
    }
}

/// A name as a path segment. Names of the API need no escapes; what does is not allowed to change the path.
pub fn segment(name: &str) -> String {
    let mut segment = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            segment.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(segment, "%{byte:02X}");
        }
    }
    segment
}
