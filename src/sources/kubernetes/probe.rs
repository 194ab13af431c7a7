//! Whether the API server answers, asked every few seconds: silence of a watch proves nothing.

use super::failure::{Asked, Failure};
use super::http::ApiServer;
use super::wire::value::Text;
use crate::domain::{Name, Timestamp};
use crate::sources::context::EventSink;
use crate::sources::event::{Payload, Problem, SourcePhase, SourceState};
use chrono::Utc;
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::watch::{Receiver, Sender};

/// Pause between two questions.
const INTERVAL: Duration = Duration::from_secs(5);
/// The same while there is no answer: whoever waits for the server wants to go on as soon as it is back.
const WHILE_AWAY: Duration = Duration::from_secs(1);

/// `GET /version`, which every authenticated user may ask.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Version<'a> {
    #[serde(borrow)]
    git_version: Text<'a>,
}

/// Asks until the task is dropped. `refresh` asks at once; `nudge` is changed when the server is back after a
/// failure and when the operator asks, so that the watches try at once.
pub async fn run(api: ApiServer, sink: EventSink, mut refresh: Receiver<u64>, nudge: Sender<u64>) {
    let mut last_answer: Option<Timestamp> = None;
    let mut version: Option<Name> = None;
    let mut failing = false;
    let asked = Asked {
        verb: "ask",
        object: "for /version".to_owned(),
        all_namespaces: false,
    };
    loop {
        let outcome = ask(&api).await;
        let problem: Option<Problem> = match outcome {
            Ok(found) => {
                last_answer = Some(Utc::now());
                if let Some(found) = found.filter(|found| Some(found) != version.as_ref()) {
                    version = Some(found.clone());
                    sink.send(Payload::ClusterVersion(found)).await;
                }
                if std::mem::take(&mut failing) {
                    nudge.send_modify(|count| *count += 1);
                }
                None
            }
            Err(failure) => {
                failing = true;
                Some(failure.problem(&asked, &api.scope))
            }
        };
        let state = SourceState {
            phase: if failing {
                SourcePhase::Failed
            } else {
                SourcePhase::Connected
            },
            reached: api.scope.server.to_string(),
            last_answer,
            last_error: problem,
        };
        sink.send(Payload::State(state)).await;
        tokio::select! {
            () = tokio::time::sleep(if failing { WHILE_AWAY } else { INTERVAL }) => {}
            Ok(()) = refresh.changed() => nudge.send_modify(|count| *count += 1),
        }
    }
}

/// The version; `None` if the server answers but does not tell it to us.
async fn ask(api: &ApiServer) -> Result<Option<Name>, Failure> {
    match api.get("/version").await {
        Ok(body) => {
            let version: Version<'_> =
                serde_json::from_slice(&body).map_err(|error| Failure::of_json(&error))?;
            Ok(version.git_version.present().map(Name::from))
        }
        Err(failure) if failure.is_forbidden() => Ok(None),
        Err(failure) => Err(failure),
    }
}
