//! Believable log lines. A container's log is a function of time: line `n` was written at a known moment, so
//! that tail, since and follow all read the same log.

use crate::domain::Timestamp;
use crate::domain::object::Os;
use crate::lab::article::storage::{DIRECTORY, STAGING_HASH, VOLUME, volume_handle};
use crate::lab::text::hex64;
use crate::lab::world::{RunningContainer, RunningPod};
use chrono::{SecondsFormat, TimeDelta};

/// The log of one run of a container.
pub struct Log<'a> {
    pod: &'a RunningPod,
    container: &'a RunningContainer,
    opening: Vec<String>,
}

/// Seconds between two lines, once the opening lines are written.
const PERIOD_SECONDS: i64 = 10;

impl<'a> Log<'a> {
    /// The log of this container.
    pub fn of(pod: &'a RunningPod, container: &'a RunningContainer) -> Self {
        let opening = opening(pod, container);
        Self {
            pod,
            container,
            opening,
        }
    }

    /// How many lines are written at `now`.
    pub fn written(&self, now: Timestamp) -> usize {
        let seconds = (now - self.container.started_at).num_seconds();
        let regular = usize::try_from(seconds / PERIOD_SECONDS).unwrap_or(0);
        if seconds < 0 {
            0
        } else {
            self.opening.len() + regular
        }
    }

    /// How many lines are written at once when the container starts.
    pub fn opening_lines(&self) -> usize {
        self.opening.len()
    }

    /// The first line that was written at or after `since`.
    pub fn first_since(&self, since: Timestamp) -> usize {
        (0..=(self.written(since) + self.opening.len()))
            .find(|line| self.time_of(*line) >= since)
            .unwrap_or(0)
    }

    /// When line `line` was written.
    pub fn time_of(&self, line: usize) -> Timestamp {
        let regular = line.checked_sub(self.opening.len());
        let seconds = regular.map_or(0, |number| {
            (i64::try_from(number).unwrap_or(0) + 1) * PERIOD_SECONDS
        });
        self.container.started_at + TimeDelta::seconds(seconds)
    }

    /// The text of line `line`.
    pub fn text_of(&self, line: usize) -> String {
        self.opening.get(line).cloned().unwrap_or_else(|| {
            let number = line - self.opening.len();
            regular(self.pod, self.container, number, self.time_of(line))
        })
    }
}

fn slog(at: Timestamp, message: &str, more: &str) -> String {
    let time = at.to_rfc3339_opts(SecondsFormat::Nanos, true);
    format!(r#"{{"time":"{time}","level":"INFO","msg":"{message}"{more}}}"#)
}

/// `I1107 12:50:41.289414    3084 file.go:108] text`, as klog writes.
fn klog(at: Timestamp, place: &str, text: &str) -> String {
    format!("I{} {:>7} {place}] {text}", at.format("%m%d %H:%M:%S%.6f"), 3084)
}

fn opening(pod: &RunningPod, container: &RunningContainer) -> Vec<String> {
    let at = container.started_at;
    match (&*pod.app, &*container.name) {
        ("hello-win" | "hello", _) => vec![slog(at, "listening", r#","addr":":8080","version":"1.3""#)],
        ("csi-smb-node-win", "smb") => {
            let remote = format!(r"\\files.example.com\k8s\{DIRECTORY}");
            let staging = format!(
                r"\var\lib\kubelet\plugins\kubernetes.io\csi\smb.csi.k8s.io\{STAGING_HASH}\globalmount"
            );
            let target = format!(
                r"c:\var\lib\kubelet\pods\5530838f-65a3-41a2-a236-3c88c4634121\volumes\kubernetes.io~csi\{VOLUME}\mount"
            );
            vec![
                klog(at, "utils.go:107", "GRPC call: /csi.v1.Node/NodeStageVolume"),
                klog(
                    at,
                    "smb.go:108",
                    &format!(
                        r"begin to run NewSmbGlobalMapping with {remote}, AZURE\svc-k8s-smb, requirePrivacy=true"
                    ),
                ),
                klog(
                    at,
                    "nodeserver.go:133",
                    &format!(
                        "NodePublishVolume: mount {staging} at {target} volumeID({}) successfully",
                        volume_handle()
                    ),
                ),
            ]
        }
        _ => vec![format!(
            "{} {} started",
            at.format("%Y-%m-%d %H:%M:%S%.3f"),
            container.name
        )],
    }
}

fn regular(pod: &RunningPod, container: &RunningContainer, number: usize, at: Timestamp) -> String {
    let id = hex64(&format!("{}/{number}", pod.uid));
    match (&*pod.app, &*container.name) {
        ("hello-win" | "hello", _) => slog(
            at,
            "request served",
            &format!(
                r#","method":"GET","path":"/","status":200,"duration_ms":{},"trace_id":"{}","span_id":"{}","trace_sampled":false"#,
                number % 3,
                id.get(..32).unwrap_or_default(),
                id.get(32..48).unwrap_or_default()
            ),
        ),
        ("csi-smb-node-win" | "csi-smb-node", "smb") => {
            klog(at, "utils.go:107", "GRPC call: /csi.v1.Node/NodeGetVolumeStats")
        }
        ("calico-node-windows" | "calico-node", _) => format!(
            "{} [INFO][{}] felix/summary.go 100: Summarising {} dataplane reconciliation loops over 1m2s: avg=4ms longest=9ms ()",
            at.format("%Y-%m-%d %H:%M:%S%.3f"),
            2000 + number % 100,
            5 + number % 5
        ),
        _ if pod.os == Os::Windows && pod.host_process => klog(at, "proxier.go:1180", "Syncing proxy rules"),
        _ => format!(
            "{} {} iteration {number} done",
            at.format("%Y-%m-%d %H:%M:%S%.3f"),
            container.name
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::world::tests::hello_win;
    use chrono::Utc;

    #[test]
    fn hello_writes_json_lines_in_time_order() {
        let pod = hello_win();
        let log = Log::of(&pod, &pod.containers[0]);
        let written = log.written(Utc::now());
        assert_eq!(written, 7);
        for line in 0..written {
            let parsed: serde_json::Value = serde_json::from_str(&log.text_of(line)).unwrap();
            assert_eq!(parsed["level"], "INFO");
            assert!(line == 0 || log.time_of(line) > log.time_of(line - 1));
        }
    }

    #[test]
    fn since_skips_what_was_written_before() {
        let pod = hello_win();
        let log = Log::of(&pod, &pod.containers[0]);
        let first = log.first_since(Utc::now() - TimeDelta::seconds(30));
        assert_eq!(log.written(Utc::now()) - first, 3);
    }
}
