//! A small API server on loopback that lists, watches, and misbehaves on demand.

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use tokio::sync::broadcast;

/// Handle of a running fake API server; it stops when the last clone is dropped.
#[derive(Clone)]
pub struct FakeApi {
    pub url: String,
    world: Arc<Mutex<World>>,
    _task: Arc<tokio_util::task::AbortOnDropHandle<()>>,
}

struct World {
    version: u64,
    /// Plural to objects by namespace and name.
    objects: HashMap<String, BTreeMap<(String, String), Value>>,
    /// Plural to the wire of its watches.
    watches: HashMap<String, broadcast::Sender<Option<String>>>,
    /// Path part to what is answered instead.
    mishaps: Vec<(String, Mishap)>,
    /// Watches from older versions are refused as too old.
    oldest: u64,
    requests: Vec<String>,
    git_version: String,
    page: Option<usize>,
}

#[derive(Clone)]
pub enum Mishap {
    Status(u16, &'static str),
    Html,
    /// The list breaks off in the middle.
    Truncated,
    Never,
}

impl FakeApi {
    pub async fn start() -> Self {
        let world = Arc::new(Mutex::new(World {
            version: 100,
            objects: HashMap::new(),
            watches: HashMap::new(),
            mishaps: Vec::new(),
            oldest: 0,
            requests: Vec::new(),
            git_version: "v1.37.2".to_owned(),
            page: None,
        }));
        let router = axum::Router::new().fallback(answer).with_state(world.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            world,
            _task: Arc::new(tokio_util::task::AbortOnDropHandle::new(task)),
        }
    }

    /// A kubeconfig with a context for each of these servers.
    pub fn kubeconfig(contexts: &[(&str, &FakeApi)]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let servers: Vec<(&str, &str)> = contexts
            .iter()
            .map(|(name, api)| (*name, api.url.as_str()))
            .collect();
        file.write_all(kubeconfig_text(&servers).as_bytes()).unwrap();
        file
    }

    pub fn put(&self, plural: &str, mut object: Value) {
        let mut world = self.world.lock().unwrap();
        world.version += 1;
        object["metadata"]["resourceVersion"] = json!(world.version.to_string());
        let key = key_of(&object);
        let known = world
            .objects
            .entry(plural.to_owned())
            .or_default()
            .insert(key, object.clone())
            .is_some();
        let kind = if known { "MODIFIED" } else { "ADDED" };
        world.tell(plural, kind, &object);
    }

    pub fn delete(&self, plural: &str, namespace: &str, name: &str) {
        let mut world = self.world.lock().unwrap();
        world.version += 1;
        let version = world.version;
        let key = (namespace.to_owned(), name.to_owned());
        let Some(mut object) = world
            .objects
            .get_mut(plural)
            .and_then(|objects| objects.remove(&key))
        else {
            return;
        };
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        world.tell(plural, "DELETED", &object);
    }

    /// From now on requests whose path contains `part` meet with this.
    pub fn mishap(&self, part: &str, mishap: Mishap) {
        self.world.lock().unwrap().mishaps.push((part.to_owned(), mishap));
    }

    pub fn well_again(&self) {
        self.world.lock().unwrap().mishaps.clear();
    }

    /// Ends all watches, as a restarting API server does.
    pub fn drop_watches(&self) {
        for watch in self.world.lock().unwrap().watches.values() {
            // Nobody watching is fine.
            let _ = watch.send(None);
        }
    }

    /// Deletes without telling anyone and forgets the past: who comes with an older version gets 410.
    pub fn compact(&self, plural: &str, namespace: &str, name: &str) {
        let mut world = self.world.lock().unwrap();
        let key = (namespace.to_owned(), name.to_owned());
        world.objects.entry(plural.to_owned()).or_default().remove(&key);
        world.version += 1;
        world.oldest = world.version;
    }

    pub fn pages_of(&self, items: usize) {
        self.world.lock().unwrap().page = Some(items);
    }

    pub fn requests(&self) -> Vec<String> {
        self.world.lock().unwrap().requests.clone()
    }

    pub fn watchers(&self, plural: &str) -> usize {
        let world = self.world.lock().unwrap();
        world
            .watches
            .get(plural)
            .map_or(0, broadcast::Sender::receiver_count)
    }
}

pub fn kubeconfig_text(servers: &[(&str, &str)]) -> String {
    let each = |entry: fn(&str, &str) -> Value| {
        servers
            .iter()
            .map(|(name, url)| entry(name, url))
            .collect::<Vec<_>>()
    };
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": servers.first().map(|(name, _)| *name),
        "clusters": each(|name, url| json!({"name": name, "cluster": {"server": url}})),
        "contexts": each(|name, _| json!({"name": name, "context": {"cluster": name, "user": name}})),
        "users": each(|name, _| json!({"name": name, "user": {"token": "s3cret-token"}})),
    })
    .to_string()
}

impl World {
    fn tell(&mut self, plural: &str, kind: &str, object: &Value) {
        if let Some(watch) = self.watches.get(plural) {
            let _ = watch.send(Some(json!({"type": kind, "object": object}).to_string()));
        }
    }
}

