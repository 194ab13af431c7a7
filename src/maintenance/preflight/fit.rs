//! Whether a node takes a pod: what the scheduler filters by, as far as it can be judged from here.

use super::node::is_ready;
use super::survey::{Place, RuntimeClass, Survey, Wishes};
use crate::domain::Name;
use crate::domain::format::bytes_long;
use crate::domain::node::{Taint, Toleration};
use crate::domain::pod::{ContainerKind, Phase, Pod, Resources};
use std::collections::BTreeMap;
use std::fmt;

/// Why a node does not take a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Cordoned,
    NotReady,
    Selector { label: Name, value: Name },
    Affinity,
    Taint(Taint),
    Cpu { asked: u64, free: u64 },
    Memory { asked: u64, free: u64 },
    Full { pods: u32 },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cordoned => f.write_str("cordoned"),
            Self::NotReady => f.write_str("not Ready"),
            Self::Selector { label, value } => write!(f, "not labelled {label}={value}"),
            Self::Affinity => f.write_str("no match for its node affinity"),
            Self::Taint(taint) if taint.value.is_empty() => {
                write!(f, "taint {}:{} not tolerated", taint.key, taint.effect)
            }
            Self::Taint(taint) => write!(
                f,
                "taint {}={}:{} not tolerated",
                taint.key, taint.value, taint.effect
            ),
            Self::Cpu { asked, free } => write!(f, "{free}m CPU free, {asked}m requested"),
            Self::Memory { asked, free } => {
                write!(f, "{} free, {} requested", bytes_long(*free), bytes_long(*asked))
            }
            Self::Full { pods } => write!(f, "all {pods} places for pods taken"),
        }
    }
}

/// What a pod requests: its containers together, or its largest init container if that is more.
pub fn requests(pod: &Pod) -> (u64, u64) {
    let mut steady = (0, 0);
    let mut peak = (0, 0);
    for container in &pod.containers {
        let own = amounts(container.requests);
        if container.kind == ContainerKind::Init {
            // An init container runs beside the sidecars that were started before it.
            peak = max(peak, plus(steady, own));
        } else {
            steady = plus(steady, own);
        }
    }
    max(steady, peak)
}

fn amounts(resources: Resources) -> (u64, u64) {
    (
        resources.cpu_millicores.unwrap_or(0),
        resources.memory_bytes.unwrap_or(0),
    )
}

const fn plus(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.saturating_add(other.0), one.1.saturating_add(other.1))
}

fn max(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.max(other.0), one.1.max(other.1))
}

/// A node with what its pods request.
pub struct Room<'a> {
    pub place: &'a Place,
    requested: (u64, u64),
    pods: u32,
}

impl<'a> Room<'a> {
    /// The other nodes as they are now.
    pub fn elsewhere(survey: &'a Survey) -> Vec<Self> {
        let mut taken: BTreeMap<&Name, ((u64, u64), u32)> = BTreeMap::new();
        let running = survey
            .pods
            .iter()
            .filter(|pod| !matches!(pod.phase, Phase::Succeeded | Phase::Failed));
        for pod in running {
            if let Some(node) = &pod.node {
                let (requested, pods) = taken.entry(node).or_default();
                *requested = plus(*requested, requests(pod));
                *pods += 1;
            }
        }
        survey
            .elsewhere()
            .map(|place| {
                let (requested, pods) = taken.get(&place.node.name).copied().unwrap_or_default();
                Self {
                    place,
                    requested,
                    pods,
                }
            })
            .collect()
    }

    /// Takes the pod in.
    pub fn take(&mut self, asked: (u64, u64)) {
        self.requested = plus(self.requested, asked);
        self.pods += 1;
    }

    /// Why it does not take a pod with these wishes and requests; `None` if it does.
    pub fn obstacle(&self, wanted: &Wanted, asked: (u64, u64)) -> Option<Obstacle> {
        let node = &self.place.node;
        if node.unschedulable {
            return Some(Obstacle::Cordoned);
        }
        if !is_ready(node) {
            return Some(Obstacle::NotReady);
        }
        wanted.obstacle(self.place).or_else(|| self.no_room(asked))
    }

    fn no_room(&self, asked: (u64, u64)) -> Option<Obstacle> {
        let allocatable = &self.place.node.allocatable;
        if let Some(most) = allocatable.pods
            && self.pods >= most
        {
            return Some(Obstacle::Full { pods: most });
        }
        let free = |all: Option<u64>, taken: u64| all.map(|all| all.saturating_sub(taken));
        if let Some(free) = free(allocatable.cpu_millicores, self.requested.0)
            && asked.0 > free
        {
            return Some(Obstacle::Cpu { asked: asked.0, free });
        }
        if let Some(free) = free(allocatable.memory_bytes, self.requested.1)
            && asked.1 > free
        {
            return Some(Obstacle::Memory { asked: asked.1, free });
        }
        None
    }
}

/// What the replacement of a pod will ask for: its spec, with what its `RuntimeClass` adds now.
pub struct Wanted<'a> {
    selector: BTreeMap<&'a Name, &'a Name>,
    tolerations: Vec<&'a Toleration>,
    wishes: &'a Wishes,
}

impl<'a> Wanted<'a> {
    pub fn of(wishes: &'a Wishes, class: Option<&'a RuntimeClass>) -> Self {
        let mut selector: BTreeMap<_, _> = wishes
            .node_selector
            .iter()
            .map(|(label, value)| (label, value))
            .collect();
        let mut tolerations: Vec<_> = wishes.tolerations.iter().collect();
        if let Some(class) = class {
            selector.extend(class.node_selector.iter().map(|(label, value)| (label, value)));
            tolerations.extend(&class.tolerations);
        }
        Self {
            selector,
            tolerations,
            wishes,
        }
    }

    /// Requests of the pod with its overhead.
    pub fn requests(&self, pod: &Pod) -> (u64, u64) {
        plus(requests(pod), amounts(self.wishes.overhead))
    }

    fn obstacle(&self, place: &Place) -> Option<Obstacle> {
        let missing = self
            .selector
            .iter()
            .find(|(label, value)| place.label(label) != Some(&***value));
        if let Some((label, value)) = missing {
            return Some(Obstacle::Selector {
                label: (*label).clone(),
                value: (*value).clone(),
            });
        }
        let terms = &self.wishes.node_terms;
        if !terms.is_empty() && !terms.iter().any(|term| term.selects(&place.labels)) {
            return Some(Obstacle::Affinity);
        }
        let taints = place.node.taints.iter();
        let mut hard = taints.filter(|taint| &*taint.effect != "PreferNoSchedule");
        hard.find(|taint| !self.tolerates(taint))
            .map(|taint| Obstacle::Taint(taint.clone()))
    }

    fn tolerates(&self, taint: &Taint) -> bool {
        self.tolerations
            .iter()
            .any(|toleration| toleration.tolerates(taint))
    }
}
