//! From a pod spec in YAML to what the rules look at. A value that the API server would not take is noted with its line,
//! and read as if it were not there.

use super::around::Around;
use super::tree::{Node, Value};
use super::workload::Workload;
use crate::domain::Name;
use crate::domain::object::Os;
use crate::domain::pod::ContainerKind;
use crate::domain::quantity;
use crate::findings::manifest::template::{
    Action, Container, DEFAULT_GRACE_SECONDS, Mounter, PodTemplate, Probe, RuntimeClass, Security,
    Toleration, Volume, WindowsOptions,
};
use crate::findings::manifest::{LINUX_ONLY_OF_CONTAINER, LINUX_ONLY_OF_POD, LINUX_ONLY_OF_POD_SECURITY};

const OS_LABEL: &str = "kubernetes.io/os";

/// Collects what is wrong with the values.
#[derive(Debug, Default)]
pub struct Reader {
    /// Values that the API server refuses.
    pub faults: Vec<Fault>,
}

/// A value that the API server refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line.
    pub line: u64,
    /// What is wrong.
    pub text: String,
}

impl Reader {
    fn wrong(&mut self, node: &Node, field: &str, expected: &str) {
        self.faults.push(Fault {
            line: node.line,
            text: format!("{field} is {}, and has to be {expected}", node.value.kind()),
        });
    }

    fn field<T>(
        &mut self,
        parent: Option<&Node>,
        field: &str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let node = parent?.get(field)?;
        let value = read(&node.value);
        if value.is_none() {
            self.wrong(node, field, expected);
        }
        value
    }

    fn text(&mut self, parent: Option<&Node>, field: &str) -> Option<Name> {
        self.field(parent, field, "text", |value| match value {
            Value::Text(text) => Some(text.as_str().into()),
            _ => None,
        })
    }

    fn flag(&mut self, parent: Option<&Node>, field: &str) -> Option<bool> {
        self.field(parent, field, "true or false", |value| match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        })
    }

    fn count(&mut self, parent: Option<&Node>, field: &str) -> Option<u64> {
        self.field(
            parent,
            field,
            "a whole number, not negative",
            |value| match value {
                Value::Whole(number) => u64::try_from(*number).ok(),
                _ => None,
            },
        )
    }

    fn object<'a>(&mut self, parent: Option<&'a Node>, field: &str) -> Option<&'a Node> {
        let node = parent?.get(field)?;
        if matches!(node.value, Value::Map(_)) {
            return Some(node);
        }
        self.wrong(node, field, "an object");
        None
    }

    fn list<'a>(&mut self, parent: Option<&'a Node>, field: &str) -> &'a [Node] {
        let Some(node) = parent.and_then(|parent| parent.get(field)) else {
            return &[];
        };
        if !matches!(node.value, Value::List(_)) {
            self.wrong(node, field, "a list");
        }
        node.items()
    }

    fn words(&mut self, parent: Option<&Node>, field: &str) -> Vec<Name> {
        let mut words = Vec::new();
        for item in self.list(parent, field) {
            match item.text() {
                Some(word) => words.push(word.into()),
                None => self.wrong(item, &format!("an item of {field}"), "text"),
            }
        }
        words
    }

    fn memory(&mut self, resources: Option<&Node>, kind: &str) -> Option<u64> {
        let node = self.object(resources, kind)?.get("memory")?;
        let written = match &node.value {
            Value::Text(text) => text.clone(),
            Value::Whole(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            _ => {
                self.wrong(node, &format!("{kind}.memory"), "a quantity");
                return None;
            }
        };
        match quantity::bytes(&written) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                self.faults.push(Fault {
                    line: node.line,
                    text: format!("{kind}.memory: {error}"),
                });
                None
            }
        }
    }
}

