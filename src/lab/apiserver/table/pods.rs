//! `kubectl get pods`: the word in the STATUS column takes in init containers, sidecars, crashes and deletion.

use super::super::json::{condition, condition_is_true, text};
use super::words::since;
use super::{AGE, Column, NAME, Printer, age, name, number, or, text_column, wide_column};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

static COLUMNS: [Column; 9] = [
    NAME,
    text_column("Ready"),
    text_column("Status"),
    text_column("Restarts"),
    AGE,
    wide_column("IP"),
    wide_column("Node"),
    wide_column("Nominated Node"),
    wide_column("Readiness Gates"),
];

pub(super) const POD: Printer = Printer {
    columns: &COLUMNS,
    cells,
};

fn cells(pod: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let summary = Summary::of(pod);
    let restarts = match &summary.last_restart {
        Some(time) if summary.restarts > 0 => format!("{} ({} ago)", summary.restarts, since(time, now)),
        _ => summary.restarts.to_string(),
    };
    vec![
        name(pod),
        json!(format!("{}/{}", summary.ready, summary.containers)),
        json!(summary.state),
        json!(restarts),
        age(pod, now),
        json!(or(text(pod, "/status/podIPs/0/ip"), "<none>")),
        json!(or(text(pod, "/spec/nodeName"), "<none>")),
        json!(or(text(pod, "/status/nominatedNodeName"), "<none>")),
        json!(readiness_gates(pod)),
    ]
}

fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn readiness_gates(pod: &Value) -> String {
    let gates = list(pod, "/spec/readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let open = gates
        .iter()
        .filter(|gate| condition_is_true(pod, text(gate, "/conditionType")))
        .count();
    format!("{open}/{}", gates.len())
}

/// What the columns between name and age say.
struct Summary {
    state: String,
    ready: usize,
    containers: usize,
    restarts: i64,
    last_restart: Option<String>,
}

impl Summary {
    fn of(pod: &Value) -> Self {
        let phase = text(pod, "/status/phase");
        let mut state = or(text(pod, "/status/reason"), phase).to_owned();
        if condition(pod, "PodScheduled").is_some_and(|one| text(one, "/reason") == "SchedulingGated") {
            "SchedulingGated".clone_into(&mut state);
        }
        let sidecars = list(pod, "/spec/initContainers")
            .iter()
            .filter(|one| is_sidecar(one))
            .count();
        let mut summary = Self {
            state,
            ready: 0,
            containers: list(pod, "/spec/containers").len() + sidecars,
            restarts: 0,
            last_restart: None,
        };
        let initializing = summary.init_containers(pod);
        if !initializing || condition_is_true(pod, "Initialized") {
            summary.app_containers(pod);
        }
        if pod.pointer("/metadata/deletionTimestamp").is_some() {
            if text(pod, "/status/reason") == "NodeLost" {
                "Unknown".clone_into(&mut summary.state);
            } else if !matches!(phase, "Succeeded" | "Failed") {
                "Terminating".clone_into(&mut summary.state);
            }
        }
        summary
    }

    fn count_restarts(&mut self, status: &Value) {
        self.restarts += number(status, "/restartCount");
        let finished = text(status, "/lastState/terminated/finishedAt");
        // Times in one format compare as text.
        if !finished.is_empty() && self.last_restart.as_deref().is_none_or(|last| last < finished) {
            self.last_restart = Some(finished.to_owned());
        }
    }

    /// Goes through the init containers up to the one that is not done; says whether there is one.
    fn init_containers(&mut self, pod: &Value) -> bool {
        let specs = list(pod, "/spec/initContainers");
        for (position, status) in list(pod, "/status/initContainerStatuses").iter().enumerate() {
            self.count_restarts(status);
            let sidecar = specs
                .iter()
                .any(|spec| spec["name"] == status["name"] && is_sidecar(spec));
            let terminated = status.pointer("/state/terminated");
            if terminated.is_some() && number(status, "/state/terminated/exitCode") == 0 {
                continue;
            }
            if sidecar && status["started"] == true {
                self.ready += usize::from(status["ready"] == true);
                continue;
            }
            let waiting = text(status, "/state/waiting/reason");
            self.state = if let Some(terminated) = terminated {
                format!("Init:{}", ended(terminated))
            } else if !waiting.is_empty() && waiting != "PodInitializing" {
                format!("Init:{waiting}")
            } else {
                format!("Init:{position}/{}", specs.len())
            };
            return true;
        }
        false
    }

    fn app_containers(&mut self, pod: &Value) {
        self.restarts = 0;
        self.last_restart = None;
        let specs = list(pod, "/spec/initContainers");
        for status in list(pod, "/status/initContainerStatuses") {
            if specs
                .iter()
                .any(|spec| spec["name"] == status["name"] && is_sidecar(spec))
            {
                self.count_restarts(status);
            }
        }
        let mut running = false;
        let mut error = None;
        for status in list(pod, "/status/containerStatuses").iter().rev() {
            self.count_restarts(status);
            let waiting = text(status, "/state/waiting/reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.state);
            } else if let Some(terminated) = status.pointer("/state/terminated") {
                self.state = ended(terminated);
                if number(terminated, "/exitCode") != 0 {
                    error = Some(self.state.clone());
                }
            } else if status["ready"] == true && status.pointer("/state/running").is_some() {
                running = true;
                self.ready += 1;
            }
        }
        if self.state == "Completed" {
            if running && condition_is_true(pod, "Ready") {
                "Running".clone_into(&mut self.state);
            } else if let Some(error) = error {
                self.state = error;
            } else if running {
                "NotReady".clone_into(&mut self.state);
            }
        }
    }
}

fn is_sidecar(container: &Value) -> bool {
    text(container, "/restartPolicy") == "Always"
}

/// Why a container ended: its reason, its signal or its exit code.
fn ended(terminated: &Value) -> String {
    let reason = text(terminated, "/reason");
    match (reason, number(terminated, "/signal")) {
        ("", 0) => format!("ExitCode:{}", number(terminated, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pod: &Value) -> String {
        let now = "2026-11-07T12:00:00Z".parse().unwrap();
        let cells = cells(pod, now);
        cells
            .iter()
            .take(5)
            .map(|cell| cell.as_str().unwrap())
            .collect::<Vec<_>>()
            .join(" | ")
    }

    fn pod(status: &Value) -> Value {
        json!({
            "metadata": { "name": "p", "creationTimestamp": "2026-11-06T22:00:00Z" },
            "spec": { "containers": [{ "name": "a" }] }, "status": status,
        })
    }

    #[test]
    fn a_host_process_pod_that_restarted_after_boot_says_when() {
        let status = json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }], "containerStatuses": [{
            "name": "a", "ready": true, "restartCount": 3, "state": { "running": {} },
            "lastState": { "terminated": { "exitCode": 1, "finishedAt": "2026-11-07T11:49:00Z" } },
        }]});
        assert_eq!(told(&pod(&status)), "p | 1/1 | Running | 3 (11m ago) | 14h");
    }

    #[test]
    fn a_crash_shows_its_reason_and_a_waiting_container_what_it_waits_for() {
        let crash = json!({ "phase": "Running", "containerStatuses": [{ "name": "a", "state": { "waiting": { "reason": "CrashLoopBackOff" } } }] });
        assert_eq!(told(&pod(&crash)), "p | 0/1 | CrashLoopBackOff | 0 | 14h");
        let exit = json!({ "phase": "Failed", "containerStatuses": [{ "name": "a", "state": { "terminated": { "exitCode": 2 } } }] });
        assert_eq!(told(&pod(&exit)), "p | 0/1 | ExitCode:2 | 0 | 14h");
    }

    #[test]
    fn an_init_container_in_progress_is_counted() {
        let mut waiting = pod(&json!({ "phase": "Pending", "initContainerStatuses": [
            { "name": "i", "state": { "terminated": { "exitCode": 0 } } }, { "name": "j", "state": { "waiting": { "reason": "PodInitializing" } } },
        ]}));
        waiting["spec"]["initContainers"] = json!([{ "name": "i" }, { "name": "j" }]);
        assert_eq!(told(&waiting), "p | 0/1 | Init:1/2 | 0 | 14h");
    }

    #[test]
    fn a_pod_on_its_way_out_is_terminating_unless_it_has_ended() {
        let mut leaving = pod(&json!({ "phase": "Running" }));
        leaving["metadata"]["deletionTimestamp"] = json!("2026-11-07T12:00:10Z");
        assert_eq!(told(&leaving), "p | 0/1 | Terminating | 0 | 14h");
        leaving["status"]["phase"] = json!("Succeeded");
        assert_eq!(told(&leaving), "p | 0/1 | Succeeded | 0 | 14h");
    }
}
