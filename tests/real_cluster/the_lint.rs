//! What `drainboard lint` says that the API server refuses, put to the real API server.

use crate::parts::{User, directory, kubeconfig};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Fields with a value that a Linux pod may have.
const OF_POD: [(&str, &str); 4] = [
    ("hostUsers", "false"),
    ("hostPID", "true"),
    ("hostIPC", "true"),
    ("shareProcessNamespace", "true"),
];

const OF_POD_SECURITY: [(&str, &str); 11] = [
    ("appArmorProfile", r#"{"type": "RuntimeDefault"}"#),
    ("seLinuxOptions", r#"{"level": "s0"}"#),
    ("seccompProfile", r#"{"type": "RuntimeDefault"}"#),
    ("fsGroup", "1"),
    ("fsGroupChangePolicy", r#""OnRootMismatch""#),
    ("sysctls", r#"[{"name": "kernel.shm_rmid_forced", "value": "0"}]"#),
    ("runAsUser", "1"),
    ("runAsGroup", "1"),
    ("supplementalGroups", "[1]"),
    ("supplementalGroupsPolicy", r#""Merge""#),
    ("seLinuxChangePolicy", r#""Recursive""#),
];

const OF_CONTAINER: [(&str, &str); 10] = [
    ("appArmorProfile", r#"{"type": "RuntimeDefault"}"#),
    ("seLinuxOptions", r#"{"level": "s0"}"#),
    ("seccompProfile", r#"{"type": "RuntimeDefault"}"#),
    ("capabilities", r#"{"drop": ["ALL"]}"#),
    ("readOnlyRootFilesystem", "true"),
    ("privileged", "false"),
    ("allowPrivilegeEscalation", "false"),
    ("procMount", r#""Default""#),
    ("runAsUser", "1"),
    ("runAsGroup", "1"),
];

/// A Windows pod that nobody objects to.
fn pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "lint", "namespace": "default"},
        "spec": {
            "os": {"name": "windows"},
            "nodeSelector": {"kubernetes.io/os": "windows"},
            "tolerations": [{"key": "os", "operator": "Exists"}],
            "containers": [{
                "name": "hello",
                "image": "ghcr.io/example/hello:1.3",
                "resources": {"limits": {"memory": "256Mi"}},
            }],
        },
    })
}

fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut pod = pod();
    change(&mut pod["spec"]);
    pod
}

/// Everything that lint takes for refused by the API server: the rule, what the server says, and the pod.
fn refused() -> Vec<(&'static str, &'static str, Value)> {
    const LINUX_ONLY: &str = "cannot be set for a windows pod";
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut all = Vec::new();
    for (field, example) in OF_POD {
        all.push((
            "linux-only-field",
            LINUX_ONLY,
            with(|spec| spec[field] = value(example)),
        ));
    }
    for (field, example) in OF_POD_SECURITY {
        all.push((
            "linux-only-field",
            LINUX_ONLY,
            with(|spec| spec["securityContext"][field] = value(example)),
        ));
    }
    for (field, example) in OF_CONTAINER {
        all.push((
            "linux-only-field",
            LINUX_ONLY,
            with(|spec| spec["containers"][0]["securityContext"][field] = value(example)),
        ));
    }
    let options = |on: bool| json!({"windowsOptions": {"hostProcess": on}});
    all.extend([
        (
            "host-process-without-host-network",
            "hostNetwork must be true",
            with(|spec| spec["securityContext"] = options(true)),
        ),
        (
            "host-process-mixed",
            "then all containers must be HostProcess containers",
            with(|spec| {
                let mut other = spec["containers"][0].clone();
                other["name"] = "other".into();
                other["securityContext"] = options(true);
                spec["hostNetwork"] = true.into();
                spec["containers"].as_array_mut().unwrap().push(other);
            }),
        ),
        (
            "pre-stop-exceeds-grace",
            "less than terminationGracePeriodSeconds (30)",
            with(|spec| {
                spec["terminationGracePeriodSeconds"] = 30.into();
                spec["containers"][0]["lifecycle"] = json!({"preStop": {"sleep": {"seconds": 31}}});
            }),
        ),
        (
            "wrong-value",
            "quantities must match",
            with(|spec| spec["containers"][0]["resources"]["limits"]["memory"] = "256MB".into()),
        ),
    ]);
    all
}

fn write(name: &str, documents: &[&Value]) -> PathBuf {
    let path = directory().join(name);
    let texts: Vec<String> = documents.iter().map(ToString::to_string).collect();
    fs::write(&path, texts.join("\n---\n")).unwrap();
    path
}

/// Rules by which lint finds errors in a file.
fn errors(file: &Path) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_drainboard"))
        .args(["lint", "-o", "json"])
        .arg(file)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = report["items"].as_array().unwrap();
    items
        .iter()
        .filter(|item| item["severity"] == "critical")
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

/// What the real API server says to it: its error, if it refuses.
fn server(arguments: &[&str], file: &Path) -> Result<(), String> {
    let output = Command::new("kubectl")
        .args(arguments)
        .arg("--filename")
        .arg(file)
        .env("KUBECONFIG", kubeconfig(User::Admin))
        .output()
        .unwrap();
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

const DRY_RUN: [&str; 2] = ["create", "--dry-run=server"];

#[test]
fn what_lint_calls_refused_is_refused_and_the_plain_pod_is_taken() {
    let file = write("lint.yaml", &[&pod()]);
    assert_eq!(errors(&file), [] as [String; 0]);
    assert_eq!(server(&DRY_RUN, &file), Ok(()));
    for (rule, words, pod) in refused() {
        let file = write("lint.yaml", &[&pod]);
        assert_eq!(errors(&file), [rule], "{pod}");
        let error = server(&DRY_RUN, &file).expect_err("the API server takes it");
        assert!(error.contains(words), "{rule}: {error}");
    }
}

#[test]
fn a_node_selector_against_the_runtime_class_is_refused_at_admission() {
    let class = json!({
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "lint-2025"},
        "handler": "runhcs-wcow-process",
        "scheduling": {"nodeSelector": {"kubernetes.io/os": "windows", "node.kubernetes.io/windows-build": "10.0.26100"}},
    });
    let pod = with(|spec| {
        spec["runtimeClassName"] = "lint-2025".into();
        spec["nodeSelector"]["node.kubernetes.io/windows-build"] = "10.0.20348".into();
    });
    assert_eq!(
        errors(&write("lint.yaml", &[&class, &pod])),
        ["runtime-class-conflict"]
    );
    let class = write("class.yaml", &[&class]);
    server(&["create"], &class).unwrap();
    let answer = server(&DRY_RUN, &write("lint.yaml", &[&pod]));
    server(&["delete"], &class).unwrap();
    let error = answer.unwrap_err();
    assert!(error.contains("conflict"), "{error}");
}
