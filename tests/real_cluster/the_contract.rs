//! The real parts answer the contract's questions as the embedded lab does.

use crate::contract::{self, Peer};
use crate::lab::{Lab, PrometheusStopped, restart_the_api_server};
use crate::maintenance::{lab_client, settled};
use crate::parts::{User, kubeconfig};
use kube::config::Kubeconfig;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_parts_answer_as_the_embedded_lab_does() {
    let lab = Lab::attach();
    // Stories before this one may have left pods that are still on their way out.
    settled(&lab_client().await).await;
    let read = |user| Kubeconfig::read_from(kubeconfig(user)).expect("the run's kubeconfig");
    let peer = Peer::new(
        read(User::Admin),
        (read(User::Limited), "system:serviceaccount:drainboard:limited"),
        restart_the_api_server,
    )
    .await;
    let peer = Arc::new(peer);
    contract::ask_everything(&peer).await;
    drop(lab);
    let _stopped = PrometheusStopped::now();
    contract::ask_when_the_services_are_off(&peer).await;
}
