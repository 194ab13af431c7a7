//! A round that is gone on with: its journal tells what it did, the cluster what has become of its nodes.

use super::event::{RoundEnding, RoundEvent, RoundHappening};
use super::plan::Plan;
use super::{Alerts, Effect, NodeOfRound, Round, Stage, Standing, set_out};
use crate::domain::{Name, Timestamp};
use crate::maintenance::event::Ending;
use std::collections::{BTreeMap, BTreeSet};

/// A node of the round, as it is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The record of a maintenance is on it.
    pub in_work: bool,
    /// Its boot id.
    pub boot_id: Name,
    /// The boot id at which its last maintenance found everything well.
    pub proven_boot: Option<Name>,
    /// Its own journal tells that a maintenance ended well since the round began.
    pub done_since: bool,
}

impl Found {
    /// Whether it was done since the round began it, at this boot id.
    fn was_done(&self, begun_at: Option<&Name>) -> bool {
        let proven = begun_at.is_some_and(|begun_at| {
            *begun_at != self.boot_id && self.proven_boot.as_ref() == Some(&self.boot_id)
        });
        !self.in_work && (self.done_since || proven)
    }
}

/// Goes on with a round of which these `events` are known. A node in work comes first. Whoever resumes has looked: a
/// pause that was reached counts as confirmed, and the soak time is over in which it stopped.
pub fn resume(
    plan: Plan,
    events: &[RoundEvent],
    found: &BTreeMap<Name, Found>,
    earlier: Option<f64>,
    attended: bool,
    at: Timestamp,
) -> (Round, Vec<Effect>) {
    let mut begun_at: BTreeMap<&Name, &Name> = BTreeMap::new();
    let mut took: BTreeMap<&Name, f64> = BTreeMap::new();
    let mut last: Option<(&Name, Timestamp)> = None;
    let mut confirmed = false;
    let mut stopped = None;
    for event in events {
        match (&event.what, &event.node) {
            (RoundHappening::NodeBegun { boot_id, .. }, Some(node)) => {
                // Of a node that is begun again the boot id before its restart counts.
                begun_at.entry(node).or_insert(boot_id);
                stopped = None;
            }
            (
                RoundHappening::NodeEnded {
                    ending: Ending::Done,
                    seconds,
                    ..
                },
                Some(node),
            ) => {
                took.insert(node, *seconds);
                last = Some((node, event.at));
            }
            (RoundHappening::GoesOn, _) => confirmed = true,
            (RoundHappening::RoundStopped { ending, .. }, _) => {
                confirmed |= *ending == RoundEnding::Paused;
                stopped = Some(*ending);
            }
            _ => {}
        }
    }
    let standing = |node: &Name| {
        let begun_at = begun_at.get(node).copied();
        match (took.get(node), found.get(node)) {
            (Some(seconds), _) => Standing::Done {
                seconds: Some(*seconds),
            },
            (None, Some(found)) if found.was_done(begun_at) => Standing::Done { seconds: None },
            (None, Some(found)) if found.in_work && begun_at.is_some() => Standing::Begun,
            _ => Standing::Ahead,
        }
    };
    let mut nodes: Vec<NodeOfRound> = plan
        .nodes
        .iter()
        .map(|node| NodeOfRound {
            node: node.clone(),
            standing: standing(node),
        })
        .collect();
    nodes.sort_by_key(|node| match node.standing {
        Standing::Done { .. } => 0,
        Standing::Begun => 1,
        Standing::Ahead => 2,
    });
    let mut round = Round {
        plan,
        nodes,
        stage: Stage::Gates,
        earlier,
        waiting: None,
        forecast_told: None,
        attended,
        confirmed,
        alerts: Alerts::default(),
    };
    let in_work = round.nodes.iter().any(|node| node.standing == Standing::Begun);
    if let Some((node, ended)) = last
        && !in_work
        && stopped != Some(RoundEnding::Unsettled)
    {
        round.stage = Stage::Soaking {
            node: node.clone(),
            until: ended + round.soak(),
            ready: BTreeSet::new(),
            boot_id: None,
        };
    }
    set_out(round, at)
}
