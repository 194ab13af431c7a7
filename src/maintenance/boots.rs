//! Boots of nodes as they were seen one after another, and which of them nobody prepared. Pure; [`crate::runner::boots`]
//! keeps it on the disk.
//!
//! A node whose boot id changed is either known to have been restarted properly (a maintenance vouches for the boot), or
//! was drained by somebody (nothing that a drain takes was on it before), or restarted without drain. The last is
//! remembered until it restarts properly: it is Ready, and may be far from healthy.

use crate::domain::{Name, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Nodes that are remembered; beyond that, those that were seen longest ago are forgotten.
const MOST: usize = 10_000;
/// Longest boot id that is remembered, bytes: that of Linux has 36.
const LONGEST: usize = 128;

/// A node as it is seen now, with what decides over its boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// UID of the node.
    pub node: Name,
    /// The boot id that it reports; may be empty.
    pub boot_id: Name,
    /// Newest sign of life: the renewal of its lease by its own clock, or now by ours, whichever is earlier.
    pub alive_at: Timestamp,
    /// A maintenance of this node drained it for this boot.
    pub vouched: bool,
    /// All of its pods are known.
    pub pods_known: bool,
    /// The pods that a drain would take.
    pub pods: Vec<Stay>,
    /// When the newest of them was told to run in another sandbox than before (`SandboxChanged`).
    pub sandbox_changed_at: Option<Timestamp>,
    /// Such pods were started shortly before the network pods, and so without network.
    pub too_early: bool,
}

/// How long a pod has been on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// When the kubelet took it, by the node's clock. A new sandbox after a restart does not change that.
    pub since: Timestamp,
    /// When it should be gone, if it was deleted.
    pub until: Option<Timestamp>,
}

/// A restart before which nobody drained the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndrainedRestart {
    /// Boot id before.
    pub before: Name,
    /// Boot id after.
    pub after: Name,
    /// Newest sign of life under the boot id before that was seen.
    pub last_seen: Timestamp,
    /// When the boot id after was seen first, by our clock.
    pub seen_at: Timestamp,
}

/// `boot id 11 became 12 between 2026-11-07 03:12:09 and 08:01:44 UTC`.
impl fmt::Display for UndrainedRestart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.last_seen, self.seen_at);
        let until = if from.date_naive() == to.date_naive() {
            to.format("%H:%M:%S")
        } else {
            to.format("%Y-%m-%d %H:%M:%S")
        };
        write!(
            f,
            "boot id {} became {} between {} and {until} UTC",
            self.before,
            self.after,
            from.format("%Y-%m-%d %H:%M:%S")
        )
    }
}

/// The boot of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Boot {
    #[serde(rename = "boot_id")]
    id: Name,
    last_seen: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restarted_without_drain: Option<UndrainedRestart>,
}

/// What is remembered of the nodes of one cluster, by UID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boots {
    nodes: BTreeMap<Name, Boot>,
}

/// How a boot came about.
enum Verdict {
    Proper,
    WithoutDrain,
    /// Not all pods are known: somebody who sees them decides.
    Open,
}

impl Boots {
    /// Takes note of the nodes as they are seen at `now`.
    pub fn note(&mut self, sightings: &[Sighting], now: Timestamp) {
        for sighting in sightings {
            let length = sighting.boot_id.len();
            if length == 0 || length > LONGEST || sighting.node.is_empty() {
                continue;
            }
            if let Some(boot) = self.nodes.get_mut(&sighting.node) {
                boot.see(sighting, now);
                continue;
            }
            let boot = Boot {
                id: sighting.boot_id.clone(),
                last_seen: sighting.alive_at,
                restarted_without_drain: None,
            };
            self.nodes.insert(sighting.node.clone(), boot);
        }
        self.forget_the_oldest(sightings);
    }

    /// The nodes (UID) that restarted without drain, and not properly since.
    pub fn restarted_without_drain(&self) -> BTreeMap<Name, UndrainedRestart> {
        let nodes = self.nodes.iter();
        nodes
            .filter_map(|(node, boot)| Some((node.clone(), boot.restarted_without_drain.clone()?)))
            .collect()
    }

