//! The `monitoring` namespace: kube-prometheus-stack (release `kps`), Loki and Alloy.

use super::{MASTER, NODE_1, NODE_2, WINDOWS_NODE};
use crate::lab::manifest::{Container, Probe, Volume, Workload};

const MONITORING: &str = "monitoring";

/// The Prometheus pod.
pub const PROMETHEUS_POD: &str = "prometheus-kps-prometheus-0";

pub(super) fn workloads() -> Vec<Workload> {
    let mut all = vec![
        Workload::daemon_set(MONITORING, "alloy-windows")
            .host_process("NT AUTHORITY\\SYSTEM")
            .container(
                Container::new("alloy", "ghcr.io/example/alloy-hostprocess:v1.21.3")
                    .command(&["alloy\\alloy.exe"])
                    .requests("50m", "128Mi")
                    .limits("", "512Mi"),
            )
            .pod("f6ns9", WINDOWS_NODE, [192, 168, 10, 25], 262, 3),
        Workload::stateful_set(MONITORING, "loki")
            .label("app.kubernetes.io/instance", "loki")
            .container(
                Container::new("loki", "docker.io/grafana/loki:3.8.0")
                    .port("http-metrics", 3100)
                    .readiness(Probe::http("/ready", 10)),
            )
            .container(Container::new(
                "loki-sc-rules",
                "docker.io/kiwigrid/k8s-sidecar:2.1.4",
            ))
            .volume("storage", Volume::EmptyDir)
            .pod_named("loki-0".to_owned(), NODE_1, [172, 21, 211, 27], 280, 0),
        Workload::deployment(MONITORING, "loki-gateway", "cd47c7dc8")
            .label("app.kubernetes.io/instance", "loki")
            .label("app.kubernetes.io/component", "gateway")
            .container(
                Container::new("nginx", "docker.io/nginxinc/nginx-unprivileged:1.31-alpine")
                    .port("http-metrics", 8080)
                    .readiness(Probe::http("/", 10)),
            )
            .container(Container::new(
                "reloader",
                "quay.io/prometheus-operator/prometheus-config-reloader:v0.93.1",
            ))
            .volume("tmp", Volume::EmptyDir)
            .pod("k5fx8", NODE_2, [172, 21, 172, 13], 280, 0),
    ];
    all.extend(exporters());
    all.extend(stack());
    all
}

fn exporters() -> Vec<Workload> {
    vec![
        kps(Workload::daemon_set(MONITORING, "kps-prometheus-node-exporter"))
            .named("prometheus-node-exporter")
            .label("jobLabel", "node-exporter")
            .host_network()
            .container(
                Container::new("node-exporter", "quay.io/prometheus/node-exporter:v1.13.0")
                    .port("http-metrics", 9100)
                    .liveness(Probe::http("/", 10))
                    .readiness(Probe::http("/", 10)),
            )
            .pod("5bqkn", MASTER, [192, 168, 10, 23], 240, 0)
            .pod("jx7wc", NODE_1, [192, 168, 10, 24], 240, 0)
            .pod("vh4sp", NODE_2, [192, 168, 10, 26], 240, 0),
        kps(Workload::daemon_set(
            MONITORING,
            "kps-prometheus-windows-exporter",
        ))
        .named("prometheus-windows-exporter")
        .label("jobLabel", "windows-exporter")
        .host_process("NT AUTHORITY\\system")
        .init_container(
            Container::new(
                "configure-firewall",
                "mcr.microsoft.com/oss/kubernetes/windows-host-process-containers-base-image:v1.0.0",
            )
            .command(&["powershell"]),
        )
        .container(
            Container::new(
                "windows-exporter",
                "ghcr.io/prometheus-community/windows-exporter:0.31.9",
            )
            .port("metrics", 9182)
            .liveness(Probe::http("/health", 10))
            .readiness(Probe::http("/health", 10)),
        )
        .pod("l45kh", WINDOWS_NODE, [192, 168, 10, 25], 240, 3),
    ]
}

fn stack() -> Vec<Workload> {
    vec![
        kps(Workload::stateful_set(MONITORING, "prometheus-kps-prometheus"))
            .named("prometheus")
            .label("app.kubernetes.io/managed-by", "prometheus-operator")
            .label("operator.prometheus.io/name", "kps-prometheus")
            .label("prometheus", "kps-prometheus")
            .container(
                Container::new("prometheus", "quay.io/prometheus/prometheus:v3.13.1")
                    .port("http-web", 9090)
                    .startup(Probe::http("/-/ready", 15).failures(60))
                    .readiness(Probe::http("/-/ready", 5)),
            )
            .container(
                Container::new(
                    "config-reloader",
                    "quay.io/prometheus-operator/prometheus-config-reloader:v0.93.1",
                )
                .port("reloader-web", 8080),
            )
            .volume("prometheus-kps-prometheus-db", Volume::EmptyDir)
            .pod_named(PROMETHEUS_POD.to_owned(), NODE_1, [172, 21, 211, 30], 240, 0),
        kps(Workload::stateful_set(
            MONITORING,
            "alertmanager-kps-alertmanager",
        ))
        .named("alertmanager")
        .label("alertmanager", "kps-alertmanager")
        .container(
            Container::new("alertmanager", "quay.io/prometheus/alertmanager:v0.34.0")
                .port("http-web", 9093)
                .readiness(Probe::http("/-/ready", 5)),
        )
        .container(Container::new(
            "config-reloader",
            "quay.io/prometheus-operator/prometheus-config-reloader:v0.93.1",
        ))
        .volume("alertmanager-kps-alertmanager-db", Volume::EmptyDir)
        .pod_named(
            "alertmanager-kps-alertmanager-0".to_owned(),
            NODE_2,
            [172, 21, 172, 15],
            240,
            0,
        ),
        kps(Workload::deployment(MONITORING, "kps-grafana", "6f5c94b8d7"))
            .named("grafana")
            .container(
                Container::new("grafana", "docker.io/grafana/grafana:13.1.2")
                    .port("grafana", 3000)
                    .readiness(Probe::http("/api/health", 10)),
            )
            .volume("storage", Volume::EmptyDir)
            .pod("b8zvt", NODE_2, [172, 21, 172, 16], 240, 0),
        kps(Workload::deployment(
            MONITORING,
            "kps-kube-state-metrics",
            "7c9d58f6b4",
        ))
        .named("kube-state-metrics")
        .container(
            Container::new(
                "kube-state-metrics",
                "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.20.0",
            )
            .port("http", 8080)
            .readiness(Probe::http("/readyz", 10)),
        )
        .pod("hw6d2", NODE_1, [172, 21, 211, 31], 240, 0),
        kps(Workload::deployment(MONITORING, "kps-operator", "5b6fd7c9c8"))
            .named("kube-prometheus-stack-prometheus-operator")
            .container(
                Container::new(
                    "kube-prometheus-stack",
                    "quay.io/prometheus-operator/prometheus-operator:v0.93.1",
                )
                .port("https", 10250)
                .readiness(Probe::http("/healthz", 10)),
            )
            .pod("n4r9x", NODE_2, [172, 21, 172, 17], 240, 0),
    ]
}

/// Labels of the Helm release.
fn kps(workload: Workload) -> Workload {
    workload
        .label("app.kubernetes.io/instance", "kps")
        .label("release", "kps")
}
