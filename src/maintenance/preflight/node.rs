//! The node itself: that it can be worked on, and that nobody else does.

use super::Weight;
use super::assess::Case;
use super::notes::Notes;
use super::survey::{Place, Survey};
use crate::domain::format::ago;
use crate::domain::node::{Condition, ConditionStatus, Node};
use crate::domain::text::truncate;
use crate::maintenance::options::Purpose;
use crate::maintenance::record::{Reached, Record};

/// How many minor versions a kubelet may be older than its API server.
const OLDEST_KUBELET: u32 = 3;
/// Longest text of a condition, in cells.
const LONGEST_MESSAGE: usize = 160;

pub fn judge(case: &Case<'_>, notes: &mut Notes) {
    this_node_is_free(case, notes);
    the_pool_is_free(case, notes);
    it_answers(case, notes);
    it_was_not_cordoned(case, notes);
    it_did_not_restart_by_itself(case, notes);
    kubelet_fits_the_server(case, notes);
}

fn ready_condition(node: &Node) -> Option<&Condition> {
    node.conditions
        .iter()
        .find(|condition| &*condition.kind == "Ready")
}

/// Whether the node is Ready.
pub fn is_ready(node: &Node) -> bool {
    ready_condition(node).is_some_and(|condition| condition.status == ConditionStatus::True)
}

/// Which nodes must not be out at once: those of one Windows build, or Linux, and of one value of the pool label.
fn pool(survey: &Survey, place: &Place) -> String {
    let build = place.node.windows_build_label.as_deref().unwrap_or("linux");
    let value = survey
        .pool_label
        .as_deref()
        .and_then(|label| Some((label, place.label(label)?)));
    match value {
        Some((label, value)) => format!("{build}, {label}={value}"),
        None => build.to_owned(),
    }
}

/// Somebody else's record, in words.
fn by(record: &Record, case: &Case<'_>) -> String {
    let reached = match record.reached {
        Reached::Drain => "draining",
        Reached::Restart => "drained, its restart is awaited",
        Reached::PodsBack => "uncordoned, its pods are awaited",
    };
    format!(
        "{} ({}, started {}, {reached})",
        record.by,
        record.purpose.name(),
        ago((case.now - record.started_at).num_seconds())
    )
}

fn this_node_is_free(case: &Case<'_>, notes: &mut Notes) {
    let name = &case.place.node.name;
    let Some(annotation) = &case.place.node.maintenance else {
        return;
    };
    let weight = if case.survey.take_over {
        Weight::Warning
    } else {
        Weight::Refuses
    };
    match Record::parse(annotation) {
        Ok(record) if record.id == case.survey.identity => {}
        Ok(record) => notes.add(
            weight,
            format!("node {name} is being worked on by {}", by(&record, case)),
            format!(
                "`drainboard maintain {name} --resume` goes on with it, `--abandon` gives it up, `--take-over` makes it \
                 yours"
            ),
        ),
        Err(_) => notes.add(
            weight,
            format!("node {name} carries the record of a maintenance that this version cannot read"),
            format!(
                "look at it with `kubectl get node {name} -o yaml`; `--take-over` writes over it"
            ),
        ),
    }
}

fn the_pool_is_free(case: &Case<'_>, notes: &mut Notes) {
    let survey = case.survey;
    let ours = pool(survey, case.place);
    for place in survey.elsewhere().filter(|place| pool(survey, place) == ours) {
        let Some(annotation) = &place.node.maintenance else {
            continue;
        };
        let who = match Record::parse(annotation) {
            Ok(record) if record.id == survey.identity => continue,
            Ok(record) => by(&record, case),
            Err(_) => "somebody with another version of this program".to_owned(),
        };
        let weight = if survey.take_over {
            Weight::Warning
        } else {
            Weight::Refuses
        };
        notes.add(
            weight,
            format!(
                "node {} of the same pool ({ours}) is being worked on by {who}: two nodes would be out at once",
                place.node.name
            ),
            "wait until it is done, or end it there; `--take-over` goes on all the same",
        );
    }
}