    fn forget_the_oldest(&mut self, sightings: &[Sighting]) {
        let too_many = self.nodes.len().saturating_sub(MOST);
        if too_many == 0 {
            return;
        }
        let there: BTreeSet<&Name> = sightings.iter().map(|sighting| &sighting.node).collect();
        let mut oldest: Vec<(bool, Timestamp, Name)> = self
            .nodes
            .iter()
            .map(|(node, boot)| (there.contains(node), boot.last_seen, node.clone()))
            .collect();
        oldest.sort_unstable();
        for (_, _, node) in oldest.into_iter().take(too_many) {
            self.nodes.remove(&node);
        }
    }
}

impl Boot {
    fn see(&mut self, sighting: &Sighting, now: Timestamp) {
        if sighting.boot_id == self.id {
            self.last_seen = sighting.alive_at;
            if sighting.vouched {
                self.restarted_without_drain = None;
            }
            return;
        }
        self.restarted_without_drain = match self.judge(sighting) {
            Verdict::Open => return,
            Verdict::Proper => None,
            Verdict::WithoutDrain => Some(UndrainedRestart {
                before: self.id.clone(),
                after: sighting.boot_id.clone(),
                last_seen: self.last_seen,
                seen_at: now,
            }),
        };
        self.id = sighting.boot_id.clone();
        self.last_seen = sighting.alive_at;
    }

