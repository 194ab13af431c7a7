//! Before anything is said about drainboard: the cluster is the one that the stories think it is.

use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::{Api, ListParams};
use serde_json::Value;

use crate::parts::{User, client, version_of};

/// The service that kube-prometheus-stack makes for Prometheus, through the API server's proxy.
const PROMETHEUS: &str = "/api/v1/namespaces/monitoring/services/kps-prometheus:http-web/proxy";

async fn get(client: &kube::Client, path: &str) -> Result<Value, kube::Error> {
    let request = http::Request::get(path).body(Vec::new()).expect("a request");
    client.request(request).await
}

#[tokio::test]
async fn the_api_server_is_of_the_articles_version() {
    let version = client(User::Admin)
        .await
        .apiserver_version()
        .await
        .expect("GET /version");
    assert_eq!(version.git_version, "v1.37.2");
    assert_eq!((version.major.as_str(), version.minor.as_str()), ("1", "37"));
}

#[test]
fn the_programs_say_what_they_are() {
    assert!(version_of("kubectl", "version").contains("Client Version: v1.37.2"));
    assert!(version_of("kube-state-metrics", "version").contains("v2.20.0"));
    assert!(version_of("prometheus", "--version").contains("3.16.0"));
}

#[tokio::test]
async fn prometheus_is_found_by_its_label_and_answers_through_the_service_proxy() {
    for user in [User::Admin, User::Reader] {
        let client = client(user).await;
        let services: Api<Service> = Api::all(client.clone());
        let found = services
            .list(&ListParams::default().labels("app=kube-prometheus-stack-prometheus"))
            .await
            .expect("services");
        assert_eq!(found.items.len(), 1, "{user:?}");

        let built = get(&client, &format!("{PROMETHEUS}/api/v1/status/buildinfo"))
            .await
            .expect("Prometheus behind the service proxy");
        assert_eq!(
            built.pointer("/data/version").and_then(Value::as_str),
            Some("3.16.0"),
            "{user:?}"
        );
    }
}

#[tokio::test]
async fn prometheus_has_the_rules_in_the_form_of_the_chart_and_all_of_them_load() {
    let rules = get(&client(User::Reader).await, &format!("{PROMETHEUS}/api/v1/rules"))
        .await
        .expect("rules");
    let groups = rules
        .pointer("/data/groups")
        .and_then(Value::as_array)
        .expect("groups");
    let mut names: Vec<&str> = groups.iter().filter_map(|group| group["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["windows.node.rules", "windows.pod.rules"]);
}

#[tokio::test]
async fn a_user_with_few_rights_reads_the_pods_of_one_namespace() {
    let client = client(User::Limited).await;
    Api::<Pod>::namespaced(client.clone(), "win-demo")
        .list(&ListParams::default())
        .await
        .expect("the pods of win-demo");
    for refused in [
        Api::<Pod>::all(client.clone())
            .list(&ListParams::default())
            .await
            .err(),
        get(&client, &format!("{PROMETHEUS}/-/ready")).await.err(),
    ] {
        match refused {
            Some(kube::Error::Api(status)) => assert_eq!(status.code, 403),
            other => panic!("expected 403 Forbidden, got {other:?}"),
        }
    }
}
