//! Which of the cluster's services is taken, and what is said when none is.

use super::{at, bench, start};
use crate::sources::bench::{Bench, Fake, Reply};
use crate::sources::event::{SourcePhase, SourceState};
use crate::sources::loki::Options;
use serde_json::{Value, json};

/// The API server lists these services: namespace, name, value of the component label, port name, port.
fn services(fake: &Fake, services: &[(&str, &str, Option<&str>, &str, u16)]) {
    let items: Vec<Value> = services
        .iter()
        .map(|(namespace, name, component, port_name, port)| {
            let mut labels = json!({});
            if let Some(component) = component {
                labels = json!({"app.kubernetes.io/name": "loki", "app.kubernetes.io/component": component});
            }
            json!({
                "metadata": {"namespace": namespace, "name": name, "labels": labels},
                "spec": {"ports": [{"name": port_name, "port": port}]},
            })
        })
        .collect();
    fake.on("/api/v1/services", move |asked| {
        let picked = |item: &&Value| match asked.parameters.get("labelSelector") {
            Some(selector) => {
                let (name, value) = selector.split_once('=').unwrap();
                item["metadata"]["labels"][name] == value
            }
            None => {
                asked.parameters["fieldSelector"]
                    == format!("metadata.name={}", item["metadata"]["name"].as_str().unwrap())
            }
        };
        let items: Vec<&Value> = items.iter().filter(picked).collect();
        Reply::json(&json!({"items": items}))
    });
}

fn loki_at(fake: &Fake, prefix: &str, labels: &'static [&'static str]) {
    fake.on(&format!("{prefix}/loki/api/v1/labels"), move |_| {
        Reply::json(&json!({"status": "success", "data": labels}))
    });
    fake.on(&format!("{prefix}/loki/api/v1/label/job/values"), |_| {
        Reply::json(&json!({"status": "success", "data": ["kubelet", "windows-events"]}))
    });
}

const ALLOY: &[&str] = &["container", "job", "namespace", "node", "pod"];
const GATEWAY: &str = "/api/v1/namespaces/monitoring/services/loki-gateway:http-metrics/proxy";

async fn state(bench: &mut Bench, phase: SourcePhase) -> SourceState {
    bench.state("its state", |state| state.phase == phase).await
}

#[tokio::test]
async fn of_the_parts_of_a_loki_the_gateway_is_asked() {
    let mut bench = bench().await;
    services(
        &bench.fake,
        &[
            ("monitoring", "loki-write", Some("write"), "http-metrics", 3100),
            ("monitoring", "loki-read", Some("read"), "http-metrics", 3100),
            ("monitoring", "loki-memberlist", None, "tcp", 7946),
            ("monitoring", "loki-gateway", Some("gateway"), "http-metrics", 80),
        ],
    );
    loki_at(&bench.fake, GATEWAY, ALLOY);
    let _ask = start(&bench, Options::default());
    let state = state(&mut bench, SourcePhase::Connected).await;
    assert_eq!(
        state.reached,
        "service monitoring/loki-gateway through the API server (1 more service looks like a Loki): labels \
         namespace, pod, container, node; event log job=windows-events"
    );
    assert_eq!(state.last_error, None);
}

#[tokio::test]
async fn a_loki_without_labels_is_found_by_its_name_and_port() {
    let mut bench = bench().await;
    services(&bench.fake, &[("logs", "loki", None, "", 3100)]);
    loki_at(
        &bench.fake,
        "/api/v1/namespaces/logs/services/loki:3100/proxy",
        ALLOY,
    );
    let _ask = start(&bench, Options::default());
    let state = state(&mut bench, SourcePhase::Connected).await;
    assert!(
        state.reached.starts_with("service logs/loki through"),
        "{}",
        state.reached
    );
}

