//! The lab attached to the real API server, and the real programs switched off and on.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::parts::{PATIENCE, directory};

/// `drainboard lab attach` with the article's cluster, until it is dropped. Its objects stay then; what it
/// served (kubelets, exporter, `metrics.k8s.io`) is gone at once, as if all machines lost their power.
pub struct Lab(Child);

impl Lab {
    /// Attaches, and waits until all pods of the article run.
    pub fn attach() -> Self {
        Self::attach_with(&[])
    }

    /// The same with these flags.
    pub fn attach_with(flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_drainboard"))
            .args(["lab", "attach", "--kubeconfig"])
            .arg(lab_kubeconfig())
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("drainboard lab attach");
        let stderr = child.stderr.take().expect("its stderr");
        let lab = Self(child);

        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                // Read to its end, even when nobody listens any more: a full pipe would stop the lab.
                let _ = sender.send(line);
            }
        });
        let mut said = Vec::new();
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(line) if line.contains("all pods run") => return lab,
                Ok(line) => said.push(line),
                Err(silence) => panic!(
                    "the lab did not say that all pods run ({silence}); it said:\n{}",
                    said.join("\n")
                ),
            }
        }
    }
}

/// The kubeconfig of the user that plays the lab: its requests are not in the audit log.
pub fn lab_kubeconfig() -> PathBuf {
    directory().join("lab.kubeconfig")
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Prometheus is down until this is dropped.
pub struct PrometheusStopped;

impl PrometheusStopped {
    /// Stops it; returns when its process is gone.
    pub fn now() -> Self {
        part("stop", "prometheus");
        Self
    }
}

impl Drop for PrometheusStopped {
    fn drop(&mut self) {
        part("start", "prometheus");
    }
}

/// Starts the API server anew: all objects are there, but it has forgotten the changes that led to them.
pub fn restart_the_api_server() {
    part("stop", "kube-apiserver");
    part("start", "kube-apiserver");
}

pub fn part(verb: &str, name: &str) {
    let status = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/part"))
        .args([verb, name])
        .status()
        .expect("tests/real/part");
    assert!(status.success(), "tests/real/part {verb} {name}: {status}");
}

/// Calls `seen` until it agrees; its last objection is the failure. What the cluster tells travels through
/// scrapes, rules and watches, each with a period of its own.
pub fn eventually(mut seen: impl FnMut() -> Result<(), String>) {
    let started = std::time::Instant::now();
    while let Err(objection) = seen() {
        assert!(started.elapsed() < PATIENCE, "{objection}");
        std::thread::sleep(Duration::from_millis(500));
    }
}
