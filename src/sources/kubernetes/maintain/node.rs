//! Changes of the node. Each begins with a fresh look, and is sent with the UID and the version that were looked at,
//! so that it never meets another node, nor a change that nobody looked at.

use super::Desk;
use super::ask::{MERGE_PATCH, asked, body, is_missing, words, write_error};
use super::lock;
use super::seen::{MANAGER, Owner, SeenNode};
use crate::domain::text::sanitise;
use crate::maintenance::effect::WriteError;
use crate::maintenance::record::{ANNOTATION, PROVEN_BOOT, Record};
use crate::sources::kubernetes::detail::segment;
use crate::sources::kubernetes::failure::Failure;
use crate::sources::kubernetes::http::Reply;
use crate::sources::kubernetes::wire::Bare;
use http::Method;
use serde_json::{Value, json};

/// How often a change is decided anew when somebody else changed the node between look and write. A kubelet that
/// reports a node that just came back does so several times a second.
const LOOKS: usize = 5;

type Written = Result<(), WriteError>;
/// The patch, or nothing when the node is as wanted.
type Decision = Result<Option<Value>, WriteError>;

/// The body of the node, or nothing when there is no such node.
///
/// # Errors
/// As [`ApiServer::exchange`](crate::sources::kubernetes::http::ApiServer::exchange), an error status, or no node.
pub async fn look(desk: &Desk) -> Result<Option<Reply>, Failure> {
    let path = format!("/api/v1/nodes/{}", segment(&desk.node));
    let reply = desk.api.exchange(Method::GET, &path, None).await?;
    if is_missing(&reply, &desk.node) {
        return Ok(None);
    }
    let node: SeenNode<'_> = reply.json()?;
    if &*node.kind != "Node" || node.metadata.uid.is_empty() || node.metadata.resource_version.is_empty() {
        return Err(Failure::Malformed("it is no node".to_owned()));
    }
    Ok(Some(reply))
}

/// Cordons the node and writes the record.
pub async fn cordon(desk: &Desk, record: &Record) -> Written {
    change(desk, |node| {
        is_of(desk, node, record)?;
        let owner = node.owner(&desk.identity.id);
        if let Owner::Other(by) = &owner
            && !desk.take_over
        {
            return Err(WriteError::Refused(format!(
                "node {} is being worked on by {by}: go on with it with --resume, end it with --abandon, or take it over \
                 with --take-over",
                desk.node
            )));
        }
        // When it is ours already, the answer to our own cordon was lost.
        if owner != Owner::Ours && node.spec.unschedulable != record.was_cordoned {
            let what = if record.was_cordoned { "uncordoned" } else { "cordoned" };
            return Err(WriteError::Refused(format!(
                "somebody {what} node {} since the preflight: nothing was changed, start again",
                desk.node
            )));
        }
        let mut patch = annotation(record)?;
        if !record.was_cordoned {
            patch["spec"] = json!({"unschedulable": true});
        }
        Ok(Some(patch))
    })
    .await
}

/// Writes the record.
pub async fn save(desk: &Desk, record: &Record) -> Written {
    change(desk, |node| {
        is_ours(desk, node, record)?;
        saved(node, record)
    })
    .await
}

/// Uncordons the node and writes the record, if the node, its boot and the cordon are those of the proof.
pub async fn uncordon(desk: &Desk, record: &Record, boot_id: &str) -> Written {
    change(desk, |node| {
        is_ours(desk, node, record)?;
        let boot_now = &*node.status.node_info.boot_id;
        if boot_now != boot_id {
            // The watch tells it too, and the gates are asked anew.
            return Err(WriteError::Moved(format!(
                "node {} restarted again: its boot id is {} and not {boot_id}, with which it was ready",
                desk.node,
                sanitise(boot_now)
            )));
        }
        if !node.spec.unschedulable {
            return saved(node, record);
        }
        if record.was_cordoned {
            return Err(WriteError::Refused(format!(
                "node {} was cordoned before: uncordoning it is left to whoever did that",
                desk.node
            )));
        }
        let cordoned_by: Vec<&str> = node.cordoned_by().collect();
        if cordoned_by.iter().any(|manager| *manager != MANAGER) || cordoned_by.is_empty() {
            let by = match cordoned_by.join(", ") {
                by if by.is_empty() => "somebody (the API server does not tell who)".to_owned(),
                by => sanitise(&by).into_owned(),
            };
            return Err(WriteError::Refused(format!(
                "node {} was cordoned by {by} meanwhile: it stays cordoned, `kubectl uncordon {}` gives it back",
                desk.node, desk.node
            )));
        }
        let mut patch = annotation(record)?;
        patch["spec"] = json!({"unschedulable": null});
        Ok(Some(patch))
    })
    .await
}

