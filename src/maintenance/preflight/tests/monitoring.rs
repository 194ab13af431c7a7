//! Loki, its gateway and Prometheus on the node in work.

use super::*;
use crate::maintenance::preflight::survey::NodePort;

fn labelled(name: &str, node: &str, labels: &[(&str, &str)]) -> Pod {
    Pod {
        namespace: "monitoring".into(),
        runtime_class: None,
        labels: labels
            .iter()
            .map(|(label, value)| ((*label).into(), (*value).into()))
            .collect(),
        ..pod(name, "0", node)
    }
}

fn gateway_port() -> NodePort {
    NodePort {
        namespace: "monitoring".into(),
        name: "loki-gateway".into(),
        selector: Some("app.kubernetes.io/component=gateway".parse().unwrap()),
        ports: [31100].into(),
    }
}

/// The Linux node in work, with these pods.
fn linux_node(pods: Vec<Pod>) -> Survey {
    let mut all = vec![daemon("calico-node", LINUX_1)];
    all.extend(pods);
    let mut survey = cluster(
        vec![place(LINUX_1, Os::Linux), place("k8s-lab-node-2", Os::Linux)],
        all,
    );
    survey.node = LINUX_1.into();
    survey
}

fn forced(survey: &Survey) -> Preflight {
    let options = Options {
        delete_emptydir_data: true,
        ..Options::default()
    };
    assess(survey, &options, now())
}

#[test]
fn loki_and_prometheus_take_logs_metrics_and_history_with_them() {
    let stores = |pod: Pod| Pod {
        empty_dir: true,
        ..pod
    };
    let survey = linux_node(vec![
        stores(labelled("loki", LINUX_1, &[("app.kubernetes.io/name", "loki")])),
        stores(labelled(
            "prometheus",
            LINUX_1,
            &[("app.kubernetes.io/name", "prometheus")],
        )),
        labelled(
            "node-exporter",
            LINUX_1,
            &[("app.kubernetes.io/name", "prometheus-node-exporter")],
        ),
    ]);
    let found = forced(&survey);
    says(
        &found,
        Weight::Warning,
        &[
            "monitoring/loki-abc-0",
            "no logs are taken in",
            "emptyDir and is gone",
        ],
    );
    says(
        &found,
        Weight::Warning,
        &[
            "monitoring/prometheus-abc-0",
            "no metrics are collected",
            "Windows nodes",
            "emptyDir and is gone",
        ],
    );
    is_silent(&found, "node-exporter-abc-0 is on this node");
}

#[test]
fn a_history_on_a_volume_is_not_said_to_be_gone() {
    let survey = linux_node(vec![labelled(
        "loki",
        LINUX_1,
        &[("app.kubernetes.io/name", "loki")],
    )]);
    is_silent(&forced(&survey), "is gone");
}

#[test]
fn agents_that_were_told_this_nodes_address_lose_the_gateway() {
    let gateway = [
        ("app.kubernetes.io/name", "loki"),
        ("app.kubernetes.io/component", "gateway"),
    ];
    // The gateway's pod is elsewhere; the port answers on every node all the same.
    let mut survey = linux_node(vec![labelled("loki-gateway", "k8s-lab-node-2", &gateway)]);
    survey.node_ports = Ok(vec![gateway_port()]);
    let found = forced(&survey);
    says(
        &found,
        Weight::Warning,
        &[
            "node port 31100 (monitoring/loki-gateway)",
            "192.168.10.24",
            "neighbouring node",
        ],
    );
    is_silent(&found, "loki-gateway-abc-0 is on this node");

    survey.pods[1].node = Some(LINUX_1.into());
    says(
        &forced(&survey),
        Weight::Warning,
        &["loki-gateway-abc-0 is on this node", "cannot send their logs"],
    );
}

#[test]
fn other_node_ports_are_mentioned_where_their_pods_are_on_the_node() {
    let mut survey = one_windows_node();
    let port = |app: &str, port| NodePort {
        namespace: "win-demo".into(),
        name: app.into(),
        selector: Some(format!("app={app}").parse().unwrap()),
        ports: [port].into(),
    };
    survey.node_ports = Ok(vec![port("hello", 30080), port("elsewhere", 30090)]);
    let found = preflight(&survey);
    says(&found, Weight::Info, &["node port 30080 (win-demo/hello)"]);
    is_silent(&found, "30090");
    survey.node_ports = Err("services is forbidden".to_owned());
    says(
        &preflight(&survey),
        Weight::Warning,
        &["node ports", "services is forbidden"],
    );
}
