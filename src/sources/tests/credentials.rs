//! kubeconfigs that do not work, and credential plugins.

use super::fake_api::{FakeApi, kubeconfig_text};
use super::operator::{Operator, options};
use super::pod;
use crate::sources::event::{Request, SourcePhase, Watched};
use crate::sources::start;
use std::path::Path;

async fn refused(kubeconfig: &Path, context: Option<&str>) -> String {
    let mut options = options(kubeconfig);
    options.context = context.map(str::to_owned);
    let Err(problem) = start(options).await else {
        panic!("this kubeconfig should not work")
    };
    format!("{} → {}", problem.what, problem.next_step)
}

#[tokio::test]
async fn a_kubeconfig_that_is_not_there_is_named() {
    let problem = refused(Path::new("/nonexistent/kubeconfig"), None).await;
    assert!(
        problem.contains("the kubeconfig /nonexistent/kubeconfig cannot be read"),
        "{problem}"
    );
    assert!(problem.contains("--kubeconfig FILE"), "{problem}");
}

#[tokio::test]
async fn a_wrong_context_is_answered_with_the_contexts_there_are() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        kubeconfig_text(&[("lab", "http://127.0.0.1:1"), ("prod", "http://127.0.0.1:2")]),
    )
    .unwrap();
    let problem = refused(file.path(), Some("prd")).await;
    assert_eq!(
        problem,
        "the kubeconfig has no context `prd` → choose one of these: lab, prod"
    );
}

#[tokio::test]
async fn a_broken_file_is_not_quoted_because_it_holds_tokens() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        "users: [{name: a, user: {token: s3cret-token\nclusters: }",
    )
    .unwrap();
    let problem = refused(file.path(), None).await;
    assert!(problem.contains("no valid kubeconfig YAML"), "{problem}");
    assert!(!problem.contains("s3cret"), "{problem}");
}

#[tokio::test]
async fn a_context_that_cannot_be_opened_shows_no_rows_of_the_old_one_and_the_way_back_is_open() {
    let api = FakeApi::start().await;
    api.put("pods", pod("win-demo", "hello-win"));
    let file = FakeApi::kubeconfig(&[("lab", &api)]);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator.sees("the pods", |screen| screen.pods.len() == 1).await;
    assert!(operator.client().is_some());

    operator.asks(Request::SwitchContext("prod".to_owned()));
    operator
        .sees("that it failed", |screen| {
            screen.phase() == Some(SourcePhase::Failed)
        })
        .await;
    assert_eq!(operator.scope.context, "prod");
    assert!(operator.pods.is_empty());
    assert!(
        operator.client().is_none(),
        "nothing is written to the old one either"
    );
    assert!(
        operator.problem().contains("choose one of these: lab"),
        "{}",
        operator.problem()
    );

    operator.asks(Request::SwitchContext("lab".to_owned()));
    operator
        .sees("the pods again", |screen| {
            screen.pods.len() == 1 && screen.is_live(Watched::Pods)
        })
        .await;
    assert!(operator.client().is_some());
    operator.leaves().await;
}

/// A kubeconfig whose user gets its token from a plugin: a shell script.
#[cfg(unix)]
fn with_plugin(server: &str, script: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut kubeconfig: serde_json::Value =
        serde_json::from_str(&kubeconfig_text(&[("lab", server)])).unwrap();
    kubeconfig["users"][0]["user"] = serde_json::json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "sh",
        "args": ["-c", script],
        "env": [{"name": "PLUGIN_PASSWORD", "value": "s3cret-password"}],
        "interactiveMode": "IfAvailable",
    }});
    std::fs::write(file.path(), kubeconfig.to_string()).unwrap();
    file
}

#[cfg(unix)]
#[tokio::test]
async fn a_plugin_is_never_interactive_once_the_screens_are_up() {
    let api = FakeApi::start().await;
    api.put("pods", pod("win-demo", "hello-win"));
    // The plugin writes down how it was called.
    let journal = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        r#"echo "$KUBERNETES_EXEC_INFO" >> {}
        echo '{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{{"token":"t"}}}}'"#,
        journal.path().display()
    );
    let file = with_plugin(&api.url, &script);
    let mut operator = Operator::sits_down(options(file.path())).await;
    operator.sees("the pods", |screen| screen.pods.len() == 1).await;
    operator.leaves().await;
    let calls = std::fs::read_to_string(journal.path()).unwrap();
    assert!(calls.contains(r#""interactive":false"#), "{calls}");
    assert!(!calls.contains(r#""interactive":true"#), "{calls}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_plugin_that_fails_says_why_without_its_secrets() {
    let file = with_plugin(
        "http://127.0.0.1:1",
        "echo s3cret-output; echo 'the single sign-on session has expired' >&2; exit 1",
    );
    let problem = refused(file.path(), None).await;
    assert!(
        problem.contains("the single sign-on session has expired"),
        "{problem}"
    );
    assert!(problem.contains("log in with"), "{problem}");
    assert!(!problem.contains("s3cret"), "{problem}");
}
