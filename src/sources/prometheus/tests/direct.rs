use super::lab::{Answers, article_cluster};
use super::*;
use crate::sources::bench::{Fake, Reply};
use crate::sources::transport::direct::{Credentials, Direct};
use crate::sources::transport::route::Backend;
use secrecy::SecretString;

#[tokio::test]
async fn an_address_is_asked_directly_with_its_path_prefix() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let prometheus = Fake::default();
    Answers::article(3.0).at(&prometheus, "/prom");
    let (url, _server) = prometheus.serve().await;
    start(
        &bench,
        Options {
            url: Some(format!("{url}/prom/")),
            ..Options::default()
        },
    );
    assert_eq!(value(&bench.round().await, NodeQuantity::CpuRatio), Some(0.054));
    let state = bench
        .state("connected", |state| state.phase == SourcePhase::Connected)
        .await;
    assert!(
        state.reached.starts_with(&format!("{url}/prom: ")),
        "{}",
        state.reached
    );
}

#[tokio::test]
async fn credentials_are_sent_and_never_shown() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let prometheus = Fake::default();
    prometheus.on("/api/v1/query", |asked| {
        let header = |name: &str| asked.headers[name].to_str().unwrap().to_owned();
        let body = format!("no: {} / {}", header("authorization"), header("x-scope-orgid"));
        Reply::of(
            if body == "no: Basic bWU6cEBzcw== / team" {
                403
            } else {
                500
            },
            "text/plain",
            "no",
        )
    });
    let (url, _server) = prometheus.serve().await;
    start(
        &bench,
        Options {
            url: Some(url.replace("http://", "http://me:p%40ss@")),
            headers: vec![("X-Scope-OrgID".to_owned(), SecretString::from("team"))],
            ..Options::default()
        },
    );
    let (what, next_step) = problem(&mut bench, SourcePhase::Failed).await;
    assert!(what.contains(&format!("{url} answered 403")), "{what}");
    assert!(next_step.contains("check user and password"), "{next_step}");
    assert!(
        !what.contains("p%40ss") && !what.contains("p@ss") && !what.contains("bWU6cEBzcw"),
        "{what}"
    );
}

#[tokio::test]
async fn nobody_listens_at_the_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let health = start(
        &bench,
        Options {
            url: Some(url.clone()),
            ..Options::default()
        },
    );
    let (what, next_step) = problem(&mut bench, SourcePhase::Failed).await;
    assert!(what.contains(&url) && what.contains("refused"), "{what}");
    assert!(next_step.contains("reachable from here"), "{next_step}");
    assert!(matches!(&*health.borrow(), Health::Down(_)));
}

#[test]
fn files_and_headers_that_are_no_good_are_named_without_their_content() {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let refused = |credentials: &Credentials| {
        let failure =
            Direct::new("https://prometheus.example", credentials, Backend::Prometheus).unwrap_err();
        failure.problem.what
    };
    let directory = tempfile::tempdir().unwrap();
    let not_pem = directory.path().join("ca.pem");
    std::fs::write(&not_pem, "s3cret").unwrap();
    let what = refused(&Credentials {
        ca_file: Some(not_pem.clone()),
        ..Credentials::default()
    });
    assert!(
        what.contains("ca.pem does not hold") && !what.contains("s3cret"),
        "{what}"
    );
    let what = refused(&Credentials {
        ca_file: Some(directory.path().join("absent.pem")),
        ..Credentials::default()
    });
    assert!(what.contains("cannot read the CA file"), "{what}");
    let what = refused(&Credentials {
        client_cert: Some(not_pem),
        ..Credentials::default()
    });
    assert!(what.contains("needs both"), "{what}");
    let what = refused(&Credentials {
        bearer: Some(SecretString::from("s3\ncret")),
        ..Credentials::default()
    });
    assert!(
        what.contains("the bearer token") && !what.contains("cret"),
        "{what}"
    );
}

#[test]
fn an_address_that_is_none_is_refused_with_an_example() {
    for bad in ["prometheus:9090", "ftp://x", "not a url", "http://"] {
        let failure = Direct::new(bad, &Credentials::default(), Backend::Prometheus).unwrap_err();
        assert!(
            failure
                .problem
                .next_step
                .contains("https://prometheus.example:9090"),
            "{bad}"
        );
    }
}