/// The pod template of a workload.
pub fn template(reader: &mut Reader, workload: &Workload<'_>, around: &Around) -> PodTemplate {
    let spec = Some(workload.spec);
    let os = reader.object(spec, "os");
    let os = reader.text(os, "name");
    let context = reader.object(spec, "securityContext");
    let runtime_class = reader.text(spec, "runtimeClassName").map(|name| RuntimeClass {
        scheduling: around.scheduling(&name).cloned(),
        name,
    });
    let mut containers = Vec::new();
    for (list, ordinary) in [("initContainers", false), ("containers", true)] {
        for (index, node) in reader.list(spec, list).iter().enumerate() {
            containers.push(container(reader, node, index, ordinary));
        }
    }
    PodTemplate {
        object: workload.object.clone(),
        os: os.as_deref().and_then(os_of),
        node_name: reader.text(spec, "nodeName"),
        node_selector: pairs(reader, workload.spec.get("nodeSelector")),
        affinity_os: affinity_os(workload.spec),
        tolerations: tolerations(reader, workload.spec.get("tolerations")),
        runtime_class,
        host_network: reader.flag(spec, "hostNetwork").unwrap_or(false),
        linux_only: set_fields(spec, &LINUX_ONLY_OF_POD),
        security: security(reader, context, &LINUX_ONLY_OF_POD_SECURITY),
        grace_seconds: reader
            .count(spec, "terminationGracePeriodSeconds")
            .unwrap_or(DEFAULT_GRACE_SECONDS),
        containers,
        volumes: volumes(reader, workload, around),
    }
}

fn os_of(name: &str) -> Option<Os> {
    match name {
        "windows" => Some(Os::Windows),
        "linux" => Some(Os::Linux),
        _ => None,
    }
}

/// Text fields of an object whose keys are free.
pub fn pairs(reader: &mut Reader, node: Option<&Node>) -> Vec<(Name, Name)> {
    let Some(Node {
        value: Value::Map(fields),
        ..
    }) = node
    else {
        return Vec::new();
    };
    let mut pairs = Vec::new();
    for (key, value) in fields {
        match value.text() {
            Some(text) => pairs.push((key.as_str().into(), text.into())),
            None => reader.wrong(value, key, "text (in quotes)"),
        }
    }
    pairs
}

/// A list of tolerations.
pub fn tolerations(reader: &mut Reader, list: Option<&Node>) -> Vec<Toleration> {
    let items = list.map(Node::items).unwrap_or_default();
    items
        .iter()
        .map(|node| {
            let mut text = |field| reader.text(Some(node), field).unwrap_or_default();
            Toleration {
                key: text("key"),
                operator: text("operator"),
                value: text("value"),
                effect: text("effect"),
            }
        })
        .collect()
}

/// The one operating system that all terms of the required node affinity ask for.
fn affinity_os(spec: &Node) -> Option<Os> {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let terms = spec.at(&["affinity", "nodeAffinity", required, "nodeSelectorTerms"])?;
    let mut asked = terms.items().iter().map(|term| {
        let expressions = term.get("matchExpressions").map(Node::items).unwrap_or_default();
        expressions.iter().find_map(|expression| {
            let is = |field: &str, word: &str| expression.get(field).and_then(Node::text) == Some(word);
            let values = expression.get("values").map(Node::items).unwrap_or_default();
            match values {
                [only] if is("key", OS_LABEL) && is("operator", "In") => only.text().and_then(os_of),
                _ => None,
            }
        })
    });
    let first = asked.next()??;
    asked.all(|other| other == Some(first)).then_some(first)
}

