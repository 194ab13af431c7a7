//! Programs that write nothing to stdout.

use super::image_name::ImageName;
use super::remark::Remark;
use super::template::{Container, PodTemplate};
use crate::findings::Severity;

/// The rules. That a program is silent is known of Microsoft's IIS images only.
pub fn judge(template: &PodTemplate) -> Vec<Remark> {
    template
        .ordinary_containers()
        .filter(|container| ImageName::of(&container.image).is_iis() && !starts_log_monitor(container))
        .map(|container| {
            Remark::about_container(
                template,
                container,
                (Severity::Info, "silent-stdout"),
                container.place().field("image"),
                "IIS writes nothing to stdout",
            )
            .seen(format!("image: {}", container.image))
            .why(
                "IIS logs to files in C:\\inetpub\\logs and to the event log inside the container; `kubectl logs` and Loki see \
                 neither. It buffers, so lines come up to a minute late.",
            )
            .remedy(
                "start it through LogMonitor: ENTRYPOINT [\"C:\\\\LogMonitor\\\\LogMonitor.exe\", \"C:\\\\ServiceMonitor.exe\", \
                 \"w3svc\"], with the sources in C:\\LogMonitor\\LogMonitorConfig.json",
            )
        })
        .collect()
}

fn starts_log_monitor(container: &Container) -> bool {
    container
        .command
        .iter()
        .chain(&container.args)
        .any(|word| word.to_ascii_lowercase().contains("logmonitor"))
}
