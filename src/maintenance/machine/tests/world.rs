//! A small cluster with one node, and a maintenance of it. Nothing happens by itself: the test says what comes next, or
//! lets [`World::live`] do what a friendly cluster would.

use super::objects::{self, NODE, app, condition, daemon};
use super::oracle::Oracle;
use crate::domain::node::{ConditionStatus, Node};
use crate::domain::pod::Pod;
use crate::domain::{Name, Timestamp};
use crate::maintenance::effect::{Answer, Effect, Eviction, Fresh, LockError, WriteError};
use crate::maintenance::event::{Ending, Event, Happening};
use crate::maintenance::input::{Command, Heard, Input};
use crate::maintenance::machine::{next_wake, resume, start, step};
use crate::maintenance::observation::Observation;
use crate::maintenance::options::Options;
use crate::maintenance::pods::{OwnerKey, PodRef, Verdict, verdict};
use crate::maintenance::preflight::{Fate, NodeBefore, Preflight};
use crate::maintenance::record::{Reached, Record};
use crate::maintenance::state::{State, Step};
use chrono::TimeDelta;
use std::collections::{BTreeMap, VecDeque};

pub const OLD: &str = "10.0.26100.33438";
pub const NEW: &str = "10.0.26100.33674";

/// Asked, and maybe done, but not answered yet.
#[derive(Clone, Debug)]
pub struct Pending {
    pub effect: Effect,
    /// The answer, once it was performed.
    pub answer: Option<Answer>,
}

/// What a node does after its restart, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coming {
    Boot,
    Network,
}

pub struct World {
    pub at: Timestamp,
    pub options: Options,
    pub state: State,
    /// The cluster as it is.
    pub node: Option<Node>,
    pub pods: Vec<Pod>,
    pub budgets: Vec<crate::domain::budget::DisruptionBudget>,
    pub probes_time_out: BTreeMap<Name, (PodRef, String)>,
    pub unkillable: BTreeMap<Name, String>,
    /// Pods that each controller wants on the node.
    pub wanted: BTreeMap<OwnerKey, u32>,
    /// Who cordoned: only `drainboard` uncordons what it cordoned.
    pub cordoned_by: &'static str,
    pub lease: Option<String>,
    /// The kernel version after the next boot.
    pub next_kernel: &'static str,
    pub coming: Vec<(Timestamp, Coming)>,
    /// How the next evictions are answered, before the cluster decides by itself.
    pub evictions: VecDeque<Eviction>,
    /// What was seen of the cluster before.
    pub history: Vec<Observation>,
    pub pending: Vec<Pending>,
    /// All effects but the tellings, of all runs of the program.
    pub effects: Vec<(Timestamp, Effect)>,
    pub journal: Vec<Event>,
    pub commands: usize,
    pub oracle: Oracle,
    created: u32,
    boots: u32,
}

pub fn time(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + TimeDelta::seconds(1_790_000_000 + seconds)
}

pub fn headless() -> Options {
    Options {
        yes: true,
        ..Options::default()
    }
}

pub fn attended() -> Options {
    Options {
        attended: true,
        ..Options::default()
    }
}

/// The article's node: seven pods that leave, five of `DaemonSets`.
fn article_pods() -> Vec<Pod> {
    let mut pods = vec![
        app("aspnetapp", 1),
        app("aspnetapp", 2),
        app("hello-win", 1),
        app("hello-win", 2),
        app("reports-writer", 1),
        app("reports", 1),
        app("reports", 2),
    ];
    pods.push(daemon("calico-system", "calico-node-windows", 2, "11"));
    pods.push(daemon("kube-system", "kube-proxy-windows", 1, "11"));
    pods.push(daemon("kube-system", "csi-smb-node-win", 3, "11"));
    pods.push(daemon("monitoring", "alloy-windows", 1, "11"));
    pods.push(daemon("monitoring", "windows-exporter", 1, "11"));
    pods
}

impl World {
    pub fn new(options: Options) -> Self {
        Self::with_pods(options, article_pods())
    }