    fn judge(&self, sighting: &Sighting) -> Verdict {
        if sighting.vouched {
            return Verdict::Proper;
        }
        // A pod that hangs while it is deleted was drained as far as it could be.
        let was_on_it = sighting
            .pods
            .iter()
            .any(|stay| stay.since < self.last_seen && stay.until.is_none_or(|until| until > self.last_seen));
        let moved = sighting.sandbox_changed_at.is_some_and(|at| at > self.last_seen);
        if was_on_it || moved || sighting.too_early {
            Verdict::WithoutDrain
        } else if sighting.pods_known {
            Verdict::Proper
        } else {
            Verdict::Open
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_timestamp(1_794_045_600 + second, 0).unwrap()
    }

    fn stay(second: i64) -> Stay {
        Stay {
            since: at(second),
            until: None,
        }
    }

    /// The node at this second, with a pod that has run for an hour.
    fn seen(boot_id: &str, second: i64) -> Sighting {
        Sighting {
            node: "uid-win-1".into(),
            boot_id: boot_id.into(),
            alive_at: at(second),
            vouched: false,
            pods_known: true,
            pods: vec![stay(-3600)],
            sandbox_changed_at: None,
            too_early: false,
        }
    }

    fn drained(boot_id: &str, second: i64) -> Sighting {
        Sighting {
            pods: Vec::new(),
            ..seen(boot_id, second)
        }
    }

    /// What is said of the node after it was seen like this.
    fn after(sightings: &[Sighting]) -> Option<(String, String)> {
        let mut boots = Boots::default();
        for sighting in sightings {
            boots.note(std::slice::from_ref(sighting), sighting.alive_at);
        }
        let restart = boots.restarted_without_drain().remove("uid-win-1")?;
        Some((restart.before.to_string(), restart.after.to_string()))
    }

    fn crash() -> (String, String) {
        ("11".to_owned(), "12".to_owned())
    }

    #[test]
    fn a_node_that_is_seen_for_the_first_time_or_did_not_restart_is_fine() {
        assert_eq!(after(&[seen("11", 0)]), None);
        assert_eq!(after(&[seen("11", 0), seen("11", 60)]), None);
    }

    #[test]
    fn another_boot_with_the_same_pods_on_it_was_a_restart_without_drain() {
        assert_eq!(after(&[seen("11", 0), seen("12", 47)]), Some(crash()));
    }

    #[test]
    fn a_crash_overnight_is_found_in_the_morning_and_stays_until_a_proper_restart() {
        let morning = seen("12", 30_000);
        assert_eq!(
            after(&[seen("11", 0), morning.clone(), seen("12", 31_000)]),
            Some(crash())
        );
        assert_eq!(after(&[seen("11", 0), morning, drained("13", 32_000)]), None);
    }

    #[test]
    fn a_second_crash_is_told_with_its_own_boot_ids() {
        let told = after(&[seen("11", 0), seen("12", 60), seen("13", 120)]);
        assert_eq!(told, Some(("12".to_owned(), "13".to_owned())));
    }

    #[test]
    fn a_boot_that_a_maintenance_vouches_for_is_proper_whatever_is_on_the_node() {
        let vouched = Sighting {
            vouched: true,
            ..seen("12", 60)
        };
        assert_eq!(after(&[seen("11", 0), vouched.clone()]), None);
        // The maintenance of somebody else, of which this machine hears late.
        assert_eq!(after(&[seen("11", 0), seen("12", 50), vouched]), None);
    }

    #[test]
    fn a_node_that_somebody_drained_restarted_properly_and_gets_new_pods() {
        let uncordoned = Sighting {
            pods: vec![stay(90)],
            ..seen("12", 100)
        };
        assert_eq!(after(&[seen("11", 0), uncordoned]), None);
    }

    #[test]
    fn a_pod_that_hung_in_the_drain_is_no_sign_of_a_crash_and_one_that_was_given_up_after_it_is() {
        let hangs = |until| Sighting {
            pods: vec![Stay {
                until: Some(at(until)),
                ..stay(-3600)
            }],
            ..seen("12", 700)
        };
        assert_eq!(after(&[seen("11", 0), hangs(-60)]), None);
        // The node was silent for minutes, and the control plane deleted its pods.
        assert_eq!(after(&[seen("11", 0), hangs(350)]), Some(crash()));
    }

    #[test]
    fn pods_that_are_younger_than_the_last_look_give_themselves_away_by_their_sandboxes() {
        let moved = Sighting {
            pods: vec![stay(500)],
            sandbox_changed_at: Some(at(1000)),
            ..seen("12", 1100)
        };
        assert_eq!(after(&[seen("11", 0), moved]), Some(crash()));
        let long_ago = Sighting {
            pods: vec![stay(500)],
            sandbox_changed_at: Some(at(-10)),
            ..seen("12", 1100)
        };
        assert_eq!(after(&[seen("11", 0), long_ago]), None);
        let without_network = Sighting {
            pods: vec![stay(500)],
            too_early: true,
            ..seen("12", 1100)
        };
        assert_eq!(after(&[seen("11", 0), without_network]), Some(crash()));
    }

    #[test]
    fn who_sees_no_pods_decides_nothing_and_leaves_it_to_whoever_does() {
        let blind = Sighting {
            pods_known: false,
            ..drained("12", 60)
        };
        assert_eq!(after(&[seen("11", 0), blind.clone()]), None);
        assert_eq!(
            after(&[seen("11", 0), blind.clone(), seen("12", 120)]),
            Some(crash())
        );
        assert_eq!(after(&[seen("11", 0), blind, drained("12", 120)]), None);
    }

    #[test]
    fn a_node_without_boot_id_changes_nothing() {
        assert_eq!(after(&[seen("11", 0), seen("", 60), seen("11", 70)]), None);
        assert_eq!(
            after(&[seen("11", 0), seen("", 60), seen("12", 70)]),
            Some(crash())
        );
        assert_eq!(after(&[seen("11", 0), seen(&"9".repeat(4000), 60)]), None);
    }

    #[test]
    fn of_too_many_nodes_those_are_forgotten_that_are_gone_longest() {
        let mut boots = Boots::default();
        let many = |from: usize| -> Vec<Sighting> {
            (from..from + MOST)
                .map(|index| Sighting {
                    node: format!("uid-{index:05}").into(),
                    ..seen("11", 0)
                })
                .collect()
        };
        boots.note(&many(0), at(0));
        boots.note(&many(10), at(0));
        assert_eq!(boots.nodes.len(), MOST);
        assert!(!boots.nodes.contains_key("uid-00009"));
        assert!(boots.nodes.contains_key("uid-00010"));
    }

    #[test]
    fn it_is_told_in_a_sentence() {
        let mut boots = Boots::default();
        boots.note(&[seen("11", 0)], at(0));
        boots.note(&[seen("12", 47)], at(47));
        let told = &boots.restarted_without_drain()["uid-win-1"];
        assert_eq!(
            told.to_string(),
            "boot id 11 became 12 between 2026-11-07 10:00:00 and 10:00:47 UTC"
        );
    }
}
