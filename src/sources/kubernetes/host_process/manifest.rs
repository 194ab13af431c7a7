//! The pod object. Pure.

use crate::domain::host_process::HostPod;
use serde_json::{Value, json};

/// Label of the program that made an object, and its value.
pub const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "drainboard");
/// Label that says what a pod is for.
const PURPOSE: &str = "app.kubernetes.io/name";
/// Label with the id of the maintenance that a pod belongs to.
pub const MAINTENANCE: &str = "drainboard.io/maintenance-id";
/// Name of the one container.
pub const CONTAINER: &str = "script";
/// The kubelet ends a pod that runs longer, seconds.
pub const DEADLINE_SECONDS: u32 = 300;

/// What such a pod is sent for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errand {
    /// Name of the pod: one errand has one name, so that a creation whose answer was lost is not made twice.
    pub name: String,
    /// What it is for, as a label.
    pub purpose: &'static str,
    /// The script. It must keep to what survives the way to `powershell.exe` untouched; see the tests.
    pub script: &'static str,
    /// Environment of the script.
    pub environment: Vec<(&'static str, String)>,
    /// Id of the maintenance that it belongs to.
    pub maintenance: Option<String>,
}

/// The pod for this errand on this node.
///
/// It is bound by `nodeName`, past the scheduler, so that it starts on a cordoned node; it tolerates everything, has no
/// credentials, and is never run twice. The script stands there in plain text for whoever wants to know what was run.
pub fn pod(errand: &Errand, node: &str, place: &HostPod) -> Value {
    let (managed_by, us) = MANAGED_BY;
    let environment: Vec<Value> = errand
        .environment
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": errand.name,
            "namespace": &*place.namespace,
            "labels": {managed_by: us, PURPOSE: errand.purpose},
        },
        "spec": {
            "nodeName": node,
            "nodeSelector": {"kubernetes.io/os": "windows"},
            "os": {"name": "windows"},
            "tolerations": [{"operator": "Exists"}],
            "hostNetwork": true,
            "securityContext": {
                "windowsOptions": {"hostProcess": true, "runAsUserName": "NT AUTHORITY\\SYSTEM"},
            },
            "restartPolicy": "Never",
            "activeDeadlineSeconds": DEADLINE_SECONDS,
            "terminationGracePeriodSeconds": 5,
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "containers": [{
                "name": CONTAINER,
                "image": place.image,
                "imagePullPolicy": "IfNotPresent",
                "command": ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", errand.script],
                "env": environment,
            }],
        },
    });
    if let Some(id) = &errand.maintenance {
        pod["metadata"]["labels"][MAINTENANCE] = json!(id);
    }
    pod
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every script that is sent.
    const SCRIPTS: [&str; 2] = [super::super::REBOOT, super::super::PROBE];

    #[test]
    fn the_pod_starts_on_a_cordoned_node_and_holds_no_credentials() {
        let errand = Errand {
            name: "drainboard-reboot-1a2b-3c".to_owned(),
            purpose: "drainboard-reboot",
            script: "exit 0",
            environment: vec![("DRAINBOARD_DELAY_SECONDS", "30".to_owned())],
            maintenance: Some("1a2b-3c".to_owned()),
        };
        let pod = pod(&errand, "k8s-lab-win-1", &HostPod::default());
        insta::assert_snapshot!(serde_json::to_string_pretty(&pod).unwrap());
        // The API server knows all of it.
        let typed: k8s_openapi::api::core::v1::Pod = serde_json::from_value(pod.clone()).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap(), pod);
    }

    /// The kubelet replaces `$(NAME)` and `$$`, the runtime escapes double quotes, a code page may change other letters,
    /// and Windows takes no longer command line.
    #[test]
    fn the_scripts_survive_the_way_to_powershell() {
        for script in SCRIPTS {
            assert!(script.is_ascii());
            for risky in ["\"", "$(", "$$", "\\\n"] {
                assert!(!script.contains(risky), "{risky} in {script}");
            }
            assert!(!script.trim_end().ends_with('\\'));
            assert!(script.len() < 16_000, "{}", script.len());
        }
    }
}
