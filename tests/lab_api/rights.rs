//! Users, their rights, the audit list, and faults.

use crate::support::{client, node, refusal, server, within};
use drainboard::lab::apiserver::{Fault, Right, User};
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReview;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod, Secret};
use kube::api::{ListParams, PostParams};
use kube::{Api, Error};
use serde_json::json;

#[tokio::test]
async fn an_expired_token_is_not_authorized() {
    let server = server().await;
    let nodes: Api<Node> = Api::all(client(&server, User::Expired).await);
    assert_eq!(
        refusal(nodes.list(&ListParams::default()).await),
        (401, "Unauthorized".into())
    );
}

#[tokio::test]
async fn a_refusal_names_user_verb_resource_and_place() {
    let server = server().await;
    let few = client(&server, User::FewRights).await;
    Api::<Node>::all(few.clone())
        .list(&ListParams::default())
        .await
        .unwrap();
    let leases: Api<Lease> = Api::all(few.clone());
    assert_eq!(
        refusal(leases.list(&ListParams::default()).await).1,
        "leases.coordination.k8s.io is forbidden: User \"lab-few-rights\" cannot list resource \"leases\" in API group \
         \"coordination.k8s.io\" at the cluster scope"
    );
    let pods: Api<Pod> = Api::namespaced(few.clone(), "win-demo");
    assert_eq!(
        refusal(pods.delete("a", &kube::api::DeleteParams::default()).await).1,
        "pods \"a\" is forbidden: User \"lab-few-rights\" cannot delete resource \"pods\" in API group \"\" in the \
         namespace \"win-demo\""
    );
    server.grant(
        User::FewRights,
        vec![Right::new(&["list"], &["coordination.k8s.io"], &["leases"])],
    );
    leases.list(&ListParams::default()).await.unwrap();
    assert_eq!(
        refusal(Api::<Node>::all(few).list(&ListParams::default()).await).0,
        403
    );
}

#[tokio::test]
async fn a_reader_reads_all_but_secrets_and_every_write_is_on_the_list() {
    let server = server().await;
    let reader = client(&server, User::ReadOnly).await;
    let nodes: Api<Node> = Api::all(reader.clone());
    nodes.list(&ListParams::default()).await.unwrap();
    assert_eq!(
        refusal(
            Api::<Secret>::all(reader.clone())
                .list(&ListParams::default())
                .await
        )
        .0,
        403
    );
    assert_eq!(refusal(nodes.cordon("win-1").await).0, 403);
    Api::<Node>::all(client(&server, User::Admin).await)
        .create(&PostParams::default(), &node("win-1"))
        .await
        .unwrap();
    let told: Vec<String> = server
        .audit()
        .entries()
        .iter()
        .map(|one| format!("{} {} {}", one.user, one.verb, one.code))
        .collect();
    assert_eq!(told, ["lab-viewer patch 403", "lab-admin create 201"]);
}

#[tokio::test]
async fn a_user_can_ask_what_he_may_do() {
    let server = server().await;
    let reader = client(&server, User::ReadOnly).await;
    let reviews: Api<SelfSubjectAccessReview> = Api::all(reader);
    let may = async |verb: &str, resource: &str, subresource: &str| {
        let review = json!({ "metadata": {}, "spec": { "resourceAttributes": {
            "verb": verb, "resource": resource, "subresource": subresource, "namespace": "win-demo",
        }}});
        let review = serde_json::from_value(review).unwrap();
        reviews
            .create(&PostParams::default(), &review)
            .await
            .unwrap()
            .status
            .unwrap()
            .allowed
    };
    assert!(may("get", "pods", "log").await);
    assert!(!may("create", "pods", "eviction").await);
    assert!(!may("get", "secrets", "").await);
}

#[tokio::test]
async fn faults_are_met_below_their_path_until_they_are_cleared() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    let nodes: Api<Node> = Api::all(admin.clone());
    let pods: Api<Pod> = Api::all(admin);
    let list = ListParams::default();
    server.faults().set("/api/v1/nodes", Fault::Status(503));
    assert_eq!(refusal(nodes.list(&list).await).0, 503);
    pods.list(&list).await.unwrap();
    server.faults().clear();
    nodes.list(&list).await.unwrap();

    server
        .faults()
        .set_times("/api/v1/nodes", Fault::TruncatedJson, 1);
    assert!(matches!(
        nodes.list(&list).await.unwrap_err(),
        Error::SerdeError(_)
    ));
    nodes.list(&list).await.unwrap();

    server.faults().set_times("/api/v1/nodes", Fault::Html(502), 1);
    let (code, message) = refusal(nodes.list(&list).await);
    assert_eq!(code, 502);
    assert!(message.contains("<html>"), "{message}");

    server.faults().set("/api/v1/nodes", Fault::Hang);
    let patience = std::time::Duration::from_millis(300);
    assert!(tokio::time::timeout(patience, nodes.list(&list)).await.is_err());
}

#[tokio::test]
async fn a_stopped_server_breaks_its_connections() {
    use futures::StreamExt;
    let server = server().await;
    let nodes: Api<Node> = Api::all(client(&server, User::Admin).await);
    let mut events = std::pin::pin!(
        nodes
            .watch(&kube::api::WatchParams::default(), "0")
            .await
            .unwrap()
    );
    server.stop().await;
    let broken = within("the end of the watch", events.next()).await;
    assert!(broken.is_none_or(|event| event.is_err()));
    nodes.list(&ListParams::default()).await.unwrap_err();
}
