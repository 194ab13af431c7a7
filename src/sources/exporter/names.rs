//! Which series of `windows_exporter` hold which quantity, from version 0.25 to 0.31. The one table behind the
//! `PromQL` catalogue and behind the direct scrape.
//!
//! Names were compared between the exporter's tags: 0.29 moved totals of memory from the `cs` and `os`
//! collectors to `memory`, 0.30 and 0.31 renamed the boot time, 0.31 dropped the old names.

use crate::domain::measurement::{ContainerQuantity, NodeQuantity};

/// How a quantity of a node is computed from series of one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    /// The series as it is.
    Gauge(&'static str),
    /// First series minus second.
    Difference(&'static str, &'static str),
    /// First series divided by the second, both of the system volume `C:`.
    SystemVolumeShare(&'static str, &'static str),
    /// Share of the time that is not idle: `1 - idle / (idle + user + privileged)` of this counter by `mode`.
    /// Interrupt and DPC time are inside privileged. Right from the second sample on, because numerator and
    /// denominator miss the same part of a window that is not filled yet.
    BusyShare(&'static str),
}

impl Formula {
    /// The series that it needs.
    pub fn series(self) -> impl Iterator<Item = &'static str> {
        let (first, second) = match self {
            Self::Gauge(name) | Self::BusyShare(name) => (name, None),
            Self::Difference(first, second) | Self::SystemVolumeShare(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }
}

/// A quantity of a node and where it is found.
#[derive(Clone, Copy, Debug)]
pub struct NodeFamily {
    /// What.
    pub quantity: NodeQuantity,
    /// Its word in queries (label `quantity`).
    pub key: &'static str,
    /// Ways to get it, newest exporter first.
    pub chain: &'static [Formula],
    /// The collector of current exporters that gives it.
    pub collector: &'static str,
}

/// Every quantity of a node that the exporter gives.
pub const NODE_FAMILIES: [NodeFamily; 7] = [
    NodeFamily {
        quantity: NodeQuantity::Commit,
        key: "commit",
        chain: &[
            Formula::Gauge("windows_memory_committed_bytes"),
            Formula::Difference(
                "windows_os_virtual_memory_bytes",
                "windows_os_virtual_memory_free_bytes",
            ),
        ],
        collector: "memory",
    },
    NodeFamily {
        quantity: NodeQuantity::CommitLimit,
        key: "commit_limit",
        chain: &[
            Formula::Gauge("windows_memory_commit_limit"),
            Formula::Gauge("windows_os_virtual_memory_bytes"),
        ],
        collector: "memory",
    },
    NodeFamily {
        quantity: NodeQuantity::PhysicalMemory,
        key: "physical",
        chain: &[
            Formula::Gauge("windows_memory_physical_total_bytes"),
            Formula::Gauge("windows_os_visible_memory_bytes"),
            Formula::Gauge("windows_cs_physical_memory_bytes"),
        ],
        collector: "memory",
    },
    NodeFamily {
        quantity: NodeQuantity::PhysicalFree,
        key: "physical_free",
        chain: &[
            Formula::Gauge("windows_memory_physical_free_bytes"),
            Formula::Gauge("windows_os_physical_memory_free_bytes"),
        ],
        collector: "memory",
    },
    NodeFamily {
        quantity: NodeQuantity::CpuRatio,
        key: "cpu_ratio",
        chain: &[Formula::BusyShare("windows_cpu_time_total")],
        collector: "cpu",
    },
    NodeFamily {
        quantity: NodeQuantity::BootTime,
        key: "boot_time",
        chain: &[
            Formula::Gauge("windows_system_boot_time_timestamp"),
            Formula::Gauge("windows_system_boot_time_timestamp_seconds"),
            Formula::Gauge("windows_system_system_up_time"),
        ],
        collector: "system",
    },
    NodeFamily {
        quantity: NodeQuantity::SystemDiskFree,
        key: "system_disk_free",
        chain: &[Formula::SystemVolumeShare(
            "windows_logical_disk_free_bytes",
            "windows_logical_disk_size_bytes",
        )],
        collector: "logical_disk",
    },
];

/// A quantity of a container and where it is found.
#[derive(Clone, Copy, Debug)]
pub struct ContainerFamily {
    /// What.
    pub quantity: ContainerQuantity,
    /// Its word in queries (label `quantity`).
    pub key: &'static str,
    /// The series.
    pub series: &'static str,
    /// Whether the series counts up, so that the quantity is its rate.
    pub counter: bool,
    /// The same series as the `windows.pod.rules` of kube-prometheus-stack record it.
    pub recorded: Option<&'static str>,
}

/// Every quantity of a container that the exporter gives (collector `container`, off by default). The names are
/// the same since 0.25; the labels namespace, pod and container came with 0.31.
pub const CONTAINER_FAMILIES: [ContainerFamily; 4] = [
    ContainerFamily {
        quantity: ContainerQuantity::Commit,
        key: "commit",
        series: "windows_container_memory_usage_commit_bytes",
        counter: false,
        recorded: Some("windows_container_memory_usage"),
    },
    ContainerFamily {
        quantity: ContainerQuantity::CommitPeak,
        key: "commit_peak",
        series: "windows_container_memory_usage_commit_peak_bytes",
        counter: false,
        recorded: None,
    },
    ContainerFamily {
        quantity: ContainerQuantity::WorkingSet,
        key: "working_set",
        series: "windows_container_memory_usage_private_working_set_bytes",
        counter: false,
        recorded: Some("windows_container_private_working_set_usage"),
    },
    ContainerFamily {
        quantity: ContainerQuantity::CpuCores,
        key: "cpu_cores",
        series: "windows_container_cpu_usage_seconds_total",
        counter: true,
        recorded: Some("windows_container_total_runtime"),
    },
];

/// Collector of the container series.
pub const CONTAINER_COLLECTOR: &str = "container";

/// One series per service and state, 1 for the current state (collector `service`). Names of services are
/// lower-case before 0.29.
pub const SERVICE_STATE: &str = "windows_service_state";

/// Creation time of a service's process, seconds since 1970 (since 0.29).
pub const SERVICE_PROCESS: &str = "windows_service_process";

/// Collector of the service series.
pub const SERVICE_COLLECTOR: &str = "service";

/// 1, with the exporter's `version`.
pub const BUILD_INFO: &str = "windows_exporter_build_info";

/// 0 or 1 per enabled `collector`: whether its last run worked.
pub const COLLECTOR_SUCCESS: &str = "windows_exporter_collector_success";

/// 0 or 1 per enabled `collector`: whether its last run timed out.
pub const COLLECTOR_TIMEOUT: &str = "windows_exporter_collector_timeout";

/// Advice for a quantity whose collector is not enabled.
pub fn enable_advice(collector: &str) -> String {
    match collector {
        "memory" | "container" => format!(
            "collector {collector} is off; enable it in the exporter's configuration \
             (collectors: enabled: \"[defaults],memory,container\")"
        ),
        other => format!(
            "collector {other} is off although it is a default; look at the exporter's `collectors.enabled`"
        ),
    }
}

/// Whether `collector` is the one of current exporters for a quantity, or an older exporter's for the same.
pub fn collectors_of(collector: &'static str) -> &'static [&'static str] {
    match collector {
        "memory" => &["memory", "os", "cs"],
        "cpu" => &["cpu"],
        "system" => &["system"],
        "logical_disk" => &["logical_disk"],
        "service" => &["service"],
        _ => &["container"],
    }
}
