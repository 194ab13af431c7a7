//! The answer of `probe.ps1`, and the whole of one probe.

use super::{Errand, HostProcess, PROBE, Patience, answer};
use crate::domain::host_process::HostPod;
use crate::domain::node_truth::{
    ImageVariant, JobLimits, NodeTruth, Sandbox, SmbConnection, SmbMapping, SmbStaging, Told,
};
use crate::domain::text::{sanitise, truncate};
use crate::domain::{Name, Timestamp};
use crate::sources::event::Scope;
use crate::sources::kubernetes::http::ApiServer;
use crate::sources::kubernetes::maintain::ask::{asked, words};
use chrono::Utc;
use k8s_openapi::api::core::v1::Node;
use serde::{Deserialize, Deserializer};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::task::TaskTracker;

/// Longest text of a node that is passed on, in cells: longer than any path of Windows.
const LONGEST_TEXT: usize = 500;

/// Text of the node, fit for a terminal; `null` is empty.
#[derive(Debug, Default)]
struct Clean(String);

impl<'de> Deserialize<'de> for Clean {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        Ok(Self(
            truncate(sanitise(&text).as_ref(), LONGEST_TEXT).into_owned(),
        ))
    }
}

/// A part of the answer: items, or what went wrong.
#[derive(Debug, Deserialize)]
struct Part<T> {
    value: Option<Vec<T>>,
    problem: Option<Clean>,
}

/// A part that is not there, as of another version of the script.
impl<T> Default for Part<T> {
    fn default() -> Self {
        Self {
            value: None,
            problem: None,
        }
    }
}

impl<T> Part<T> {
    fn told(self) -> Told<Vec<T>> {
        self.value.ok_or_else(|| match self.problem {
            Some(Clean(problem)) if !problem.is_empty() => problem,
            _ => "the node did not say it".to_owned(),
        })
    }

    fn items<U>(self, each: impl Fn(T) -> U) -> Told<Vec<U>>
    where
        U: Ord,
    {
        let mut items: Vec<U> = self.told()?.into_iter().map(each).collect();
        items.sort();
        Ok(items)
    }

