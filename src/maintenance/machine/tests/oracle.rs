//! What must hold whatever happens: looked at with every effect, from what the machine was told and nothing else.

use super::world::Pending;
use crate::domain::node::{ConditionStatus, Node};
use crate::domain::pod::Pod;
use crate::domain::{Name, Timestamp};
use crate::maintenance::effect::{Answer, Effect};
use crate::maintenance::event::Happening;
use crate::maintenance::input::{Command, Heard};
use crate::maintenance::machine::{next_wake, ready};
use crate::maintenance::network;
use crate::maintenance::observation::Observation;
use crate::maintenance::pods::{Verdict, verdict};
use crate::maintenance::record::Record;
use crate::maintenance::state::{State, Step};
use chrono::TimeDelta;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Oracle {
    /// All that was heard of the node's pods, as it was last.
    known: BTreeMap<Name, Pod>,
    evicted: BTreeMap<Name, Timestamp>,
    /// Boot ids, in the order in which they were heard of first, and the network containers under each.
    boots: Vec<(Name, BTreeMap<Name, Timestamp>)>,
    last: Option<Observation>,
    fresh: Option<Vec<Pod>>,
    own_seen: bool,
    lost: bool,
    knowingly: bool,
}

impl Oracle {
    pub fn before(&mut self, state: &State, at: Timestamp, heard: &Heard) {
        self.fresh = None;
        match heard {
            Heard::Observed(observation) => self.observed(state, at, observation),
            Heard::Answered(Answer::Listed(Ok(fresh))) => {
                for pod in &fresh.pods {
                    self.known.insert(pod.uid.clone(), pod.clone());
                }
                self.fresh = Some(fresh.pods.clone());
                if let Some(node) = &fresh.node {
                    self.boot(node, &fresh.pods, at);
                    if !node.boot_id.is_empty() {
                        self.settle(&node.boot_id);
                    }
                }
                self.last = Some(Observation {
                    node: fresh.node.clone(),
                    pods: fresh.pods.clone(),
                    ..Observation::default()
                });
                self.lost = false;
            }
            Heard::Operator(Command::FinishWithoutRestart) => self.knowingly = true,
            Heard::Answered(_) | Heard::Blind(_) | Heard::Tick | Heard::Operator(_) => {}
        }
    }

    fn observed(&mut self, state: &State, at: Timestamp, observation: &Observation) {
        for pod in &observation.pods {
            self.known.insert(pod.uid.clone(), pod.clone());
        }
        let under_way = state.step > Step::Cordon;
        let Some(node) = &observation.node else {
            self.lost |= under_way;
            return;
        };
        self.boot(node, &observation.pods, at);
        self.last = Some(observation.clone());
        if !under_way {
            return;
        }
        let record = node
            .maintenance
            .as_deref()
            .and_then(|text| Record::parse(text).ok());
        let own = record.as_ref().is_some_and(|record| record.id == "m-1");
        self.own_seen |= own;
        let uncordoned = own
            && !node.unschedulable
            && record.is_some_and(|record| record.reached != crate::maintenance::record::Reached::PodsBack);
        let uid = state.record.as_ref().map(|record| &record.node_uid);
        if uid != Some(&node.uid) || (self.own_seen && (!own || uncordoned)) {
            self.lost = true;
        }
    }

    fn boot(&mut self, node: &Node, pods: &[Pod], at: Timestamp) {
        if node.boot_id.is_empty() {
            return;
        }
        let position = self
            .boots
            .iter()
            .position(|(boot_id, _)| *boot_id == node.boot_id);
        let position = position.unwrap_or_else(|| {
            self.boots.push((node.boot_id.clone(), BTreeMap::new()));
            self.boots.len() - 1
        });
        for id in network::seen(pods.iter(), None).0 {
            self.boots[position].1.entry(id).or_insert(at);
        }
    }

    /// A fresh look: whatever other boot was heard of, in whatever order, is older.
    fn settle(&mut self, boot_id: &Name) {
        if let Some(position) = self.boots.iter().position(|(one, _)| one == boot_id) {
            let newest = self.boots.remove(position);
            self.boots.push(newest);
        }
    }

