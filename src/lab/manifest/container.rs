//! A container of a pod template.

use crate::domain::object::Os;
use serde_json::{Value, json};

/// A container as the lab's tables describe it. An empty text means "not set".
#[derive(Clone, Debug)]
pub struct Container {
    name: &'static str,
    image: String,
    command: Vec<&'static str>,
    env: Vec<(&'static str, &'static str)>,
    port: Option<(&'static str, u16)>,
    mounts: Vec<(&'static str, &'static str)>,
    requests: (&'static str, &'static str),
    limits: (&'static str, &'static str),
    startup: Option<Probe>,
    readiness: Option<Probe>,
    liveness: Option<Probe>,
    pre_stop_seconds: Option<u64>,
}

impl Container {
    /// A container with nothing but a name and an image.
    pub fn new(name: &'static str, image: &str) -> Self {
        Self::with_image(name, image.to_owned())
    }

    /// The same, for an image name that was put together.
    pub fn with_image(name: &'static str, image: String) -> Self {
        Self {
            name,
            image,
            command: Vec::new(),
            env: Vec::new(),
            port: None,
            mounts: Vec::new(),
            requests: ("", ""),
            limits: ("", ""),
            startup: None,
            readiness: None,
            liveness: None,
            pre_stop_seconds: None,
        }
    }

    /// Its command.
    #[must_use]
    pub fn command(mut self, command: &[&'static str]) -> Self {
        self.command = command.to_vec();
        self
    }

    /// An environment variable.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    /// Its named port.
    #[must_use]
    pub fn port(mut self, name: &'static str, number: u16) -> Self {
        self.port = Some((name, number));
        self
    }

    /// Mounts a volume of the pod.
    #[must_use]
    pub fn mount(mut self, volume: &'static str, path: &'static str) -> Self {
        self.mounts.push((volume, path));
        self
    }

    /// `resources.requests`: CPU, memory.
    #[must_use]
    pub fn requests(mut self, cpu: &'static str, memory: &'static str) -> Self {
        self.requests = (cpu, memory);
        self
    }

    /// `resources.limits`: CPU, memory.
    #[must_use]
    pub fn limits(mut self, cpu: &'static str, memory: &'static str) -> Self {
        self.limits = (cpu, memory);
        self
    }

    /// Its startup probe.
    #[must_use]
    pub fn startup(mut self, probe: Probe) -> Self {
        self.startup = Some(probe);
        self
    }

    /// Its readiness probe.
    #[must_use]
    pub fn readiness(mut self, probe: Probe) -> Self {
        self.readiness = Some(probe);
        self
    }

    /// Its liveness probe.
    #[must_use]
    pub fn liveness(mut self, probe: Probe) -> Self {
        self.liveness = Some(probe);
        self
    }

    /// A `preStop` hook that sleeps.
    #[must_use]
    pub fn pre_stop_sleep(mut self, seconds: u64) -> Self {
        self.pre_stop_seconds = Some(seconds);
        self
    }

    /// The container of a pod template.
    pub(super) fn manifest(&self, os: Os, host_network: bool) -> Value {
        let mut container = json!({
            "name": self.name,
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "resources": self.resources(),
        });
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                container[key] = value;
            }
        };
        set("command", (!self.command.is_empty()).then(|| json!(self.command)));
        set(
            "env",
            (!self.env.is_empty()).then(|| {
                let variables = self
                    .env
                    .iter()
                    .map(|(name, value)| json!({"name": name, "value": value}));
                Value::Array(variables.collect())
            }),
        );
        set(
            "ports",
            self.port.map(|(name, number)| {
                let mut port = json!({"name": name, "containerPort": number, "protocol": "TCP"});
                if host_network {
                    port["hostPort"] = number.into();
                }
                json!([port])
            }),
        );
        set(
            "volumeMounts",
            (!self.mounts.is_empty()).then(|| {
                let mounts = self
                    .mounts
                    .iter()
                    .map(|(name, path)| json!({"name": name, "mountPath": path}));
                Value::Array(mounts.collect())
            }),
        );
        let probe = |probe: &Option<Probe>| probe.as_ref().map(|probe| probe.manifest(self.port, os));
        set("startupProbe", probe(&self.startup));
        set("readinessProbe", probe(&self.readiness));
        set("livenessProbe", probe(&self.liveness));
        set(
            "lifecycle",
            self.pre_stop_seconds
                .map(|seconds| json!({"preStop": {"sleep": {"seconds": seconds}}})),
        );
        container
    }

    fn resources(&self) -> Value {
        let amounts = |(cpu, memory): (&str, &str)| {
            let mut amounts = json!({});
            if !cpu.is_empty() {
                amounts["cpu"] = cpu.into();
            }
            if !memory.is_empty() {
                amounts["memory"] = memory.into();
            }
            amounts
        };
        let mut resources = json!({});
        for (key, pair) in [("requests", self.requests), ("limits", self.limits)] {
            if pair != ("", "") {
                resources[key] = amounts(pair);
            }
        }
        resources
    }
}

/// A probe.
#[derive(Clone, Debug)]
pub struct Probe {
    check: Check,
    port: Option<u16>,
    period_seconds: u32,
    timeout_seconds: u32,
    failure_threshold: u32,
}

#[derive(Clone, Debug)]
enum Check {
    Http(&'static str),
    Exec(&'static str),
}

impl Probe {
    /// `GET path` on the container's named port.
    pub fn http(path: &'static str, period_seconds: u32) -> Self {
        Self::new(Check::Http(path), period_seconds)
    }

    /// A command in the container.
    pub fn exec(command: &'static str, period_seconds: u32) -> Self {
        Self::new(Check::Exec(command), period_seconds)
    }

    fn new(check: Check, period_seconds: u32) -> Self {
        Self {
            check,
            port: None,
            period_seconds,
            timeout_seconds: 1,
            failure_threshold: 3,
        }
    }

    /// Another port than the container's named one.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// `timeoutSeconds`.
    #[must_use]
    pub fn timeout(mut self, seconds: u32) -> Self {
        self.timeout_seconds = seconds;
        self
    }

    /// `failureThreshold`.
    #[must_use]
    pub fn failures(mut self, threshold: u32) -> Self {
        self.failure_threshold = threshold;
        self
    }

    fn manifest(&self, named_port: Option<(&str, u16)>, os: Os) -> Value {
        let mut probe = json!({
            "periodSeconds": self.period_seconds,
            "timeoutSeconds": self.timeout_seconds,
            "successThreshold": 1,
            "failureThreshold": self.failure_threshold,
        });
        match self.check {
            Check::Http(path) => {
                let port = match (self.port, named_port) {
                    (Some(number), _) => json!(number),
                    (None, Some((name, _))) => json!(name),
                    (None, None) => json!(80),
                };
                probe["httpGet"] = json!({"path": path, "port": port, "scheme": "HTTP"});
            }
            Check::Exec(command) => {
                let words = match os {
                    // the exec probe starts no shell; on Windows a name without cmd is not found
                    Os::Windows => vec!["cmd", "/c", command],
                    Os::Linux => command.split(' ').collect(),
                };
                probe["exec"] = json!({"command": words});
            }
        }
        probe
    }
}
