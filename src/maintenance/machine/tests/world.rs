//! A small cluster with one node, and a maintenance of it. Nothing happens by itself: the test says what comes next, or
//! lets [`World::live`] do what a friendly cluster would.

use super::objects::{self, NODE, app, daemon};
use super::oracle::{self, Oracle};
use crate::domain::node::Node;
use crate::domain::pod::Pod;
use crate::domain::{Name, Timestamp};
use crate::maintenance::effect::{Answer, Effect, Eviction};
use crate::maintenance::event::Event;
use crate::maintenance::input::{Command, Heard, Input};
use crate::maintenance::machine::{next_wake, resume, start, step};
use crate::maintenance::observation::Observation;
use crate::maintenance::options::Options;
use crate::maintenance::pods::{OwnerKey, PodRef};
use crate::maintenance::record::Record;
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
    pub created: u32,
    pub boots: u32,
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
        oracle::wakes(&self.state, self.at, &self.pending);
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

    /// Observes, and answers what is asked because of that.
    pub fn look(&mut self) {
        self.observe();
        self.answer_all();
    }

    pub fn show(&mut self, observation: Observation) {
        self.hear(Heard::Observed(Box::new(observation)));
    }
}
