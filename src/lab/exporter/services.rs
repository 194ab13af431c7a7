//! Collector `service`: state, start mode and process of the node's services.

use super::Scene;
use super::exposition::Exposition;
use crate::domain::Timestamp;
use crate::domain::measurement::ServiceState;
use crate::lab::figures::seconds_since_epoch;
use crate::lab::machine::Boot;

/// With what a service starts.
#[derive(Clone, Copy, PartialEq)]
enum Started {
    /// With the operating system.
    System,
    /// With containerd.
    Containerd,
    /// With the kubelet.
    Kubelet,
    /// When somebody needs it, and nobody does.
    Never,
}

/// Services of the node: name, display name, start mode, start.
const SERVICES: [(&str, &str, &str, Started); 8] = [
    ("containerd", "containerd", "auto", Started::Containerd),
    ("eventlog", "Windows Event Log", "auto", Started::System),
    ("hns", "Host Network Service", "manual", Started::Containerd),
    ("kubelet", "kubelet", "auto", Started::Kubelet),
    ("LanmanWorkstation", "Workstation", "auto", Started::System),
    (
        "vmcompute",
        "Hyper-V Host Compute Service",
        "manual",
        Started::System,
    ),
    ("W32Time", "Windows Time", "auto", Started::System),
    ("wuauserv", "Windows Update", "manual", Started::Never),
];

impl Started {
    fn at(self, boot: &Boot) -> Option<Timestamp> {
        match self {
            Self::System => Some(boot.at),
            Self::Containerd => Some(boot.containerd_at),
            Self::Kubelet => Some(boot.kubelet_at),
            Self::Never => None,
        }
    }
}

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
        if let Some(created) = started.at(&scene.machine.boot) {
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
        let own = if started == Started::Never {
            ServiceState::Stopped
        } else {
            ServiceState::Running
        };
        for state in ServiceState::ALL {
            states.sample(
                &[("name", name), ("state", state.name())],
                if state == own { 1.0 } else { 0.0 },
            );
        }
    }
}
