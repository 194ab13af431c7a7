//! A Prometheus that knows the article's Windows node, behind a service of kube-prometheus-stack.

use crate::sources::bench::{Fake, Reply};
use crate::sources::prometheus::catalogue::{QueryName, queries};
use crate::sources::prometheus::matcher::Matcher;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Address of the Windows node.
pub const WIN_1: &str = "192.168.10.25:9182";

/// Path of the service's proxy.
pub const KPS: &str = "/api/v1/namespaces/monitoring/services/kps-prometheus:http-web/proxy";

/// What a fake Prometheus answers, query by query.
#[derive(Clone)]
pub struct Answers {
    rows: HashMap<QueryName, Vec<Value>>,
    matcher: Matcher,
    /// Its clock, seconds since 1970.
    pub clock: f64,
    /// Warnings in each answer.
    pub warnings: Vec<&'static str>,
}

pub fn now() -> f64 {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since_1970.unwrap().as_secs_f64()
}

/// Labels of the article's exporter target.
pub fn target(instance: &str) -> Value {
    json!({"instance": instance, "job": "windows-exporter", "namespace": "monitoring",
        "pod": "kps-prometheus-windows-exporter-l45kh"})
}

fn with(labels: &Value, more: &Value) -> Value {
    let mut labels = labels.clone();
    for (label, value) in more.as_object().unwrap() {
        labels[label] = value.clone();
    }
    labels
}

impl Answers {
    /// The article's figures, scraped `age` seconds ago.
    pub fn article(age: f64) -> Self {
        let mut answers = Self::empty();
        answers.node(
            &target(WIN_1),
            age,
            &[
                ("commit", 5_368_709_120.0),
                ("commit_limit", 17_179_869_184.0),
                ("cpu_ratio", 0.054),
            ],
        );
        answers.services(&target(WIN_1), age);
        answers.exporter(
            &target(WIN_1),
            "0.31.9",
            &["cpu", "memory", "container", "service"],
        );
        answers.container("containerd://hello-win", age);
        answers.series(&[
            "windows_memory_committed_bytes",
            "windows_memory_commit_limit",
            "windows_cpu_time_total",
            "windows_service_state",
            "windows_container_memory_usage_commit_bytes",
            "windows_exporter_build_info",
        ]);
        answers
    }

    /// A Prometheus that knows nothing.
    pub fn empty() -> Self {
        Self {
            rows: HashMap::new(),
            matcher: Matcher::default(),
            clock: now(),
            warnings: Vec::new(),
        }
    }

    pub fn add(&mut self, query: QueryName, labels: &Value, value: &str) {
        self.rows
            .entry(query)
            .or_default()
            .push(json!({"metric": labels, "value": [self.clock, value]}));
    }

    /// Values of a node and the times of their raw samples.
    pub fn node(&mut self, target: &Value, age: f64, values: &[(&str, f64)]) {
        for (quantity, value) in values {
            self.node_text(target, age, quantity, &value.to_string());
        }
    }

    pub fn node_text(&mut self, target: &Value, age: f64, quantity: &str, value: &str) {
        let time = (self.clock - age).to_string();
        self.add(
            QueryName::Nodes,
            &with(target, &json!({"quantity": quantity})),
            value,
        );
        self.add(
            QueryName::Nodes,
            &with(target, &json!({"quantity": format!("{quantity}.time")})),
            &time,
        );
    }

    fn services(&mut self, target: &Value, age: f64) {
        let time = (self.clock - age).to_string();
        let kubelet = with(target, &json!({"name": "kubelet"}));
        let tagged = |labels: &Value, quantity: &str| with(labels, &json!({"quantity": quantity}));
        let running = with(&kubelet, &json!({"state": "running"}));
        self.add(QueryName::Services, &tagged(&running, "state"), "1");
        self.add(QueryName::Services, &tagged(&kubelet, "started_at"), "1764500000");
        self.add(QueryName::Services, &tagged(&kubelet, "state.time"), &time);
    }

    pub fn exporter(&mut self, target: &Value, version: &str, collectors: &[&str]) {
        self.add(
            QueryName::Exporters,
            &with(target, &json!({"version": version})),
            "1",
        );
        for collector in collectors {
            self.collector(target, collector, true);
        }
    }

