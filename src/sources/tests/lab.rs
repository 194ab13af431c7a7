//! The same client against the lab's API server: TLS, token, and the article's cluster.

use super::operator::{Operator, options};
use crate::lab::embedded::{Lab, LabOptions};
use crate::sources::event::{SourcePhase, Watched};
use serde_json::Value;

fn kubeconfig_file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[tokio::test]
async fn the_articles_cluster_is_on_the_screen() {
    let lab = Lab::start(LabOptions::default()).await.unwrap();
    let file = kubeconfig_file(lab.kubeconfig());
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("the nodes and the seven pods of win-demo", |screen| {
            let of_win_demo = screen.pods.keys().filter(|name| name.starts_with("win-demo/"));
            screen.nodes.contains("k8s-lab-win-1") && of_win_demo.count() == 7
        })
        .await;
    operator
        .sees("every watch live", |screen| {
            Watched::ALL.into_iter().all(|watched| screen.is_live(watched))
        })
        .await;
    operator
        .sees("the article's version", |screen| {
            screen.version.as_deref() == Some("v1.37.2")
        })
        .await;
    operator.leaves().await;
    lab.stop().await;
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_not_accepted() {
    let lab = Lab::start(LabOptions::default()).await.unwrap();
    let mut kubeconfig: Value = serde_yaml_ng::from_str(lab.kubeconfig()).unwrap();
    let other = rcgen::generate_simple_self_signed(["another authority".to_owned()]).unwrap();
    let authority = kubeconfig_file(&other.cert.pem());
    let cluster = &mut kubeconfig["clusters"][0]["cluster"];
    cluster["certificate-authority-data"] = Value::Null;
    cluster["certificate-authority"] = authority.path().to_str().into();
    let file = kubeconfig_file(&kubeconfig.to_string());

    let mut operator = Operator::sits_down(options(file.path())).await;
    operator
        .sees("that it failed", |screen| {
            screen.phase() == Some(SourcePhase::Failed)
        })
        .await;
    let problem = operator.problem();
    assert!(
        problem.contains("the certificate of the API server is not accepted"),
        "{problem}"
    );
    assert!(problem.contains("check certificate-authority"), "{problem}");
    operator.leaves().await;
    lab.stop().await;
}
