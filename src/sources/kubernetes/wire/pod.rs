//! `v1` Pod, as sent; `pod_row` makes the row of it.

use super::Meta;
use super::value::{List, Text};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A Pod.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Pod<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Spec.
    pub spec: Spec<'a>,
    /// Status.
    pub status: Status<'a>,
}

/// `spec`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Spec<'a> {
    /// Where it runs.
    #[serde(borrow)]
    pub node_name: Text<'a>,
    /// Operating system.
    pub os: Option<OsField<'a>>,
    /// `RuntimeClass`.
    pub runtime_class_name: Text<'a>,
    /// Security context of the pod.
    pub security_context: Option<SecurityContext>,
    /// Volumes.
    pub volumes: List<Volume<'a>>,
    /// Init containers and sidecars.
    pub init_containers: List<Container<'a>>,
    /// Containers.
    pub containers: List<Container<'a>>,
}

/// `spec.os`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct OsField<'a> {
    /// `linux` or `windows`.
    #[serde(borrow)]
    pub name: Text<'a>,
}

/// The part of a security context that makes a `HostProcess` pod.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SecurityContext {
    /// Options of Windows.
    pub windows_options: Option<WindowsOptions>,
}

/// `windowsOptions`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WindowsOptions {
    /// Runs on the host.
    pub host_process: Option<bool>,
}

impl SecurityContext {
    /// Whether this security context (of a pod or of a container) asks for `HostProcess`.
    pub fn is_host_process(context: Option<&Self>) -> bool {
        context
            .and_then(|context| context.windows_options.as_ref())
            .and_then(|options| options.host_process)
            .unwrap_or(false)
    }
}

/// A volume: what decides over a drain.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Volume<'a> {
    /// Name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Lost with the pod.
    pub empty_dir: Option<IgnoredAny>,
    /// A claim.
    pub persistent_volume_claim: Option<Claim<'a>>,
    /// A claim that lives as long as the pod, named after pod and volume.
    pub ephemeral: Option<IgnoredAny>,
}

/// `persistentVolumeClaim` of a volume.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Claim<'a> {
    /// Name of the PVC.
    #[serde(borrow)]
    pub claim_name: Text<'a>,
}

/// A container of the spec.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Container<'a> {
    /// Name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Image.
    pub image: Text<'a>,
    /// `Always` makes an init container a sidecar.
    pub restart_policy: Text<'a>,
    /// Requests and limits.
    pub resources: Requirements<'a>,
    /// Security context of the container.
    pub security_context: Option<SecurityContext>,
}

/// `resources` of a container.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Requirements<'a> {
    /// Requests.
    #[serde(borrow)]
    pub requests: Option<Amounts<'a>>,
    /// Limits.
    pub limits: Option<Amounts<'a>>,
}

/// Amounts of CPU and memory.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Amounts<'a> {
    /// CPUs.
    #[serde(borrow)]
    pub cpu: Text<'a>,
    /// Memory.
    pub memory: Text<'a>,
}

/// `status`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Status<'a> {
    /// Phase.
    #[serde(borrow)]
    pub phase: Text<'a>,
    /// Reason, e.g. `Evicted`.
    pub reason: Text<'a>,
    /// Address.
    #[serde(rename = "podIP")]
    pub pod_ip: Text<'a>,
    /// When the kubelet took it on.
    pub start_time: Text<'a>,
    /// Conditions.
    pub conditions: List<Condition<'a>>,
    /// Of init containers and sidecars.
    pub init_container_statuses: List<ContainerStatus<'a>>,
    /// Of containers.
    pub container_statuses: List<ContainerStatus<'a>>,
}

/// A condition of the pod.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Condition<'a> {
    /// `Ready`, …
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    /// `True`, `False`, `Unknown`.
    pub status: Text<'a>,
    /// Reason.
    pub reason: Text<'a>,
}

/// Status of a container.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerStatus<'a> {
    /// Name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// `containerd://…`.
    #[serde(rename = "containerID")]
    pub container_id: Text<'a>,
    /// Ready.
    pub ready: bool,
    /// Started.
    pub started: Option<bool>,
    /// Restarts.
    pub restart_count: i64,
    /// What it does now.
    pub state: State<'a>,
    /// How the run before ended.
    pub last_state: State<'a>,
}

/// State of a container: one of these.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct State<'a> {
    /// Waiting.
    #[serde(borrow)]
    pub waiting: Option<Waiting<'a>>,
    /// Running.
    pub running: Option<Running<'a>>,
    /// Ended.
    pub terminated: Option<Terminated<'a>>,
}

/// `state.waiting`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Waiting<'a> {
    /// Reason.
    #[serde(borrow)]
    pub reason: Text<'a>,
}

/// `state.running`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Running<'a> {
    /// Since when.
    #[serde(borrow)]
    pub started_at: Text<'a>,
}

/// `state.terminated`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Terminated<'a> {
    /// Exit code.
    pub exit_code: i64,
    /// Signal.
    pub signal: Option<i64>,
    /// Reason.
    #[serde(borrow)]
    pub reason: Text<'a>,
    /// When it started.
    pub started_at: Text<'a>,
    /// When it ended.
    pub finished_at: Text<'a>,
}
