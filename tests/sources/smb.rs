//! The life of a mapping: it is there while its pod is, it goes when the pod goes, and it comes back.

use crate::desk::{Desk, WIN};
use drainboard::lab::embedded::{Lab, LabOptions};
use drainboard::sources::event::{Demand, Request};
use drainboard::store::smb::MappingState;
use drainboard::store::view::TableKind;
use drainboard::tui::Pane;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::json;

const WRITER: &str = "reports-writer-67b96b59b-rfb6z";
const SHARE: &str = r"\\files.example.com\k8s\win-demo-reports";

async fn client(lab: &Lab) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(lab.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    Client::try_from(config.unwrap()).unwrap()
}

async fn cordon(client: &Client, on: bool) {
    let change = Patch::Merge(json!({"spec": {"unschedulable": on}}));
    let nodes: Api<Node> = Api::all(client.clone());
    nodes.patch(WIN, &PatchParams::default(), &change).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mapping_goes_with_its_last_pod_and_comes_back_with_the_next() {
    let lab = Lab::start(LabOptions {
        speed: 20.0,
        ..LabOptions::default()
    })
    .await
    .unwrap();
    let client = client(&lab).await;
    let mut desk = Desk::with(lab.kubeconfig()).await;
    let state = |desk: &mut Desk| {
        desk.store
            .smb_mappings()
            .first()
            .map(|mapping| mapping.state.clone())
    };

    // Without the log a running pod says that its volume is mounted.
    desk.sees("that the share is mapped", |desk| {
        state(desk) == Some(MappingState::Mapped)
    })
    .await;
    assert!(desk.store.smb_mappings()[0].account.value().is_none());
    desk.asks(Request::Demand(Demand {
        smb: true,
        ..Demand::default()
    }));
    desk.sees("the account", |desk| {
        desk.cell(TableKind::Smb, SHARE, "account") == r"AZURE\svc-k8s-smb"
    })
    .await;
    assert!(desk.cell(TableKind::Smb, SHARE, "state").starts_with("mapped "));
    let page = desk.frame(&Pane::Smb);
    assert!(
        page.contains("4 SMB 1") && page.contains("domain AZURE was filled in"),
        "{page}"
    );

    cordon(&client, true).await;
    let pods: Api<Pod> = Api::namespaced(client.clone(), "win-demo");
    pods.delete(WRITER, &DeleteParams::default()).await.unwrap();
    desk.sees("that the mapping is removed", |desk| {
        state(desk) == Some(MappingState::Removed)
    })
    .await;
    assert_eq!(desk.cell(TableKind::Smb, SHARE, "pods"), "none");

    cordon(&client, false).await;
    desk.sees("that it is mapped again, for another pod", |desk| {
        let pods = desk.cell(TableKind::Smb, SHARE, "pods");
        state(desk) == Some(MappingState::Mapped)
            && pods.starts_with("win-demo/reports-writer-")
            && !pods.contains(WRITER)
    })
    .await;
    desk.leaves().await;
    lab.stop().await;
}
