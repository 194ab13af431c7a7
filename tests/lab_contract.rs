//! The embedded lab answers the contract's questions as the real parts do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "an answer that cannot be read is a wrong one"
)]

mod contract;

use contract::Peer;
use drainboard::lab::apiserver::{Right, User};
use drainboard::lab::embedded::{Lab, LabOptions, Switch};
use kube::config::Kubeconfig;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_embedded_lab_answers_as_the_real_parts_do() {
    let lab = Arc::new(Lab::start(LabOptions::default()).await.unwrap());
    let pods_of_win_demo = Right {
        namespace: Some("win-demo".to_owned()),
        ..Right::new(&["get", "list", "watch"], &[""], &["pods"])
    };
    lab.api().grant(User::FewRights, vec![pods_of_win_demo]);
    let kubeconfig = |user| Kubeconfig::from_yaml(&lab.api().kubeconfig(user)).unwrap();
    let forgetful = Arc::clone(&lab);
    let peer = Peer::new(
        kubeconfig(User::Admin),
        (kubeconfig(User::FewRights), User::FewRights.name()),
        move || forgetful.api().compact("", "nodes"),
    )
    .await;
    let peer = Arc::new(peer);
    contract::ask_everything(&peer).await;
    for switch in [Switch::Prometheus, Switch::Exporter, Switch::MetricsApi] {
        lab.set(switch, false);
    }
    contract::ask_when_the_services_are_off(&peer).await;
}
