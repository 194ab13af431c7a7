//! Probes: a process or container takes noticeably longer to start on Windows.

use super::image_name::{Base, ImageName};
use super::remark::Remark;
use super::template::{Action, Container, PodTemplate, Probe};
use crate::findings::Severity;

/// Seconds below which the timeout of an exec probe is short: each one starts a process through HCS.
const SHORT_TIMEOUT_SECONDS: u64 = 5;

/// Seconds that a container gets to start: as long as the startup probe of the article's example allows.
const START_SECONDS: u64 = 60;

/// The rules.
pub fn judge(template: &PodTemplate) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for container in &template.containers {
        for (field, probe) in [
            ("startupProbe", &container.startup),
            ("livenessProbe", &container.liveness),
            ("readinessProbe", &container.readiness),
        ] {
            remarks.extend(
                probe
                    .iter()
                    .filter_map(|probe| exec_timeout(template, container, field, probe)),
            );
        }
    }
    remarks.extend(
        template
            .ordinary_containers()
            .filter_map(|container| no_startup_probe(template, container)),
    );
    remarks
}

fn exec_timeout(
    template: &PodTemplate,
    container: &Container,
    field: &'static str,
    probe: &Probe,
) -> Option<Remark> {
    if !matches!(probe.action, Action::Exec(_)) || probe.timeout_seconds >= SHORT_TIMEOUT_SECONDS {
        return None;
    }
    // Only the other two restart the container.
    let severity = if field == "readinessProbe" {
        Severity::Info
    } else {
        Severity::Warning
    };
    let remark = Remark::about_container(
        template,
        container,
        (severity, "exec-probe-timeout"),
        container.place().field(field).field("timeoutSeconds"),
        &format!(
            "its {field} starts a program and gives it {} s",
            probe.timeout_seconds
        ),
    );
    Some(
        remark
            .seen(format!("{field}.exec, timeoutSeconds: {}", probe.timeout_seconds))
            .why(
                "Each exec probe starts a process in the container through HCS, which takes noticeably longer than on \
                 Linux; under load a short timeout fails although the program is well.",
            )
            .remedy(format!("set timeoutSeconds to {SHORT_TIMEOUT_SECONDS} or more"))
            .remedy("or probe with httpGet or tcpSocket, which the kubelet does itself"),
    )
}

fn no_startup_probe(template: &PodTemplate, container: &Container) -> Option<Remark> {
    let liveness = container.liveness.as_ref()?;
    if container.startup.is_some() || liveness.patience_seconds() >= START_SECONDS {
        return None;
    }
    // Of other images the name does not tell how slow they are.
    let slow = matches!(
        ImageName::of(&container.image).base(),
        Some(Base::ServerCore | Base::Server)
    );
    let severity = if slow { Severity::Warning } else { Severity::Info };
    let patience = liveness.patience_seconds();
    let remark = Remark::about_container(
        template,
        container,
        (severity, "no-startup-probe"),
        container.place().field("startupProbe"),
        &format!("no startupProbe, and its livenessProbe restarts it within {patience} s"),
    )
    .seen(format!(
        "livenessProbe: {} s + {} × {} s",
        liveness.initial_delay_seconds, liveness.failure_threshold, liveness.period_seconds
    ))
    .seen(format!("image: {}", container.image));
    Some(
        remark
            .why(
                "HCS creates an isolated environment and starts system processes first, so a container takes noticeably \
                 longer to start than on Linux, more so on servercore; a liveness probe then restarts it in a loop.",
            )
            .remedy("add a startupProbe that allows a minute, e.g. periodSeconds: 2 and failureThreshold: 30"),
    )
}
