//! How pods stop.

use super::place::Place;
use super::remark::Remark;
use super::template::{Action, Container, PodTemplate};
use crate::findings::Severity;

/// Seconds that HCS needed to stop one container while the disks of the article's node were slow; 1.5 on fast ones.
const SLOW_STOP_SECONDS: u64 = 17;

/// The rules.
pub fn judge(template: &PodTemplate) -> Vec<Remark> {
    let longest = template
        .containers
        .iter()
        .filter_map(|container| match container.pre_stop {
            Some(Action::Sleep(seconds)) => Some((seconds, container)),
            _ => None,
        })
        .max_by_key(|(seconds, _)| *seconds);
    match longest {
        Some((seconds, container)) if seconds > template.grace_seconds => {
            vec![sleeps_longer_than_grace(template, container, seconds)]
        }
        _ => grace_too_short(template, longest.map_or(0, |(seconds, _)| seconds))
            .into_iter()
            .collect(),
    }
}

fn sleeps_longer_than_grace(template: &PodTemplate, container: &Container, seconds: u64) -> Remark {
    Remark::about_container(
        template,
        container,
        (Severity::Critical, "pre-stop-exceeds-grace"),
        container.place().field("lifecycle.preStop.sleep.seconds"),
        &format!("preStop sleeps {seconds} s, longer than the pod may take to stop"),
    )
    .seen(format!("preStop.sleep.seconds: {seconds}"))
    .seen(format!(
        "terminationGracePeriodSeconds: {}",
        template.grace_seconds
    ))
    .why("The API server refuses a sleep that is longer than the grace period.")
    .remedy(format!(
        "set terminationGracePeriodSeconds to {} or more",
        seconds + SLOW_STOP_SECONDS
    ))
}

fn grace_too_short(template: &PodTemplate, pre_stop: u64) -> Option<Remark> {
    let left = template.grace_seconds - pre_stop.min(template.grace_seconds);
    if left >= SLOW_STOP_SECONDS {
        return None;
    }
    let mut remark = Remark::about(
        template,
        (Severity::Warning, "grace-too-short"),
        Place::spec().field("terminationGracePeriodSeconds"),
        format!("{left} s are left to stop in"),
    )
    .seen(format!(
        "terminationGracePeriodSeconds: {}",
        template.grace_seconds
    ));
    if pre_stop > 0 {
        remark = remark.seen(format!("preStop.sleep.seconds: {pre_stop}"));
    }
    Some(
        remark
            .why(
                "After the program has ended, HCS still stops the container's system processes: 1.5 s on a fast disk, 17 s on \
                 a slow one. When the grace period is over everything in the container is ended by force.",
            )
            .remedy(format!(
                "set terminationGracePeriodSeconds to {} or more",
                pre_stop + SLOW_STOP_SECONDS
            )),
    )
}
