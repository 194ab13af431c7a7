//! Whether a pod template is for Windows.

use super::image_name::ImageName;
use super::template::PodTemplate;
use crate::domain::object::Os;

/// Label of a node: its operating system.
pub const OS_LABEL: &str = "kubernetes.io/os";
/// The same, as old manifests name it.
const OLD_OS_LABEL: &str = "beta.kubernetes.io/os";
/// Label of a Windows node: its build, e.g. `10.0.26100`.
pub const BUILD_LABEL: &str = "node.kubernetes.io/windows-build";

/// What says that the template is for Windows, in words for a finding's evidence; `None` if it is not, or if nothing says so.
pub fn sign(template: &PodTemplate) -> Option<String> {
    match selected_os(template) {
        _ if template.os == Some(Os::Linux) => return None,
        Some(Os::Linux) if template.os.is_none() => return None,
        _ if template.os == Some(Os::Windows) => return Some("os.name is windows".to_owned()),
        Some(Os::Windows) => return Some("its node selector asks for Windows".to_owned()),
        _ => {}
    }
    if let Some(build) = template.selects(BUILD_LABEL) {
        return Some(format!("its node selector asks for the Windows build {build}"));
    }
    let mut contexts = std::iter::once(&template.security)
        .chain(template.containers.iter().map(|container| &container.security));
    if contexts.any(|security| security.windows.is_some()) {
        return Some("its securityContext has windowsOptions".to_owned());
    }
    if let Some(class) = &template.runtime_class
        && class.scheduling.is_none()
        && class.name.to_ascii_lowercase().starts_with("windows")
    {
        return Some(format!("its RuntimeClass is {}", class.name));
    }
    template
        .containers
        .iter()
        .find(|container| ImageName::of(&container.image).is_windows_only())
        .map(|container| format!("the image {} is a Windows image", container.image))
}

/// The operating system of the nodes that it asks for.
pub fn selected_os(template: &PodTemplate) -> Option<Os> {
    let word = template
        .selects(OS_LABEL)
        .or_else(|| template.selects(OLD_OS_LABEL));
    match word {
        Some("windows") => Some(Os::Windows),
        Some("linux") => Some(Os::Linux),
        _ => template.affinity_os,
    }
}
