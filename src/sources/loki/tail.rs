//! The websocket on which Loki sends new lines. Only an address of its own has one: the API server's proxy would
//! pass it on, but kube's client opens the cluster's own protocols only.

use super::labels::Labels;
use super::wire;
use crate::domain::log::{LogEntry, UnixNanos};
use crate::sources::transport::direct::Direct;
use crate::sources::transport::failure::{Failure, FailureKind, innermost};
use futures::StreamExt;
use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use http::{HeaderMap, HeaderValue};
use reqwest::Upgraded;
use std::time::Duration;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

/// Where the websocket is.
#[derive(Clone)]
pub struct Tail {
    direct: Direct,
}

/// A websocket that is open.
pub struct Tailing {
    socket: WebSocketStream<Upgraded>,
    who: String,
}

/// Silence after which the connection counts as broken: Loki pings every second.
const SILENCE: Duration = Duration::from_secs(30);

/// Lines of the past that it may begin with.
const LIMIT: &str = "5000";

const PATH: &str = "/loki/api/v1/tail";

impl Tail {
    /// A tail over this client, which must be [`Direct::for_upgrades`].
    pub const fn new(direct: Direct) -> Self {
        Self { direct }
    }

    /// Opens it: first come the lines from `since_ns` on, then new ones.
    ///
    /// # Errors
    /// No connection, or what Loki or a proxy answers instead.
    pub async fn open(&self, logql: &str, since_ns: UnixNanos) -> Result<Tailing, Failure> {
        let key = generate_key();
        let mut headers = HeaderMap::new();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        if let Ok(key) = HeaderValue::from_str(&key) {
            headers.insert(SEC_WEBSOCKET_KEY, key);
        }
        let parameters = [
            ("query", logql),
            ("start", &since_ns.to_string()),
            ("limit", LIMIT),
        ];
        let expected = derive_accept_key(key.as_bytes());
        let accepted = |headers: &HeaderMap| {
            headers
                .get(SEC_WEBSOCKET_ACCEPT)
                .is_some_and(|told| told.as_bytes() == expected.as_bytes())
        };
        let opening = self.direct.upgrade(PATH, &parameters, headers, accepted);
        let who = self.direct.route().to_string();
        let upgraded = tokio::time::timeout(SILENCE, opening).await.map_err(|_| {
            Failure::new(
                FailureKind::Timeout,
                format!("{who} did not open its websocket {PATH} in time"),
                "it is tried again by itself",
            )
        })??;
        let socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await;
        Ok(Tailing { socket, who })
    }
}

impl Tailing {
    /// The next lines, and how many were dropped; `None` when Loki ends the tail in order (after an hour).
    ///
    /// # Errors
    /// The connection broke, or Loki says why it ends.
    pub async fn next(&mut self, labels: &Labels) -> Result<Option<(Vec<LogEntry>, u64)>, Failure> {
        let broken = |why: &str| {
            Failure::new(
                FailureKind::Unreachable,
                format!("{} broke off its websocket {PATH}: {why}", self.who),
                "it is opened again by itself",
            )
        };
        loop {
            let message = match tokio::time::timeout(SILENCE, self.socket.next()).await {
                Err(_) => return Err(broken("silence")),
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(broken(&innermost(&error))),
                Ok(Some(Ok(message))) => message,
            };
            match message {
                Message::Text(text) => {
                    return wire::frame(&text, labels).map(Some).map_err(|error| {
                        Failure::new(
                            FailureKind::Garbage,
                            format!("{} sent something else than lines on {PATH}: {error}", self.who),
                            "check that the right server answers there",
                        )
                    });
                }
                Message::Close(Some(close)) if !close.reason.is_empty() => {
                    return Err(Failure::new(
                        FailureKind::Busy,
                        format!("{} ends its websocket {PATH}: {}", self.who, close.reason),
                        "new lines are asked for instead",
                    ));
                }
                // The answer to a ping goes out with the next read.
                Message::Close(_)
                | Message::Binary(_)
                | Message::Ping(_)
                | Message::Pong(_)
                | Message::Frame(_) => {}
            }
        }
    }
}