/// Removes the annotation, if it is ours, and leaves the boot id that was proved in its place. Gives the name of the pool's Lease, as far as there still is a node.
///
/// # Errors
/// Somebody else's annotation is there, or the change was not made.
pub async fn clear(desk: &Desk, proven_boot: Option<&str>) -> Result<Option<String>, WriteError> {
    let asked = asked("get", format!("node {}", desk.node));
    let reply = look(desk)
        .await
        .map_err(|failure| write_error(&failure, &asked))?;
    let Some(reply) = reply else { return Ok(None) };
    let node: SeenNode<'_> = reply.json().map_err(|failure| write_error(&failure, &asked))?;
    let lease = lock::lease_of(&node, desk.pool_label.as_deref());
    change(desk, |node| match node.owner(&desk.identity.id) {
        Owner::Nobody => Ok(None),
        Owner::Ours => {
            let mut annotations = json!({ANNOTATION: null});
            if let Some(boot_id) = proven_boot {
                annotations[PROVEN_BOOT] = boot_id.into();
            }
            Ok(Some(json!({"metadata": {"annotations": annotations}})))
        }
        Owner::Other(by) => Err(taken_over(desk, &by)),
    })
    .await?;
    Ok(Some(lease))
}

/// Cordons the node or uncordons it, outside of any maintenance.
pub async fn set_cordon(desk: &Desk, uid: &str, cordoned: bool) -> Written {
    change(desk, |node| {
        if *node.metadata.uid != *uid {
            return Err(WriteError::Refused(format!(
                "node {} was deleted and joined again: it is another node now",
                desk.node
            )));
        }
        match node.owner(&desk.identity.id) {
            Owner::Nobody if node.spec.unschedulable == cordoned => Ok(None),
            Owner::Nobody if cordoned => Ok(Some(json!({"spec": {"unschedulable": true}}))),
            Owner::Nobody => Ok(Some(json!({"spec": {"unschedulable": null}}))),
            Owner::Ours | Owner::Other(_) => Err(WriteError::Refused(format!(
                "a maintenance is under way on node {}: its cordon belongs to that",
                desk.node
            ))),
        }
    })
    .await
}

/// Looks, decides, and writes; again from the look when the node was changed in between.
async fn change(desk: &Desk, decide: impl Fn(&SeenNode<'_>) -> Decision) -> Written {
    let reading = asked("get", format!("node {}", desk.node));
    let writing = asked("patch", format!("node {}", desk.node));
    let path = format!("/api/v1/nodes/{}?fieldManager={MANAGER}", segment(&desk.node));
    for _ in 0..LOOKS {
        let seen = look(desk)
            .await
            .map_err(|failure| write_error(&failure, &reading))?;
        let Some(seen) = seen else {
            return Err(WriteError::Refused(format!(
                "there is no node {} any more",
                desk.node
            )));
        };
        let node: SeenNode<'_> = seen.json().map_err(|failure| write_error(&failure, &reading))?;
        let Some(mut wanted) = decide(&node)? else {
            return Ok(());
        };
        wanted["metadata"]["uid"] = (*node.metadata.uid).into();
        wanted["metadata"]["resourceVersion"] = (*node.metadata.resource_version).into();
        let sent = Some(body(MERGE_PATCH, &wanted));
        let reply = desk.api.exchange(Method::PATCH, &path, sent).await;
        let reply = reply.map_err(|failure| write_error(&failure, &writing))?;
        if reply.code == 409 {
            continue;
        }
        return match reply.json::<Bare<'_>>() {
            Ok(_) => Ok(()),
            Err(failure) => Err(write_error(&failure, &writing)),
        };
    }
    Err(WriteError::Moved(format!(
        "node {} was changed by others each time it was to be patched",
        desk.node
    )))
}

fn annotation(record: &Record) -> Result<Value, WriteError> {
    let text = serde_json::to_string(record)
        .map_err(|error| WriteError::Refused(format!("the record cannot be written: {error}")))?;
    Ok(json!({"metadata": {"annotations": {ANNOTATION: text}}}))
}

/// The record, unless it is there already.
fn saved(node: &SeenNode<'_>, record: &Record) -> Decision {
    let there = node.record().and_then(|text| Record::parse(text).ok());
    if there.as_ref() == Some(record) {
        return Ok(None);
    }
    annotation(record).map(Some)
}

fn is_of(desk: &Desk, node: &SeenNode<'_>, record: &Record) -> Written {
    if *node.metadata.uid == *record.node_uid {
        return Ok(());
    }
    Err(WriteError::Refused(format!(
        "node {} was deleted and joined again: it is another node now, and its cordon is not ours",
        desk.node
    )))
}

fn is_ours(desk: &Desk, node: &SeenNode<'_>, record: &Record) -> Written {
    is_of(desk, node, record)?;
    match node.owner(&desk.identity.id) {
        Owner::Ours => Ok(()),
        Owner::Other(by) => Err(taken_over(desk, &by)),
        Owner::Nobody => Err(WriteError::Refused(format!(
            "somebody abandoned this maintenance from elsewhere: the annotation of node {} is gone",
            desk.node
        ))),
    }
}

fn taken_over(desk: &Desk, by: &str) -> WriteError {
    WriteError::Refused(format!("{by} took node {} over", desk.node))
}

/// A failed look in words.
pub fn look_failed(desk: &Desk, failure: &Failure) -> String {
    words(failure, &asked("get", format!("node {}", desk.node)))
}
