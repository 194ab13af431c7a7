//! One right after the other is missing: its columns are absent with that reason, the rest works.

use crate::desk::{ABSENT, Desk, WIN, article, is_absent};
use drainboard::domain::Name;
use drainboard::domain::reading::Source;
use drainboard::lab::apiserver::{Right, User};
use drainboard::lab::embedded::Lab;
use drainboard::sources::event::{WatchState, Watched};
use drainboard::store::view::{TableKind, TableQuery};
use drainboard::tui::Pane;

const NODES: TableKind = TableKind::Nodes;
const PODS: TableKind = TableKind::Pods;

/// Somebody who may read everything but one resource.
async fn without(lab: &Lab, resource: &str) -> Desk {
    lab.api().grant(
        User::ReadOnly,
        vec![Right {
            except: vec![resource.to_owned()],
            ..Right::new(&["get", "list", "watch"], &["*"], &["*"])
        }],
    );
    let mut desk = Desk::with(&lab.api().kubeconfig(User::ReadOnly)).await;
    let refused = resource.to_owned();
    desk.sees("which right is missing, and every other watch live", |desk| {
        let states = desk.store.watch_states();
        states.len() == Watched::ALL.len()
            && states.iter().all(|(watched, state)| {
                if watched.plural() == refused {
                    matches!(state, WatchState::Forbidden(problem) if problem.what.contains(&refused))
                } else {
                    **state == WatchState::Live
                }
            })
    })
    .await;
    desk.sees("the refusal in the header, with what to ask for", |desk| {
        let badge = desk.badge(Source::Kubernetes);
        let problem = badge.problem.unwrap_or_default();
        badge.glyph == "▲" && problem.contains(&refused) && problem.contains("ask for")
    })
    .await;
    let frame = desk.frame(&Pane::Nodes);
    let line = frame.lines().find(|line| line.contains("▲ API"));
    assert!(line.is_some_and(|line| line.contains(resource)), "{frame}");
    desk
}

async fn sees_the_windows_node(desk: &mut Desk) {
    desk.sees("the node's figures", |desk| {
        desk.cell(NODES, WIN, "commit").contains("31 %") && desk.cell(NODES, WIN, "ws") != ABSENT
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_take_only_their_age() {
    let lab = article().await;
    let mut desk = without(&lab, "leases").await;
    sees_the_windows_node(&mut desk).await;
    let lease = desk.column(NODES, "lease", &TableQuery::default());
    assert_eq!(lease.len(), 4);
    desk.expects_absent_to_be_absent(NODES, "lease", "20s");
    assert!(desk.cell(NODES, WIN, "state").starts_with("Ready"));
    assert_eq!(desk.windows_node().await["ready"], true);
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn daemonsets_take_no_column() {
    let lab = article().await;
    let mut desk = without(&lab, "daemonsets").await;
    sees_the_windows_node(&mut desk).await;
    assert_eq!(desk.windows_node().await["ready"], true);
    assert_eq!(desk.drainboard(["pods"]).await.code, 0);
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_take_no_column() {
    let lab = article().await;
    let mut desk = without(&lab, "poddisruptionbudgets").await;
    sees_the_windows_node(&mut desk).await;
    assert_eq!(desk.windows_node().await["ready"], true);
    assert_eq!(desk.drainboard(["pods"]).await.code, 0);
    let check = desk.drainboard(["check"]).await;
    assert_eq!(check.code, 1, "{}", check.out);
    for words in [
        "▲ poddisruptionbudgets",
        "cannot list poddisruptionbudgets",
        "ask for a ClusterRole",
    ] {
        assert!(check.out.contains(words), "{}", check.out);
    }
    let seen = desk.store.observe(&Name::from(WIN), &[]).unwrap();
    assert_eq!((seen.pods.len(), seen.budgets.len()), (12, 0));
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_missing_on_the_pages_with_that_reason() {
    let lab = article().await;
    let mut desk = without(&lab, "events").await;
    sees_the_windows_node(&mut desk).await;
    let page = desk.frame(&Pane::Node(Name::from(WIN)));
    assert!(page.contains("cannot list events"), "{page}");
    assert_eq!(desk.items("nodes").await.len(), 4);
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_nodes_the_pods_stay_and_the_cpu_maximum_is_absent() {
    let lab = article().await;
    let mut desk = without(&lab, "nodes").await;
    desk.sees("the pods with their figures", |desk| {
        desk.cell(PODS, "hello-win", "ws") == "42Mi"
    })
    .await;
    assert_eq!(desk.cell(PODS, "hello-win", "cpu-max"), ABSENT);
    desk.expects_absent_to_be_absent(PODS, "cpu-max", "0");
    assert!(desk.rows(NODES, &TableQuery::default()).is_empty());
    assert!(
        desk.notice(NODES).contains("cannot list nodes"),
        "{}",
        desk.notice(NODES)
    );

    let ended = desk.drainboard(["nodes"]).await;
    ended.told(3, &["nodes", "lab-viewer", "→"]);
    assert!(ended.out.is_empty(), "{}", ended.out);
    let pods = desk.items("pods").await;
    let hello = pods
        .iter()
        .find(|pod| pod["name"].as_str().unwrap().starts_with("hello-win"));
    let container = &hello.unwrap()["containers"][0];
    assert_eq!(container["cpu_maximum"], serde_json::Value::Null);
    assert_eq!(container["cpu_limit_millicores"], 500);
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_pods_the_nodes_stay_and_their_numbers_of_pods_are_absent() {
    let lab = article().await;
    let mut desk = without(&lab, "pods").await;
    sees_the_windows_node(&mut desk).await;
    assert_eq!(desk.cell(NODES, WIN, "pods"), ABSENT);
    desk.expects_absent_to_be_absent(NODES, "pods", "0");
    assert!(desk.rows(PODS, &TableQuery::default()).is_empty());
    assert!(
        desk.notice(PODS).contains("cannot list pods"),
        "{}",
        desk.notice(PODS)
    );

    let node = desk.windows_node().await;
    assert_eq!(node["commit_bytes"]["source"], "prometheus");
    let ended = desk.drainboard(["pods"]).await;
    ended.told(3, &["pods", "lab-viewer", "→"]);
    assert!(ended.out.is_empty(), "{}", ended.out);
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_proxies_the_measured_values_say_which_right_they_want() {
    let lab = article().await;
    let except = ["services/proxy", "pods/proxy"].map(str::to_owned).to_vec();
    lab.api().grant(
        User::ReadOnly,
        vec![Right {
            except,
            ..Right::new(&["get", "list", "watch"], &["*"], &["*"])
        }],
    );
    let mut desk = Desk::with(&lab.api().kubeconfig(User::ReadOnly)).await;
    desk.sees("both refusals", |desk| {
        desk.badge(Source::Prometheus).glyph == "✖" && desk.badge(Source::Exporter).glyph == "✖"
    })
    .await;
    assert!(desk.problem(Source::Prometheus).contains("services/proxy"));
    assert!(desk.problem(Source::Exporter).contains("pods/proxy"));
    desk.expects_absent_to_be_absent(NODES, "commit", "0%");
    is_absent(&desk.windows_node().await, "commit_ratio", &["pods/proxy", "→"]);
    desk.leaves().await;
    lab.stop().await;
}
