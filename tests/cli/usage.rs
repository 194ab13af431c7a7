//! Given wrong words, the operator sees what was expected, and the exit code is 64.

use crate::operator::Operator;

#[tokio::test]
async fn an_unknown_command_is_wrong_usage() {
    Operator::new()
        .drainboard(["pots"])
        .await
        .told(64, &["pots", "Usage:"]);
}

#[tokio::test]
async fn an_unknown_flag_is_wrong_usage() {
    Operator::new()
        .drainboard(["nodes", "--wiide"])
        .await
        .told(64, &["--wiide"]);
}

#[tokio::test]
async fn an_unknown_format_names_those_there_are() {
    let ended = Operator::new().drainboard(["nodes", "-o", "yaml"]).await;
    ended.told(64, &["table", "wide", "json"]);
}

#[tokio::test]
async fn flags_that_exclude_each_other_are_wrong_usage_before_any_cluster_is_asked() {
    let ended = Operator::new().drainboard(["-A", "pods", "-n", "win-demo"]).await;
    ended.told(64, &["--namespace and --all-namespaces exclude each other"]);
}

#[tokio::test]
async fn help_and_version_are_no_errors() {
    let operator = Operator::new();
    let help = operator.drainboard(["--help"]).await;
    assert_eq!(help.code, 0);
    for word in ["nodes", "pods", "check", "demo", "--context", "64 wrong usage"] {
        assert!(help.out.contains(word), "{word}");
    }
    let version = operator.drainboard(["--version"]).await;
    assert_eq!(version.code, 0);
    assert!(version.out.starts_with("drainboard "));
}

#[tokio::test]
async fn prometheus_flags_that_need_each_other_say_so() {
    let ended = Operator::new()
        .drainboard(["nodes", "--prometheus", "http://p", "--prometheus-user", "me"])
        .await;
    ended.told(64, &["--prometheus-user needs --prometheus-password-file"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_log_is_not_told_on_the_screen() {
    let operator = Operator::new();
    let state = operator.path().join("state/drainboard");
    std::fs::create_dir_all(&state).unwrap();
    std::os::unix::fs::symlink("/dev/full", state.join("drainboard.log")).unwrap();
    let ended = assert_cmd::Command::cargo_bin("drainboard")
        .unwrap()
        .args(["demo", "--snapshot", "80x24"])
        .env_clear()
        .env("HOME", operator.path())
        .env("XDG_STATE_HOME", operator.path().join("state"))
        .env("DRAINBOARD_LOG", "trace")
        .env("LANG", "C.UTF-8")
        .timeout(std::time::Duration::from_mins(2))
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", ended.status);
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert!(String::from_utf8_lossy(&ended.stdout).contains("k8s-lab-win-1"));
}
