//! What `tests/real/up` left in the environment, in the words of the stories.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// The users that the run has a kubeconfig for.
#[derive(Clone, Copy, Debug)]
pub enum User {
    /// May do everything; its requests are in the audit log.
    Admin,
    /// May read what drainboard shows, and change nothing.
    Reader,
    /// May read the pods of `win-demo`, and nothing else.
    Limited,
}

/// How long a story waits for what has to come: a busy machine is slow, not broken.
pub const PATIENCE: Duration = Duration::from_mins(4);

/// The directory of this run.
pub fn directory() -> PathBuf {
    std::env::var_os("DRAINBOARD_REAL")
        .map(PathBuf::from)
        .expect("DRAINBOARD_REAL is not set: these tests are started by tests/real/run")
}

/// The kubeconfig file of a user.
pub fn kubeconfig(user: User) -> PathBuf {
    directory().join(match user {
        User::Admin => "admin.kubeconfig",
        User::Reader => "reader.kubeconfig",
        User::Limited => "limited.kubeconfig",
    })
}

/// A client that speaks to the real API server as this user.
pub async fn client(user: User) -> Client {
    // Another test of this process may have installed it first.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let file = Kubeconfig::read_from(kubeconfig(user)).expect("the run's kubeconfig");
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .expect("a usable kubeconfig");
    Client::try_from(config).expect("a client")
}

/// What a program of `tests/real/build` prints when it is asked for its version.
pub fn version_of(program: &str, argument: &str) -> String {
    let output = Command::new(program)
        .arg(argument)
        .output()
        .unwrap_or_else(|error| panic!("{program} is not in PATH: {error}"));
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}
