//! The screen follows the cluster.

use super::fake_api::FakeApi;
use super::operator::{Operator, options};
use super::{node, pod};
use crate::domain::Name;
use crate::domain::object::ObjectKey;
use crate::sources::event::{Detail, DetailKey, Kind, Request, SourcePhase, Watched};

async fn article() -> FakeApi {
    let api = FakeApi::start().await;
    api.put("nodes", node("k8s-lab-win-1"));
    api.put("pods", pod("win-demo", "hello-win"));
    api.put("pods", pod("demo", "hello"));
    api
}

#[tokio::test]
async fn the_screen_shows_what_the_cluster_has_and_what_changes() {
    let api = article().await;
    let file = FakeApi::kubeconfig(&[("lab", &api)]);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("both pods and the node", |screen| {
            screen.pods.len() == 2 && screen.nodes.len() == 1
        })
        .await;
    operator
        .sees("a live watch", |screen| screen.is_live(Watched::Pods))
        .await;
    operator
        .sees("the cluster's version", |screen| {
            screen.version.as_deref() == Some("v1.37.2")
        })
        .await;
    assert_eq!(operator.phase(), Some(SourcePhase::Connected));
    assert_eq!(operator.scope.context, "lab");
    assert_eq!(operator.scope.server, api.url);

    let mut leaving = pod("win-demo", "hello-win");
    leaving["metadata"]["deletionTimestamp"] = "2026-12-01T04:00:00Z".into();
    api.put("pods", leaving);
    operator
        .sees("it leaves", |screen| {
            screen.pod("win-demo/hello-win") == Some("Terminating")
        })
        .await;
    api.delete("pods", "win-demo", "hello-win");
    operator.sees("it is gone", |screen| screen.pods.len() == 1).await;
    api.put("pods", pod("win-demo", "hello-win-2"));
    operator
        .sees("its successor", |screen| {
            screen.pod("win-demo/hello-win-2") == Some("Running")
        })
        .await;
    operator.leaves().await;
}

#[tokio::test]
async fn a_long_list_comes_in_pages_and_nothing_is_lost_between_them() {
    let api = FakeApi::start().await;
    for number in 0..25 {
        api.put("pods", pod("win-demo", &format!("hello-{number}")));
    }
    api.pages_of(4);
    let file = FakeApi::kubeconfig(&[("lab", &api)]);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("one complete list", |screen| screen.lists == 1)
        .await;
    assert_eq!(operator.pods.len(), 25);
    operator.leaves().await;
}

#[tokio::test]
async fn a_watch_that_breaks_off_goes_on_where_it_was_without_a_new_list() {
    let api = article().await;
    let file = FakeApi::kubeconfig(&[("lab", &api)]);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("a live watch", |screen| {
            screen.is_live(Watched::Pods) && screen.pods.len() == 2
        })
        .await;

    api.drop_watches();
    api.put("pods", pod("win-demo", "born-in-the-gap"));
    operator
        .sees("what happened in the gap", |screen| {
            screen.pod("win-demo/born-in-the-gap").is_some()
        })
        .await;
    assert_eq!(operator.lists, 1);
    operator.leaves().await;
}

#[tokio::test]
async fn when_the_server_has_forgotten_the_place_everything_is_listed_anew_and_rows_stay_until_then() {
    let api = article().await;
    let file = FakeApi::kubeconfig(&[("lab", &api)]);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("a live watch", |screen| {
            screen.is_live(Watched::Pods) && screen.pods.len() == 2
        })
        .await;

    api.compact("pods", "demo", "hello");
    api.drop_watches();
    operator.sees("the new list", |screen| screen.lists == 2).await;
    assert_eq!(operator.pods.keys().collect::<Vec<_>>(), ["win-demo/hello-win"]);
    operator.leaves().await;
}

#[tokio::test]
async fn a_namespace_scope_is_a_scope_of_the_watches_and_late_answers_of_the_old_one_are_not_shown() {
    let api = article().await;
    let file = FakeApi::kubeconfig(&[("lab", &api)]);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator.sees("all pods", |screen| screen.pods.len() == 2).await;

    operator.asks(Request::Rescope {
        namespace: Some(Name::from("win-demo")),
        pod_selector: "app=hello,tier in (web)".to_owned(),
    });
    operator
        .sees("the narrower scope", |screen| {
            screen.scope.namespace.as_deref() == Some("win-demo")
        })
        .await;
    operator
        .sees("its pods only", |screen| screen.is_live(Watched::Pods))
        .await;
    assert_eq!(operator.pods.keys().collect::<Vec<_>>(), ["win-demo/hello-win"]);
    assert!(
        api.requests()
            .iter()
            .any(|request| request.starts_with("/api/v1/namespaces/win-demo/pods?")
                && request.contains("labelSelector=app%3Dhello%2Ctier+in+%28web%29")),
        "{:?}",
        api.requests()
    );
    operator.leaves().await;
}

