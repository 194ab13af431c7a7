//! `v1` Pod in protobuf; it becomes the row by way of the lean type that JSON is decoded into, so that both mean
//! the same.

use super::super::failure::Failure;
use super::super::intern::Interner;
use super::super::wire::value::Text;
use super::super::wire::{Annotations, Meta, OwnerReference, pod as wire};
use super::list::malformed;
use crate::domain::pod;
use chrono::{DateTime, SecondsFormat};
use prost::Message;
use serde::de::IgnoredAny;

/// The row of an item of a list.
pub fn row(item: &[u8], names: &mut Interner) -> Result<pod::Pod, Failure> {
    let message = Pod::decode(item).map_err(|error| malformed(&error))?;
    Ok(message.wire().to_row(names))
}

#[derive(Clone, PartialEq, Message)]
struct Pod {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ObjectMeta>,
    #[prost(message, optional, tag = "2")]
    spec: Option<Spec>,
    #[prost(message, optional, tag = "3")]
    status: Option<Status>,
}

#[derive(Clone, PartialEq, Message)]
struct ObjectMeta {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "3")]
    namespace: String,
    #[prost(string, tag = "5")]
    uid: String,
    #[prost(string, tag = "6")]
    resource_version: String,
    #[prost(int64, optional, tag = "7")]
    generation: Option<i64>,
    #[prost(message, optional, tag = "8")]
    creation_timestamp: Option<Time>,
    #[prost(message, optional, tag = "9")]
    deletion_timestamp: Option<Time>,
    #[prost(message, repeated, tag = "11")]
    labels: Vec<Pair>,
    #[prost(message, repeated, tag = "12")]
    annotations: Vec<Key>,
    #[prost(message, repeated, tag = "13")]
    owner_references: Vec<Owner>,
}

/// An entry of a map of strings.
#[derive(Clone, PartialEq, Message)]
struct Pair {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// An entry of a map of which only the key counts.
#[derive(Clone, PartialEq, Message)]
struct Key {
    #[prost(string, tag = "1")]
    key: String,
}

#[derive(Clone, PartialEq, Message)]
struct Owner {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(bool, optional, tag = "6")]
    controller: Option<bool>,
}

