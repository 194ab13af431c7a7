//! One set of questions, put to the embedded lab and to the real parts with the lab attached. What both must answer
//! is written here once; where the lab differs from the real parts in something that drainboard or kubectl relies
//! on, the lab is wrong.
//!
//! `tests/lab_contract.rs` asks the embedded lab, `tests/real_cluster` the real control plane and Prometheus.

mod evictions;
mod metrics;
mod nodes;
mod objects;
mod peer;
mod prometheus;
mod reach;
mod rights;
mod tables;
mod watched;
mod watches;

pub use peer::Peer;

use futures::future::BoxFuture;
use std::sync::Arc;

type Question = (&'static str, fn(Arc<Peer>) -> BoxFuture<'static, ()>);

macro_rules! questions {
    ($($module:ident::$question:ident,)*) => {
        [$((
            concat!(stringify!($module), "::", stringify!($question)),
            |peer| Box::pin(async move { $module::$question(&peer).await }),
        ),)*]
    };
}

/// Puts every question to a cluster in which everything runs.
pub async fn ask_everything(peer: &Arc<Peer>) {
    let questions: &[Question] = &questions![
        objects::the_version_is_the_articles,
        objects::a_path_that_nobody_serves_is_not_found,
        objects::a_node_has_what_the_rows_are_made_of,
        objects::a_pod_has_what_the_rows_are_made_of,
        objects::an_object_that_is_not_there_is_not_found,
        objects::field_selectors_choose,
        objects::label_selectors_choose,
        objects::selectors_that_cannot_be_read_are_refused,
        objects::pages_are_one_list,
        tables::kubectl_gets_the_columns_of_nodes,
        tables::kubectl_gets_the_columns_of_pods,
        watched::each_node_has_a_heartbeat,
        watched::a_daemon_set_says_how_many_are_ready,
        watched::a_budget_says_what_it_allows,
        watched::events_say_what_happened_to_whom_and_when,
        watched::the_drivers_of_a_node_are_registered,
        watched::the_smb_volume_has_what_its_mapping_is_joined_from,
        watched::the_smb_driver_and_its_class_are_there,
        watched::the_node_plugin_tells_what_it_mapped,
        watched::logs_come_from_the_kubelet,
        watches::a_watch_goes_on_from_the_list,
        watches::a_streaming_list_says_where_it_ends,
        nodes::a_cordoned_node_is_marked_and_tainted,
        nodes::whoever_changed_a_field_last_is_its_manager,
        nodes::a_patch_for_another_node_or_version_changes_nothing,
        evictions::an_unknown_pod_is_not_found,
        evictions::another_uid_is_a_conflict,
        evictions::a_dry_run_changes_nothing,
        evictions::a_budget_that_allows_none_refuses,
        evictions::two_budgets_are_an_error,
        evictions::a_pod_that_may_go_goes,
        rights::a_wrong_token_is_not_authorized,
        rights::a_user_with_few_rights_is_told_what_he_lacks,
        reach::a_service_without_endpoints_is_unavailable,
        reach::the_exporter_is_reached_through_its_pod,
        reach::a_port_where_nobody_listens_is_refused,
        prometheus::it_says_what_it_is,
        prometheus::the_catalogue_is_answered_with_the_articles_figures,
        prometheus::the_history_is_a_matrix,
        prometheus::bad_questions_are_bad_data,
        metrics::nodes_and_pods_have_usages,
        metrics::an_unknown_node_has_none,
        // Last: to forget, the real server starts anew.
        watches::a_revision_that_is_too_old_is_gone,
    ];
    put(peer, questions).await;
}

/// Puts the questions to a cluster whose Prometheus, exporter and metrics-server are off.
pub async fn ask_when_the_services_are_off(peer: &Arc<Peer>) {
    let questions: &[Question] = &questions![
        reach::a_prometheus_that_is_off_is_refused,
        reach::an_exporter_that_is_off_is_refused,
        metrics::a_metrics_server_that_is_off_is_unavailable,
    ];
    put(peer, questions).await;
}

/// One question after another, as some change what others ask about; all wrong answers are told at the end.
async fn put(peer: &Arc<Peer>, questions: &[Question]) {
    let mut wrong = Vec::new();
    for (name, question) in questions {
        if tokio::spawn(question(Arc::clone(peer))).await.is_err() {
            wrong.push(*name);
        }
    }
    assert!(wrong.is_empty(), "wrong answers: {wrong:#?}");
}
