//! Rules about the pod template of a Windows workload. They look at a [`PodTemplate`], which a manifest and a live pod
//! alike can be turned into, and point at the field that a finding is about.
//!
//! Critical is only what certainly fails: what the API server or the kubelet refuses, or a program that does not exist.

mod commands;
mod image_name;
mod images;
mod logs;
mod place;
mod placement;
mod probes;
mod remark;
mod resources;
mod security;
mod stopping;
pub mod template;
mod volumes;
mod windows;

#[cfg(test)]
mod tests;

pub use place::{Place, Step};
pub use remark::Remark;
pub use security::{LINUX_ONLY_OF_CONTAINER, LINUX_ONLY_OF_POD, LINUX_ONLY_OF_POD_SECURITY};
pub use windows::sign;

use template::PodTemplate;

/// Judges a pod template, worst first. A template that is not for Windows gives nothing.
pub fn judge(template: &PodTemplate) -> Vec<Remark> {
    let Some(sign) = sign(template) else {
        return Vec::new();
    };
    let mut remarks = placement::judge(template, &sign);
    for rule in [
        security::judge,
        resources::judge,
        probes::judge,
        stopping::judge,
        commands::judge,
        images::judge,
        volumes::judge,
        logs::judge,
    ] {
        remarks.extend(rule(template));
    }
    remarks.sort_by_key(|remark| std::cmp::Reverse(remark.finding.severity));
    remarks
}
