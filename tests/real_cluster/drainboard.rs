//! drainboard as the operator starts it.

use std::process::{Command, Output};

use serde_json::Value;

use crate::parts::{User, kubeconfig};

/// Runs it as this user. The time that an answer may take is generous: the machine may be busy.
pub fn drainboard(user: User, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drainboard"))
        .arg("--kubeconfig")
        .arg(kubeconfig(user))
        .args(["--request-timeout", "60s"])
        .args(arguments)
        .env_remove("KUBECONFIG")
        .output()
        .expect("drainboard")
}

/// The items of `nodes -o json` or `pods -o json`.
pub fn items(user: User, arguments: &[&str]) -> Vec<Value> {
    let output = drainboard(user, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    document["items"].as_array().expect(".items").clone()
}

/// The one with this name, or with a name that starts so.
pub fn named<'a>(items: &'a [Value], prefix: &str) -> &'a Value {
    items
        .iter()
        .find(|item| item["name"].as_str().is_some_and(|name| name.starts_with(prefix)))
        .unwrap_or_else(|| panic!("no {prefix} among {} items", items.len()))
}
