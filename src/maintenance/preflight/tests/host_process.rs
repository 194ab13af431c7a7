//! The HostProcess pod that is to restart the node.

use super::*;
use crate::domain::host_process::{HostPod, PodSecurity};
use crate::maintenance::options::Reboot;
use crate::maintenance::preflight::survey::Known;

fn by_pod(pod_security: Known<PodSecurity>) -> Preflight {
    let mut survey = one_windows_node();
    survey.pod_security = Some(pod_security);
    let options = Options {
        reboot: Some(Reboot::Pod(HostPod::default())),
        ..Options::default()
    };
    assess(&survey, &options, now())
}

#[test]
fn it_is_needed_only_where_it_was_asked_for() {
    is_silent(&preflight(&one_windows_node()), "HostProcess");
    let privileged = by_pod(Ok(PodSecurity::Enforced(Some("privileged".to_owned()))));
    is_silent(&privileged, "admit");
    is_silent(&by_pod(Ok(PodSecurity::Enforced(None))), "admit");
    says(
        &privileged,
        Weight::Info,
        &["only if Windows says", "RebootRequired"],
    );
}

#[test]
fn a_namespace_that_does_not_admit_it_refuses_before_anything_changes() {
    says(
        &by_pod(Ok(PodSecurity::Enforced(Some("baseline".to_owned())))),
        Weight::Refuses,
        &[
            "namespace kube-system does not admit HostProcess pods",
            "--host-process-namespace",
        ],
    );
    says(
        &by_pod(Ok(PodSecurity::NoNamespace)),
        Weight::Refuses,
        &["there is no namespace kube-system"],
    );
    says(
        &by_pod(Err("no answer within 10 s".to_owned())),
        Weight::Warning,
        &[
            "whether namespace kube-system admits HostProcess pods",
            "no answer within 10 s",
        ],
    );
}

#[test]
fn its_permissions_are_asked_for_in_its_namespace() {
    let needed = |reboot: Option<&Reboot>| -> Vec<String> {
        let needed = needed(&WIN_1.into(), [], reboot);
        needed.iter().map(ToString::to_string).collect()
    };
    let pod = Reboot::Pod(HostPod {
        namespace: "ops".into(),
        ..HostPod::default()
    });
    let with = needed(Some(&pod));
    for permission in [
        "create pods in namespace ops",
        "get pods in namespace ops",
        "get pods/log in namespace ops",
        "delete pods in namespace ops",
    ] {
        assert!(with.iter().any(|one| one == permission), "{permission}: {with:?}");
    }
    assert!(needed(None).iter().all(|one| !one.contains("delete")));
}
