//! Memory limits and requests.

use super::remark::Remark;
use super::template::{Container, PodTemplate};
use crate::domain::format;
use crate::findings::Severity;

/// The rules.
pub fn judge(template: &PodTemplate) -> Vec<Remark> {
    template
        .containers
        .iter()
        .filter_map(|container| match container.memory_limit {
            None => Some(no_memory_limit(template, container)),
            Some(limit) => request_below_limit(template, container, limit),
        })
        .collect()
}

fn no_memory_limit(template: &PodTemplate, container: &Container) -> Remark {
    let host_process = template.is_host_process(container);
    // What serves the whole node or cluster is left alone: its owner decides.
    let severity = if host_process || is_system(template) {
        Severity::Info
    } else {
        Severity::Warning
    };
    Remark::about_container(
        template,
        container,
        (severity, "no-memory-limit"),
        container.place().field("resources.limits.memory"),
        "no memory limit",
    )
    .seen("resources.limits.memory is not set")
    .why(
        "Windows has no OOM killer, and requests never reach its kernel: without a limit one container can commit all of \
         the node's memory, and then allocations fail in every container and in the node's own services.",
    )
    .remedy(
        "set limits.memory with room for the container's own system processes (a few dozen MiB on nanoserver): it is \
         charged with committed memory, not with the working set that `kubectl top` shows",
    )
    .remedy("set requests.memory to the same value")
}

/// Namespaces of the cluster's own parts.
fn is_system(template: &PodTemplate) -> bool {
    template
        .object
        .namespace
        .as_ref()
        .is_some_and(|namespace| namespace.starts_with("kube-") || namespace.ends_with("-system"))
}

fn request_below_limit(template: &PodTemplate, container: &Container, limit: u64) -> Option<Remark> {
    // Without a request the API server sets it to the limit.
    let request = container.memory_request?;
    if request == limit || template.is_host_process(container) {
        return None;
    }
    let remark = Remark::about_container(
        template,
        container,
        (Severity::Info, "memory-request-not-limit"),
        container.place().field("resources.requests.memory"),
        "its memory request is not its limit",
    );
    Some(
        remark
            .seen(format!("requests.memory: {}", format::bytes_short(request)))
            .seen(format!("limits.memory: {}", format::bytes_short(limit)))
            .why(
                "The scheduler counts requests, Windows enforces limits only. Where limits exceed requests the pods of a \
                 node may together commit more than its physical memory, and the whole node pages.",
            )
            .remedy("set requests.memory to the limit"),
    )
}
