//! Images, as far as their names tell.

use super::image_name::ImageName;
use super::remark::Remark;
use super::template::{Container, PodTemplate};
use super::windows::BUILD_LABEL;
use crate::domain::image::node_runs_build;
use crate::domain::windows_version::WindowsBuild;
use crate::findings::Severity;

/// The rules. A HostProcess container runs on the node's own Windows: any image will do.
pub fn judge(template: &PodTemplate) -> Vec<Remark> {
    template
        .ordinary_containers()
        .flat_map(|container| {
            [
                base_without_version(template, container),
                wrong_build(template, container),
            ]
        })
        .flatten()
        .collect()
}

fn base_without_version(template: &PodTemplate, container: &Container) -> Option<Remark> {
    let image = ImageName::of(&container.image);
    let latest = matches!(image.tag, None | Some("latest")) && !image.pinned;
    if !latest || !image.is_bare_base() {
        return None;
    }
    let remark = Remark::about_container(
        template,
        container,
        (Severity::Critical, "base-without-version"),
        container.place().field("image"),
        "Microsoft's base images have no tag latest",
    );
    Some(
        remark
            .seen(format!("image: {}", container.image))
            .why("Their tags name the Windows version, because it decides on which nodes they run; the pull finds nothing.")
            .remedy("name the version of the nodes: ltsc2025 for build 26100, ltsc2022 for 20348"),
    )
}

fn wrong_build(template: &PodTemplate, container: &Container) -> Option<Remark> {
    let build = ImageName::of(&container.image).build()?;
    let node: WindowsBuild = template.selects(BUILD_LABEL)?.parse().ok()?;
    let image = WindowsBuild { build, ..node };
    if node_runs_build(node, image) {
        return None;
    }
    let (title, why) = if image > node {
        (
            "its image is for a newer Windows than its nodes have",
            "The user-mode part of Windows in the image must suit the node's kernel; a newer image never runs on an older one.",
        )
    } else {
        (
            "its image is for an older Windows than its nodes can run",
            "Since Windows Server 2022 a node runs images of its own build and back to the LTSC release before it, not older ones.",
        )
    };
    let remark = Remark::about_container(
        template,
        container,
        (Severity::Critical, "image-build"),
        container.place().field("image"),
        title,
    );
    Some(
        remark
            .seen(format!("image: {}, build {build}", container.image))
            .seen(format!("selected nodes: {BUILD_LABEL}={node}"))
            .why(why)
            .remedy("take the image that is built on the nodes' version, or a RuntimeClass whose nodes suit the image")
            .remedy(format!("see which variants there are: drainboard image {}", container.image)),
    )
}