    pub fn with_pods(options: Options, pods: Vec<Pod>) -> Self {
        let at = time(0);
        let mut wanted = BTreeMap::new();
        for pod in &pods {
            if let Some(owner) = OwnerKey::of(pod).filter(|owner| &*owner.kind != "DaemonSet") {
                *wanted.entry(owner).or_insert(0) += 1;
            }
        }
        let (state, effects) = start(
            NODE.into(),
            options.clone(),
            "m-1".to_owned(),
            "ada@ws".to_owned(),
            at,
        );
        let mut world = Self {
            at,
            options,
            state,
            node: Some(objects::node("11", OLD)),
            pods,
            budgets: Vec::new(),
            probes_time_out: BTreeMap::new(),
            unkillable: BTreeMap::new(),
            wanted,
            cordoned_by: "",
            lease: None,
            next_kernel: NEW,
            coming: Vec::new(),
            evictions: VecDeque::new(),
            history: Vec::new(),
            pending: Vec::new(),
            effects: Vec::new(),
            journal: Vec::new(),
            commands: 0,
            oracle: Oracle::default(),
            created: 0,
            boots: 11,
        };
        world.changed();
        world.take(effects);
        world
    }

    /// Two pods of hello-win and the network.
    pub fn small(options: Options) -> Self {
        let pods = vec![
            app("hello-win", 1),
            app("hello-win", 2),
            daemon("calico-system", "calico-node-windows", 2, "11"),
            daemon("kube-system", "kube-proxy-windows", 1, "11"),
        ];
        Self::with_pods(options, pods)
    }

    // The machine.

