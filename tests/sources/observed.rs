//! What a maintenance sees of the cluster through the real sources.

use crate::desk::{Desk, WIN, article};
use drainboard::maintenance::options::Options;
use drainboard::maintenance::pods::{Verdict, verdict};
use drainboard::sources::event::Request;

#[tokio::test(flavor = "multi_thread")]
async fn the_windows_node_with_its_pods_and_the_budgets() {
    let lab = article().await;
    let mut desk = Desk::at(&lab).await;
    desk.sees("the node, its pods and the budget of hello", |desk| {
        let Some(seen) = desk.store.observe(&WIN.into(), &[]) else {
            return false;
        };
        let options = Options {
            delete_emptydir_data: true,
            ..Options::default()
        };
        let leaves = |pod| matches!(verdict(pod, &options, chrono::Utc::now()), Verdict::Leaves(_));
        let leaving = seen.pods.iter().filter(|pod| leaves(pod)).count();
        let hello = seen.budgets.iter().find(|budget| &*budget.key.name == "hello");
        seen.node.is_some_and(|node| &*node.boot_id == "11")
            && (leaving, seen.pods.len()) == (7, 12)
            && seen.ready.values().sum::<u32>() >= 7
            && hello.is_some_and(|budget| {
                budget.min_available.as_deref() == Some("1")
                    && (budget.allowed, budget.healthy, budget.expected, budget.observed) == (1, 2, 2, true)
            })
    })
    .await;

    desk.asks(Request::Rescope {
        namespace: Some("win-demo".into()),
        pod_selector: String::new(),
    });
    desk.sees("one namespace", |desk| {
        desk.store.scope().namespace.is_some() && desk.store.header(chrono::Utc::now()).counts.pods > 0
    })
    .await;
    assert_eq!(desk.store.observe(&WIN.into(), &[]), None);
    desk.leaves().await;
    lab.stop().await;
}
