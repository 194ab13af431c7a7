//! A maintenance of the Windows node of the tests, told to the state machine step by step.

use super::cluster::{WIN, ago, container, node, now, pod};
use crate::domain::budget::DisruptionBudget;
use crate::domain::node::{ConditionStatus, Node};
use crate::domain::object::Os;
use crate::domain::pod::{Owner, Phase, Pod};
use crate::domain::{Name, Timestamp};
use crate::maintenance::effect::{Answer, Eviction, Fresh};
use crate::maintenance::input::{Command, Heard, Input};
use crate::maintenance::machine;
use crate::maintenance::observation::Observation;
use crate::maintenance::options::Options;
use crate::maintenance::pods::{OwnerKey, PodRef, Stays};
use crate::maintenance::preflight::{Fate, NodeBefore, Note, Preflight, Weight};
use crate::maintenance::record::{Reached, Record};
use crate::maintenance::state::State;
use chrono::TimeDelta;
use std::collections::BTreeMap;

/// A maintenance, and the time that its inputs are told for.
pub struct Work {
    pub state: Option<State>,
    pub at: Timestamp,
    pub pods: Vec<Pod>,
    pub node: Node,
}

fn owned(mut pod: Pod, kind: &str, owner: &str) -> Pod {
    pod.owner = Some(Owner {
        kind: kind.into(),
        name: owner.into(),
    });
    pod
}

/// The seven pods of the article that leave, and the two of the network.
pub fn pods_of_win() -> Vec<Pod> {
    let win = |namespace, name: &str, owner| {
        owned(
            pod(namespace, name, Some(WIN), Some(Os::Windows)),
            "ReplicaSet",
            owner,
        )
    };
    let network = |namespace, name: &str, owner, containers: &[&str]| {
        let mut pod = owned(
            pod(namespace, name, Some(WIN), Some(Os::Windows)),
            "DaemonSet",
            owner,
        );
        pod.host_process = true;
        pod.containers = containers.iter().map(|name| container(name)).collect();
        pod
    };
    vec![
        network(
            "calico-system",
            "calico-node-windows-q54h2",
            "calico-node-windows",
            &["node", "felix"],
        ),
        network(
            "kube-system",
            "kube-proxy-windows-z9qdq",
            "kube-proxy-windows",
            &["kube-proxy"],
        ),
        win("win-demo", "aspnetapp-769559d8ff-dkp9z", "aspnetapp-769559d8ff"),
        win("win-demo", "aspnetapp-769559d8ff-vk445", "aspnetapp-769559d8ff"),
        win("win-demo", "hello-win-759c899954-9g74w", "hello-win-759c899954"),
        win("win-demo", "hello-win-759c899954-vwdq6", "hello-win-759c899954"),
        win("win-demo", "reports-5b7f9c-2xkqj", "reports-5b7f9c"),
        win("win-demo", "reports-5b7f9c-wz8dn", "reports-5b7f9c"),
        win(
            "win-demo",
            "reports-writer-67b96b59b-g9wrq",
            "reports-writer-67b96b59b",
        ),
    ]
}

fn is_network(pod: &Pod) -> bool {
    pod.host_process
}

/// Ready pods of each controller of the pods that leave.
fn ready() -> Vec<(OwnerKey, u32)> {
    let mut ready = BTreeMap::new();
    for pod in pods_of_win().iter().filter(|pod| !is_network(pod)) {
        *ready.entry(OwnerKey::of(pod).unwrap()).or_default() += 1;
    }
    ready.into_iter().collect()
}

fn preflight() -> Preflight {
    let note = |weight, text: &str, remedy: &str| Note {
        weight,
        text: text.to_owned(),
        remedy: remedy.to_owned(),
    };
    Preflight {
        node: NodeBefore {
            uid: format!("uid-{WIN}").into(),
            boot_id: "11".into(),
            kernel_version: "10.0.26100.32995".into(),
            kubelet_version: "v1.37.2".into(),
            cordoned: false,
        },
        pods: pods_of_win()
            .iter()
            .map(|pod| {
                let fate = if is_network(pod) {
                    Fate::Stays(Stays::DaemonSet)
                } else {
                    Fate::Leaves(None)
                };
                (PodRef::of(pod), fate)
            })
            .collect(),
        ready: ready(),
        notes: vec![
            note(Weight::Info, "the images of the pods stay on the node's disk", ""),
            note(
                Weight::Blocks,
                "budget win-demo/hello-win needs 1 of 2 healthy and allows 1, but 2 of its pods leave",
                "scale hello-win up, or change the budget",
            ),
            note(
                Weight::Warning,
                "the only Windows node: 7 pods wait as Pending until it is back",
                "",
            ),
        ],
    }
}

impl Work {
    /// Started: the preflight is on its way.
    pub fn started(options: Options) -> Self {
        let at = ago(221);
        let (state, _) = machine::start(WIN.into(), options, "18f2-1".into(), "anna@desk".into(), at);
        Self {
            state: Some(state),
            at,
            pods: pods_of_win(),
            node: Node {
                kernel_version: "10.0.26100.32995".into(),
                ..node(WIN, Os::Windows, 43)
            },
        }
    }

    fn attended() -> Options {
        Options {
            attended: true,
            ..Options::default()
        }
    }

    /// Asks whether to begin.
    pub fn asked() -> Self {
        let mut work = Self::started(Self::attended());
        work.answered(Answer::Surveyed(Ok(Box::new(preflight()))));
        work
    }

    /// Cordoned, the evictions are sent.
    pub fn draining() -> Self {
        Self::draining_with(Self::attended())
    }

