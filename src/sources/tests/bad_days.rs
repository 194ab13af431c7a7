//! The API server refuses, is busy, is away, or is something else.

use super::fake_api::{FakeApi, Mishap};
use super::operator::{Operator, options};
use super::{node, pod};
use crate::sources::event::{Request, SourcePhase, WatchState, Watched};
use std::time::Duration;

async fn article() -> (FakeApi, tempfile::NamedTempFile) {
    let api = FakeApi::start().await;
    api.put("nodes", node("k8s-lab-win-1"));
    api.put("pods", pod("win-demo", "hello-win"));
    let file = FakeApi::kubeconfig(&[("lab", &api)]);
    (api, file)
}

#[tokio::test]
async fn who_may_not_list_pods_is_told_once_and_sees_the_nodes() {
    let (api, file) = article().await;
    api.mishap(
        "/pods",
        Mishap::Status(
            403,
            "pods is forbidden: User \"eve\" cannot list resource \"pods\"",
        ),
    );
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("the nodes", |screen| {
            screen.nodes.len() == 1 && screen.is_live(Watched::Nodes)
        })
        .await;
    operator
        .sees("the refusal", |screen| {
            matches!(&screen.watches.get(&Watched::Pods), Some(WatchState::Forbidden(problem))
                if problem.what.contains("cannot list pods") && problem.next_step.contains("-n NAMESPACE"))
        })
        .await;
    assert_eq!(
        operator.said[&Watched::Pods],
        2,
        "loading, then forbidden, each once"
    );
    operator
        .sees("that the server itself is well", |screen| {
            screen.phase() == Some(SourcePhase::Connected)
        })
        .await;

    // The right is granted: asking again is enough, nobody waits for the slow retry.
    api.well_again();
    operator.asks(Request::Refresh);
    operator.sees("the pods", |screen| screen.pods.len() == 1).await;
    operator.leaves().await;
}

#[tokio::test]
async fn a_busy_server_is_asked_again_and_the_rows_come() {
    let (api, file) = article().await;
    api.mishap("/pods", Mishap::Status(429, "too many requests"));
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("that it is busy", |screen| {
            matches!(&screen.watches.get(&Watched::Pods), Some(WatchState::Failed(problem))
                if problem.what.contains("429"))
        })
        .await;
    api.well_again();
    operator
        .sees("the pods", |screen| {
            screen.pods.len() == 1 && screen.is_live(Watched::Pods)
        })
        .await;
    operator.leaves().await;
}

#[tokio::test]
async fn an_expired_token_is_named_with_the_way_out_and_without_the_token() {
    let (api, file) = article().await;
    api.mishap("/", Mishap::Status(401, "Unauthorized"));
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("that the login is refused", |screen| {
            screen.phase() == Some(SourcePhase::Failed)
        })
        .await;
    let problem = operator.problem();
    assert!(problem.contains("401: Unauthorized"), "{problem}");
    assert!(problem.contains("log in again for context `lab`"), "{problem}");
    assert!(!problem.contains("s3cret"), "{problem}");
    operator.leaves().await;
}

#[tokio::test]
async fn a_login_page_in_between_is_recognised() {
    let (api, file) = article().await;
    api.mishap("/", Mishap::Html);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("that it failed", |screen| {
            screen.phase() == Some(SourcePhase::Failed)
        })
        .await;
    let problem = operator.problem();
    assert!(problem.contains("a web page (HTML) instead of JSON"), "{problem}");
    assert!(problem.contains("a proxy or login page"), "{problem}");
    operator.leaves().await;
}

#[tokio::test]
async fn a_list_that_is_cut_off_leaves_no_half_list_behind() {
    let (api, file) = article().await;
    api.mishap("/api/v1/pods", Mishap::Truncated);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("that it was cut off", |screen| {
            matches!(&screen.watches.get(&Watched::Pods), Some(WatchState::Failed(problem))
                if problem.what == "cannot list pods: the answer was cut off before its end")
        })
        .await;
    assert_eq!(operator.lists, 0);
    api.well_again();
    operator
        .sees("the whole list", |screen| {
            screen.lists == 1 && screen.pods.len() == 1
        })
        .await;
    assert!(
        api.requests()
            .iter()
            .any(|request| request.contains("pods?&limit=500") || request.contains("limit=500")),
        "after a list that was cut off, pages are asked for"
    );
    operator.leaves().await;
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_after_the_request_timeout() {
    let (api, file) = article().await;
    api.mishap("/version", Mishap::Never);
    let mut options = options(file.path());
    options.request_timeout = Duration::from_millis(300);
    let mut operator = Operator::sits_down(options).await;
    operator
        .sees("that it does not answer", |screen| {
            screen.phase() == Some(SourcePhase::Failed)
        })
        .await;
    assert!(
        operator.problem().contains("no answer within 0.3 s"),
        "{}",
        operator.problem()
    );
    operator.leaves().await;
}

#[tokio::test]
async fn a_server_that_comes_back_is_followed_at_once_with_the_rows_kept() {
    let (api, file) = article().await;
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("the pods", |screen| screen.is_live(Watched::Pods))
        .await;
    api.mishap("/", Mishap::Status(503, "etcd is away"));
    api.drop_watches();
    operator.asks(Request::Refresh);
    operator
        .sees("the failure", |screen| {
            screen.phase() == Some(SourcePhase::Failed)
                && matches!(&screen.watches.get(&Watched::Pods), Some(WatchState::Failed(_)))
        })
        .await;
    assert_eq!(operator.pods.len(), 1, "what was seen stays on screen");
    assert!(operator.state.as_ref().unwrap().last_answer.is_some());
    assert!(operator.problem().contains("/readyz"), "{}", operator.problem());

    api.well_again();
    api.put("pods", pod("win-demo", "later"));
    operator
        .sees("it is back", |screen| {
            screen.phase() == Some(SourcePhase::Connected)
        })
        .await;
    operator
        .sees("what it missed", |screen| {
            screen.pods.len() == 2 && screen.is_live(Watched::Pods)
        })
        .await;
    assert_eq!(operator.lists, 1, "the watch went on from its place");
    operator.leaves().await;
}

#[tokio::test]
async fn nobody_listens_at_the_address() {
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let server = format!("https://{free}");
    std::fs::write(file.path(), super::fake_api::kubeconfig_text(&[("lab", &server)])).unwrap();
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("that it failed", |screen| {
            screen.phase() == Some(SourcePhase::Failed)
        })
        .await;
    let problem = operator.problem();
    assert!(problem.contains("the API server cannot be reached"), "{problem}");
    assert!(
        problem.contains(&format!("check that {server} is up")),
        "{problem}"
    );
    operator.leaves().await;
}
