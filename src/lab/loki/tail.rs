//! The websocket on which new lines are sent.

use super::api::{Parameters, Refusal, bad, is_categorized, now, streams};
use super::database::{Database, Labelled};
use super::logql::Query;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures::{SinkExt, StreamExt};
use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use http::{HeaderValue, StatusCode};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::time::Duration;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Error, Message};

/// How often it is looked for new lines.
const PERIOD: Duration = Duration::from_millis(200);

/// How often Loki pings.
const PING: Duration = Duration::from_secs(1);

/// Lines in one message; of more that came meanwhile the oldest are dropped, which is said.
const MOST: usize = 20_000;

/// Opens the websocket, or says why not.
pub fn tail(database: Database, request: Request) -> Result<Response, Refusal> {
    let parameters = Parameters::read(request.uri().query().unwrap_or_default().as_bytes());
    let query = parameters.query()?;
    let limit = parameters.limit()?;
    let start = parameters.time("start", now() - 3_600_000_000_000)?;
    let categorized = is_categorized(request.headers());
    let key = request.headers().get(SEC_WEBSOCKET_KEY).cloned();
    let accept = key
        .and_then(|key| HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok())
        .ok_or_else(|| bad("websocket: the client is not using the websocket protocol"))?;
    tokio::spawn(async move {
        match hyper::upgrade::on(request).await {
            Ok(upgraded) => {
                let socket =
                    WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
                let tail = Sending {
                    database,
                    query,
                    categorized,
                    socket,
                };
                if let Err(error) = tail.send(start, limit).await {
                    tracing::debug!(%error, "a tail ended");
                }
            }
            Err(error) => tracing::debug!(%error, "a websocket was not opened"),
        }
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    Ok(response)
}

struct Sending {
    database: Database,
    query: Query,
    categorized: bool,
    socket: WebSocketStream<TokioIo<Upgraded>>,
}

impl Sending {
    /// Sends the lines from `start` on, then what comes, until the client goes.
    async fn send(mut self, start: i64, limit: usize) -> Result<(), Error> {
        let mut told = self.database.count();
        let mut past = self.database.read(&self.query, start, i64::MAX, limit, true);
        past.reverse();
        self.message(past, &[]).await?;
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut pings = tokio::time::interval(PING);
        pings.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    let before = told;
                    told = self.database.count();
                    let (mut fresh, _) = self.database.since(&self.query, before);
                    let dropped: Vec<Labelled> = fresh.drain(..fresh.len().saturating_sub(MOST)).collect();
                    self.message(fresh, &dropped).await?;
                }
                _ = pings.tick() => self.socket.send(Message::Ping(Vec::new().into())).await?,
                said = self.socket.next() => match said {
                    Some(Ok(Message::Close(_))) | None => return Ok(()),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(error),
                }
            }
        }
    }

    async fn message(&mut self, lines: Vec<Labelled>, dropped: &[Labelled]) -> Result<(), Error> {
        if lines.is_empty() && dropped.is_empty() {
            return Ok(());
        }
        let mut frame = json!({"streams": streams(lines, self.categorized)});
        if self.categorized {
            frame["encodingFlags"] = json!(["categorize-labels"]);
        }
        if !dropped.is_empty() {
            let dropped = dropped
                .iter()
                .map(|(labels, entry)| json!({"labels": &**labels, "timestamp": entry.at.to_string()}));
            frame["dropped_entries"] = dropped.collect();
        }
        self.socket.send(Message::Text(frame.to_string().into())).await
    }
}