    pub fn draining_with(options: Options) -> Self {
        let mut work = Self::started(options);
        work.answered(Answer::Surveyed(Ok(Box::new(preflight()))));
        work.after(2).hear(Heard::Operator(Command::Begin));
        work.answered(Answer::Locked(Ok(())));
        work.after(4).cordoned();
        work.listed();
        work
    }

    /// The record stands on the node, as it was written last.
    fn annotated(&mut self) {
        let record = self.state().record.as_ref();
        self.node.maintenance = record.map(|record| serde_json::to_string(record).unwrap().into());
    }

    fn cordoned(&mut self) -> &mut Self {
        self.node.unschedulable = true;
        self.answered(Answer::Cordoned(Ok(())))
    }

    /// Empty, and waiting for the restart.
    pub fn restarting() -> Self {
        Self::restarting_with(Self::attended())
    }

    pub fn restarting_with(options: Options) -> Self {
        let mut work = Self::draining_with(options);
        for pod in pods_of_win() {
            work.evicted(&pod.name, Eviction::Accepted);
        }
        work.pods.retain(is_network);
        work.after(21).hear(Heard::Tick).listed();
        work.answered(Answer::Saved(Ok(())));
        work
    }

    /// Restarted with this kernel version; the network pods have not started anew.
    pub fn restarted(kernel_version: &str) -> Self {
        let mut work = Self::restarting();
        work.node.boot_id = "12".into();
        work.node.kernel_version = kernel_version.into();
        work.after(58).observed(|_| {});
        // A restart is believed to a fresh look only.
        work.listed();
        work.observed(|_| {});
        work
    }

    /// The network pods have started anew, the node is uncordoned.
    pub fn uncordoned() -> Self {
        let mut work = Self::restarted("10.0.26100.33438");
        work.network_starts_anew();
        work.after(28).observed(|_| {});
        work.listed();
        work.observed(|_| {});
        work.node.unschedulable = false;
        work.answered(Answer::Uncordoned(Ok(())));
        work
    }

    /// Found on the node by another run of the program.
    pub fn resumed(record: Record) -> Self {
        let mut work = Self::started(Self::attended());
        let (state, _) = machine::resume(WIN.into(), record, Self::attended(), &[], work.at);
        work.state = Some(state);
        work.pods.retain(is_network);
        work
    }

    /// A record of this maintenance.
    pub fn record(reached: Reached) -> Record {
        let mut work = Self::restarting();
        let mut record = work.state.take().unwrap().record.unwrap();
        record.reached = reached;
        record
    }

    pub fn network_starts_anew(&mut self) {
        for pod in self.pods.iter_mut().filter(|pod| is_network(pod)) {
            for container in &mut pod.containers {
                container.container_id = format!("{}-anew", container.container_id).into();
            }
        }
    }

    pub fn state(&self) -> &State {
        self.state.as_ref().unwrap()
    }

    /// Time passes.
    pub fn after(&mut self, seconds: i64) -> &mut Self {
        self.at += TimeDelta::seconds(seconds);
        assert!(self.at <= now() + TimeDelta::hours(1));
        self
    }

    pub fn hear(&mut self, what: Heard) -> &mut Self {
        let input = Input { at: self.at, what };
        let (state, _) = machine::step(self.state.take().unwrap(), input);
        self.state = Some(state);
        self
    }

    pub fn answered(&mut self, answer: Answer) -> &mut Self {
        self.hear(Heard::Answered(answer))
    }

    pub fn listed(&mut self) -> &mut Self {
        self.annotated();
        let fresh = Fresh {
            node: Some(self.node.clone()),
            pods: self.pods.clone(),
        };
        self.answered(Answer::Listed(Ok(Box::new(fresh))))
    }

    /// The eviction of the pod whose name ends like this.
    pub fn evicted(&mut self, name: &str, eviction: Eviction) -> &mut Self {
        let pods = pods_of_win();
        let pod = pods.iter().find(|pod| pod.name.ends_with(name)).unwrap();
        self.answered(Answer::Evicted(PodRef::of(pod), eviction))
    }

    /// What the watches tell now, changed by `change`.
    pub fn observed(&mut self, change: impl FnOnce(&mut Observation)) -> &mut Self {
        self.annotated();
        let mut observation = Observation {
            node: Some(self.node.clone()),
            pods: self.pods.clone(),
            budgets: Vec::<DisruptionBudget>::new(),
            ..Observation::default()
        };
        change(&mut observation);
        self.hear(Heard::Observed(Box::new(observation)))
    }

    /// The node's Ready condition as the control plane has it.
    pub fn is_ready(&mut self, status: ConditionStatus) -> &mut Self {
        let mut conditions = self.node.conditions.to_vec();
        conditions[0].status = status;
        self.node.conditions = conditions.into();
        self
    }

    /// A pod in the place of one that left: no node fits.
    pub fn pending(namespace: &str, name: &str, owner: &str) -> Pod {
        let mut pod = owned(pod(namespace, name, None, Some(Os::Windows)), "ReplicaSet", owner);
        pod.phase = Phase::Pending;
        pod.created_at = Some(ago(58));
        pod
    }

    /// Ready pods of the controller with this name.
    pub fn owner(name: &str) -> OwnerKey {
        ready()
            .into_iter()
            .map(|(owner, _)| owner)
            .find(|owner| &*owner.name == name)
            .unwrap()
    }

    pub fn uid(name: &str) -> Name {
        format!("uid-{name}").into()
    }
}
