//! What the rules look at: the part of a pod spec that matters on Windows, from a manifest or from a live pod.

use super::place::Place;
use crate::domain::Name;
use crate::domain::object::Os;
use crate::domain::pod::ContainerKind;
use crate::findings::Object;

/// Seconds that a pod has to stop if its spec does not say.
pub const DEFAULT_GRACE_SECONDS: u64 = 30;

/// A pod spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodTemplate {
    /// The object that holds it: a workload, or the pod.
    pub object: Object,
    /// `os.name`, where the spec says it.
    pub os: Option<Os>,
    /// `nodeName`: bound without the scheduler.
    pub node_name: Option<Name>,
    /// `nodeSelector`.
    pub node_selector: Vec<(Name, Name)>,
    /// The operating system that every term of the required node affinity asks for, if they agree on one.
    pub affinity_os: Option<Os>,
    /// `tolerations`.
    pub tolerations: Vec<Toleration>,
    /// `runtimeClassName`.
    pub runtime_class: Option<RuntimeClass>,
    /// `hostNetwork`.
    pub host_network: bool,
    /// Those of [`super::LINUX_ONLY_OF_POD`] that are set.
    pub linux_only: Vec<&'static str>,
    /// `securityContext`.
    pub security: Security,
    /// `terminationGracePeriodSeconds`; [`DEFAULT_GRACE_SECONDS`] where the spec does not say.
    pub grace_seconds: u64,
    /// `initContainers`, then `containers`.
    pub containers: Vec<Container>,
    /// `volumes`.
    pub volumes: Vec<Volume>,
}

/// A toleration; empty texts where the spec does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toleration {
    /// Key; empty tolerates every key.
    pub key: Name,
    /// `Exists`, `Equal` (the default) or a newer operator.
    pub operator: Name,
    /// Value.
    pub value: Name,
    /// Effect; empty tolerates every effect.
    pub effect: Name,
}

/// A RuntimeClass by name, and what it brings where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeClass {
    /// Name.
    pub name: Name,
    /// `scheduling`; `None` if the RuntimeClass itself was not seen.
    pub scheduling: Option<Scheduling>,
}

/// What a RuntimeClass adds to its pods at admission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// `nodeSelector`.
    pub node_selector: Vec<(Name, Name)>,
    /// `tolerations`.
    pub tolerations: Vec<Toleration>,
}

/// A `securityContext`, of the pod or of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// Those fields that Windows does not have ([`super::LINUX_ONLY_OF_POD_SECURITY`],
    /// [`super::LINUX_ONLY_OF_CONTAINER`]) and that are set.
    pub linux_only: Vec<&'static str>,
    /// `runAsNonRoot`.
    pub run_as_non_root: Option<bool>,
    /// `windowsOptions`.
    pub windows: Option<WindowsOptions>,
}

/// `windowsOptions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowsOptions {
    /// `hostProcess`.
    pub host_process: Option<bool>,
    /// `runAsUserName`.
    pub run_as_user_name: Option<Name>,
}

/// A container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Name.
    pub name: Name,
    /// Init, sidecar or ordinary.
    pub kind: ContainerKind,
    /// Its position in the list of the spec that it stands in, from 0.
    pub index: usize,
    /// Image as written.
    pub image: Name,
    /// `command`; empty: the image decides.
    pub command: Vec<Name>,
    /// `args`.
    pub args: Vec<Name>,
    /// `resources.requests.memory`, bytes.
    pub memory_request: Option<u64>,
    /// `resources.limits.memory`, bytes.
    pub memory_limit: Option<u64>,
    /// `securityContext`.
    pub security: Security,
    /// `startupProbe`.
    pub startup: Option<Probe>,
    /// `livenessProbe`.
    pub liveness: Option<Probe>,
    /// `readinessProbe`.
    pub readiness: Option<Probe>,
    /// `lifecycle.postStart`.
    pub post_start: Option<Action>,
    /// `lifecycle.preStop`.
    pub pre_stop: Option<Action>,
}

/// A probe, with the API's defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What is done.
    pub action: Action,
    /// `initialDelaySeconds`, 0 by default.
    pub initial_delay_seconds: u64,
    /// `periodSeconds`, 10 by default.
    pub period_seconds: u64,
    /// `timeoutSeconds`, 1 by default.
    pub timeout_seconds: u64,
    /// `failureThreshold`, 3 by default.
    pub failure_threshold: u64,
}

/// What a probe or a hook does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Starts a program in the container: `exec.command`.
    Exec(Vec<Name>),
    /// The kubelet waits so many seconds: `sleep.seconds`.
    Sleep(u64),
    /// The kubelet asks over the network.
    Network,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Name.
    pub name: Name,
    /// The claim that leads to it, for a volume of a claim.
    pub claim: Option<Name>,
    /// Who mounts it.
    pub mounter: Mounter,
}

/// Who mounts a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mounter {
    /// Kubelet's own `nfs`.
    Nfs,
    /// This CSI driver.
    Csi(Name),
    /// Something else, or not known: a claim whose class was not seen.
    Other,
}

impl PodTemplate {
    /// Whether the processes of this container run on the node itself.
    pub fn is_host_process(&self, container: &Container) -> bool {
        let of = |security: &Security| security.windows.as_ref().and_then(|options| options.host_process);
        of(&container.security)
            .or_else(|| of(&self.security))
            .unwrap_or(false)
    }

    /// The account that the spec gives this container.
    pub fn user_of<'a>(&'a self, container: &'a Container) -> Option<&'a Name> {
        let of = |security: &'a Security| {
            let options = security.windows.as_ref()?;
            options.run_as_user_name.as_ref()
        };
        of(&container.security).or_else(|| of(&self.security))
    }

    /// What this label of a node must be for the pod: `nodeSelector`, else what the RuntimeClass adds.
    pub fn selects(&self, label: &str) -> Option<&str> {
        let added = self
            .runtime_class
            .iter()
            .filter_map(|class| class.scheduling.as_ref())
            .flat_map(|scheduling| &scheduling.node_selector);
        self.node_selector
            .iter()
            .chain(added)
            .find_map(|(key, value)| (&**key == label).then_some(&**value))
    }

    /// Containers that are no HostProcess containers.
    pub fn ordinary_containers(&self) -> impl Iterator<Item = &Container> {
        self.containers
            .iter()
            .filter(|container| !self.is_host_process(container))
    }
}

impl Container {
    /// Where it stands in the pod spec.
    pub fn place(&self) -> Place {
        let list = match self.kind {
            ContainerKind::Init | ContainerKind::Sidecar => "initContainers",
            ContainerKind::App => "containers",
        };
        Place::spec().field(list).item(self.index)
    }
}

impl Probe {
    /// Seconds from the start of the container until this probe has failed often enough.
    pub const fn patience_seconds(&self) -> u64 {
        self.initial_delay_seconds
            .saturating_add(self.period_seconds.saturating_mul(self.failure_threshold))
    }
}