    /// The one item.
    fn one(self) -> Told<T> {
        let mut items = self.told()?;
        match (items.pop(), items.is_empty()) {
            (Some(item), true) => Ok(item),
            _ => Err("the node did not say one thing".to_owned()),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Mapping {
    remote_path: Clean,
    status: Clean,
    require_privacy: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Connection {
    server: Clean,
    share: Clean,
    opened_by: Clean,
    dialect: Clean,
    encrypted: Option<bool>,
    signed: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Staging {
    path: Clean,
    target: Clean,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeadSandbox {
    id: Clean,
    namespace: Clean,
    pod: Clean,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Limits {
    namespace: Clean,
    pod: Clean,
    container: Clean,
    cpu_maximum: Option<u32>,
    memory_bytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Variant {
    names: Vec<Clean>,
    os_version: Clean,
    bytes: u64,
}

/// The whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Answer {
    reboot_required: Part<bool>,
    smb_mappings: Part<Mapping>,
    smb_connections: Part<Connection>,
    smb_stagings: Part<Staging>,
    dead_sandboxes: Part<DeadSandbox>,
    hns_namespaces: Part<u64>,
    limits: Part<Limits>,
    images: Part<Variant>,
}

impl Answer {
    fn truth(self, node: Name, read_at: Timestamp) -> NodeTruth {
        NodeTruth {
            node,
            read_at,
            reboot_required: self.reboot_required.one(),
            smb_mappings: self.smb_mappings.items(|mapping| SmbMapping {
                remote_path: mapping.remote_path.0,
                status: mapping.status.0,
                require_privacy: mapping.require_privacy,
            }),
            smb_connections: self.smb_connections.items(|connection| SmbConnection {
                server: connection.server.0,
                share: connection.share.0,
                opened_by: connection.opened_by.0,
                dialect: connection.dialect.0,
                encrypted: connection.encrypted,
                signed: connection.signed,
            }),
            smb_stagings: self.smb_stagings.items(|staging| SmbStaging {
                path: staging.path.0,
                target: present(staging.target).map(|target| as_share(&target)),
            }),
            dead_sandboxes: self.dead_sandboxes.items(|sandbox| Sandbox {
                namespace: sandbox.namespace.0,
                pod: sandbox.pod.0,
                id: sandbox.id.0,
            }),
            hns_namespaces: self.hns_namespaces.one(),
            limits: self.limits.items(|limits| JobLimits {
                namespace: limits.namespace.0,
                pod: limits.pod.0,
                container: limits.container.0,
                cpu_maximum: limits.cpu_maximum,
                memory_bytes: limits.memory_bytes,
            }),
            images: self.images.items(|variant| ImageVariant {
                names: variant.names.into_iter().filter_map(present).collect(),
                os_version: present(variant.os_version),
                bytes: variant.bytes,
            }),
        }
    }
}

fn present(text: Clean) -> Option<String> {
    Some(text.0).filter(|text| !text.is_empty())
}

/// A link to a share is told as `UNC\server\share`, with or without a prefix of the object manager.
fn as_share(target: &str) -> String {
    let target = target.trim_start_matches(r"\\?\");
    match target.strip_prefix(r"UNC\") {
        Some(rest) => format!(r"\\{rest}"),
        None => target.to_owned(),
    }
}

/// Asks a Windows node for the truth, by a HostProcess pod that is gone afterwards, also when this is dropped: then
/// `cleaners` removes it. `say` hears what happens.
///
/// # Errors
/// In words: there is no such node, it is no Windows node, the pod could not be run, its answer is not understood.
pub async fn probe(
    client: kube::Client,
    request_timeout: Duration,
    node: &Name,
    place: &HostPod,
    cleaners: &TaskTracker,
    say: &(dyn Fn(String) + Sync),
) -> Result<NodeTruth, String> {
    let api = ApiServer::new(client, request_timeout, Arc::new(Scope::default()));
    is_windows(&api, node).await?;
    let now = Utc::now();
    let errand = Errand {
        name: format!(
            "drainboard-probe-{:x}-{:x}",
            now.timestamp_millis(),
            std::process::id()
        ),
        purpose: "drainboard-probe",
        script: PROBE,
        environment: Vec::new(),
        maintenance: None,
    };
    let host = HostProcess {
        api: &api,
        node,
        cleaners,
        patience: Patience::default(),
        say,
    };
    let ended = host.run(&errand, place).await?;
    let on = |problem: String| {
        format!(
            "the probe of node {node} ended with {}: {problem}",
            ended.exit_code
        )
    };
    let log = ended.log.map_err(&on)?;
    let told: Answer = answer(&log, "probe").map_err(on)?;
    Ok(told.truth(node.clone(), Utc::now()))
}

async fn is_windows(api: &ApiServer, node: &Name) -> Result<(), String> {
    let path = format!("/api/v1/nodes/{}", super::segment(node));
    let question = asked("get", format!("node {node}"));
    let reply = api.exchange(http::Method::GET, &path, None).await;
    let reply = reply.map_err(|failure| words(&failure, &question))?;
    if super::is_missing(&reply, node) {
        return Err(format!("there is no node {node}: `drainboard nodes` lists them"));
    }
    let object: Node = reply.json().map_err(|failure| words(&failure, &question))?;
    let info = object.status.and_then(|status| status.node_info);
    match info.map(|info| info.operating_system) {
        Some(os) if os == "windows" => Ok(()),
        Some(os) if !os.is_empty() => Err(format!(
            "node {node} runs {}: only Windows nodes have HostProcess pods",
            sanitise(&os)
        )),
        _ => Err(format!(
            "node {node} has not reported its operating system: is its kubelet up?"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::node_truth::Protection;
    use serde_json::{Value, json};

    fn truth(parts: &Value) -> NodeTruth {
        let told: Answer = serde_json::from_value(parts.clone()).unwrap();
        told.truth("k8s-lab-win-1".into(), Utc::now())
    }

    /// The section "Looking at it by hand" of the article, as the script puts it.
    fn article() -> Value {
        let share = r"\\files.example.com\k8s\win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";
        json!({
            "rebootRequired": {"value": [true], "problem": null},
            "smbMappings": {"value": [{"remotePath": share, "status": "OK", "requirePrivacy": true}], "problem": null},
            "smbConnections": {"value": [{
                "server": "files.example.com", "share": "k8s", "openedBy": r"WORKGROUP\K8S-LAB-WIN-1$",
                "dialect": "3.1.1", "encrypted": true, "signed": false,
            }], "problem": null},
            "smbStagings": {"value": [{
                "path": r"C:\var\lib\kubelet\plugins\kubernetes.io\csi\smb.csi.k8s.io\baec\globalmount",
                "target": r"UNC\files.example.com\k8s\win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2",
            }], "problem": null},
            "deadSandboxes": {"value": [
                {"id": "799004ca4b9f7", "namespace": "win-demo", "pod": "aspnetapp-769559d8ff-d4p9p"},
                {"id": "45a3409f3b865", "namespace": "win-demo", "pod": "hello-win-759c899954-dkqlw"},
            ], "problem": null},
            "hnsNamespaces": {"value": [1], "problem": null},
            "limits": {"value": [{
                "namespace": "win-demo", "pod": "hello-win-759c899954-tkfg6", "container": "hello",
                "cpuMaximum": 1250, "memoryBytes": 268_435_456,
            }], "problem": null},
            "images": {"value": [
                {"names": ["ghcr.io/example/hello:1.3"], "osVersion": "10.0.26100.33674", "bytes": 201_000_000},
                {"names": ["ghcr.io/example/alloy-hostprocess:v1.21.3"], "osVersion": null, "bytes": 415_000_000},
            ], "problem": null},
        })
    }

    #[test]
    fn the_articles_node_says_what_its_operator_would_look_up_by_hand() {
        let truth = truth(&article());
        assert_eq!(truth.reboot_required, Ok(true));
        let mapping = &truth.smb_mappings.unwrap()[0];
        assert_eq!((&*mapping.status, mapping.require_privacy), ("OK", Some(true)));
        let connection = &truth.smb_connections.unwrap()[0];
        assert_eq!(connection.protection(), Some(Protection::Encrypted));
        let staging = &truth.smb_stagings.unwrap()[0];
        assert_eq!(
            staging.target.as_deref(),
            Some(&*mapping.remote_path),
            "set beside each other"
        );
        assert_eq!(truth.dead_sandboxes.unwrap().len(), 2);
        assert_eq!(truth.hns_namespaces, Ok(1));
        let limits = &truth.limits.unwrap()[0];
        assert_eq!(
            (limits.cpu_maximum, limits.memory_bytes),
            (Some(1250), Some(268_435_456))
        );
        let images = truth.images.unwrap();
        let version = |name: &str| {
            let found = images.iter().find(|image| image.names[0].contains(name));
            found.unwrap().os_version.clone()
        };
        assert_eq!(version("hello").as_deref(), Some("10.0.26100.33674"));
        assert_eq!(version("alloy"), None, "a HostProcess image names no version");
    }

    #[test]
    fn a_part_that_failed_is_absent_with_its_reason_and_never_empty() {
        let mut parts = article();
        parts["smbMappings"] =
            json!({"value": null, "problem": "Get-SmbGlobalMapping: not recognized\u{1b}[31m"});
        parts["limits"] = json!({"value": [], "problem": null});
        parts["hnsNamespaces"] = json!({"value": [], "problem": null});
        parts.as_object_mut().unwrap().remove("images");
        let truth = truth(&parts);
        assert_eq!(
            truth.smb_mappings,
            Err("Get-SmbGlobalMapping: not recognized".to_owned())
        );
        assert_eq!(truth.limits, Ok(Vec::new()), "none is an answer");
        assert!(truth.hns_namespaces.is_err(), "no number is not zero");
        assert_eq!(truth.images, Err("the node did not say it".to_owned()));
    }

    #[test]
    fn what_a_node_says_cannot_steer_the_terminal() {
        let mut parts = article();
        parts["smbMappings"]["value"][0]["remotePath"] = json!("\\\\x\u{1b}]52;c;aGk=\u{7}\u{202e}\\y");
        assert_eq!(truth(&parts).smb_mappings.unwrap()[0].remote_path, r"\\x\y");
    }
}