    pub fn hear(&mut self, what: Heard) {
        let before = self.state.step;
        let input = Input { at: self.at, what };
        self.oracle.before(&self.state, self.at, &input.what);
        let (state, effects) = step(self.state.clone(), input);
        assert!(
            before != Step::Over || effects.is_empty(),
            "goes on after its end: {effects:?}"
        );
        self.state = state;
        if before == Step::Cordon && self.state.step == Step::Drain {
            // Watches are late, but not as late as that.
            let boot_id = self.node.as_ref().map(|node| node.boot_id.clone());
            self.history
                .retain(|then| then.node.as_ref().map(|node| node.boot_id.clone()) == boot_id);
        }
        self.take(effects);
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.oracle.effect(&self.state, self.at, &effect);
            match effect {
                Effect::Tell(what) => self.journal.push(Event {
                    what,
                    at: self.at,
                    node: NODE.into(),
                }),
                effect => {
                    self.effects.push((self.at, effect.clone()));
                    self.pending.push(Pending { effect, answer: None });
                }
            }
        }
        self.oracle.wakes(&self.state, self.at, &self.pending);
    }

    pub fn press(&mut self, command: Command) {
        if command == Command::RunRebootCommand {
            self.commands += 1;
        }
        self.hear(Heard::Operator(command));
    }

    /// The program is killed and started again; it goes on from the annotation, or anew if there is none.
    pub fn kill(&mut self) {
        self.pending.clear();
        self.history.clear();
        self.changed();
        let record = self
            .node
            .as_ref()
            .and_then(|node| Record::parse(node.maintenance.as_deref()?).ok());
        self.oracle.killed(record.as_ref());
        let (state, effects) = match record {
            Some(record) => {
                let options = self.options.clone();
                resume(NODE.into(), record, options, &self.journal, self.at)
            }
            // It was removed, and nobody heard of it.
            None if self.told("cordoned") => {
                self.state.step = Step::Over;
                return;
            }
            None => {
                self.lease = None;
                start(
                    NODE.into(),
                    self.options.clone(),
                    "m-1".to_owned(),
                    "ada@ws".to_owned(),
                    self.at,
                )
            }
        };
        self.state = state;
        self.take(effects);
    }

    /// Time goes on, without anything being heard but ticks when they are due.
    pub fn wait(&mut self, milliseconds: i64) {
        let until = self.at + TimeDelta::milliseconds(milliseconds);
        while let Some(wake) = next_wake(&self.state).filter(|wake| *wake <= until) {
            self.at = self.at.max(wake);
            self.hear(Heard::Tick);
        }
        self.at = until;
    }

    /// What the cluster looks like.
    pub fn observation(&self) -> Observation {
        let mut ready = BTreeMap::new();
        for pod in &self.pods {
            if let Some(owner) = OwnerKey::of(pod) {
                let is_ready = pod.ready == pod.ready_of && pod.deleted_at.is_none();
                *ready.entry(owner).or_insert(0) += u32::from(is_ready);
            }
        }
        Observation {
            node: self.node.clone(),
            pods: self.pods.clone(),
            ready,
            budgets: self.budgets.clone(),
            unkillable: self.unkillable.clone(),
            probes_time_out: self.probes_time_out.clone(),
        }
    }

    /// The cluster is another one now.
    pub fn changed(&mut self) {
        let now = self.observation();
        if self.history.last() != Some(&now) {
            self.history.push(now);
        }
    }

    pub fn observe(&mut self) {
        self.changed();
        let now = self.observation();
        self.show(now);
    }

    pub fn show(&mut self, observation: Observation) {
        self.hear(Heard::Observed(Box::new(observation)));
    }

    // The executor.

    /// Performs what was asked, without telling the answer yet.
    pub fn perform(&mut self, index: usize) {
        let Some(effect) = self
            .pending
            .get(index)
            .filter(|one| one.answer.is_none())
            .map(|one| one.effect.clone())
        else {
            return;
        };
        let answer = self.done(effect);
        match (answer, self.pending.get_mut(index)) {
            (Some(answer), Some(pending)) => pending.answer = Some(answer),
            _ => drop(self.pending.remove(index)),
        }
        self.changed();
    }

    pub fn answer(&mut self, index: usize) {
        self.perform(index);
        if self.pending.get(index).is_some_and(|one| one.answer.is_some()) {
            let answer = self.pending.remove(index).answer.unwrap();
            self.hear(Heard::Answered(answer));
        }
    }

    /// Performs and answers all, also what that leads to.
    pub fn answer_all(&mut self) {
        while !self.pending.is_empty() {
            self.answer(0);
        }
    }

    /// All but these, and what they lead to.
    pub fn answer_all_but(&mut self, not: impl Fn(&Effect) -> bool) {
        while let Some(index) = self.index(|effect| !not(effect)) {
            self.answer(index);
        }
    }

    /// The API server does not answer; the request was `performed` or not.
    pub fn lose(&mut self, index: usize, performed: bool) {
        if performed {
            self.perform(index);
        }
        let is_lost = |one: &&Pending| !matches!(one.effect, Effect::Survey | Effect::Unlock);
        let Some(effect) = self
            .pending
            .get(index)
            .filter(is_lost)
            .map(|one| one.effect.clone())
        else {
            return;
        };
        self.pending.remove(index);
        let problem = || "the connection was lost".to_owned();
        let retry = || Err(WriteError::Retry(problem()));
        let answer = match effect {
            Effect::Lock => Answer::Locked(Err(LockError::Failed(problem()))),
            Effect::Cordon(_) => Answer::Cordoned(retry()),
            Effect::Save(_) => Answer::Saved(retry()),
            Effect::ListPods => Answer::Listed(Err(problem())),
            Effect::Evict { pod, .. } => Answer::Evicted(pod, Eviction::Retry(problem())),
            Effect::Uncordon { .. } => Answer::Uncordoned(retry()),
            Effect::Clear => Answer::Cleared(retry()),
            Effect::RunRebootCommand => Answer::RebootCommand(Ok(255)),
            Effect::Survey | Effect::Unlock | Effect::Tell(_) => return,
        };
        self.hear(Heard::Answered(answer));
    }

    fn done(&mut self, effect: Effect) -> Option<Answer> {
        Some(match effect {
            Effect::Survey => Answer::Surveyed(self.survey()),
            Effect::Lock => {
                let id = &self.state.id;
                match &self.lease {
                    Some(by) if by != id => Answer::Locked(Err(LockError::Held {
                        by: by.clone(),
                        age_seconds: 7,
                    })),
                    _ => {
                        self.lease = Some(id.clone());
                        Answer::Locked(Ok(()))
                    }
                }
            }
            Effect::Unlock => {
                self.lease = self.lease.take().filter(|by| *by != self.state.id);
                return None;
            }
            Effect::Cordon(record) => Answer::Cordoned(self.cordon(&record)),
            Effect::Save(record) => Answer::Saved(self.write(&record)),
            Effect::ListPods => Answer::Listed(Ok(Box::new(Fresh {
                node: self.node.clone(),
                pods: self.pods.clone(),
            }))),
            Effect::Evict { pod, .. } => {
                let answer = self.eviction(&pod);
                Answer::Evicted(pod, answer)
            }
            Effect::RunRebootCommand => {
                self.begin_restart();
                Answer::RebootCommand(Ok(0))
            }
            Effect::Uncordon { record, boot_id } => Answer::Uncordoned(self.uncordon(&record, &boot_id)),
            Effect::Clear => Answer::Cleared(self.clear()),
            Effect::Tell(_) => return None,
        })
    }

    fn survey(&self) -> Result<Box<Preflight>, String> {
        let fate = |pod: &Pod| match verdict(pod, &self.options, self.at) {
            Verdict::Leaves(loss) => Fate::Leaves(loss),
            Verdict::Stays(why) => Fate::Stays(why),
            Verdict::Refused(why) => Fate::Refused(why),
        };
        let node = self.node.clone().ok_or("there is no such node")?;
        Ok(Box::new(Preflight {
            node: NodeBefore {
                uid: node.uid,
                boot_id: node.boot_id,
                kernel_version: node.kernel_version,
                kubelet_version: node.kubelet_version,
                cordoned: node.unschedulable,
            },
            pods: self.pods.iter().map(|pod| (PodRef::of(pod), fate(pod))).collect(),
            ready: self.wanted.clone().into_iter().collect(),
            notes: Vec::new(),
        }))
    }

    fn cordon(&mut self, record: &Record) -> Result<(), WriteError> {
        let node = self.node.as_mut().filter(|node| node.uid == record.node_uid);
        let Some(node) = node else {
            return refused("another node");
        };
        let there = node
            .maintenance
            .as_deref()
            .and_then(|text| Record::parse(text).ok());
        if there.is_some_and(|there| there.id != record.id) {
            return refused("another maintenance");
        }
        if !node.unschedulable {
            self.cordoned_by = "drainboard";
        }
        node.unschedulable = true;
        node.maintenance = Some(json(record));
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<(), WriteError> {
        match self.node.as_mut().filter(|node| node.uid == record.node_uid) {
            Some(node) => {
                node.maintenance = Some(json(record));
                Ok(())
            }
            None => refused("another node"),
        }
    }

    fn uncordon(&mut self, record: &Record, boot_id: &Name) -> Result<(), WriteError> {
        let node = self.node.as_mut().filter(|node| node.uid == record.node_uid);
        let Some(node) = node else {
            return refused("another node");
        };
        let there = node
            .maintenance
            .as_deref()
            .and_then(|text| Record::parse(text).ok());
        if there.is_none_or(|there| there.id != record.id) {
            return refused("not ours");
        }
        if node.boot_id != *boot_id {
            return Err(WriteError::Retry("another boot".to_owned()));
        }
        if node.unschedulable && self.cordoned_by != "drainboard" {
            return refused("somebody else cordoned it");
        }
        node.unschedulable = false;
        node.maintenance = Some(json(record));
        Ok(())
    }

    fn clear(&mut self) -> Result<(), WriteError> {
        let Some(node) = &mut self.node else { return Ok(()) };
        let there = node
            .maintenance
            .as_deref()
            .and_then(|text| Record::parse(text).ok());
        if there.is_some_and(|there| there.id != self.state.id) {
            return refused("not ours");
        }
        node.maintenance = None;
        self.lease = None;
        Ok(())
    }

    fn eviction(&mut self, pod: &PodRef) -> Eviction {
        if let Some(eviction) = self.evictions.pop_front() {
            return eviction;
        }
        let at = self.at;
        let named = |one: &&mut Pod| one.namespace == pod.namespace && one.name == pod.name;
        let Some(found) = self.pods.iter_mut().find(named) else {
            return Eviction::Gone;
        };
        if found.uid != pod.uid {
            return Eviction::Replaced;
        }
        let blocking = self.budgets.iter_mut().find(|budget| budget.protects(found));
        if let Some(budget) = blocking.filter(|_| found.deleted_at.is_none()) {
            if budget.allowed == 0 {
                return blocked(None);
            }
            budget.allowed -= 1;
        }
        found.deleted_at.get_or_insert(at);
        Eviction::Accepted
    }

    // The cluster.

    pub fn pod(&mut self, name: &str) -> &mut Pod {
        self.pods.iter_mut().find(|pod| &*pod.name == name).unwrap()
    }

    pub fn node(&mut self) -> &mut Node {
        self.node.as_mut().unwrap()
    }

    pub fn ready(&mut self, status: ConditionStatus) {
        self.node().conditions = Box::new([condition(status)]);
    }

    pub fn begin_restart(&mut self) {
        if self.coming.is_empty() {
            let after = |seconds| self.at + TimeDelta::seconds(seconds);
            self.coming = vec![(after(10), Coming::Boot), (after(28), Coming::Network)];
        }
    }

    /// The node is back. Its kubelet still shows the old ids of the network containers.
    pub fn boot(&mut self) {
        self.boots += 1;
        let boot_id = self.boots.to_string();
        let kernel = self.next_kernel;
        if let Some(node) = &mut self.node {
            node.boot_id = boot_id.into();
            node.kernel_version = kernel.into();
        }
        if self.node.is_some() {
            self.ready(ConditionStatus::True);
        }
        self.pods.retain(|pod| pod.deleted_at.is_none());
        self.unkillable.clear();
        self.changed();
    }

    /// The network pods of this boot.
    pub fn network_starts(&mut self, run: &str) {
        for pod in &mut self.pods {
            let Some(owner) = pod.owner.clone().filter(|owner| &*owner.kind == "DaemonSet") else {
                continue;
            };
            for (number, container) in pod.containers.iter_mut().enumerate() {
                container.container_id = format!("containerd://{}-{number}-{run}", owner.name).into();
                container.ready = true;
            }
        }
        self.changed();
    }

    pub fn network_pods_ready(&mut self) {
        for container in self
            .pods
            .iter_mut()
            .filter(|pod| pod.host_process)
            .flat_map(|pod| &mut pod.containers)
        {
            container.ready = true;
        }
        self.changed();
    }

    /// Controllers bring back what is missing as soon as the node takes pods; what starts gets ready, what is deleted
    /// goes.
    pub fn settle(&mut self) {
        self.pods
            .retain(|pod| pod.deleted_at.is_none_or(|deleted| deleted >= self.at));
        for pod in &mut self.pods {
            pod.ready = pod.ready_of;
        }
        for budget in &mut self.budgets {
            budget.allowed = 1;
        }
        if self.node.as_ref().is_some_and(|node| !node.unschedulable) {
            for (owner, wanted) in &self.wanted {
                let have = self
                    .pods
                    .iter()
                    .filter(|pod| OwnerKey::of(pod).as_ref() == Some(owner))
                    .count();
                for _ in have..*wanted as usize {
                    self.created += 1;
                    let mut pod = app(&owner.name, 1000 + self.created);
                    pod.ready = 0;
                    self.pods.push(pod);
                }
            }
        }
        self.changed();
    }

    /// A friendly second: everything is answered, observed and goes on; the operator is quick.
    pub fn live(&mut self) {
        self.answer_all();
        self.wait(1000);
        let due = |(at, _): &(Timestamp, Coming)| *at <= self.at;
        let (come, coming): (Vec<_>, Vec<_>) = std::mem::take(&mut self.coming).into_iter().partition(due);
        self.coming = coming;
        for (_, what) in come {
            match what {
                Coming::Boot => self.boot(),
                Coming::Network => self.network_starts(&self.boots.to_string()),
            }
        }
        self.settle();
        self.observe();
        let restarts = self.state.step == Step::Restart && self.options.reboot_command.is_none();
        if restarts && self.told("awaiting_reboot") {
            self.begin_restart();
        }
    }

    /// A friendly cluster until this holds.
    pub fn live_until(&mut self, holds: impl Fn(&Self) -> bool) -> &mut Self {
        for _ in 0..4000 {
            if holds(self) {
                return self;
            }
            self.live();
        }
        panic!(
            "never: {:?}, waiting for {}",
            self.state.step, self.state.waiting_for
        );
    }

    pub fn live_to(&mut self, step: Step) -> &mut Self {
        self.live_until(|world| world.state.step == step)
    }

    // What became of it.

    pub fn is_over(&self) -> bool {
        self.state.step == Step::Over
    }

    pub fn ending(&self) -> (Ending, &str) {
        let (ending, reason) = self.state.ending.as_ref().expect("it is over");
        (*ending, reason)
    }

    /// Names of the events, in order.
    pub fn events(&self) -> Vec<String> {
        let name = |event: &Event| {
            serde_json::to_value(event).unwrap()["event"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        self.journal.iter().map(name).collect()
    }

    pub fn told(&self, event: &str) -> bool {
        self.events().iter().any(|one| one == event)
    }

    /// Everything that was told, as JSON lines.
    pub fn lines(&self) -> String {
        let line = |event: &Event| serde_json::to_string(event).unwrap();
        self.journal.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    pub fn happened(&self, is: impl Fn(&Happening) -> bool) -> usize {
        self.journal.iter().filter(|event| is(&event.what)).count()
    }

    /// When these effects were sent.
    pub fn sent(&self, is: impl Fn(&Effect) -> bool) -> Vec<Timestamp> {
        self.effects
            .iter()
            .filter(|(_, effect)| is(effect))
            .map(|(at, _)| *at)
            .collect()
    }

    pub fn evictions_of(&self, pod: &str) -> Vec<Timestamp> {
        self.sent(|effect| matches!(effect, Effect::Evict { pod: one, .. } if &*one.name == pod))
    }

    pub fn uncordons(&self) -> usize {
        self.sent(|effect| matches!(effect, Effect::Uncordon { .. }))
            .len()
    }

    pub fn index(&self, is: impl Fn(&Effect) -> bool) -> Option<usize> {
        self.pending.iter().position(|one| is(&one.effect))
    }

    pub fn record_is_there(&self) -> bool {
        self.node.as_ref().is_some_and(|node| node.maintenance.is_some())
    }

    pub fn record(&self) -> Record {
        Record::parse(self.node.as_ref().unwrap().maintenance.as_deref().unwrap()).unwrap()
    }

    /// Somebody writes a record of theirs on the node.
    pub fn take_over(&mut self) {
        let mut record = self.record();
        record.id = "m-2".to_owned();
        record.by = "grace@ws2".to_owned();
        record.reached = Reached::Drain;
        self.node().maintenance = Some(json(&record));
    }
}

pub fn blocked(retry_after: Option<u64>) -> Eviction {
    Eviction::Blocked {
        message: "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget hello-win needs \
                  1 healthy pods and has 1 currently"
            .to_owned(),
        retry_after: retry_after.map(std::time::Duration::from_secs),
    }
}

fn json(record: &Record) -> Name {
    serde_json::to_string(record).unwrap().into()
}

fn refused(why: &str) -> Result<(), WriteError> {
    Err(WriteError::Refused(why.to_owned()))
}
