//! The variants of an image, from a real registry, beside the nodes of the article's cluster.

use crate::operator::Operator;
use crate::registry::{LOGIN, Pushed, Registry};
use axum::Router;
use drainboard::lab::embedded::{Lab, LabOptions};
use serde_json::{Value, json};

fn linux(architecture: &str, layer_bytes: u64) -> Pushed {
    Pushed {
        platform: json!({"os": "linux", "architecture": architecture}),
        layer_bytes,
    }
}

fn windows(os_version: &str) -> Pushed {
    let mut platform = json!({"os": "windows", "architecture": "amd64"});
    if !os_version.is_empty() {
        platform["os.version"] = os_version.into();
    }
    Pushed {
        platform,
        layer_bytes: 209_715_200,
    }
}

async fn article() -> (Lab, Operator) {
    let lab = Lab::start(LabOptions::default()).await.unwrap();
    let operator = Operator::new();
    operator.file("config", lab.kubeconfig());
    (lab, operator)
}

const CLUSTER: [&str; 4] = ["--kubeconfig", "config", "--request-timeout", "60s"];

#[tokio::test]
async fn the_articles_tag_has_a_variant_for_each_of_its_nodes() {
    let Some(registry) = Registry::start(false) else {
        return;
    };
    let variants = [
        linux("amd64", 7_340_032),
        linux("arm64", 6_291_456),
        windows("10.0.26100.33674"),
    ];
    registry.push_index("example/hello:1.3", &variants).await;
    let (_lab, operator) = article().await;
    let image = format!("{}/example/hello:1.3", registry.address);
    let mut words = CLUSTER.to_vec();
    words.extend(["image", &image]);
    let ended = operator.drainboard_with(&words).await;
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"127\.0\.0\.1:\d+", "REGISTRY");
    settings.bind(|| insta::assert_snapshot!("image_of_the_article", ended.out));

    words.extend(["-o", "json"]);
    let ended = operator.drainboard_with(&words).await;
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&document["index"], &document["attestations"]),
        (&json!(true), &json!(3))
    );
    let items = document["items"].as_array().unwrap();
    assert_eq!(
        items[0]["nodes"],
        json!(["k8s-lab-master-1", "k8s-lab-node-1", "k8s-lab-node-2"])
    );
    assert_eq!(items[1]["nodes"], json!([]));
    assert_eq!(items[2]["os_version"], "10.0.26100.33674");
    assert_eq!(items[2]["nodes"], json!(["k8s-lab-win-1"]));
    assert_eq!(
        items[2]["marks"],
        json!([{"mark": "revision-newer-than-node", "nodes": ["k8s-lab-win-1"]}]),
        "26100.33438 on the node"
    );
    assert!(
        items[2]["size_bytes"].as_u64().unwrap() > 209_715_200,
        "config and layer"
    );
    assert_eq!(document["nodes_without_variant"], json!([]));
}

#[tokio::test]
async fn what_no_node_or_every_node_takes_is_marked() {
    let Some(registry) = Registry::start(false) else {
        return;
    };
    registry
        .push_index("odd:1", &[windows(""), windows("10.0"), windows("10.0.29500.1")])
        .await;
    registry
        .push_index("too-new:1", &[linux("amd64", 1), windows("10.0.29500.1")])
        .await;
    let (_lab, operator) = article().await;
    let show = async |image: &str| {
        let image = format!("{}/{image}", registry.address);
        let mut words = CLUSTER.to_vec();
        words.extend(["image", &image, "-o", "json"]);
        let ended = operator.drainboard_with(&words).await;
        assert_eq!(ended.code, 0, "{}", ended.err);
        serde_json::from_str::<Value>(&ended.out).unwrap()
    };
    let odd = show("odd:1").await;
    let marks: Vec<&str> = odd["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["marks"][0]["mark"].as_str().unwrap())
        .collect();
    assert_eq!(marks, ["no-os-version", "bad-os-version", "newer-than-any-node"]);
    assert_eq!(odd["items"][0]["nodes"], json!(["k8s-lab-win-1"]));
    let too_new = show("too-new:1").await;
    assert_eq!(too_new["nodes_without_variant"], json!(["k8s-lab-win-1"]));
}

#[tokio::test]
async fn without_a_cluster_the_variants_stand_alone_and_that_is_said() {
    let Some(registry) = Registry::start(false) else {
        return;
    };
    let config = json!({"os": "windows", "architecture": "amd64", "os.version": "10.0.26100.33674"});
    registry.push_single("single:1", &config).await;
    let operator = Operator::new();
    let image = format!("{}/single:1", registry.address);
    let ended = operator.drainboard(["image", &image]).await;
    assert_eq!(ended.code, 0, "{}", ended.err);
    for words in [
        "no index, a single manifest",
        "windows/amd64",
        "10.0.26100.33674",
        "No cluster to compare with",
    ] {
        assert!(ended.out.contains(words), "`{words}` is not in: {}", ended.out);
    }
    let ended = operator.drainboard(["image", &image, "-o", "json"]).await;
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert!(document["items"][0]["nodes"]["absent"].is_string(), "{document}");
}

#[tokio::test]
async fn a_registry_that_wants_a_login_takes_that_of_the_docker_configuration() {
    let Some(registry) = Registry::start(true) else {
        return;
    };
    registry.push_index("private/hello:1", &[linux("amd64", 1)]).await;
    let operator = Operator::new();
    let image = format!("{}/private/hello:1", registry.address);
    let stranger = operator.drainboard(["image", &image]).await;
    stranger.told(3, &["wants other credentials", "docker login"]);

    let login = |password: &str| {
        let address = &registry.address;
        let auths = json!({"auths": {address: {"username": LOGIN.0, "password": password}}});
        std::fs::create_dir_all(operator.path().join(".docker")).unwrap();
        operator.file(".docker/config.json", &auths.to_string());
    };
    login("wrong-secret");
    let refused = operator.drainboard(["image", &image]).await;
    refused.told(3, &["wants other credentials"]);
    assert!(!refused.err.contains("wrong-secret"));
    login(LOGIN.1);
    let ended = operator.drainboard(["image", &image]).await;
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.contains("linux/amd64"), "{}", ended.out);

    operator.file(".docker/config.json", "{\"auths\": 7}");
    let broken = operator.drainboard(["image", &image]).await;
    broken.told(3, &["Docker configuration"]);
}

#[tokio::test]
async fn an_unknown_tag_is_told_as_such() {
    let Some(registry) = Registry::start(false) else {
        return;
    };
    let image = format!("{}/example/hello:9.9", registry.address);
    let ended = Operator::new().drainboard(["image", &image]).await;
    ended.told(
        3,
        &[
            "/example/hello:9.9",
            "has no such image or tag",
            "check repository and tag",
        ],
    );
}

#[tokio::test]
async fn what_is_no_reference_or_no_registry_is_told_with_what_to_do() {
    let operator = Operator::new();
    operator
        .drainboard(["image", "Hello World"])
        .await
        .told(64, &["`Hello World` is no image", "[REGISTRY/]REPOSITORY[:TAG]"]);

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let page = Router::new().fallback(async || axum::response::Html("<html>hello</html>"));
    let server = tokio::spawn(async move { axum::serve(listener, page).await });
    let image = format!("{address}/hello:1");
    let ended = operator.drainboard(["image", &image]).await;
    ended.told(
        3,
        &[
            "/hello:1 could not be read",
            "check that this address is a registry",
        ],
    );
    server.abort();
    let _ = server.await;
    let ended = operator.drainboard(["image", &image]).await;
    ended.told(3, &["cannot be reached", "refused"]);
}
