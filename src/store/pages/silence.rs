//! A node that is silent: how long it is taken for alive all the same.

use super::lines;
use crate::domain::format;
use crate::domain::node::{ConditionStatus, Node};
use crate::domain::node_state::LEASE_AMBER_SECONDS;
use crate::store::columns::cells::plain;
use crate::store::join::Joins;
use crate::store::view::{Role, Section};

/// The control plane gives a node up so long after its last renewal (`--node-monitor-grace-period`), seconds.
const GRACE_SECONDS: u64 = 50;
/// Every pod tolerates an unreachable node so long (`DefaultTolerationSeconds`), seconds.
const TOLERATION_SECONDS: u64 = 300;

/// While the node is silent and its pods are still counted on: how long traffic goes there, and its pods stay.
pub fn section(joins: Joins<'_>, node: &Node) -> Option<Section> {
    let silent = joins.cluster.lease_age(&node.name, joins.now).ok()?;
    let ready = node
        .conditions
        .iter()
        .any(|condition| &*condition.kind == "Ready" && condition.status == ConditionStatus::True);
    let given_up = silent >= GRACE_SECONDS + TOLERATION_SECONDS && !ready;
    if silent < LEASE_AMBER_SECONDS || given_up {
        return None;
    }
    let left = |limit: u64| match limit.saturating_sub(silent) {
        0 => "over now".to_owned(),
        left => format!(
            "{} left",
            format::stopwatch(i64::try_from(left).unwrap_or(i64::MAX))
        ),
    };
    let text = format!(
        "▲ the node is silent for {silent} s: its endpoints stay ready up to {GRACE_SECONDS} s ({}) and its pods \
         {TOLERATION_SECONDS} s more ({}); traffic still goes there until then",
        left(GRACE_SECONDS),
        left(GRACE_SECONDS + TOLERATION_SECONDS),
    );
    Some(lines("", vec![plain(text, Role::Warn)]))
}