#[tokio::test]
async fn of_two_lokis_the_one_that_holds_lines_is_taken_and_an_empty_one_is_told() {
    let mut bench = bench().await;
    services(
        &bench.fake,
        &[
            ("empty", "loki-gateway", Some("gateway"), "http-metrics", 80),
            ("monitoring", "loki-gateway", Some("gateway"), "http-metrics", 80),
        ],
    );
    loki_at(
        &bench.fake,
        "/api/v1/namespaces/empty/services/loki-gateway:http-metrics/proxy",
        &[],
    );
    loki_at(&bench.fake, GATEWAY, ALLOY);
    let _ask = start(&bench, Options::default());
    let found = state(&mut bench, SourcePhase::Connected).await;
    assert!(
        found.reached.starts_with("service monitoring/loki-gateway"),
        "{}",
        found.reached
    );

    loki_at(&bench.fake, GATEWAY, &[]);
    bench.refresh();
    let empty = bench
        .state("that it is empty", |state| state.last_error.is_some())
        .await;
    assert_eq!(empty.phase, SourcePhase::Connected);
    assert!(empty.last_error.unwrap().next_step.contains("--loki-tenant"));
}

#[tokio::test]
async fn a_cluster_without_loki_says_what_is_used_instead() {
    let mut bench = bench().await;
    services(&bench.fake, &[]);
    let _ask = start(&bench, Options::default());
    let problem = state(&mut bench, SourcePhase::Off).await.last_error.unwrap();
    assert_eq!(problem.what, "no service of this cluster looks like a Loki");
    assert!(problem.next_step.contains("--loki"), "{problem}");
    assert!(problem.next_step.contains("kubelets"), "{problem}");
}

#[tokio::test]
async fn who_may_not_list_services_is_told_the_role_or_the_flag() {
    let mut bench = bench().await;
    bench.fake.on("/api/v1/services", |_| {
        Reply::api_error(
            403,
            "services is forbidden: User \"viewer\" cannot list resource \"services\"",
        )
    });
    let _ask = start(&bench, Options::default());
    let problem = state(&mut bench, SourcePhase::Failed).await.last_error.unwrap();
    assert!(
        problem
            .what
            .starts_with("cannot look for Loki among the services"),
        "{problem}"
    );
    assert!(problem.next_step.contains("--loki"), "{problem}");
    assert!(!problem.to_string().contains("prometheus"), "{problem}");
}

#[tokio::test]
async fn the_tenant_passes_the_proxy_and_a_secret_is_never_shown() {
    let mut bench = bench().await;
    services(
        &bench.fake,
        &[("monitoring", "loki-gateway", Some("gateway"), "http-metrics", 80)],
    );
    bench.fake.on(&format!("{GATEWAY}/loki/api/v1/labels"), |asked| {
        if asked
            .headers
            .get("x-scope-orgid")
            .is_some_and(|tenant| tenant == "team-a")
        {
            Reply::json(&json!({"status": "success", "data": ["pod"]}))
        } else {
            Reply::of(401, "text/plain", "no org id\n")
        }
    });
    let options = Options {
        tenant: Some("team-a".into()),
        ..Options::default()
    };
    let _ask = start(&bench, options);
    state(&mut bench, SourcePhase::Connected).await;

    let direct = Fake::default();
    direct.on("/loki/api/v1/labels", |asked| {
        let authorization = asked.headers["authorization"].to_str().unwrap();
        Reply::of(
            if authorization == "Basic bWU6cEBzcw==" {
                403
            } else {
                500
            },
            "text/plain",
            "no\n",
        )
    });
    let (url, _server) = direct.serve().await;
    let _ask = start(&bench, at(&url.replace("http://", "http://me:p%40ss@")));
    let problem = state(&mut bench, SourcePhase::Failed).await.last_error.unwrap();
    assert!(problem.what.contains("answered 403"), "{problem}");
    assert!(problem.next_step.contains("the Loki options"), "{problem}");
    assert!(!format!("{problem} {problem:?}").contains("ss@"), "{problem}");
}