    /// Another run of the program knows what is on record.
    pub fn killed(&mut self, record: Option<&Record>) {
        let by_hand = self.knowingly;
        *self = Self::default();
        self.knowingly = by_hand;
        self.own_seen = record.is_some();
        let Some(record) = record else { return };
        let ids = |ids: &BTreeSet<Name>| ids.iter().map(|id| (id.clone(), Timestamp::MAX_UTC)).collect();
        let over = record.older_boot_ids.iter().chain([&record.boot_id]);
        self.boots = over
            .map(|boot_id| (boot_id.clone(), ids(&record.network_ids)))
            .collect();
        if let Some(boot_id) = &record.new_boot_id {
            self.boots.push((boot_id.clone(), ids(&record.new_network_ids)));
        }
    }

    pub fn effect(&mut self, state: &State, at: Timestamp, effect: &Effect) {
        let changes = matches!(
            effect,
            Effect::Save(_) | Effect::Evict { .. } | Effect::Uncordon { .. } | Effect::RunRebootCommand
        );
        assert!(
            !(changes && self.lost),
            "changes a node that looks lost: {effect:?}"
        );
        match effect {
            Effect::Evict { pod, .. } => {
                let known = self
                    .known
                    .get(&pod.uid)
                    .expect("evicts only pods that it was told of");
                let verdict = verdict(known, &state.options, at);
                assert!(
                    matches!(verdict, Verdict::Leaves(_)),
                    "evicts {known:?}: {verdict:?}"
                );
                let before = self.evicted.insert(pod.uid.clone(), at);
                let apart = before.map(|before| at - before);
                assert!(
                    apart.is_none_or(|apart| apart >= TimeDelta::seconds(1)),
                    "{pod} twice within {apart:?}"
                );
            }
            Effect::Tell(Happening::Drained { .. }) => {
                let fresh = self.fresh.as_ref().expect("drained by a fresh list");
                let left = |pod: &&Pod| !matches!(verdict(pod, &state.options, at), Verdict::Stays(_));
                let left: Vec<_> = fresh.iter().filter(left).map(|pod| &pod.name).collect();
                assert!(left.is_empty(), "drained with {left:?}");
            }
            Effect::Uncordon { boot_id, .. } => self.check_gates(state, at, boot_id),
            _ => {}
        }
    }

    fn check_gates(&self, state: &State, at: Timestamp, boot_id: &Name) {
        let record = state.record.as_ref().unwrap();
        assert!(!record.was_cordoned, "uncordons what it did not cordon");
        if (self.knowingly || state.options.no_restart) && *boot_id == record.boot_id {
            return;
        }
        let last = self.last.as_ref().expect("uncordons by an observation");
        let position = self
            .boots
            .iter()
            .position(|(one, _)| one == boot_id)
            .expect("a boot id that it was told of");
        assert!(
            !boot_id.is_empty() && position > 0,
            "boot {boot_id} is no new one"
        );
        let old: BTreeSet<&Name> = self.boots[..position]
            .iter()
            .flat_map(|(_, ids)| ids.keys())
            .collect();
        // Not those of which the watches only disagreed: they have run for two minutes since.
        let runs = |id: &Name| {
            self.boots[position]
                .1
                .get(id)
                .is_some_and(|since| at - since >= TimeDelta::minutes(2))
        };
        let is_old = |id: &Name| old.contains(id) && !runs(id);
        let node = last.node.as_ref().unwrap();
        if node.boot_id != *boot_id {
            // An observation that is late, from before the boot that counts.
            let late = self.boots[..position].iter().any(|(one, _)| *one == node.boot_id);
            assert!(late, "{boot_id}, but {} was seen", node.boot_id);
            return;
        }
        assert_eq!(ready(node), Some(ConditionStatus::True), "not ready");
        let pods = last.pods.iter().filter(|pod| network::is_network_pod(pod, None));
        let mut any = false;
        for container in pods.flat_map(|pod| &pod.containers) {
            any = true;
            let id = &container.container_id;
            assert!(
                container.ready && !id.is_empty() && !is_old(id),
                "{id} is no new one"
            );
        }
        assert!(any || state.options.no_network_gate, "no network pods");
    }
}

/// Nothing waits for ever, and nothing turns in circles.
pub fn wakes(state: &State, at: Timestamp, pending: &[Pending]) {
    let wake = next_wake(state);
    if state.step == Step::Over {
        assert_eq!(wake, None);
        return;
    }
    assert!(
        wake.is_none_or(|wake| wake > at),
        "turns in circles at {:?}",
        state.step
    );
    let answers = pending.iter().any(|one| one.effect != Effect::Unlock);
    assert!(
        wake.is_some() || answers || state.question.is_some(),
        "nothing wakes it: {:?}, waiting for {}",
        state.step,
        state.waiting_for
    );
}
