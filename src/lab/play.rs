//! What a lab can be asked to play on a node: the operator's hand and bad luck. The asking side writes an annotation
//! on the Node, the fake kubelets begin and take it away: so it works through any API server, from any process.

use super::client::{LabClient, Merge, ObjectPath};
use super::error::LabError;
use super::marked::refuse_unmarked;
use super::text::api_micro_time;
use crate::lab::error::LabError::{AlreadyPlaying, NobodyPlays, UnknownNode};
use chrono::Utc;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// Annotation of a Node: what it is asked to play, and when that was asked (`reboot 2026-11-07T14:03:00.000000Z`).
pub const ASKED: &str = "drainboard.dev/lab-asked";
/// Annotation of a Node: what it plays at the moment.
pub const PLAYING: &str = "drainboard.dev/lab-playing";

/// What a node can be asked to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The operator restarts it.
    Reboot,
    /// The operator installs its updates and restarts it.
    Update,
    /// Its power goes, and comes back.
    Crash,
    /// Its next restart meets a slow disk.
    SlowDisk,
    /// Sandboxes of deleted pods cannot be removed until its next restart.
    Stuck,
    /// A program on it logs 10 MB a second until its next restart.
    Flood,
}

impl Verb {
    const ALL: [Self; 6] = [
        Self::Reboot,
        Self::Update,
        Self::Crash,
        Self::SlowDisk,
        Self::Stuck,
        Self::Flood,
    ];

    /// Its word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reboot => "reboot",
            Self::Update => "update",
            Self::Crash => "crash",
            Self::SlowDisk => "slow-disk",
            Self::Stuck => "stuck",
            Self::Flood => "flood",
        }
    }

    /// What the annotation [`ASKED`] asks for.
    pub fn asked(annotation: &str) -> Option<Self> {
        let word = annotation.split(' ').next()?;
        Self::ALL.into_iter().find(|verb| verb.word() == word)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Asks a node to play something, and waits until it has begun.
///
/// # Errors
/// The server is not marked as a lab (nothing was written then), has no such node, or the node still plays
/// something; nobody began within `patience` (the request was taken back then).
pub async fn ask(
    client: &LabClient,
    server: &str,
    node: &str,
    verb: Verb,
    patience: Duration,
) -> Result<(), LabError> {
    refuse_unmarked(client, server).await?;
    let asked = format!("{verb} {}", api_micro_time(Utc::now()));
    write(client, node, &asked).await?;
    match tokio::time::timeout(patience, begun(client, node, &asked)).await {
        Ok(result) => result,
        Err(_) if taken_back(client, node, &asked).await? => Err(NobodyPlays {
            server: server.to_owned(),
            node: node.to_owned(),
            verb: verb.word(),
            seconds: patience.as_secs(),
        }),
        // It began at the very end.
        Err(_) => Ok(()),
    }
}

/// Writes the request, unless the node has something to play already. Two who ask at the same time do not both
/// succeed: the second one's version is outdated.
async fn write(client: &LabClient, node: &str, asked: &str) -> Result<(), LabError> {
    let path = ObjectPath::node(node);
    loop {
        let object = match client.get(&path).await {
            Err(error) if error.has_status(404) => return Err(unknown(node)),
            other => other?,
        };
        let annotations = &object["metadata"]["annotations"];
        let busy = [PLAYING, ASKED]
            .into_iter()
            .find_map(|name| annotations[name].as_str());
        if let Some(busy) = busy {
            return Err(AlreadyPlaying {
                node: node.to_owned(),
                what: Verb::asked(busy).map_or_else(|| busy.to_owned(), |verb| verb.to_string()),
            });
        }
        let change = json!({"metadata": {
            "resourceVersion": object["metadata"]["resourceVersion"],
            "annotations": {ASKED: asked},
        }});
        match client.patch(&path, Merge::Plain, &change).await {
            // A heartbeat came between: look again.
            Err(error) if error.has_status(409) => {}
            other => return other.map(drop),
        }
    }
}

/// Waits until the request is gone from the node.
async fn begun(client: &LabClient, node: &str, asked: &str) -> Result<(), LabError> {
    let nodes: Api<Node> = Api::all(client.kube().clone());
    let only = watcher::Config::default().fields(&format!("metadata.name={node}"));
    let mut changes = watcher(nodes, only).default_backoff().boxed();
    while let Some(change) = changes.next().await {
        match change {
            Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) => {
                if annotation(&object, ASKED) != Some(asked) {
                    return Ok(());
                }
            }
            Ok(watcher::Event::Delete(_)) => return Err(unknown(node)),
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "the watch of the node starts again"),
        }
    }
    Ok(())
}

/// Takes the request away; false when it was gone already.
async fn taken_back(client: &LabClient, node: &str, asked: &str) -> Result<bool, LabError> {
    take(client, node, asked, &[]).await
}

/// Takes the request `asked` away, and does `more` (operations of a JSON patch) in the same write. False when it is
/// not there any more: then nothing was written.
pub(super) async fn take(
    client: &LabClient,
    node: &str,
    asked: &str,
    more: &[Value],
) -> Result<bool, LabError> {
    let place = pointer(ASKED);
    let mut operations = vec![
        json!({"op": "test", "path": place, "value": asked}),
        json!({"op": "remove", "path": place}),
    ];
    operations.extend_from_slice(more);
    let patch = Value::Array(operations);
    match client.patch(&ObjectPath::node(node), Merge::Json, &patch).await {
        Ok(_) => Ok(true),
        // the test failed, or the node is gone
        Err(error) if error.has_status(422) || error.has_status(404) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Where an annotation stands in an object, as a JSON pointer.
pub(super) fn pointer(annotation: &str) -> String {
    format!("/metadata/annotations/{}", annotation.replace('/', "~1"))
}

/// The value of an annotation.
pub(super) fn annotation<'a>(node: &'a Node, name: &str) -> Option<&'a str> {
    let annotations = node.metadata.annotations.as_ref()?;
    annotations.get(name).map(String::as_str)
}

fn unknown(node: &str) -> LabError {
    UnknownNode {
        node: node.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_read_back_from_its_annotation() {
        for verb in Verb::ALL {
            assert_eq!(Verb::asked(&format!("{verb} 2026-11-07T14:03:00Z")), Some(verb));
        }
        assert_eq!(Verb::asked("dance 2026-11-07T14:03:00Z"), None);
    }

    #[test]
    fn a_slash_in_an_annotation_is_escaped_in_its_pointer() {
        assert_eq!(pointer(ASKED), "/metadata/annotations/drainboard.dev~1lab-asked");
    }
}
