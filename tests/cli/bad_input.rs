//! Given a cluster that cannot be read, the operator sees why and what to do, and the exit code is 3.

use crate::operator::Operator;
use drainboard::lab::apiserver::{ApiServer, ApiServerOptions, Fault, User};

/// An API server, and an operator whose kubeconfig names it.
struct Cluster {
    server: ApiServer,
    operator: Operator,
}

impl Cluster {
    async fn for_user(user: User) -> Self {
        let server = ApiServer::start(ApiServerOptions::default()).await.unwrap();
        let operator = Operator::new();
        operator.file("config", &server.kubeconfig(user));
        Self { server, operator }
    }

    async fn with(fault: Fault) -> Self {
        let cluster = Self::for_user(User::Admin).await;
        cluster.server.faults().set("/", fault);
        cluster
    }

    /// `drainboard nodes` fails with 3 and tells these words.
    async fn nodes_fail(&self, words: &[&str]) {
        let ended = self
            .operator
            .drainboard(["nodes", "--kubeconfig", "config", "--request-timeout", "20s"])
            .await;
        ended.told(3, words);
        assert!(ended.out.is_empty(), "{}", ended.out);
    }
}

#[tokio::test]
async fn without_a_kubeconfig_the_operator_is_told_where_it_is_looked_for() {
    Operator::new()
        .drainboard(["nodes"])
        .await
        .told(3, &["kubeconfig", "KUBECONFIG"]);
}

#[tokio::test]
async fn a_kubeconfig_that_is_not_there_is_named() {
    let ended = Operator::new()
        .drainboard(["--kubeconfig", "missing.yaml", "nodes"])
        .await;
    ended.told(3, &["missing.yaml"]);
}

#[tokio::test]
async fn a_context_that_does_not_exist_is_answered_with_those_that_do() {
    let cluster = Cluster::for_user(User::Admin).await;
    let ended = cluster
        .operator
        .drainboard(["--kubeconfig", "config", "--context", "prod", "nodes"])
        .await;
    ended.told(3, &["prod", "lab"]);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let cluster = Cluster::for_user(User::Admin).await;
    let Cluster { server, operator } = cluster;
    let address = server.url().trim_start_matches("https://").to_owned();
    server.stop().await;
    let ended = operator.drainboard(["--kubeconfig", "config", "nodes"]).await;
    ended.told(3, &["cannot be reached", &address]);
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let cluster = Cluster::for_user(User::Admin).await;
    let other = Cluster::for_user(User::Admin).await;
    let config = cluster.server.kubeconfig(User::Admin);
    let wrong_authority = other
        .server
        .kubeconfig(User::Admin)
        .replace(other.server.url(), cluster.server.url());
    assert_ne!(config, wrong_authority);
    cluster.operator.file("config", &wrong_authority);
    cluster.nodes_fail(&["certificate"]).await;
}

#[tokio::test]
async fn an_expired_token_asks_for_a_new_one() {
    Cluster::for_user(User::Expired).await.nodes_fail(&["401"]).await;
}

#[tokio::test]
async fn a_user_without_rights_learns_which_right_is_missing() {
    let cluster = Cluster::for_user(User::FewRights).await;
    cluster.server.grant(User::FewRights, Vec::new());
    cluster.nodes_fail(&["nodes", "lab-few-rights", "→"]).await;
}

#[tokio::test]
async fn a_web_page_is_no_api_server() {
    Cluster::with(Fault::Html(200))
        .await
        .nodes_fail(&["web page"])
        .await;
}

#[tokio::test]
async fn a_truncated_answer_is_told_as_such() {
    Cluster::with(Fault::TruncatedJson)
        .await
        .nodes_fail(&["cut off"])
        .await;
}

#[tokio::test]
async fn a_server_in_trouble_is_told_with_its_code() {
    for code in [404, 410, 500, 503] {
        let words = [code.to_string()];
        Cluster::with(Fault::Status(code))
            .await
            .nodes_fail(&[words[0].as_str()])
            .await;
    }
    Cluster::with(Fault::TooManyRequests(1))
        .await
        .nodes_fail(&["429"])
        .await;
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_in_time() {
    let cluster = Cluster::with(Fault::Hang).await;
    let begin = std::time::Instant::now();
    let ended = cluster
        .operator
        .drainboard(["--request-timeout", "1s", "pods", "--kubeconfig", "config"])
        .await;
    ended.told(3, &["1 s"]);
    assert!(
        begin.elapsed() < std::time::Duration::from_mins(1),
        "{:?}",
        begin.elapsed()
    );
}

#[tokio::test]
async fn a_snapshot_of_a_cluster_that_cannot_be_read_is_a_whole_frame_and_exit_code_3() {
    let cluster = Cluster::for_user(User::Expired).await;
    let ended = cluster
        .operator
        .drainboard(["--snapshot", "80x24", "--kubeconfig", "config"])
        .await;
    ended.told(3, &["401"]);
    assert_eq!(ended.out.lines().count(), 24, "{}", ended.out);
}
