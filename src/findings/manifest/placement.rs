//! Where the pods may go: `os.name`, node selector, RuntimeClass and tolerations.

use super::place::Place;
use super::remark::Remark;
use super::template::{PodTemplate, Scheduling, Toleration};
use super::windows::{BUILD_LABEL, OS_LABEL, selected_os};
use crate::domain::object::Os;
use crate::findings::Severity;

/// The rules; `sign` is what says that the template is for Windows.
pub fn judge(template: &PodTemplate, sign: &str) -> Vec<Remark> {
    let contradiction = os_contradiction(template);
    if contradiction.is_some() {
        return contradiction.into_iter().collect();
    }
    [
        os_name_missing(template, sign),
        may_land_on_linux(template),
        taint_not_tolerated(template),
    ]
    .into_iter()
    .flatten()
    .chain(runtime_class_conflicts(template))
    .collect()
}

fn os_contradiction(template: &PodTemplate) -> Option<Remark> {
    if selected_os(template) != Some(Os::Linux) {
        return None;
    }
    let remark = Remark::about(
        template,
        (Severity::Critical, "os-contradiction"),
        Place::spec().field("nodeSelector"),
        "os.name is windows, but its nodes are Linux nodes",
    );
    Some(
        remark
            .seen("os.name: windows")
            .seen(format!("selected nodes: {OS_LABEL}=linux"))
            .why(
                "The scheduler goes by labels, so the pods come to Linux nodes, and the kubelet there refuses them: \
                 PodOSNotSupported.",
            )
            .remedy(format!("set the node selector {OS_LABEL}: windows, or os.name: linux")),
    )
}

fn os_name_missing(template: &PodTemplate, sign: &str) -> Option<Remark> {
    if template.os.is_some() {
        return None;
    }
    let remark = Remark::about(
        template,
        (Severity::Info, "os-name-missing"),
        Place::spec().field("os.name"),
        "os.name does not say windows",
    );
    Some(
        remark
            .seen(format!("taken for Windows because {sign}"))
            .why(
                "Without it the API server does not refuse fields that Windows does not have, and Pod Security at the level \
                 restricted demands Linux fields of these pods.",
            )
            .remedy("set spec.os.name: windows in the pod template"),
    )
}

fn may_land_on_linux(template: &PodTemplate) -> Option<Remark> {
    let steered = selected_os(template) == Some(Os::Windows)
        || template.selects(BUILD_LABEL).is_some()
        || template.node_name.is_some()
        || brings_unknown(template);
    if steered {
        return None;
    }
    let mut remark = Remark::about(
        template,
        (Severity::Warning, "may-land-on-linux"),
        Place::spec().field("nodeSelector"),
        "nothing keeps the pods off Linux nodes",
    )
    .seen("no nodeSelector, node affinity or RuntimeClass asks for Windows nodes");
    if let Some(class) = &template.runtime_class {
        remark = remark.seen(format!("RuntimeClass {} selects no Windows nodes", class.name));
    }
    Some(
        remark
            .why(
                "The scheduler does not look at os.name. A Linux kubelet refuses the pod (PodOSNotSupported), or without \
                 os.name finds no image for its platform.",
            )
            .remedy(
                "set runtimeClassName to a RuntimeClass that selects the Windows build, e.g. windows-2025, \
                 or nodeSelector kubernetes.io/os: windows",
            ),
    )
}

fn taint_not_tolerated(template: &PodTemplate) -> Option<Remark> {
    let brought = template
        .runtime_class
        .iter()
        .filter_map(|class| class.scheduling.as_ref())
        .flat_map(|scheduling| &scheduling.tolerations);
    let all: Vec<&Toleration> = template.tolerations.iter().chain(brought).collect();
    let tolerates = all.iter().any(|toleration| is_for_windows_taint(toleration));
    if tolerates || template.node_name.is_some() || brings_unknown(template) {
        return None;
    }
    let mut remark = Remark::about(
        template,
        (Severity::Info, "taint-not-tolerated"),
        Place::spec().field("tolerations"),
        "no toleration for a taint that keeps Linux pods off Windows nodes",
    );
    remark = match all.as_slice() {
        [] => remark.seen("no tolerations"),
        some => {
            let keys: Vec<&str> = some.iter().map(|toleration| &*toleration.key).collect();
            remark.seen(format!("tolerated keys: {}", keys.join(", ")))
        }
    };
    Some(
        remark
            .why(
                "Where the Windows nodes carry a taint such as os=windows:NoSchedule the pods stay Pending, and a DaemonSet \
                 gets no pods at all.",
            )
            .remedy(
                "use a RuntimeClass that brings the toleration, or add one with the key, value and effect of the nodes' taint: \
                 kubectl describe node NODE shows it",
            ),
    )
}

/// Whether it tolerates a taint that says `windows`, whatever its key is.
fn is_for_windows_taint(toleration: &Toleration) -> bool {
    let effect = matches!(&*toleration.effect, "" | "NoSchedule");
    let matter = toleration.key.is_empty()
        || &*toleration.value == "windows"
        || (&*toleration.operator == "Exists"
            && matches!(&*toleration.key, "os" | OS_LABEL | "node.kubernetes.io/os"));
    effect && matter
}

/// Whether its RuntimeClass may bring selector and toleration without having been seen.
fn brings_unknown(template: &PodTemplate) -> bool {
    template
        .runtime_class
        .as_ref()
        .is_some_and(|class| class.scheduling.is_none())
}

fn runtime_class_conflicts(template: &PodTemplate) -> Vec<Remark> {
    let Some(class) = &template.runtime_class else {
        return Vec::new();
    };
    let Some(Scheduling { node_selector, .. }) = &class.scheduling else {
        return Vec::new();
    };
    let clashes = node_selector.iter().filter_map(|(key, brought)| {
        let (_, own) = template.node_selector.iter().find(|(own, _)| own == key)?;
        (own != brought).then_some((key, own, brought))
    });
    clashes
        .map(|(key, own, brought)| {
            Remark::about(
                template,
                (Severity::Critical, "runtime-class-conflict"),
                Place::spec().field("nodeSelector"),
                format!("the node selector contradicts RuntimeClass {}", class.name),
            )
            .seen(format!("nodeSelector {key}: {own}"))
            .seen(format!("RuntimeClass {}: {key}: {brought}", class.name))
            .why("The API server merges both at admission and refuses the pod when they differ.")
            .remedy(format!(
                "take {key} out of the nodeSelector, or use another RuntimeClass"
            ))
        })
        .collect()
}
