//! Logs and proxies: how the API server reaches into the simulated cluster.

use crate::support::{client, node, pod, refusal, run_pod};
use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::routing::get;
use drainboard::lab::apiserver::{ApiServer, ApiServerOptions, User};
use drainboard::lab::backends::Backends;
use http::{Request, StatusCode};
use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube::api::{LogParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;

/// A cluster with a kubelet on `win-1` and a web server in the pod `web`.
async fn cluster() -> (ApiServer, Client) {
    let backends = Backends::default();
    let kubelet = Router::new().route(
        "/containerLogs/{namespace}/{pod}/{container}",
        get(
            async |Path((namespace, pod, container)): Path<(String, String, String)>,
                   RawQuery(query): RawQuery| {
                let query = query.unwrap_or_default();
                if query.contains("previous=true") {
                    let refusal =
                        format!("previous terminated container \"{container}\" in pod \"{pod}\" not found");
                    return (StatusCode::BAD_REQUEST, refusal);
                }
                (StatusCode::OK, format!("{namespace}/{pod}/{container}?{query}\n"))
            },
        ),
    );
    backends.register("192.168.10.25:10250".parse().unwrap(), kubelet);
    let web = Router::new().fallback(async |request: axum::extract::Request| {
        let secret = request.headers().contains_key("authorization");
        format!(
            "{} {} with credentials: {secret}",
            request.method(),
            request.uri()
        )
    });
    backends.register("10.0.0.7:8080".parse().unwrap(), web);
    let server = ApiServer::start(ApiServerOptions {
        backends,
        ..ApiServerOptions::default()
    })
    .await
    .unwrap();
    let admin = client(&server, User::Admin).await;
    let nodes: Api<Node> = Api::all(admin.clone());
    nodes
        .create(&PostParams::default(), &node("win-1"))
        .await
        .unwrap();
    let mut web = pod("web", Some("win-1"), &json!({ "app": "web" }));
    let ports = json!([{ "name": "http", "containerPort": 8080 }]);
    web.spec.as_mut().unwrap().containers[0].ports = Some(serde_json::from_value(ports).unwrap());
    run_pod(&admin, web, "10.0.0.7").await;
    let services: Api<Service> = Api::default_namespaced(admin.clone());
    let service = json!({ "metadata": { "name": "web" }, "spec": {
        "selector": { "app": "web" }, "ports": [{ "name": "plain", "port": 80, "targetPort": "http" }],
    }});
    services
        .create(&PostParams::default(), &serde_json::from_value(service).unwrap())
        .await
        .unwrap();
    (server, admin)
}

async fn ask(client: &Client, path: &str) -> Result<String, kube::Error> {
    let request = Request::get(format!("/api/v1/namespaces/default/{path}"))
        .body(Vec::new())
        .unwrap();
    client.request_text(request).await
}

#[tokio::test]
async fn logs_come_from_the_kubelet_of_the_node_with_all_options() {
    let (_server, admin) = cluster().await;
    let pods: Api<Pod> = Api::default_namespaced(admin);
    let params = LogParams {
        tail_lines: Some(3),
        timestamps: true,
        ..LogParams::default()
    };
    let logs = pods.logs("web", &params).await.unwrap();
    assert!(logs.starts_with("default/web/app?"), "{logs}");
    assert!(
        logs.contains("tailLines=3") && logs.contains("timestamps=true"),
        "{logs}"
    );
    let previous = LogParams {
        previous: true,
        ..LogParams::default()
    };
    let (code, message) = refusal(pods.logs("web", &previous).await);
    assert_eq!(
        (code, message.as_str()),
        (
            400,
            "previous terminated container \"app\" in pod \"web\" not found"
        )
    );
    let other = LogParams {
        container: Some("other".into()),
        ..LogParams::default()
    };
    assert_eq!(
        refusal(pods.logs("web", &other).await).1,
        "container other is not valid for pod web"
    );
}

#[tokio::test]
async fn a_kubelet_that_is_off_is_an_internal_error() {
    let (_server, admin) = cluster().await;
    let nodes: Api<Node> = Api::all(admin.clone());
    let moved = json!({ "status": { "addresses": [{ "type": "InternalIP", "address": "192.168.10.99" }] } });
    nodes
        .patch_status("win-1", &PatchParams::default(), &Patch::Strategic(&moved))
        .await
        .unwrap();
    let pods: Api<Pod> = Api::default_namespaced(admin);
    let (code, message) = refusal(pods.logs("web", &LogParams::default()).await);
    assert_eq!(code, 500);
    assert!(
        message.contains("dial tcp 192.168.10.99:10250: connect: connection refused"),
        "{message}"
    );
}

#[tokio::test]
async fn a_service_is_reached_by_port_name_or_number_and_credentials_stay_here() {
    let (_server, admin) = cluster().await;
    let expected = "GET /api/v1/query?query=up with credentials: false";
    for id in ["web:plain", "web:80", "http:web:80"] {
        assert_eq!(
            ask(&admin, &format!("services/{id}/proxy/api/v1/query?query=up"))
                .await
                .unwrap(),
            expected
        );
    }
    assert_eq!(
        ask(&admin, "pods/web:8080/proxy/metrics").await.unwrap(),
        "GET /metrics with credentials: false"
    );
    assert_eq!(
        ask(&admin, "pods/web/proxy/").await.unwrap(),
        "GET / with credentials: false"
    );
}

#[tokio::test]
async fn who_cannot_be_reached_is_told_apart() {
    let (_server, admin) = cluster().await;
    let told = async |path: &str| refusal(ask(&admin, path).await);
    assert_eq!(
        told("services/web:99/proxy/").await,
        (503, "no service port 99 found for service \"web\"".into())
    );
    assert_eq!(
        told("services/web:other/proxy/").await,
        (503, "no endpoints available for service \"web\"".into())
    );
    assert_eq!(
        told("services/none:80/proxy/").await,
        (404, "services \"none\" not found".into())
    );
    assert_eq!(
        told("pods/web:9182/proxy/metrics").await,
        (
            503,
            "error trying to reach service: dial tcp 10.0.0.7:9182: connect: connection refused".into()
        )
    );
    let pods: Api<Pod> = Api::default_namespaced(admin.clone());
    let unready = json!({ "status": { "conditions": [{ "type": "Ready", "status": "False" }] } });
    pods.patch_status("web", &PatchParams::default(), &Patch::Strategic(&unready))
        .await
        .unwrap();
    assert_eq!(
        told("services/web:80/proxy/").await,
        (503, "no endpoints available for service \"web\"".into())
    );
}
