//! What the stories of the polled sources run on: a fake HTTP server on loopback and a source beside it.

use super::context::{EventSink, SourceContext};
use super::event::{Demand, Generation, Payload, SourceEvent, SourceState};
use crate::domain::measurement::{Measurements, Missing, Quantity};
use crate::domain::reading::Source;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Far longer than anything takes, so that a busy machine turns no story red.
const DEADLINE: Duration = Duration::from_secs(90);

/// What a fake was asked.
pub struct Asked {
    pub headers: HeaderMap,
    /// Parameters of the address and of the form.
    pub parameters: HashMap<String, String>,
}

/// What it answers.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    pub content_type: &'static str,
    pub body: String,
}

impl Reply {
    pub fn json(value: &serde_json::Value) -> Self {
        Self::of(200, "application/json", value.to_string())
    }

    pub fn of(status: u16, content_type: &'static str, body: impl Into<String>) -> Self {
        Self {
            status,
            content_type,
            body: body.into(),
        }
    }

    /// As the API server words an error of its own.
    pub fn api_error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
            "message": message});
        Self::of(status, "application/json", body.to_string())
    }
}

type Handler = Arc<dyn Fn(&Asked) -> Reply + Send + Sync>;

/// A server whose paths can be given other answers while it runs.
#[derive(Clone, Default)]
pub struct Fake {
    paths: Arc<Mutex<HashMap<String, Handler>>>,
}

impl Fake {
    /// From now on `path` is answered like this.
    pub fn on(&self, path: &str, handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) {
        self.paths
            .lock()
            .unwrap()
            .insert(path.to_owned(), Arc::new(handler));
    }

    /// From now on `path` is not found, as the API server says it.
    pub fn remove(&self, path: &str) {
        self.paths.lock().unwrap().remove(path);
    }

    /// Serves on a port of loopback; answers its address.
    pub async fn serve(&self) -> (String, DropGuard) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(self.clone());
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        tokio::spawn(async move {
            axum::serve(listener, router)
                .with_graceful_shutdown(stopped)
                .await
        });
        (url, stop.drop_guard())
    }
}

async fn answer(
    State(fake): State<Fake>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = match method {
        Method::POST => String::from_utf8_lossy(&body).into_owned(),
        _ => uri.query().unwrap_or_default().to_owned(),
    };
    let url = reqwest::Url::parse(&format!("http://localhost/?{text}")).unwrap();
    let asked = Asked {
        headers,
        parameters: url.query_pairs().into_owned().collect(),
    };
    let handler = fake.paths.lock().unwrap().get(uri.path()).cloned();
    let reply = match handler {
        Some(handler) => handler(&asked),
        None => Reply::api_error(404, "the server could not find the requested resource"),
    };
    let status = StatusCode::from_u16(reply.status).unwrap();
    (status, [(CONTENT_TYPE, reply.content_type)], reply.body).into_response()
}

/// A source's surroundings: what it is given, and what it says.
pub struct Bench {
    pub fake: Fake,
    pub context: SourceContext,
    demand: watch::Sender<Demand>,
    refresh: watch::Sender<u64>,
    events: mpsc::Receiver<SourceEvent>,
    _server: DropGuard,
    _source: DropGuard,
}

pub const EVERYTHING: Demand = Demand {
    nodes: true,
    containers: true,
    history: true,
    event_log: None,
    smb: false,
};

impl Bench {
    /// A source that everything is needed of, beside a fake API server that knows nothing yet.
    pub async fn new(source: Source) -> Self {
        // Whether another test was first does not matter.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let fake = Fake::default();
        let (url, server) = fake.serve().await;
        let mut config = kube::Config::new(url.parse().unwrap());
        config.default_retry = false;
        let demand = watch::Sender::new(EVERYTHING);
        let refresh = watch::Sender::new(0);
        let (sender, events) = mpsc::channel(1024);
        let cancel = CancellationToken::new();
        Self {
            fake,
            context: SourceContext {
                client: kube::Client::try_from(config).unwrap(),
                sink: EventSink::new(source, Generation(1), sender),
                demand: demand.subscribe(),
                refresh: refresh.subscribe(),
                request_timeout: Duration::from_secs(30),
                cancel: cancel.clone(),
            },
            demand,
            refresh,
            events,
            _server: server,
            _source: cancel.drop_guard(),
        }
    }

    /// The operator asks for everything again.
    pub fn refresh(&self) {
        self.refresh.send_modify(|count| *count += 1);
    }

    /// Another pane is opened.
    pub fn need(&self, demand: Demand) {
        self.demand.send_replace(demand);
    }

    /// The first message from now on that `find` takes.
    pub async fn until<T>(&mut self, what: &str, mut find: impl FnMut(Payload) -> Option<T>) -> T {
        let mut last_state = None;
        let found = tokio::time::timeout(DEADLINE, async {
            loop {
                let payload = self.events.recv().await.expect("the source ended").payload;
                if let Payload::State(state) = &payload {
                    last_state = Some(state.clone());
                }
                if let Some(found) = find(payload) {
                    return found;
                }
            }
        });
        let found = found.await;
        found.unwrap_or_else(|_| panic!("never saw {what}; the last state was {last_state:?}"))
    }

    /// The next state that `accept` accepts.
    pub async fn state(&mut self, what: &str, accept: impl Fn(&SourceState) -> bool) -> SourceState {
        self.until(what, |payload| match payload {
            Payload::State(state) if accept(&state) => Some(state),
            _ => None,
        })
        .await
    }

    /// The next round of samples.
    pub async fn round(&mut self) -> Measurements {
        self.until("a round of samples", |payload| match payload {
            Payload::Measurements(round) => Some(round),
            _ => None,
        })
        .await
    }
}

/// The reason for which a quantity is missing at a node, else everywhere.
pub fn reason(missing: &[Missing], quantity: Quantity) -> String {
    let of_quantity = || missing.iter().filter(|one| one.quantity == quantity);
    of_quantity()
        .find(|one| one.node.is_some())
        .or_else(|| of_quantity().next())
        .map_or_else(
            || panic!("{quantity:?} is not missing"),
            |one| one.reason.to_string(),
        )
}
