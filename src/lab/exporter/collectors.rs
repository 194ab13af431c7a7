//! The collectors: the exporter's defaults, and `memory` and `container` as the chart switches them on.

use super::exposition::{Exposition, Family};
use super::{EXPORTER_VERSION, Scene, container, services};
use crate::lab::figures::{self, seconds_since_epoch, to_f64};

/// A collector: its name in `collect[]`, and what it writes.
pub struct Collector {
    /// Name.
    pub name: &'static str,
    pub(super) write: fn(&Scene<'_>, &mut Exposition),
}

/// All collectors that are on.
pub const COLLECTORS: [Collector; 9] = [
    Collector {
        name: "container",
        write: container::write,
    },
    Collector {
        name: "cpu",
        write: cpu,
    },
    Collector {
        name: "logical_disk",
        write: logical_disk,
    },
    Collector {
        name: "memory",
        write: memory,
    },
    Collector {
        name: "net",
        write: net,
    },
    Collector {
        name: "os",
        write: os,
    },
    Collector {
        name: "physical_disk",
        write: physical_disk,
    },
    Collector {
        name: "service",
        write: services::write,
    },
    Collector {
        name: "system",
        write: system,
    },
];

pub(super) fn about_itself(chosen: &[&Collector], text: &mut Exposition) {
    text.gauge(
        "windows_exporter_build_info",
        "A metric with a constant '1' value labeled by version and by how windows_exporter was built.",
    )
    .sample(
        &[
            ("branch", "HEAD"),
            ("goarch", "amd64"),
            ("goos", "windows"),
            ("goversion", "go1.27.0"),
            ("revision", "lab"),
            ("version", EXPORTER_VERSION),
        ],
        1.0,
    );
    let per_collector = |family: &mut Family, value: f64| {
        for collector in chosen {
            family.sample(&[("collector", collector.name)], value);
        }
    };
    per_collector(
        text.gauge(
            "windows_exporter_collector_duration_seconds",
            "windows_exporter: Duration of a collection.",
        ),
        0.012,
    );
    per_collector(
        text.gauge(
            "windows_exporter_collector_success",
            "windows_exporter: Whether the collector was successful.",
        ),
        1.0,
    );
    per_collector(
        text.gauge(
            "windows_exporter_collector_timeout",
            "windows_exporter: Whether the collector timed out.",
        ),
        0.0,
    );
    text.gauge(
        "windows_exporter_scrape_duration_seconds",
        "windows_exporter: Total scrape duration.",
    )
    .value(0.11);
}

fn cpu(scene: &Scene<'_>, text: &mut Exposition) {
    let cores = scene.machine.cpus;
    let up = seconds_since_epoch(scene.at) - seconds_since_epoch(scene.machine.boot.at);
    let busy = figures::node_busy_seconds(scene.machine, scene.at) / f64::from(cores);
    text.gauge(
        "windows_cpu_logical_processor",
        "Total number of logical processors",
    )
    .value(f64::from(cores));
    let time = text.counter(
        "windows_cpu_time_total",
        "Time that processor spent in different modes (dpc, idle, interrupt, privileged, user)",
    );
    for core in 0..cores {
        let core = format!("0,{core}");
        // interrupt and dpc are inside privileged
        for (mode, seconds) in [
            ("dpc", busy * 0.02),
            ("idle", up - busy),
            ("interrupt", busy * 0.03),
            ("privileged", busy * 0.4),
            ("user", busy * 0.6),
        ] {
            time.sample(&[("core", &core), ("mode", mode)], seconds);
        }
    }
    let frequency = text.gauge("windows_cpu_core_frequency_mhz", "Core frequency in megahertz");
    for core in 0..cores {
        frequency.sample(&[("core", &format!("0,{core}"))], 2400.0);
    }
}

fn memory(scene: &Scene<'_>, text: &mut Exposition) {
    let now = figures::node(scene.machine, scene.at);
    let total = to_f64(scene.machine.memory_bytes);
    let available = total - now.working_set_bytes;
    let mut gauge = |name, help, value| text.gauge(name, help).value(value);
    gauge(
        "windows_memory_available_bytes",
        "Physical memory immediately available for allocation (AvailableBytes)",
        available,
    );
    gauge("windows_memory_cache_bytes", "(CacheBytes)", total * 0.04);
    gauge(
        "windows_memory_commit_limit",
        "(CommitLimit)",
        scene.machine.commit_limit_bytes_f64(),
    );
    gauge(
        "windows_memory_committed_bytes",
        "(CommittedBytes)",
        now.commit_bytes,
    );
    gauge(
        "windows_memory_free_and_zero_page_list_bytes",
        "Physical memory on the free and zero page lists (FreeAndZeroPageListBytes)",
        available * 0.5,
    );
    gauge(
        "windows_memory_modified_page_list_bytes",
        "Physical memory on the modified page list (ModifiedPageListBytes)",
        total * 0.01,
    );
    gauge(
        "windows_memory_physical_free_bytes",
        "Physical memory currently available: standby, free and zero lists.",
        available,
    );
    gauge(
        "windows_memory_physical_total_bytes",
        "Physical memory, in bytes.",
        total,
    );
    gauge(
        "windows_memory_pool_nonpaged_bytes",
        "Bytes in the non-paged pool (PoolNonpagedBytes)",
        total * 0.03,
    );
    gauge(
        "windows_memory_pool_paged_bytes",
        "(PoolPagedBytes)",
        total * 0.04,
    );
    gauge(
        "windows_memory_standby_cache_core_bytes",
        "Physical memory on the core standby lists (StandbyCacheCoreBytes)",
        available * 0.1,
    );
    gauge(
        "windows_memory_standby_cache_normal_priority_bytes",
        "Physical memory on the normal standby lists (StandbyCacheNormalPriorityBytes)",
        available * 0.2,
    );
    gauge(
        "windows_memory_standby_cache_reserve_bytes",
        "Physical memory on the reserve standby lists (StandbyCacheReserveBytes)",
        available * 0.2,
    );
    let up = seconds_since_epoch(scene.at) - seconds_since_epoch(scene.machine.boot.at);
    let mut counter = |name, help, per_second: f64| text.counter(name, help).value((up * per_second).floor());
    counter(
        "windows_memory_page_faults_total",
        "Overall rate at which faulted pages are handled (Page Faults/sec)",
        820.0,
    );
    counter(
        "windows_memory_swap_page_operations_total",
        "Swap page reads and writes (PagesPerSec)",
        1.4,
    );
    counter(
        "windows_memory_swap_pages_read_total",
        "Pages read across all page reads (PagesInputPerSec)",
        1.1,
    );
    counter(
        "windows_memory_swap_pages_written_total",
        "Pages written across all page writes (PagesOutputPerSec)",
        0.3,
    );
}

fn os(scene: &Scene<'_>, text: &mut Exposition) {
    // Windows has its host name in capitals, whatever the Node object is called
    let host = scene.machine.name.to_uppercase();
    text.gauge(
        "windows_os_hostname",
        "Labelled system hostname information as provided by ComputerSystem.DNSHostName and ComputerSystem.Domain",
    )
    .sample(&[("domain", ""), ("fqdn", &host), ("hostname", &host)], 1.0);
    let (version, revision) = scene
        .machine
        .boot
        .kernel_version
        .rsplit_once('.')
        .unwrap_or((&scene.machine.boot.kernel_version, ""));
    let mut parts = version.split('.');
    let mut part = || parts.next().unwrap_or_default();
    let (major, minor, build) = (part(), part(), part());
    text.gauge(
        "windows_os_info",
        "Contains full product name & version in labels.",
    )
    .sample(
        &[
            ("build_number", build),
            ("installation_type", "Server Core"),
            ("major_version", major),
            ("minor_version", minor),
            ("product", "Windows Server 2025 Standard"),
            ("revision", revision),
            ("version", version),
        ],
        1.0,
    );
}

fn system(scene: &Scene<'_>, text: &mut Exposition) {
    let boot = seconds_since_epoch(scene.machine.boot.at).floor();
    let up = seconds_since_epoch(scene.at) - boot;
    text.gauge(
        "windows_system_boot_time_timestamp",
        "Unix timestamp of system boot time",
    )
    .value(boot);
    text.counter(
        "windows_system_context_switches_total",
        "Total number of context switches (WMI source: PerfOS_System.ContextSwitchesPersec)",
    )
    .value((up * 2900.0).floor());
    text.gauge("windows_system_processes", "Current number of processes")
        .value(128.0 + 7.0 * to_f64(u64::try_from(scene.pods.len()).unwrap_or(0)));
    text.gauge("windows_system_processes_limit", "Maximum number of processes")
        .value(4_294_967_295.0);
    text.gauge(
        "windows_system_processor_queue_length",
        "Length of processor queue (WMI source: PerfOS_System.ProcessorQueueLength)",
    )
    .value(0.0);
    text.gauge(
        "windows_system_threads",
        "Current number of threads (WMI source: PerfOS_System.Threads)",
    )
    .value(1840.0);
}

const DISK_BYTES: f64 = 63_769_128_960.0;
const DISK_FREE_BYTES: f64 = 27_380_416_512.0;

fn logical_disk(scene: &Scene<'_>, text: &mut Exposition) {
    let up = seconds_since_epoch(scene.at) - seconds_since_epoch(scene.machine.boot.at);
    let volume = [("volume", "C:")];
    text.gauge(
        "windows_logical_disk_info",
        "A metric with a constant '1' value labeled with logical disk information",
    )
    .sample(
        &[
            ("disk", "0"),
            ("filesystem", "NTFS"),
            ("serial_number", ""),
            ("type", "fixed"),
            ("volume", "C:"),
            ("volume_name", ""),
        ],
        1.0,
    );
    text.gauge(
        "windows_logical_disk_free_bytes",
        "Free space in bytes, updates every 10-15 min (LogicalDisk.PercentFreeSpace)",
    )
    .sample(&volume, DISK_FREE_BYTES);
    text.gauge(
        "windows_logical_disk_size_bytes",
        "Total space in bytes, updates every 10-15 min (LogicalDisk.PercentFreeSpace_Base)",
    )
    .sample(&volume, DISK_BYTES);
    text.counter(
        "windows_logical_disk_read_seconds_total",
        "Seconds that the disk was busy servicing read requests (LogicalDisk.PercentDiskReadTime)",
    )
    .sample(&volume, up * 0.004);
    text.counter(
        "windows_logical_disk_write_seconds_total",
        "Seconds that the disk was busy servicing write requests (LogicalDisk.PercentDiskWriteTime)",
    )
    .sample(&volume, up * 0.007);
}

fn physical_disk(scene: &Scene<'_>, text: &mut Exposition) {
    let up = seconds_since_epoch(scene.at) - seconds_since_epoch(scene.machine.boot.at);
    let disk = [("disk", "0")];
    text.counter(
        "windows_physical_disk_read_bytes_total",
        "Bytes transferred from the disk during read operations (PhysicalDisk.DiskReadBytesPerSec)",
    )
    .sample(&disk, (up * 91_000.0).floor());
    text.counter(
        "windows_physical_disk_write_bytes_total",
        "Bytes transferred to the disk during write operations (PhysicalDisk.DiskWriteBytesPerSec)",
    )
    .sample(&disk, (up * 240_000.0).floor());
}

fn net(scene: &Scene<'_>, text: &mut Exposition) {
    let up = seconds_since_epoch(scene.at) - seconds_since_epoch(scene.machine.boot.at);
    // the performance counter's spelling: no parentheses
    let nic = "vEthernet [Ethernet]";
    let address = scene.machine.address.to_string();
    text.gauge(
        "windows_net_nic_address_info",
        "A metric with a constant '1' value labeled with the network interface's address information.",
    )
    .sample(&[("address", &address), ("family", "ipv4"), ("nic", nic)], 1.0);
    for (name, help, per_second) in [
        (
            "windows_net_bytes_received_total",
            "(Network.BytesReceivedPerSec)",
            31_000.0,
        ),
        (
            "windows_net_bytes_sent_total",
            "(Network.BytesSentPerSec)",
            22_000.0,
        ),
        ("windows_net_bytes_total", "(Network.BytesTotalPerSec)", 53_000.0),
        (
            "windows_net_packets_outbound_discarded_total",
            "(Network.PacketsOutboundDiscarded)",
            0.0,
        ),
        (
            "windows_net_packets_received_discarded_total",
            "(Network.PacketsReceivedDiscarded)",
            0.0,
        ),
    ] {
        text.counter(name, help)
            .sample(&[("nic", nic)], (up * per_second).floor());
    }
}