/// Seconds since 1970; zero is no time, as the API has it.
#[derive(Clone, PartialEq, Message)]
struct Time {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

/// A message of which only counts that it is there.
#[derive(Clone, PartialEq, Message)]
struct There {}

#[derive(Clone, PartialEq, Message)]
struct Spec {
    #[prost(message, repeated, tag = "1")]
    volumes: Vec<Volume>,
    #[prost(message, repeated, tag = "2")]
    containers: Vec<Container>,
    #[prost(string, tag = "10")]
    node_name: String,
    #[prost(message, optional, tag = "14")]
    security_context: Option<PodSecurityContext>,
    #[prost(message, repeated, tag = "20")]
    init_containers: Vec<Container>,
    #[prost(string, tag = "29")]
    runtime_class_name: String,
    #[prost(message, optional, tag = "36")]
    os: Option<OsField>,
}

#[derive(Clone, PartialEq, Message)]
struct OsField {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct PodSecurityContext {
    #[prost(message, optional, tag = "8")]
    windows_options: Option<WindowsOptions>,
}

#[derive(Clone, PartialEq, Message)]
struct SecurityContext {
    #[prost(message, optional, tag = "10")]
    windows_options: Option<WindowsOptions>,
}

#[derive(Clone, PartialEq, Message)]
struct WindowsOptions {
    #[prost(bool, optional, tag = "4")]
    host_process: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
struct Volume {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    source: Option<VolumeSource>,
}

#[derive(Clone, PartialEq, Message)]
struct VolumeSource {
    #[prost(message, optional, tag = "2")]
    empty_dir: Option<There>,
    #[prost(message, optional, tag = "10")]
    persistent_volume_claim: Option<Claim>,
    #[prost(message, optional, tag = "29")]
    ephemeral: Option<There>,
}

#[derive(Clone, PartialEq, Message)]
struct Claim {
    #[prost(string, tag = "1")]
    claim_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Container {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    image: String,
    #[prost(message, optional, tag = "8")]
    resources: Option<Requirements>,
    #[prost(message, optional, tag = "15")]
    security_context: Option<SecurityContext>,
    #[prost(string, tag = "24")]
    restart_policy: String,
}

#[derive(Clone, PartialEq, Message)]
struct Requirements {
    #[prost(message, repeated, tag = "1")]
    limits: Vec<Amount>,
    #[prost(message, repeated, tag = "2")]
    requests: Vec<Amount>,
}

/// An entry of a map of quantities.
#[derive(Clone, PartialEq, Message)]
struct Amount {
    #[prost(string, tag = "1")]
    resource: String,
    #[prost(message, optional, tag = "2")]
    quantity: Option<Quantity>,
}

#[derive(Clone, PartialEq, Message)]
struct Quantity {
    #[prost(string, tag = "1")]
    text: String,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(string, tag = "1")]
    phase: String,
    #[prost(message, repeated, tag = "2")]
    conditions: Vec<Condition>,
    #[prost(string, tag = "4")]
    reason: String,
    #[prost(string, tag = "6")]
    pod_ip: String,
    #[prost(message, optional, tag = "7")]
    start_time: Option<Time>,
    #[prost(message, repeated, tag = "8")]
    container_statuses: Vec<ContainerStatus>,
    #[prost(message, repeated, tag = "10")]
    init_container_statuses: Vec<ContainerStatus>,
}

#[derive(Clone, PartialEq, Message)]
struct Condition {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "2")]
    status: String,
    #[prost(string, tag = "5")]
    reason: String,
}

#[derive(Clone, PartialEq, Message)]
struct ContainerStatus {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    state: Option<State>,
    #[prost(message, optional, tag = "3")]
    last_state: Option<State>,
    #[prost(bool, tag = "4")]
    ready: bool,
    #[prost(int32, tag = "5")]
    restart_count: i32,
    #[prost(string, tag = "8")]
    container_id: String,
    #[prost(bool, optional, tag = "9")]
    started: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
struct State {
    #[prost(message, optional, tag = "1")]
    waiting: Option<Waiting>,
    #[prost(message, optional, tag = "2")]
    running: Option<Running>,
    #[prost(message, optional, tag = "3")]
    terminated: Option<Terminated>,
}

#[derive(Clone, PartialEq, Message)]
struct Waiting {
    #[prost(string, tag = "1")]
    reason: String,
}

#[derive(Clone, PartialEq, Message)]
struct Running {
    #[prost(message, optional, tag = "1")]
    started_at: Option<Time>,
}

#[derive(Clone, PartialEq, Message)]
struct Terminated {
    #[prost(int32, tag = "1")]
    exit_code: i32,
    #[prost(int32, tag = "2")]
    signal: i32,
    #[prost(string, tag = "3")]
    reason: String,
    #[prost(message, optional, tag = "5")]
    started_at: Option<Time>,
    #[prost(message, optional, tag = "6")]
    finished_at: Option<Time>,
}

impl Pod {
    fn wire(&self) -> wire::Pod<'_> {
        wire::Pod {
            metadata: self.metadata.as_ref().map(ObjectMeta::wire).unwrap_or_default(),
            spec: self.spec.as_ref().map(Spec::wire).unwrap_or_default(),
            status: self.status.as_ref().map(Status::wire).unwrap_or_default(),
        }
    }
}

impl ObjectMeta {
    fn wire(&self) -> Meta<'_> {
        let is_mirror = |entry: &Key| entry.key == "kubernetes.io/config.mirror";
        Meta {
            name: text(&self.name),
            namespace: text(&self.namespace),
            uid: text(&self.uid),
            resource_version: text(&self.resource_version),
            generation: self.generation,
            creation_timestamp: time(self.creation_timestamp.as_ref()),
            deletion_timestamp: time(self.deletion_timestamp.as_ref()),
            labels: self
                .labels
                .iter()
                .map(|entry| (text(&entry.key), text(&entry.value)))
                .collect(),
            annotations: Some(Annotations {
                mirror: self.annotations.iter().any(is_mirror).then_some(IgnoredAny),
                ..Annotations::default()
            }),
            owner_references: self
                .owner_references
                .iter()
                .map(|owner| OwnerReference {
                    kind: text(&owner.kind),
                    name: text(&owner.name),
                    controller: owner.controller,
                })
                .collect(),
            managed_fields: IgnoredAny,
        }
    }
}

impl Spec {
    fn wire(&self) -> wire::Spec<'_> {
        wire::Spec {
            node_name: text(&self.node_name),
            os: self.os.as_ref().map(|os| wire::OsField { name: text(&os.name) }),
            runtime_class_name: text(&self.runtime_class_name),
            security_context: self
                .security_context
                .as_ref()
                .map(|context| security_context(context.windows_options.as_ref())),
            volumes: self.volumes.iter().map(Volume::wire).collect(),
            init_containers: self.init_containers.iter().map(Container::wire).collect(),
            containers: self.containers.iter().map(Container::wire).collect(),
        }
    }
}

