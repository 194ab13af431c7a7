//! The row of a pod: spec and status joined, its state worded as kubectl words it.

use super::super::intern::Interner;
use super::node::os;
use super::pod::{Amounts, Container, ContainerStatus, Pod, SecurityContext, State, Terminated};
use super::time;
use crate::domain::Name;
use crate::domain::pod::{self, ContainerKind, ContainerState, Owner, Phase, Resources, Termination};
use crate::domain::pod_state::{PodFacts, PodState, StatusFacts};
use crate::domain::quantity;

/// What the statuses of one list (init containers or containers) became, in the order sent.
struct Statuses<'a> {
    sent: &'a [ContainerStatus<'a>],
    rows: Vec<StatusRow>,
}

struct StatusRow {
    state: ContainerState,
    last: Option<Box<Termination>>,
}

impl Pod<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> pod::Pod {
        let (meta, spec, status) = (&self.metadata, &self.spec, &self.status);
        let mut init = Statuses::new(&status.init_container_statuses, names);
        let mut apps = Statuses::new(&status.container_statuses, names);
        let state = PodState::of(&self.facts(&init, &apps));
        let (word, ready, ready_of) = (names.get(&state.word), state.ready, state.ready_of);
        let (restarts, last_restart_at) = (state.restarts, state.last_restart_at);
        let mut containers = Vec::with_capacity(spec.init_containers.len() + spec.containers.len());
        for container in &*spec.init_containers {
            containers.push(container.to_row(kind_of_init(container), &mut init, names));
        }
        for container in &*spec.containers {
            containers.push(container.to_row(ContainerKind::App, &mut apps, names));
        }
        pod::Pod {
            uid: meta.uid.to_name(),
            namespace: names.get(&meta.namespace),
            name: meta.name.to_name(),
            node: spec.node_name.present().map(|node| names.get(node)),
            os: spec.os.as_ref().and_then(|field| os(&field.name)),
            phase: phase(&status.phase),
            state: word,
            reason: names.get(&status.reason),
            ready,
            ready_of,
            restarts,
            last_restart_at,
            created_at: time::parse(&meta.creation_timestamp),
            started_at: time::parse(&status.start_time),
            deleted_at: time::parse(&meta.deletion_timestamp),
            ip: status.pod_ip.parse().ok(),
            owner: self.owner(names),
            host_process: self.is_host_process(),
            mirror: meta
                .annotations
                .as_ref()
                .is_some_and(|annotations| annotations.mirror.is_some()),
            empty_dir: spec.volumes.iter().any(|volume| volume.empty_dir.is_some()),
            runtime_class: spec.runtime_class_name.present().map(|class| names.get(class)),
            claims: self.claims(names),
            labels: names.pairs(&meta.labels),
            containers: containers.into_boxed_slice(),
        }
    }

    fn facts<'s>(&'s self, init: &'s Statuses<'_>, apps: &'s Statuses<'_>) -> PodFacts<'s> {
        let (spec, status) = (&self.spec, &self.status);
        let condition = |kind: &str| {
            status
                .conditions
                .iter()
                .find(|condition| &*condition.kind == kind)
        };
        let is_true = |kind: &str| condition(kind).is_some_and(|condition| &*condition.status == "True");
        let is_sidecar = |name: &str| {
            spec.init_containers.iter().any(|container| {
                &*container.name == name && kind_of_init(container) == ContainerKind::Sidecar
            })
        };
        PodFacts {
            phase: &status.phase,
            reason: &status.reason,
            deleting: !self.metadata.deletion_timestamp.is_empty(),
            scheduling_gated: condition("PodScheduled")
                .is_some_and(|condition| &*condition.reason == "SchedulingGated"),
            initialized: is_true("Initialized"),
            ready: is_true("Ready"),
            init_containers: spec.init_containers.len(),
            sidecars: spec
                .init_containers
                .iter()
                .filter(|container| kind_of_init(container) == ContainerKind::Sidecar)
                .count(),
            containers: spec.containers.len(),
            init_statuses: init.facts(is_sidecar),
            statuses: apps.facts(|_| false),
        }
    }

    fn owner(&self, names: &mut Interner) -> Option<Owner> {
        self.metadata
            .owner_references
            .iter()
            .find(|owner| owner.controller == Some(true))
            .map(|owner| Owner {
                kind: names.get(&owner.kind),
                name: names.get(&owner.name),
            })
    }

    fn is_host_process(&self) -> bool {
        let spec = &self.spec;
        SecurityContext::is_host_process(spec.security_context.as_ref())
            || spec
                .init_containers
                .iter()
                .chain(spec.containers.iter())
                .any(|container| SecurityContext::is_host_process(container.security_context.as_ref()))
    }

    fn claims(&self, names: &mut Interner) -> Box<[Name]> {
        self.spec
            .volumes
            .iter()
            .filter_map(|volume| match &volume.persistent_volume_claim {
                Some(claim) => Some(names.get(&claim.claim_name)),
                // The claim of a generic ephemeral volume is named after pod and volume.
                None => volume
                    .ephemeral
                    .is_some()
                    .then(|| Name::from(format!("{}-{}", &*self.metadata.name, &*volume.name))),
            })
            .collect()
    }
}

