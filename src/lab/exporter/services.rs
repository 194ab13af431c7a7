//! Collector `service`: state, start mode and process of the node's services.

use super::Scene;
use super::exposition::Exposition;
use crate::domain::measurement::ServiceState;
use crate::lab::figures::seconds_since_epoch;
use chrono::TimeDelta;

/// Services of the node: name, display name, start mode, seconds from boot to its process (`None`: stopped).
const SERVICES: [(&str, &str, &str, Option<i64>); 8] = [
    ("containerd", "containerd", "auto", Some(3)),
    ("eventlog", "Windows Event Log", "auto", Some(1)),
    ("hns", "Host Network Service", "manual", Some(4)),
    ("kubelet", "kubelet", "auto", Some(5)),
    ("LanmanWorkstation", "Workstation", "auto", Some(2)),
    ("vmcompute", "Hyper-V Host Compute Service", "manual", Some(2)),
    ("W32Time", "Windows Time", "auto", Some(2)),
    ("wuauserv", "Windows Update", "manual", None),
];

pub(super) fn write(scene: &Scene<'_>, text: &mut Exposition) {
    let info = text.gauge(
        "windows_service_info",
        "A metric with a constant '1' value labeled with service information",
    );
    for (name, display, _, _) in SERVICES {
        info.sample(
            &[
                ("display_name", display),
                ("name", name),
                ("path_name", ""),
                ("run_as", "LocalSystem"),
            ],
            1.0,
        );
    }
    let process = text.gauge("windows_service_process", "Process of started service.");
    for (position, (name, _, _, started)) in (1_u32..).zip(SERVICES) {
        if let Some(seconds) = started {
            let created = scene.machine.booted_at + TimeDelta::seconds(seconds);
            process.sample(
                &[
                    ("name", name),
                    ("process_id", &(position * 412 + 960).to_string()),
                ],
                seconds_since_epoch(created).floor(),
            );
        }
    }
    let modes = text.gauge(
        "windows_service_start_mode",
        "The start mode of the service (StartMode)",
    );
    for (name, _, own, _) in SERVICES {
        for mode in ["auto", "boot", "disabled", "manual", "system"] {
            modes.sample(
                &[("name", name), ("start_mode", mode)],
                if mode == own { 1.0 } else { 0.0 },
            );
        }
    }
    let states = text.gauge("windows_service_state", "The state of the service (State)");
    for (name, _, _, started) in SERVICES {
        let own = if started.is_some() {
            ServiceState::Running
        } else {
            ServiceState::Stopped
        };
        for state in ServiceState::ALL {
            states.sample(
                &[("name", name), ("state", state.name())],
                if state == own { 1.0 } else { 0.0 },
            );
        }
    }
}