#[tokio::test]
async fn another_context_is_another_server_in_header_and_rows() {
    let (lab, prod) = (article().await, FakeApi::start().await);
    prod.put("pods", pod("shop", "orders"));
    let file = FakeApi::kubeconfig(&[("lab", &lab), ("prod", &prod)]);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("the lab's pods", |screen| screen.pods.len() == 2)
        .await;

    operator.asks(Request::SwitchContext("prod".to_owned()));
    operator
        .sees("the other server", |screen| screen.scope.server == prod.url)
        .await;
    lab.put("pods", pod("win-demo", "late"));
    operator
        .sees("its pods", |screen| screen.is_live(Watched::Pods))
        .await;
    assert_eq!(operator.pods.keys().collect::<Vec<_>>(), ["shop/orders"]);
    assert_eq!(operator.scope.context, "prod");

    let question = http::Request::get("/version?who=writes")
        .body(Vec::new())
        .unwrap();
    operator.client().unwrap().request_text(question).await.unwrap();
    let asked = |api: &FakeApi| api.requests().iter().any(|path| path.ends_with("?who=writes"));
    assert!(
        asked(&prod) && !asked(&lab),
        "whoever writes writes to the other server"
    );
    operator.leaves().await;
    let ended = tokio::time::timeout(std::time::Duration::from_mins(1), async {
        while lab.watchers("pods") + prod.watchers("pods") > 0 {
            // A watch whose reader is gone is noticed when something is written to it.
            lab.put("pods", pod("win-demo", "tick"));
            prod.put("pods", pod("shop", "tick"));
            tokio::task::yield_now().await;
        }
    });
    assert!(
        ended.await.is_ok(),
        "watches of a context that was left stay open"
    );
}

#[tokio::test]
async fn a_current_context_changed_by_someone_else_changes_nothing_here() {
    let (lab, prod) = (article().await, FakeApi::start().await);
    prod.put("pods", pod("shop", "orders"));
    let file = FakeApi::kubeconfig(&[("lab", &lab), ("prod", &prod)]);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("the lab's pods", |screen| screen.pods.len() == 2)
        .await;

    let swapped = super::fake_api::kubeconfig_text(&[("prod", &prod.url), ("lab", &lab.url)]);
    std::fs::write(file.path(), swapped).unwrap();
    operator.asks(Request::Rescope {
        namespace: Some(Name::from("win-demo")),
        pod_selector: String::new(),
    });
    operator
        .sees("the scope on the same server", |screen| {
            screen.scope.namespace.is_some() && screen.is_live(Watched::Pods)
        })
        .await;
    assert_eq!(operator.scope.server, lab.url);
    assert_eq!(operator.scope.context, "lab");
    assert_eq!(operator.pods.keys().collect::<Vec<_>>(), ["win-demo/hello-win"]);
    operator.leaves().await;
}

#[tokio::test]
async fn an_opened_page_and_yaml_are_fetched_when_they_are_asked_for() {
    let api = article().await;
    api.put(
        "csinodes",
        serde_json::json!({"metadata": {"name": "k8s-lab-win-1"},
            "spec": {"drivers": [{"name": "smb.csi.k8s.io", "nodeID": "k8s-lab-win-1"}]}}),
    );
    let mut managed = pod("win-demo", "hello-win");
    managed["metadata"]["managedFields"] = serde_json::json!([{"manager": "kubelet"}]);
    api.put("pods", managed);
    let file = FakeApi::kubeconfig(&[("lab", &api)]);
    let mut operator = Operator::sits_down(options(file.path())).await;

    operator.asks(Request::Detail(DetailKey::Node(Name::from("k8s-lab-win-1"))));
    operator
        .sees("the node's details", |screen| screen.details.len() == 1)
        .await;
    let Ok(Detail::Node(detail)) = &operator.details[0].1 else {
        panic!("{:?}", operator.details)
    };
    assert_eq!(*detail.images, [(Name::from("example/web:1.3"), 1024)]);
    assert_eq!(
        detail.csi_drivers.as_deref(),
        Some(&[Name::from("smb.csi.k8s.io")][..])
    );

    let key = |uid: &str| {
        DetailKey::Yaml(
            Kind::Pod,
            ObjectKey {
                namespace: Some(Name::from("win-demo")),
                name: Name::from("hello-win"),
                uid: Name::from(uid),
            },
        )
    };
    operator.asks(Request::Detail(key("uid-of-hello-win")));
    operator
        .sees("the YAML", |screen| screen.details.len() == 2)
        .await;
    let Ok(Detail::Yaml(yaml)) = &operator.details[1].1 else {
        panic!("{:?}", operator.details)
    };
    assert!(
        yaml.contains("nodeName: k8s-lab-win-1") && !yaml.contains("managedFields"),
        "{yaml}"
    );

    operator.asks(Request::Detail(key("uid-of-its-predecessor")));
    operator
        .sees("that it is another pod", |screen| screen.details.len() == 3)
        .await;
    let Err(reason) = &operator.details[2].1 else {
        panic!("{:?}", operator.details)
    };
    assert!(
        reason.contains("pod win-demo/hello-win that was chosen is gone"),
        "{reason}"
    );

    operator.asks(Request::Detail(DetailKey::Pod(
        Name::from("win-demo"),
        Name::from("nobody"),
    )));
    operator
        .sees("that there is none", |screen| screen.details.len() == 4)
        .await;
    let Err(reason) = &operator.details[3].1 else {
        panic!("{:?}", operator.details)
    };
    assert!(reason.contains("cannot get pod win-demo/nobody"), "{reason}");
    operator.leaves().await;
}