fn it_answers(case: &Case<'_>, notes: &mut Notes) {
    let node = &case.place.node;
    let name = &node.name;
    if !is_ready(node) {
        let condition = ready_condition(node);
        let said = condition.map_or_else(String::new, |condition| {
            let since = condition.since.map_or_else(String::new, |since| {
                format!(" since {}", ago((case.now - since).num_seconds()))
            });
            let message = truncate(&condition.message, LONGEST_MESSAGE);
            format!("{since} ({}: {message})", condition.reason)
        });
        let silent = condition.is_none_or(|condition| condition.status == ConditionStatus::Unknown);
        let consequence = if silent {
            "evictions are accepted, but no pod goes while its kubelet is silent"
        } else {
            "its pods may not stop"
        };
        let remedy = "repair or restart the node first; pods that were deleted long ago are left out with \
                      --skip-wait-for-delete-timeout";
        let weight = if case.options.purpose == Purpose::Cleanup {
            Weight::Warning
        } else {
            Weight::Refuses
        };
        notes.add(
            weight,
            format!("node {name} is not Ready{said}: {consequence}"),
            remedy,
        );
    }
    if node.boot_id.is_empty() {
        notes.add(
            Weight::Refuses,
            format!("node {name} reports no boot id: its restart could not be proved"),
            "look at the kubelet of the node; Windows nodes report it since Kubernetes 1.24",
        );
    }
}

fn it_was_not_cordoned(case: &Case<'_>, notes: &mut Notes) {
    let node = &case.place.node;
    if node.unschedulable {
        let name = &node.name;
        let by = node.cordoned_by.as_ref().map_or_else(String::new, |by| {
            let since = by.at.map_or_else(String::new, |at| {
                format!(", changed {}", ago((case.now - at).num_seconds()))
            });
            format!(" (by {}{since})", by.manager)
        });
        notes.add(
            Weight::Warning,
            format!("node {name} is cordoned already{by}: it stays cordoned at the end"),
            format!("uncordon it yourself when whoever cordoned it agrees: `kubectl uncordon {name}`"),
        );
    }
}

fn it_did_not_restart_by_itself(case: &Case<'_>, notes: &mut Notes) {
    let Some(seen) = &case.survey.restarted_without_drain else {
        return;
    };
    let name = &case.place.node.name;
    let text = format!("node {name} restarted without drain: {seen}; it is not healthy though it is Ready");
    if case.options.purpose == Purpose::Cleanup {
        notes.add(Weight::Info, text, "");
    } else {
        notes.add(
            Weight::Warning,
            text,
            "its pods may be without network: `--purpose cleanup` drains and restarts it properly",
        );
    }
}

fn kubelet_fits_the_server(case: &Case<'_>, notes: &mut Notes) {
    let name = &case.place.node.name;
    let server = match &case.survey.server_version {
        Ok(server) => server,
        Err(reason) => return notes.unknown("the version of the API server", reason),
    };
    let kubelet = &case.place.node.kubelet_version;
    let (Some((major, server_minor)), Some((kubelet_major, minor))) = (version(server), version(kubelet))
    else {
        return notes.unknown(
            &format!("whether kubelet {kubelet} fits API server {server}"),
            "one of the versions is not understood",
        );
    };
    if (kubelet_major, minor) > (major, server_minor) {
        notes.add(
            Weight::Warning,
            format!("kubelet {kubelet} of node {name} is newer than the API server ({server}): that is not supported"),
            "upgrade the control plane first",
        );
    } else if major == kubelet_major && server_minor - minor > OLDEST_KUBELET {
        notes.add(
            Weight::Warning,
            format!(
                "kubelet {kubelet} of node {name} is {} minor versions older than the API server ({server}); \
                 {OLDEST_KUBELET} are supported",
                server_minor - minor
            ),
            "upgrade the kubelet while the node is drained",
        );
    }
}

/// Major and minor of `v1.37.2`, `v1.36.4+k3s1`, `v1.33.5-gke.100`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?.trim_end_matches('+').parse().ok()?;
    Some((major, minor))
}
