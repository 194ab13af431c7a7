//! A large hybrid cluster without a story: every fourth node is a Windows node, pods are spread evenly. For
//! measuring, so its objects have the size of real ones.

use super::kubelet::{Past, Pasts};
use super::machine::{Armed, Boot, Machine, Stage};
use super::text::{hex64, name_suffix, uuid};
use super::world::os_name;
use crate::domain::Timestamp;
use crate::domain::object::Os;
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::net::Ipv4Addr;

/// Namespaces over which the pods are spread.
const NAMESPACES: u32 = 25;
/// Every this many nodes one is a Windows node.
const WINDOWS_EVERY: u32 = 4;

/// How large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Nodes.
    pub nodes: u32,
    /// Pods.
    pub pods: u32,
}

impl Size {
    /// The machines.
    pub fn machines(self, now: Timestamp) -> Vec<Machine> {
        (0..self.nodes).map(|number| machine(number, now)).collect()
    }

    /// Names of the namespaces.
    pub fn namespaces(self) -> Vec<String> {
        (0..NAMESPACES.min(self.pods)).map(namespace).collect()
    }

    /// The pods, bound to their nodes.
    pub fn pods(self) -> impl Iterator<Item = Value> {
        (0..self.pods).map(move |number| pod(number, self.nodes))
    }

    /// What the pods were before the lab began.
    pub fn pasts(self) -> Pasts {
        (0..self.pods)
            .map(|number| {
                let past = Past {
                    age_minutes: 30 + number % 9000,
                    restarts: u32::from(number % 37 == 0),
                    address: pod_address(number, self.nodes),
                };
                ((namespace_of(number).into(), pod_name(number).into()), past)
            })
            .collect()
    }
}

fn byte(number: u32) -> u8 {
    u8::try_from(number % 256).unwrap_or(0)
}

fn os_of(node: u32) -> Os {
    if node % WINDOWS_EVERY == WINDOWS_EVERY - 1 {
        Os::Windows
    } else {
        Os::Linux
    }
}

fn node_name(number: u32) -> String {
    match os_of(number) {
        Os::Windows => format!("win-{number:05}"),
        Os::Linux => format!("lin-{number:05}"),
    }
}

fn subnet(node: u32) -> [u8; 3] {
    [10, 128 + byte(node / 256) % 128, byte(node)]
}

fn machine(number: u32, now: Timestamp) -> Machine {
    let os = os_of(number);
    let memory_bytes = 64 << 30;
    let (boot_id, kernel_version) = match os {
        Os::Windows => ((3 + number % 20).to_string(), "10.0.26100.33438"),
        Os::Linux => (uuid(&format!("boot/{number}")), "6.12.48+deb13-amd64"),
    };
    let booted_at = now - TimeDelta::hours(i64::from(5 + number % 600));
    Machine {
        name: node_name(number).into(),
        address: Ipv4Addr::new(
            10,
            64 + byte(number / 62_500) % 64,
            byte(number / 250),
            byte(number % 250) + 1,
        ),
        os,
        cpus: 16,
        memory_bytes,
        commit_limit_bytes: if os == Os::Windows {
            memory_bytes * 3 / 2
        } else {
            0
        },
        joined_at: now - TimeDelta::days(30),
        control_plane: number == 0,
        pod_subnet: subnet(number),
        max_pods: 250,
        boot: Boot::proper(boot_id, kernel_version, booted_at),
        stage: Stage::Up,
        armed: Armed::default(),
        reboot_required: false,
        restarts_at: None,
    }
}

fn namespace(number: u32) -> String {
    format!("team-{number:02}")
}

fn namespace_of(pod: u32) -> String {
    namespace(pod % NAMESPACES)
}

fn app_of(pod: u32) -> String {
    const APPS: [&str; 8] = [
        "orders", "billing", "catalog", "checkout", "reports", "search", "gateway", "sessions",
    ];
    let name = usize::try_from(pod / NAMESPACES).map_or(APPS[0], |number| APPS[number % APPS.len()]);
    format!("{name}-{}", pod / NAMESPACES / 24)
}

fn pod_name(pod: u32) -> String {
    let app = app_of(pod);
    let hash = name_suffix(&format!("{}/{app}", namespace_of(pod)), 9);
    format!("{app}-{hash}-{}", name_suffix(&format!("pod/{pod}"), 5))
}

fn pod_address(pod: u32, nodes: u32) -> Ipv4Addr {
    let nodes = nodes.max(1);
    let [a, b, c] = subnet(pod % nodes);
    Ipv4Addr::new(a, b, c, byte((pod / nodes) % 250) + 2)
}

fn pod(number: u32, nodes: u32) -> Value {
    let node = number % nodes.max(1);
    let os = os_of(node);
    let app = app_of(number);
    let variables: Vec<_> = (0..6)
        .map(|variable| {
            json!({"name": format!("SETTING_{variable}"), "value": hex64(&format!("{app}/{variable}"))})
        })
        .collect();
    let probe = |path: &str| json!({"httpGet": {"path": path, "port": "http"}, "periodSeconds": 10});
    let container = |name: &str| {
        json!({
            "name": name,
            "image": format!("registry.example.com/{}/{app}-{name}:1.{}.0", namespace_of(number), number % 40),
            "ports": [{"name": "http", "containerPort": 8080}],
            "env": variables,
            "resources": {
                "requests": {"cpu": "100m", "memory": "128Mi"},
                "limits": {"cpu": "500m", "memory": "256Mi"},
            },
            "readinessProbe": probe("/readyz"),
            "livenessProbe": probe("/healthz"),
            "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}],
        })
    };
    let mut main = container("app");
    if number.is_multiple_of(11)
        && let Some(resources) = main["resources"].as_object_mut()
    {
        resources.remove("limits");
    }
    let mut spec = json!({
        "nodeName": node_name(node),
        "nodeSelector": {"kubernetes.io/os": os_name(os)},
        "containers": [main, container("proxy")],
        "volumes": [{"name": "config", "configMap": {"name": app, "optional": true}}],
        "terminationGracePeriodSeconds": 30,
        "tolerations": [{"operator": "Exists"}],
    });
    if os == Os::Windows {
        spec["os"] = json!({"name": "windows"});
    }
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "namespace": namespace_of(number),
            "name": pod_name(number),
            "labels": {
                "app.kubernetes.io/name": app,
                "app.kubernetes.io/part-of": namespace_of(number),
                "pod-template-hash": name_suffix(&format!("{}/{app}", namespace_of(number)), 9),
            },
            "annotations": {"example.com/config-checksum": hex64(&app)},
        },
        "spec": spec,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::Utc;
    use std::collections::HashSet;

    const SIZE: Size = Size {
        nodes: 500,
        pods: 10_000,
    };

    #[test]
    fn names_and_addresses_are_unique() {
        let nodes: HashSet<_> = SIZE
            .machines(Utc::now())
            .into_iter()
            .map(|machine| (machine.name, machine.address))
            .collect();
        assert_eq!(nodes.len(), 500);
        let names: HashSet<_> = (0..SIZE.pods)
            .map(|number| (namespace_of(number), pod_name(number)))
            .collect();
        let addresses: HashSet<_> = (0..SIZE.pods)
            .map(|number| pod_address(number, SIZE.nodes))
            .collect();
        assert_eq!((names.len(), addresses.len()), (10_000, 10_000));
    }

    #[test]
    fn a_quarter_of_the_nodes_is_windows() {
        let windows = SIZE
            .machines(Utc::now())
            .iter()
            .filter(|machine| machine.os == Os::Windows)
            .count();
        assert_eq!(windows, 125);
    }
}