impl<'a> Statuses<'a> {
    fn new(sent: &'a [ContainerStatus<'a>], names: &mut Interner) -> Self {
        let rows = sent
            .iter()
            .map(|status| StatusRow {
                state: status.state.to_row(names),
                last: status
                    .last_state
                    .terminated
                    .as_ref()
                    .map(|ended| Box::new(ended.to_row(names))),
            })
            .collect();
        Self { sent, rows }
    }

    fn facts(&self, is_sidecar: impl Fn(&str) -> bool) -> Vec<StatusFacts<'_>> {
        self.sent
            .iter()
            .zip(&self.rows)
            .map(|(sent, row)| StatusFacts {
                sidecar: is_sidecar(&sent.name),
                started: sent.started == Some(true),
                ready: sent.ready,
                restarts: restarts(sent),
                state: &row.state,
                last_finished_at: row.last.as_ref().and_then(|last| last.finished_at),
            })
            .collect()
    }
}

impl Container<'_> {
    fn to_row(
        &self,
        kind: ContainerKind,
        statuses: &mut Statuses<'_>,
        names: &mut Interner,
    ) -> pod::Container {
        let found = statuses.sent.iter().position(|status| *status.name == *self.name);
        let sent = found.map(|index| &statuses.sent[index]);
        let row = found.map(|index| &mut statuses.rows[index]);
        let (state, last_termination) = match row {
            Some(row) => (
                std::mem::replace(&mut row.state, ContainerState::Unreported),
                row.last.take(),
            ),
            None => (ContainerState::Unreported, None),
        };
        pod::Container {
            name: names.get(&self.name),
            image: names.get(&self.image),
            kind,
            container_id: sent.map_or_else(|| names.get(""), |status| status.container_id.to_name()),
            requests: amounts(self.resources.requests.as_ref()),
            limits: amounts(self.resources.limits.as_ref()),
            ready: sent.is_some_and(|status| status.ready),
            restarts: sent.map_or(0, restarts),
            state,
            last_termination,
        }
    }
}

impl State<'_> {
    fn to_row(&self, names: &mut Interner) -> ContainerState {
        if let Some(running) = &self.running {
            ContainerState::Running(time::parse(&running.started_at))
        } else if let Some(ended) = &self.terminated {
            ContainerState::Terminated(Box::new(ended.to_row(names)))
        } else if let Some(waiting) = &self.waiting {
            ContainerState::Waiting(names.get(&waiting.reason))
        } else {
            ContainerState::Unreported
        }
    }
}

impl Terminated<'_> {
    fn to_row(&self, names: &mut Interner) -> Termination {
        Termination {
            exit_code: exit_code(self.exit_code),
            signal: self
                .signal
                .and_then(|signal| i32::try_from(signal).ok())
                .filter(|signal| *signal != 0),
            reason: names.get(&self.reason),
            started_at: time::parse(&self.started_at),
            finished_at: time::parse(&self.finished_at),
        }
    }
}

/// The API has signed 32 bits; a code written as unsigned (`3221225477`) is the same bits.
fn exit_code(code: i64) -> i32 {
    i32::try_from(code)
        .or_else(|_| u32::try_from(code).map(u32::cast_signed))
        .unwrap_or(if code < 0 { i32::MIN } else { i32::MAX })
}

fn restarts(status: &ContainerStatus<'_>) -> u32 {
    u32::try_from(status.restart_count).unwrap_or(0)
}

fn kind_of_init(container: &Container<'_>) -> ContainerKind {
    if &*container.restart_policy == "Always" {
        ContainerKind::Sidecar
    } else {
        ContainerKind::Init
    }
}

fn phase(word: &str) -> Phase {
    match word {
        "Pending" => Phase::Pending,
        "Running" => Phase::Running,
        "Succeeded" => Phase::Succeeded,
        "Failed" => Phase::Failed,
        _ => Phase::Unknown,
    }
}

fn amounts(sent: Option<&Amounts<'_>>) -> Resources {
    sent.map_or_else(Resources::default, |amounts| Resources {
        cpu_millicores: quantity::millicores(&amounts.cpu).ok(),
        memory_bytes: quantity::bytes(&amounts.memory).ok(),
    })
}
