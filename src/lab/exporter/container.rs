//! Collector `container`: commit, working set and CPU of each container, HostProcess ones included.

use super::Scene;
use super::exposition::{Exposition, Family};
use crate::lab::figures::{self, Who, to_f64};
use crate::lab::world::{RunningContainer, RunningPod};

pub(super) fn write(scene: &Scene<'_>, text: &mut Exposition) {
    let all = || {
        scene
            .pods
            .iter()
            .flat_map(|pod| pod.containers.iter().map(move |container| (&**pod, container)))
    };
    let hcs = all().filter(|(pod, _)| !pod.host_process).count();
    // HCS counts the pause container of each sandbox too
    let sandboxes = scene.pods.iter().filter(|pod| !pod.host_process).count();
    text.gauge("windows_container_count", "Number of containers")
        .value(to_f64(u64::try_from(hcs + sandboxes).unwrap_or(0)));
    let available = text.gauge("windows_container_available", "Available");
    for (pod, container) in all() {
        let host_process = if pod.host_process { "true" } else { "false" };
        available.sample(
            &[
                ("container", &container.name),
                ("container_id", &container.id),
                ("hostprocess", host_process),
                ("namespace", &pod.namespace),
                ("pod", &pod.name),
            ],
            1.0,
        );
    }
    let each = |family: &mut Family, figure: &dyn Fn(&RunningPod, &RunningContainer) -> f64| {
        for (pod, container) in all() {
            family.sample(&identity(pod, container), figure(pod, container));
        }
    };
    let figures =
        |pod: &RunningPod, container: &RunningContainer| figures::container(who(pod, container), scene.at);
    let cpu = |pod: &RunningPod, container: &RunningContainer| {
        figures::container_cpu_seconds(who(pod, container), scene.at)
    };
    each(
        text.gauge(
            "windows_container_memory_usage_commit_bytes",
            "Memory Usage Commit Bytes",
        ),
        &|pod, container| figures(pod, container).commit_bytes,
    );
    each(
        text.gauge(
            "windows_container_memory_usage_commit_peak_bytes",
            "Memory Usage Commit Peak Bytes",
        ),
        &|pod, container| figures(pod, container).commit_peak_bytes,
    );
    each(
        text.gauge(
            "windows_container_memory_usage_private_working_set_bytes",
            "Memory Usage Private Working Set Bytes",
        ),
        &|pod, container| figures(pod, container).private_working_set_bytes,
    );
    each(
        text.counter(
            "windows_container_cpu_usage_seconds_total",
            "Total Run time in Seconds",
        ),
        &cpu,
    );
    each(
        text.counter(
            "windows_container_cpu_usage_seconds_usermode",
            "Run Time in User mode in Seconds",
        ),
        &|pod, container| cpu(pod, container) * 0.7,
    );
    each(
        text.counter(
            "windows_container_cpu_usage_seconds_kernelmode",
            "Run time in Kernel mode in Seconds",
        ),
        &|pod, container| cpu(pod, container) * 0.3,
    );
}

fn identity<'a>(pod: &'a RunningPod, container: &'a RunningContainer) -> [(&'static str, &'a str); 4] {
    [
        ("container", &container.name),
        ("container_id", &container.id),
        ("namespace", &pod.namespace),
        ("pod", &pod.name),
    ]
}

/// Whose figures a container has.
pub fn who<'a>(pod: &'a RunningPod, container: &'a RunningContainer) -> Who<'a> {
    Who {
        os: pod.os,
        app: &pod.app,
        pod: &pod.name,
        container: &container.name,
        memory_limit_bytes: container.memory_limit_bytes,
        started_at: container.started_at,
    }
}