impl Volume {
    fn wire(&self) -> wire::Volume<'_> {
        let source = self.source.as_ref();
        let claim = source.and_then(|source| source.persistent_volume_claim.as_ref());
        wire::Volume {
            name: text(&self.name),
            empty_dir: source
                .and_then(|source| source.empty_dir.as_ref())
                .map(|_| IgnoredAny),
            persistent_volume_claim: claim.map(|claim| wire::Claim {
                claim_name: text(&claim.claim_name),
            }),
            ephemeral: source
                .and_then(|source| source.ephemeral.as_ref())
                .map(|_| IgnoredAny),
        }
    }
}

impl Container {
    fn wire(&self) -> wire::Container<'_> {
        wire::Container {
            name: text(&self.name),
            image: text(&self.image),
            restart_policy: text(&self.restart_policy),
            resources: wire::Requirements {
                requests: amounts(self.resources.as_ref().map(|resources| &resources.requests)),
                limits: amounts(self.resources.as_ref().map(|resources| &resources.limits)),
            },
            security_context: self
                .security_context
                .as_ref()
                .map(|context| security_context(context.windows_options.as_ref())),
        }
    }
}

impl Status {
    fn wire(&self) -> wire::Status<'_> {
        wire::Status {
            phase: text(&self.phase),
            reason: text(&self.reason),
            pod_ip: text(&self.pod_ip),
            start_time: time(self.start_time.as_ref()),
            conditions: self
                .conditions
                .iter()
                .map(|condition| wire::Condition {
                    kind: text(&condition.kind),
                    status: text(&condition.status),
                    reason: text(&condition.reason),
                })
                .collect(),
            init_container_statuses: self
                .init_container_statuses
                .iter()
                .map(ContainerStatus::wire)
                .collect(),
            container_statuses: self
                .container_statuses
                .iter()
                .map(ContainerStatus::wire)
                .collect(),
        }
    }
}

impl ContainerStatus {
    fn wire(&self) -> wire::ContainerStatus<'_> {
        wire::ContainerStatus {
            name: text(&self.name),
            container_id: text(&self.container_id),
            ready: self.ready,
            started: self.started,
            restart_count: self.restart_count.into(),
            state: self.state.as_ref().map(State::wire).unwrap_or_default(),
            last_state: self.last_state.as_ref().map(State::wire).unwrap_or_default(),
        }
    }
}

impl State {
    fn wire(&self) -> wire::State<'_> {
        wire::State {
            waiting: self.waiting.as_ref().map(|waiting| wire::Waiting {
                reason: text(&waiting.reason),
            }),
            running: self.running.as_ref().map(|running| wire::Running {
                started_at: time(running.started_at.as_ref()),
            }),
            terminated: self.terminated.as_ref().map(|ended| wire::Terminated {
                exit_code: ended.exit_code.into(),
                signal: Some(ended.signal.into()),
                reason: text(&ended.reason),
                started_at: time(ended.started_at.as_ref()),
                finished_at: time(ended.finished_at.as_ref()),
            }),
        }
    }
}

fn text(text: &str) -> Text<'_> {
    Text::from(text)
}

/// As JSON has it: RFC 3339 with seconds.
fn time(time: Option<&Time>) -> Text<'static> {
    time.filter(|time| (time.seconds, time.nanos) != (0, 0))
        .and_then(|time| DateTime::from_timestamp(time.seconds, 0))
        .map(|time| Text::from(time.to_rfc3339_opts(SecondsFormat::Secs, true)))
        .unwrap_or_default()
}

fn security_context(options: Option<&WindowsOptions>) -> wire::SecurityContext {
    wire::SecurityContext {
        windows_options: options.map(|options| wire::WindowsOptions {
            host_process: options.host_process,
        }),
    }
}

fn amounts(sent: Option<&Vec<Amount>>) -> Option<wire::Amounts<'_>> {
    let of = |name: &str| {
        sent?
            .iter()
            .find(|amount| amount.resource == name)
            .and_then(|amount| amount.quantity.as_ref())
            .map(|quantity| text(&quantity.text))
    };
    sent.map(|_| wire::Amounts {
        cpu: of("cpu").unwrap_or_default(),
        memory: of("memory").unwrap_or_default(),
    })
}
