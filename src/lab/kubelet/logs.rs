//! Believable log lines. A container's log is a function of time: line `n` was written at a known moment, so
//! that tail, since and follow all read the same log.

use super::smb_log;
use crate::domain::Timestamp;
use crate::domain::object::Os;
use crate::lab::text::hex64;
use crate::lab::world::{Mount, RunningContainer, RunningPod};
use chrono::{SecondsFormat, TimeDelta};

/// The log of one run of a container, as far as it is written.
pub struct Log<'a> {
    pod: &'a RunningPod,
    container: &'a RunningContainer,
    lines: Vec<(Timestamp, Line)>,
}

/// A line.
enum Line {
    /// With this text.
    Told(String),
    /// One of those that come all the time.
    Regular(usize),
}

/// Seconds between two lines, once the opening lines are written.
const PERIOD_SECONDS: i64 = 10;

impl<'a> Log<'a> {
    /// The log of this container at `now`; `mounts` are those of its node.
    pub fn of(
        pod: &'a RunningPod,
        container: &'a RunningContainer,
        mounts: &[Mount],
        now: Timestamp,
    ) -> Self {
        let started = container.started_at;
        let mut lines: Vec<(Timestamp, Line)> = opening(pod, container)
            .into_iter()
            .map(|text| (started, Line::Told(text)))
            .collect();
        let regular = usize::try_from((now - started).num_seconds() / PERIOD_SECONDS).unwrap_or(0);
        lines.extend((0..regular).map(|number| {
            let seconds = (i64::try_from(number).unwrap_or(0) + 1) * PERIOD_SECONDS;
            (started + TimeDelta::seconds(seconds), Line::Regular(number))
        }));
        if (&*pod.app, &*container.name) == ("csi-smb-node-win", "smb") {
            let told = smb_log::lines(mounts, started);
            lines.extend(told.into_iter().map(|(at, text)| (at, Line::Told(text))));
        }
        lines.retain(|(at, _)| *at <= now);
        lines.sort_by_key(|(at, _)| *at);
        Self {
            pod,
            container,
            lines,
        }
    }

    /// How many lines are written.
    pub fn written(&self) -> usize {
        self.lines.len()
    }

    /// The lines that do not come all the time, with their times.
    pub fn told(&self) -> impl Iterator<Item = (Timestamp, &str)> {
        self.lines.iter().filter_map(|(at, line)| match line {
            Line::Told(text) => Some((*at, text.as_str())),
            Line::Regular(_) => None,
        })
    }

    /// The lines that come all the time, with their times: those from `first` on.
    pub fn regular(&self, first: usize) -> impl Iterator<Item = (Timestamp, String)> {
        self.lines.iter().filter_map(move |(at, line)| match line {
            Line::Regular(number) if *number >= first => {
                Some((*at, regular(self.pod, self.container, *number, *at)))
            }
            Line::Regular(_) | Line::Told(_) => None,
        })
    }

    /// The first line that was written at or after `since`.
    pub fn first_since(&self, since: Timestamp) -> usize {
        self.lines.partition_point(|(at, _)| *at < since)
    }

    /// When line `line` was written, and its text.
    pub fn line(&self, line: usize) -> Option<(Timestamp, String)> {
        let (at, told) = self.lines.get(line)?;
        let text = match told {
            Line::Told(text) => text.clone(),
            Line::Regular(number) => regular(self.pod, self.container, *number, *at),
        };
        Some((*at, text))
    }
}

fn slog(at: Timestamp, message: &str, more: &str) -> String {
    let time = at.to_rfc3339_opts(SecondsFormat::Nanos, true);
    format!(r#"{{"time":"{time}","level":"INFO","msg":"{message}"{more}}}"#)
}

/// `I1107 12:50:41.289414    3084 file.go:108] text`, as klog writes.
pub(super) fn klog(at: Timestamp, place: &str, text: &str) -> String {
    format!("I{} {:>7} {place}] {text}", at.format("%m%d %H:%M:%S%.6f"), 3084)
}

fn opening(pod: &RunningPod, container: &RunningContainer) -> Vec<String> {
    let at = container.started_at;
    match (&*pod.app, &*container.name) {
        ("hello-win" | "hello", _) => vec![slog(at, "listening", r#","addr":":8080","version":"1.3""#)],
        ("csi-smb-node-win", "smb") => vec![klog(
            at,
            "utils.go:107",
            "GRPC call: /csi.v1.Identity/GetPluginInfo",
        )],
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
        let log = Log::of(&pod, &pod.containers[0], &[], Utc::now());
        assert_eq!(log.written(), 7);
        let mut before = None;
        for line in 0..log.written() {
            let (at, text) = log.line(line).unwrap();
            let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(parsed["level"], "INFO");
            assert!(before < Some(at));
            before = Some(at);
        }
    }

    #[test]
    fn since_skips_what_was_written_before() {
        let pod = hello_win();
        let log = Log::of(&pod, &pod.containers[0], &[], Utc::now());
        let first = log.first_since(Utc::now() - TimeDelta::seconds(30));
        assert_eq!(log.written() - first, 3);
    }
}
