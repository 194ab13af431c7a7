//! A node that restarted without drain: what speaks for that, and what to do about it.

use super::{labelled, lines};
use crate::domain::node::Node;
use crate::domain::object::ClusterEvent;
use crate::domain::pod::Pod;
use crate::domain::text::{sanitise, truncate};
use crate::domain::{Timestamp, format};
use crate::maintenance::boots::UndrainedRestart;
use crate::store::columns::cells::plain;
use crate::store::join::Joins;
use crate::store::view::{Line, Role, Section, Span};

/// Pods that are named; the others are counted.
const NAMED: usize = 3;
/// Longest text of an event, in cells.
const LONGEST_TEXT: usize = 120;

/// What is known about it; `None` if it was restarted properly, or never.
pub fn section(joins: Joins<'_>, node: &Node) -> Option<Section> {
    let restart = joins.cluster.restarted_without_drain(node)?;
    let mut shown = vec![boot_ids(restart, joins.now), heartbeats(restart)];
    let older = joins.cluster.older_than_network(node);
    if !older.is_empty() {
        let text = format!(
            "{} since before the network pods, and so without network: {}",
            count(older.len(), "pod runs", "pods run"),
            named(older.iter().copied())
        );
        shown.push(labelled("sandboxes", plain(text, Role::Warn)));
    }
    shown.extend(events(joins, node, restart));
    shown.push(plain(
        format!(
            "→ drain it, restart it, wait for its network, uncordon it: m, or `drainboard maintain {} --purpose cleanup`",
            sanitise(&node.name)
        ),
        Role::Highlight,
    ));
    Some(lines("restarted without drain: not healthy though Ready", shown))
}

/// `▲ restarted without drain: not healthy though Ready   boot id 11 → 12, first seen 4 h ago`.
pub fn brief(joins: Joins<'_>, node: &Node) -> Option<Line> {
    let restart = joins.cluster.restarted_without_drain(node)?;
    Some(vec![
        Span::new("▲ restarted without drain: not healthy though Ready", Role::Warn),
        Span::new(
            format!(
                "   boot id {} → {}, first seen {}",
                sanitise(&restart.before),
                sanitise(&restart.after),
                format::ago((joins.now - restart.seen_at).num_seconds())
            ),
            Role::Text,
        ),
    ])
}

fn boot_ids(restart: &UndrainedRestart, now: Timestamp) -> Line {
    let mut line = plain(
        format!("▲ {} → {}", sanitise(&restart.before), sanitise(&restart.after)),
        Role::Warn,
    );
    let seen = format!(
        "   outside of any maintenance, first seen {}",
        format::ago((now - restart.seen_at).num_seconds())
    );
    line.push(Span::new(seen, Role::Muted));
    labelled("boot id", line)
}

/// `none known for 47 s   the last before it 2026-11-07 03:12:09 UTC, seen after it 2026-11-07 03:12:56 UTC`.
fn heartbeats(restart: &UndrainedRestart) -> Line {
    let gap = (restart.seen_at - restart.last_seen).num_seconds().max(0);
    let clock = |at: Timestamp| at.format("%Y-%m-%d %H:%M:%S UTC").to_string();
    labelled(
        "heartbeats",
        vec![
            Span::new(format!("none known for {}", format::spoken_age(gap)), Role::Text),
            Span::new(
                format!(
                    "   the last before it {}, seen after it {}",
                    clock(restart.last_seen),
                    clock(restart.seen_at)
                ),
                Role::Muted,
            ),
        ],
    )
}

/// Events of this boot: they expire within the hour.
fn events(joins: Joins<'_>, node: &Node, restart: &UndrainedRestart) -> Vec<Line> {
    let ago = |event: &ClusterEvent| {
        let at = event.last_seen.unwrap_or(joins.now);
        format::ago((joins.now - at).num_seconds())
    };
    let newer = |event: &ClusterEvent| event.last_seen >= Some(restart.last_seen);
    let mut shown = Vec::new();
    let of_node = joins.cluster.events.about("Node", None, &node.name);
    let rebooted = of_node
        .into_iter()
        .find(|event| &*event.reason == "Rebooted" && newer(event));
    if let Some(event) = rebooted {
        let said = sanitise(&event.message);
        let text = format!("Rebooted {}: {}", ago(event), truncate(&said, LONGEST_TEXT));
        shown.push(labelled("event", plain(text, Role::Text)));
    }
    let changes = joins.cluster.sandbox_changes(&node.name);
    let mut moved: Vec<_> = changes.into_iter().filter(|(_, event)| newer(event)).collect();
    if let Some((_, newest)) = moved.first() {
        let when = ago(newest);
        moved.dedup_by_key(|(pod, _)| pod.uid.clone());
        let text = format!(
            "SandboxChanged {when}, of {}: {}",
            count(moved.len(), "pod", "pods"),
            named(moved.iter().map(|(pod, _)| *pod))
        );
        shown.push(labelled("event", plain(text, Role::Text)));
    }
    shown
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// `win-demo/a, win-demo/b, win-demo/c, 4 more`.
fn named<'a>(pods: impl ExactSizeIterator<Item = &'a Pod>) -> String {
    let more = pods.len().saturating_sub(NAMED);
    let mut names: Vec<String> = pods
        .take(NAMED)
        .map(|pod| sanitise(&format!("{}/{}", pod.namespace, pod.name)).into_owned())
        .collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}