    pub fn collector(&mut self, target: &Value, collector: &str, success: bool) {
        let labels = with(target, &json!({"collector": collector, "quantity": "success"}));
        self.add(QueryName::Exporters, &labels, if success { "1" } else { "0" });
    }

    fn container(&mut self, id: &str, age: f64) {
        let time = (self.clock - age).to_string();
        for (quantity, value) in [
            ("commit", "102760448"),
            ("working_set", "44040192"),
            ("cpu_cores", "0.001"),
            ("commit.time", time.as_str()),
        ] {
            self.add(
                QueryName::Containers,
                &json!({"container_id": id, "quantity": quantity}),
                value,
            );
        }
    }

    pub fn series(&mut self, names: &[&str]) {
        for name in names {
            let labels = json!({"__name__": name, "job": "windows-exporter"});
            self.add(QueryName::Series, &labels, "1");
        }
    }

    /// Forgets the rows of a query.
    pub fn without(mut self, query: QueryName) -> Self {
        self.rows.remove(&query);
        self
    }

    /// From now on answers queries that carry this matcher, and no others.
    pub fn matching(mut self, matcher: &str) -> Self {
        self.matcher = Matcher::parse(matcher).unwrap();
        self
    }

    /// Answers like the real server, which refuses what it does not understand.
    fn reply(&self, promql: &str) -> Reply {
        let known = queries(&self.matcher);
        let Some(query) = known.iter().find(|query| query.promql == promql) else {
            let body = json!({"status": "error", "errorType": "bad_data", "error": "not in the catalogue"});
            return Reply::of(400, "application/json", body.to_string());
        };
        let rows = self.rows.get(&query.name).cloned().unwrap_or_default();
        Reply::json(&json!({"status": "success", "warnings": self.warnings,
            "data": {"resultType": "vector", "result": rows}}))
    }

    /// One hour of commit of the article's node.
    fn range_reply(&self) -> Reply {
        let labels = with(&target(WIN_1), &json!({"quantity": "commit"}));
        let points: Vec<Value> = (0..60)
            .map(|minute| json!([self.clock - f64::from(3600 - minute * 60), "5368709120"]))
            .collect();
        Reply::json(&json!({"status": "success", "data": {"resultType": "matrix",
            "result": [{"metric": labels, "values": points}]}}))
    }

    /// Serves under `prefix` from now on.
    pub fn at(self, fake: &Fake, prefix: &str) {
        let answers = self.clone();
        fake.on(&format!("{prefix}/api/v1/query"), move |asked| {
            answers.reply(&asked.parameters["query"])
        });
        fake.on(&format!("{prefix}/api/v1/query_range"), move |_| {
            self.range_reply()
        });
    }
}

/// The API server's part: the Windows node, and services that look like a Prometheus.
pub fn cluster(fake: &Fake, services: &[(&str, &str, &str)]) {
    let services: Vec<(String, Value)> = services
        .iter()
        .map(|(namespace, name, selector)| {
            let service = json!({"metadata": {"namespace": namespace, "name": name},
                "spec": {"ports": [{"name": "reloader-web", "port": 8080}, {"name": "http-web", "port": 9090}]}});
            ((*selector).to_owned(), service)
        })
        .collect();
    fake.on("/api/v1/services", move |asked| {
        let selector = &asked.parameters["labelSelector"];
        let items: Vec<&Value> = services
            .iter()
            .filter(|(label, _)| label == selector)
            .map(|(_, service)| service)
            .collect();
        Reply::json(&json!({"kind": "ServiceList", "items": items}))
    });
    fake.on("/api/v1/nodes", |_| {
        Reply::json(&json!({"kind": "NodeList", "metadata": {}, "items": [{
            "metadata": {"name": "k8s-lab-win-1"},
            "status": {"addresses": [
                {"type": "Hostname", "address": "K8S-LAB-WIN-1"},
                {"type": "InternalIP", "address": "192.168.10.25"}]}}]}))
    });
}

/// The cluster of the article with kube-prometheus-stack.
pub fn article_cluster(fake: &Fake) {
    cluster(
        fake,
        &[(
            "monitoring",
            "kps-prometheus",
            "app=kube-prometheus-stack-prometheus",
        )],
    );
}
