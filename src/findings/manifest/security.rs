//! Who the processes are, and fields of Linux that Windows does not have.

use super::place::Place;
use super::remark::Remark;
use super::template::{Container, PodTemplate};
use crate::domain::object::Os;
use crate::findings::Severity;

/// Fields of the pod spec that the API server refuses for `os.name: windows` (`validateWindows` of Kubernetes 1.37.2).
pub const LINUX_ONLY_OF_POD: [&str; 4] = ["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"];

/// The same in the pod's `securityContext`.
pub const LINUX_ONLY_OF_POD_SECURITY: [&str; 11] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];

/// The same in a container's `securityContext`.
pub const LINUX_ONLY_OF_CONTAINER: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// The account that counts as root; Windows does not look at upper and lower case.
const ADMINISTRATOR: &str = "ContainerAdministrator";

/// The rules.
pub fn judge(template: &PodTemplate) -> Vec<Remark> {
    let mut remarks = linux_only(template);
    remarks.extend(
        template
            .containers
            .iter()
            .filter_map(|container| non_root_as_administrator(template, container)),
    );
    remarks.extend(host_process(template));
    remarks
}

fn linux_only(template: &PodTemplate) -> Vec<Remark> {
    let pod = template.linux_only.iter().map(|field| (Place::spec(), field));
    let context = template
        .security
        .linux_only
        .iter()
        .map(|field| (Place::spec().field("securityContext"), field));
    let containers = template.containers.iter().flat_map(|container| {
        let place = container.place().field("securityContext");
        container
            .security
            .linux_only
            .iter()
            .map(move |field| (place.clone(), field))
    });
    pod.chain(context)
        .chain(containers)
        .map(|(place, field)| linux_only_field(template, place.field(field), field))
        .collect()
}

fn linux_only_field(template: &PodTemplate, place: Place, field: &str) -> Remark {
    let fact = place.to_string();
    if template.os == Some(Os::Windows) {
        let title = format!("{field} is refused for a Windows pod");
        Remark::about(template, (Severity::Critical, "linux-only-field"), place, title)
            .seen(format!("{fact} is set, and os.name is windows"))
            .why("The API server refuses a pod with os.name: windows and this field: it cannot be set for a Windows pod.")
            .remedy(format!("remove {field} from the Windows workload; the Linux variant keeps it in a workload of its own"))
    } else {
        let title = format!("{field} does nothing on Windows");
        Remark::about(template, (Severity::Info, "linux-only-field"), place, title)
            .seen(format!("{fact} is set"))
            .why(
                "Windows has no such thing: the kubelet passes it over, so whoever relies on it is wrong. With \
                 os.name: windows the API server would refuse it.",
            )
            .remedy(format!("remove {field}, and set os.name: windows"))
    }
}

fn non_root_as_administrator(template: &PodTemplate, container: &Container) -> Option<Remark> {
    let non_root = container
        .security
        .run_as_non_root
        .or(template.security.run_as_non_root)
        .unwrap_or(false);
    let user = template.user_of(container)?;
    if !non_root || !user.eq_ignore_ascii_case(ADMINISTRATOR) {
        return None;
    }
    let remark = Remark::about_container(
        template,
        container,
        (Severity::Critical, "non-root-as-administrator"),
        user_place(container),
        "runAsNonRoot forbids the user ContainerAdministrator",
    );
    Some(
        remark
            .seen("runAsNonRoot: true")
            .seen(format!("windowsOptions.runAsUserName: {user}"))
            .why(
                "The kubelet on Windows takes ContainerAdministrator for root and refuses to start the container: \
                 CreateContainerConfigError.",
            )
            .remedy("set windowsOptions.runAsUserName: ContainerUser, if the program can do without rights")
            .remedy("otherwise take runAsNonRoot away, where Pod Security of the namespace allows that"),
    )
}

/// Where the container's user is written down: at the container, else at the pod.
fn user_place(container: &Container) -> Place {
    let own = container
        .security
        .windows
        .as_ref()
        .is_some_and(|options| options.run_as_user_name.is_some());
    let place = if own { container.place() } else { Place::spec() };
    place.field("securityContext.windowsOptions.runAsUserName")
}

fn host_process(template: &PodTemplate) -> Vec<Remark> {
    let ordinary = template.ordinary_containers().count();
    if ordinary == template.containers.len() {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    if ordinary > 0 {
        let names: Vec<&str> = template
            .ordinary_containers()
            .map(|container| &*container.name)
            .collect();
        remarks.push(
            Remark::about(
                template,
                (Severity::Critical, "host-process-mixed"),
                Place::spec().field("securityContext.windowsOptions.hostProcess"),
                "HostProcess and ordinary containers in one pod",
            )
            .seen(format!("not HostProcess: {}", names.join(", ")))
            .why("The API server refuses it: all containers of a pod are HostProcess containers, or none.")
            .remedy(
                "set securityContext.windowsOptions.hostProcess: true at the pod, for all of its containers",
            ),
        );
    }
    if !template.host_network {
        remarks.push(
            Remark::about(
                template,
                (Severity::Critical, "host-process-without-host-network"),
                Place::spec().field("hostNetwork"),
                "a HostProcess pod without hostNetwork",
            )
            .seen("hostNetwork is not true")
            .why("HostProcess containers are processes of the node; the API server refuses them without hostNetwork.")
            .remedy("set hostNetwork: true"),
        );
    }
    remarks
}