fn key_of(object: &Value) -> (String, String) {
    let text = |pointer| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    (text("/metadata/namespace"), text("/metadata/name"))
}

fn as_json(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn status(code: u16, message: &str) -> Response {
    let body =
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message});
    (StatusCode::from_u16(code).unwrap(), as_json(&body)).into_response()
}

async fn answer(State(world): State<Arc<Mutex<World>>>, request: Request) -> Response {
    let uri = request.uri().clone();
    let (mishap, git_version) = {
        let mut world = world.lock().unwrap();
        world.requests.push(uri.to_string());
        let found = world
            .mishaps
            .iter()
            .find(|(part, _)| uri.to_string().contains(part));
        (found.map(|(_, mishap)| mishap.clone()), world.git_version.clone())
    };
    match mishap {
        Some(Mishap::Status(code, message)) => return status(code, message),
        Some(Mishap::Html) => {
            return (
                [(header::CONTENT_TYPE, "text/html")],
                "<html><body>Please log in</body></html>",
            )
                .into_response();
        }
        Some(Mishap::Never) => std::future::pending().await,
        Some(Mishap::Truncated) | None => {}
    }
    let truncated = matches!(mishap, Some(Mishap::Truncated));
    if uri.path() == "/version" {
        return as_json(&json!({"gitVersion": git_version}));
    }
    let query: HashMap<String, String> = axum::extract::Query::try_from_uri(&uri)
        .map(|axum::extract::Query(query)| query)
        .unwrap_or_default();
    let segments: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
    let after_group = if segments[0] == "api" { 2 } else { 3 };
    let (namespace, rest) = match &segments[after_group..] {
        ["namespaces", namespace, rest @ ..] => ((*namespace).to_owned(), rest),
        rest => (String::new(), rest),
    };
    match rest {
        [plural] if query.contains_key("watch") => watch(&world, plural, &namespace, &query),
        [plural] => list(&world, plural, &namespace, &query, truncated),
        [plural, name] => {
            let world = world.lock().unwrap();
            let key = (namespace, (*name).to_owned());
            match world.objects.get(*plural).and_then(|objects| objects.get(&key)) {
                Some(object) => as_json(object),
                None => status(404, &format!("{plural} \"{name}\" not found")),
            }
        }
        _ => status(404, "the server could not find the requested resource"),
    }
}

fn list(
    world: &Mutex<World>,
    plural: &str,
    namespace: &str,
    query: &HashMap<String, String>,
    truncated: bool,
) -> Response {
    let world = world.lock().unwrap();
    let items: Vec<Value> = world
        .objects
        .get(plural)
        .into_iter()
        .flatten()
        .filter(|((found, _), _)| namespace.is_empty() || found == namespace)
        .map(|(_, object)| object.clone())
        .collect();
    let start: usize = query.get("continue").map_or(0, |token| token.parse().unwrap());
    let end = world
        .page
        .map_or(items.len(), |page| (start + page).min(items.len()));
    let mut metadata = json!({"resourceVersion": world.version.to_string()});
    if end < items.len() {
        metadata["continue"] = json!(end.to_string());
    }
    // In the order of the real server: metadata before items.
    let mut body = format!(
        r#"{{"kind":"List","apiVersion":"v1","metadata":{metadata},"items":{}}}"#,
        json!(items[start..end])
    );
    if truncated {
        body.truncate(body.len() - 20);
    }
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn watch(world: &Mutex<World>, plural: &str, namespace: &str, query: &HashMap<String, String>) -> Response {
    let mut world = world.lock().unwrap();
    let from: u64 = query["resourceVersion"].parse().unwrap();
    if from < world.oldest {
        let line = json!({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired",
            "message": "too old resource version"}});
        return Body::from(format!("{line}\n")).into_response();
    }
    let missed: Vec<String> = world
        .objects
        .get(plural)
        .into_iter()
        .flatten()
        .filter(|(_, object)| {
            let version: u64 = object["metadata"]["resourceVersion"]
                .as_str()
                .unwrap()
                .parse()
                .unwrap();
            version > from
        })
        .map(|(_, object)| json!({"type": "MODIFIED", "object": object}).to_string())
        .collect();
    let sender = world
        .watches
        .entry(plural.to_owned())
        .or_insert_with(|| broadcast::channel(1024).0);
    let receiver = sender.subscribe();
    let namespace = namespace.to_owned();
    let live = stream::unfold(receiver, |mut receiver| async {
        let line = receiver.recv().await.ok().flatten()?;
        Some((line, receiver))
    });
    let lines = futures::StreamExt::chain(stream::iter(missed), live);
    let lines = futures::StreamExt::filter_map(lines, move |line| {
        let object: Value = serde_json::from_str(&line).unwrap();
        let in_scope = namespace.is_empty() || key_of(&object["object"]).0 == namespace;
        std::future::ready(
            in_scope.then(|| Ok::<_, std::convert::Infallible>(Bytes::from(format!("{line}\n")))),
        )
    });
    Body::from_stream(lines).into_response()
}
