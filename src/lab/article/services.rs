//! Services.

use serde_json::{Value, json};

/// A Service of the article's cluster.
struct Row {
    namespace: &'static str,
    name: &'static str,
    labels: &'static [(&'static str, &'static str)],
    app: &'static str,
    cluster_ip: &'static str,
    port: (&'static str, u16, &'static str),
    node_port: Option<u16>,
}

const KPS: [(&str, &str); 3] = [
    ("app.kubernetes.io/instance", "kps"),
    ("app.kubernetes.io/part-of", "kube-prometheus-stack"),
    ("release", "kps"),
];

/// The Service in front of Prometheus, as kube-prometheus-stack names it for release `kps`.
pub const PROMETHEUS_SERVICE: &str = "kps-prometheus";

const ROWS: &[Row] = &[
    Row {
        namespace: "win-demo",
        name: "hello-win",
        labels: &[],
        app: "hello-win",
        cluster_ip: "10.104.18.77",
        port: ("http", 80, "http"),
        node_port: None,
    },
    Row {
        namespace: "win-demo",
        name: "aspnetapp",
        labels: &[],
        app: "aspnetapp",
        cluster_ip: "10.98.201.5",
        port: ("http", 80, "http"),
        node_port: None,
    },
    Row {
        namespace: "demo",
        name: "hello",
        labels: &[],
        app: "hello",
        cluster_ip: "10.99.63.140",
        port: ("http", 80, "http"),
        node_port: None,
    },
    Row {
        namespace: "kube-system",
        name: "kube-dns",
        labels: &[("k8s-app", "kube-dns")],
        app: "coredns",
        cluster_ip: "10.96.0.10",
        port: ("metrics", 9153, "metrics"),
        node_port: None,
    },
    Row {
        namespace: "kube-system",
        name: "metrics-server",
        labels: &[("k8s-app", "metrics-server")],
        app: "metrics-server",
        cluster_ip: "10.101.44.12",
        port: ("https", 443, "https"),
        node_port: None,
    },
    Row {
        namespace: "monitoring",
        name: "loki-gateway",
        labels: &[
            ("app.kubernetes.io/name", "loki"),
            ("app.kubernetes.io/instance", "loki"),
            ("app.kubernetes.io/component", "gateway"),
        ],
        app: "loki-gateway",
        cluster_ip: "10.106.213.144",
        port: ("http-metrics", 80, "http-metrics"),
        node_port: Some(31100),
    },
    Row {
        namespace: "monitoring",
        name: "loki",
        labels: &[
            ("app.kubernetes.io/name", "loki"),
            ("app.kubernetes.io/instance", "loki"),
        ],
        app: "loki",
        cluster_ip: "10.106.57.201",
        port: ("http-metrics", 3100, "http-metrics"),
        node_port: None,
    },
    Row {
        namespace: "monitoring",
        name: PROMETHEUS_SERVICE,
        labels: &[
            ("app", "kube-prometheus-stack-prometheus"),
            ("self-monitor", "true"),
        ],
        app: "prometheus",
        cluster_ip: "10.110.9.31",
        port: ("http-web", 9090, "http-web"),
        node_port: None,
    },
    Row {
        namespace: "monitoring",
        name: "prometheus-operated",
        labels: &[
            ("operated-prometheus", "true"),
            ("managed-by", "prometheus-operator"),
        ],
        app: "prometheus",
        cluster_ip: "None",
        port: ("http-web", 9090, "http-web"),
        node_port: None,
    },
    Row {
        namespace: "monitoring",
        name: "kps-kube-state-metrics",
        labels: &[("app.kubernetes.io/name", "kube-state-metrics")],
        app: "kube-state-metrics",
        cluster_ip: "10.103.77.8",
        port: ("http", 8080, "http"),
        node_port: None,
    },
    Row {
        namespace: "monitoring",
        name: "kps-prometheus-windows-exporter",
        labels: &[("app.kubernetes.io/name", "prometheus-windows-exporter")],
        app: "prometheus-windows-exporter",
        cluster_ip: "10.97.150.66",
        port: ("metrics", 9182, "metrics"),
        node_port: None,
    },
    Row {
        namespace: "monitoring",
        name: "kps-grafana",
        labels: &[("app.kubernetes.io/name", "grafana")],
        app: "grafana",
        cluster_ip: "10.111.2.90",
        port: ("http-web", 80, "grafana"),
        node_port: None,
    },
];

/// All Services, each with the `app.kubernetes.io/name` of the pods behind it. `with_cluster_ip` is false on a
/// server that gives addresses out of a range of its own.
pub fn services(with_cluster_ip: bool) -> Vec<(&'static str, Value)> {
    ROWS.iter()
        .map(|row| (row.app, row.manifest(with_cluster_ip)))
        .collect()
}

impl Row {
    fn manifest(&self, with_cluster_ip: bool) -> Value {
        let mut labels = json!({});
        for (key, value) in self.labels {
            labels[*key] = (*value).into();
        }
        if self.name.starts_with("kps-") {
            for (key, value) in KPS {
                labels[key] = value.into();
            }
        }
        let (port_name, port, target) = self.port;
        let mut port = json!({"name": port_name, "port": port, "targetPort": target, "protocol": "TCP"});
        let mut spec = json!({"selector": {"app.kubernetes.io/name": self.app}, "type": "ClusterIP"});
        if let Some(node_port) = self.node_port {
            port["nodePort"] = node_port.into();
            spec["type"] = "NodePort".into();
        }
        spec["ports"] = json!([port]);
        if with_cluster_ip || self.cluster_ip == "None" {
            spec["clusterIP"] = self.cluster_ip.into();
        }
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": self.namespace, "name": self.name, "labels": labels},
            "spec": spec,
        })
    }
}