/// Those of these fields that are set: a flag that is off and an empty list are not, where the API takes them for nothing.
fn set_fields(parent: Option<&Node>, fields: &[&'static str]) -> Vec<&'static str> {
    let Some(parent) = parent else {
        return Vec::new();
    };
    let set = |field: &str| match parent.get(field).map(|node| &node.value) {
        None => false,
        Some(Value::Flag(false)) => !matches!(field, "hostPID" | "hostIPC"),
        Some(Value::List(items)) => field != "sysctls" || !items.is_empty(),
        Some(_) => true,
    };
    fields.iter().copied().filter(|field| set(field)).collect()
}

fn security(reader: &mut Reader, context: Option<&Node>, linux_only: &[&'static str]) -> Security {
    Security {
        linux_only: set_fields(context, linux_only),
        run_as_non_root: reader.flag(context, "runAsNonRoot"),
        windows: windows_options(reader, context),
    }
}

fn windows_options(reader: &mut Reader, context: Option<&Node>) -> Option<WindowsOptions> {
    let options = reader.object(context, "windowsOptions")?;
    Some(WindowsOptions {
        host_process: reader.flag(Some(options), "hostProcess"),
        run_as_user_name: reader.text(Some(options), "runAsUserName"),
    })
}

fn container(reader: &mut Reader, node: &Node, index: usize, ordinary: bool) -> Container {
    let own = Some(node);
    let restarts = reader.text(own, "restartPolicy");
    let resources = reader.object(own, "resources");
    let context = reader.object(own, "securityContext");
    let lifecycle = reader.object(own, "lifecycle");
    Container {
        name: reader
            .text(own, "name")
            .unwrap_or_else(|| index.to_string().into()),
        kind: match restarts.as_deref() {
            _ if ordinary => ContainerKind::App,
            Some("Always") => ContainerKind::Sidecar,
            _ => ContainerKind::Init,
        },
        index,
        image: reader.text(own, "image").unwrap_or_default(),
        command: reader.words(own, "command"),
        args: reader.words(own, "args"),
        memory_request: reader.memory(resources, "requests"),
        memory_limit: reader.memory(resources, "limits"),
        security: security(reader, context, &LINUX_ONLY_OF_CONTAINER),
        startup: probe(reader, own, "startupProbe"),
        liveness: probe(reader, own, "livenessProbe"),
        readiness: probe(reader, own, "readinessProbe"),
        post_start: hook(reader, lifecycle, "postStart"),
        pre_stop: hook(reader, lifecycle, "preStop"),
    }
}

/// A probe; fields that are missing, and zeros, take the API's defaults.
fn probe(reader: &mut Reader, container: Option<&Node>, field: &str) -> Option<Probe> {
    let node = reader.object(container, field)?;
    let mut number = |field, default| match reader.count(Some(node), field) {
        None | Some(0) => default,
        Some(number) => number,
    };
    let (initial_delay_seconds, period_seconds) =
        (number("initialDelaySeconds", 0), number("periodSeconds", 10));
    let (timeout_seconds, failure_threshold) = (number("timeoutSeconds", 1), number("failureThreshold", 3));
    Some(Probe {
        action: action(reader, node),
        initial_delay_seconds,
        period_seconds,
        timeout_seconds,
        failure_threshold,
    })
}

fn hook(reader: &mut Reader, lifecycle: Option<&Node>, field: &str) -> Option<Action> {
    let node = reader.object(lifecycle, field)?;
    Some(action(reader, node))
}

fn action(reader: &mut Reader, node: &Node) -> Action {
    let exec = reader.object(Some(node), "exec");
    let sleep = reader.object(Some(node), "sleep");
    if exec.is_some() {
        Action::Exec(reader.words(exec, "command"))
    } else if sleep.is_some() {
        Action::Sleep(reader.count(sleep, "seconds").unwrap_or(0))
    } else {
        Action::Network
    }
}

fn volumes(reader: &mut Reader, workload: &Workload<'_>, around: &Around) -> Vec<Volume> {
    let nodes = reader.list(Some(workload.spec), "volumes");
    nodes
        .iter()
        .map(|node| volume(reader, node, workload, around))
        .collect()
}

fn volume(reader: &mut Reader, node: &Node, workload: &Workload<'_>, around: &Around) -> Volume {
    let own = Some(node);
    let claim = reader.object(own, "persistentVolumeClaim");
    let claim = reader.text(claim, "claimName");
    let csi = reader.object(own, "csi");
    let mounter = if let Some(claim) = &claim {
        around.mounter(workload.object.namespace.as_ref(), claim)
    } else if let Some(driver) = reader.text(csi, "driver") {
        Mounter::Csi(driver)
    } else if node.get("nfs").is_some() {
        Mounter::Nfs
    } else {
        Mounter::Other
    };
    Volume {
        name: reader.text(own, "name").unwrap_or_default(),
        claim,
        mounter,
    }
}
