use super::lab::{Answers, KPS, WIN_1, article_cluster, target};
use super::*;
use crate::domain::measurement::Quantity;
use crate::sources::bench::{Reply, reason};
use serde_json::json;

/// What the operator reads when the Prometheus of the article's cluster answers its queries like this.
async fn told(reply: Reply) -> (String, String) {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    bench
        .fake
        .on(&format!("{KPS}/api/v1/query"), move |_| reply.clone());
    start(&bench, Options::default());
    problem(&mut bench, SourcePhase::Failed).await
}

#[tokio::test]
async fn a_web_page_instead_of_json() {
    let page = Reply::of(200, "text/html", "<html><script>alert(1)</script>Log in</html>");
    let (what, next_step) = told(page).await;
    assert!(what.contains("is a web page (HTML) instead of JSON"), "{what}");
    assert!(!what.contains("script"), "{what}");
    assert!(next_step.contains("login page"), "{next_step}");
}

#[tokio::test]
async fn an_answer_that_is_cut_off() {
    let (what, _) = told(Reply::of(
        200,
        "application/json",
        r#"{"status":"success","data":{"resu"#,
    ))
    .await;
    assert!(what.contains("was cut off after 33 bytes"), "{what}");
}

#[tokio::test]
async fn no_right_to_use_the_services_proxy() {
    let refusal = r#"services "http:kps" is forbidden: User "eve" cannot get resource "services/proxy""#;
    let (what, next_step) = told(Reply::api_error(403, refusal)).await;
    assert!(
        what.contains("the API server answered 403") && what.contains("eve"),
        "{what}"
    );
    assert!(next_step.contains("verb get on services/proxy"), "{next_step}");
}

#[tokio::test]
async fn a_prometheus_that_wants_credentials_of_its_own() {
    let (_, next_step) = told(Reply::of(401, "text/plain", "Unauthorized")).await;
    assert!(
        next_step.contains("cannot pass the API server's proxy"),
        "{next_step}"
    );
}

#[tokio::test]
async fn a_service_without_pods_and_a_busy_server() {
    let (what, next_step) = told(Reply::api_error(503, "no endpoints available for service")).await;
    assert!(what.contains("no endpoints available"), "{what}");
    assert!(
        next_step.contains("kubectl -n monitoring get endpoints kps-prometheus"),
        "{next_step}"
    );
    let (what, _) = told(Reply::of(429, "text/plain", "slow\u{1b}[2J down")).await;
    assert!(
        what.contains("answered 429") && !what.contains('\u{1b}'),
        "{what}"
    );
}

#[tokio::test]
async fn services_that_may_not_be_listed() {
    let mut bench = bench().await;
    bench.fake.on("/api/v1/services", |_| {
        Reply::api_error(403, "services is forbidden")
    });
    start(&bench, Options::default());
    let (what, next_step) = problem(&mut bench, SourcePhase::Failed).await;
    assert!(
        what.starts_with("cannot look for Prometheus among the services"),
        "{what}"
    );
    assert!(next_step.contains("--prometheus"), "{next_step}");
}

#[tokio::test]
async fn another_clusters_data_is_recognised_and_not_shown() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let mut answers = Answers::empty();
    answers.node(&target("10.1.2.3:9182"), 1.0, &[("commit", 1.0)]);
    answers.at(&bench.fake, KPS);
    start(&bench, Options::default());

    let round = bench.round().await;
    assert!(round.nodes.is_empty());
    let why = reason(&round.missing, Quantity::Node(NodeQuantity::Commit));
    assert!(
        why.contains("holds another cluster's data") && why.contains("10.1.2.3:9182"),
        "{why}"
    );
    let (_, next_step) = problem(&mut bench, SourcePhase::Failed).await;
    assert!(next_step.contains("--prometheus-matcher"), "{next_step}");
}

#[tokio::test]
async fn two_clusters_that_share_an_address_are_told_apart_by_the_matcher() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let labelled = |cluster: &str| {
        let mut labels = target(WIN_1);
        labels["cluster"] = json!(cluster);
        labels
    };
    let mut both = Answers::empty();
    both.node(&labelled("lab"), 1.0, &[("commit", 1.0)]);
    both.node(&labelled("prod"), 2.0, &[("commit", 2.0)]);
    both.at(&bench.fake, KPS);
    start(&bench, Options::default());

    let round = bench.round().await;
    assert_eq!(value(&round, NodeQuantity::Commit), None);
    let why = reason(&round.missing, Quantity::Node(NodeQuantity::Commit));
    assert!(why.contains("lab, prod"), "{why}");

    let mut bench = super::bench().await;
    article_cluster(&bench.fake);
    let mut one = Answers::empty().matching(r#"cluster="prod""#);
    one.node(&labelled("prod"), 2.0, &[("commit", 2.0)]);
    one.at(&bench.fake, KPS);
    start(
        &bench,
        Options {
            matcher: Some(r#"cluster="prod""#.to_owned()),
            ..Options::default()
        },
    );
    assert_eq!(value(&bench.round().await, NodeQuantity::Commit), Some(2.0));
}

#[tokio::test]
async fn nan_and_infinity_are_no_values() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let mut answers = Answers::empty();
    answers.node(&target(WIN_1), 1.0, &[("commit", 1.0)]);
    answers.node_text(&target(WIN_1), 1.0, "cpu_ratio", "NaN");
    answers.node_text(&target(WIN_1), 1.0, "commit_limit", "+Inf");
    answers.node_text(&target(WIN_1), f64::INFINITY, "physical", "4");
    answers.at(&bench.fake, KPS);
    start(&bench, Options::default());

    let round = bench.round().await;
    let seen: Vec<NodeQuantity> = round.nodes.iter().map(|one| one.quantity).collect();
    assert_eq!(seen, [NodeQuantity::Commit]);
}

#[tokio::test]
async fn a_node_that_two_jobs_scrape_shows_the_newest_sample_and_says_so() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let mut answers = Answers::empty();
    let mut second = target(WIN_1);
    second["job"] = json!("static-windows");
    answers.node(&second, 3.0, &[("commit", 3.0)]);
    answers.node(&target(WIN_1), 20.0, &[("commit", 20.0)]);
    answers.at(&bench.fake, KPS);
    start(&bench, Options::default());

    assert_eq!(value(&bench.round().await, NodeQuantity::Commit), Some(3.0));
    let (what, _) = problem(&mut bench, SourcePhase::Connected).await;
    assert!(
        what.contains("192.168.10.25 (jobs static-windows, windows-exporter)"),
        "{what}"
    );
}

#[tokio::test]
async fn the_servers_warnings_are_passed_on() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let mut answers = Answers::article(1.0);
    answers.warnings = vec!["a store is \u{7}unavailable"];
    answers.at(&bench.fake, KPS);
    start(&bench, Options::default());
    let (what, _) = problem(&mut bench, SourcePhase::Connected).await;
    assert_eq!(what, "Prometheus warns: a store is unavailable");
}

#[tokio::test]
async fn a_matcher_that_is_none_is_refused_with_an_example() {
    let mut bench = bench().await;
    start(
        &bench,
        Options {
            matcher: Some("prod".to_owned()),
            ..Options::default()
        },
    );
    let (what, _) = problem(&mut bench, SourcePhase::Failed).await;
    assert!(what.contains(r#"write for example cluster="prod""#), "{what}");
}
