//! Given such a pod template, the operator is told that.

use super::template::*;
use super::*;
use crate::domain::object::Os;
use crate::domain::pod::ContainerKind;
use crate::findings::{Object, Severity};

const MIB: u64 = 1 << 20;

/// The pod template of the article's hello-win.
fn hello_win() -> PodTemplate {
    PodTemplate {
        object: Object {
            kind: "Deployment".into(),
            namespace: Some("win-demo".into()),
            name: "hello-win".into(),
        },
        os: Some(Os::Windows),
        node_name: None,
        node_selector: Vec::new(),
        affinity_os: None,
        tolerations: Vec::new(),
        runtime_class: Some(RuntimeClass {
            name: "windows-2025".into(),
            scheduling: Some(windows_2025()),
        }),
        host_network: false,
        linux_only: Vec::new(),
        security: Security {
            run_as_non_root: Some(true),
            windows: Some(user("ContainerUser")),
            ..Security::default()
        },
        grace_seconds: 30,
        containers: vec![hello()],
        volumes: Vec::new(),
    }
}

fn windows_2025() -> Scheduling {
    Scheduling {
        node_selector: vec![
            ("kubernetes.io/os".into(), "windows".into()),
            ("node.kubernetes.io/windows-build".into(), "10.0.26100".into()),
        ],
        tolerations: vec![Toleration {
            key: "os".into(),
            operator: "Equal".into(),
            value: "windows".into(),
            effect: "NoSchedule".into(),
        }],
    }
}

fn user(name: &str) -> WindowsOptions {
    WindowsOptions {
        run_as_user_name: Some(name.into()),
        ..WindowsOptions::default()
    }
}

fn hello() -> Container {
    Container {
        name: "hello".into(),
        kind: ContainerKind::App,
        index: 0,
        image: "ghcr.io/example/hello:1.3".into(),
        command: Vec::new(),
        args: Vec::new(),
        memory_request: Some(256 * MIB),
        memory_limit: Some(256 * MIB),
        security: Security::default(),
        startup: Some(probe(Action::Network)),
        liveness: Some(probe(Action::Network)),
        readiness: Some(probe(Action::Network)),
        post_start: None,
        pre_stop: Some(Action::Sleep(5)),
    }
}

fn probe(action: Action) -> Probe {
    Probe {
        action,
        initial_delay_seconds: 0,
        period_seconds: 10,
        timeout_seconds: 1,
        failure_threshold: 3,
    }
}

fn exec(words: &[&str]) -> Action {
    Action::Exec(words.iter().map(|word| (*word).into()).collect())
}

/// The article's Alloy: a HostProcess DaemonSet.
fn alloy() -> PodTemplate {
    PodTemplate {
        runtime_class: None,
        node_selector: vec![("kubernetes.io/os".into(), "windows".into())],
        tolerations: windows_2025().tolerations,
        host_network: true,
        security: Security {
            windows: Some(WindowsOptions {
                host_process: Some(true),
                run_as_user_name: Some("NT AUTHORITY\\SYSTEM".into()),
            }),
            ..Security::default()
        },
        containers: vec![Container {
            image: "ghcr.io/example/alloy-hostprocess:v1.21.3".into(),
            command: vec!["alloy\\alloy.exe".into()],
            memory_request: Some(128 * MIB),
            memory_limit: Some(512 * MIB),
            startup: None,
            liveness: None,
            readiness: None,
            pre_stop: None,
            ..hello()
        }],
        ..hello_win()
    }
}

/// Rule, severity and place of each remark.
fn found(template: &PodTemplate) -> Vec<(&'static str, Severity, String)> {
    judge(template)
        .into_iter()
        .map(|remark| {
            (
                remark.finding.id,
                remark.finding.severity,
                remark.place.to_string(),
            )
        })
        .collect()
}

#[track_caller]
fn only(template: &PodTemplate, id: &str, severity: Severity, place: &str) -> Remark {
    let mut remarks = judge(template);
    assert_eq!(remarks.len(), 1, "{:?}", found(template));
    let remark = remarks.remove(0);
    assert_eq!(
        (
            remark.finding.id,
            remark.finding.severity,
            remark.place.to_string().as_str()
        ),
        (id, severity, place)
    );
    assert!(!remark.finding.why.is_empty() && !remark.finding.remedy.is_empty());
    assert!(!remark.finding.evidence.is_empty());
    remark
}

#[test]
fn the_articles_workloads_have_nothing_to_say() {
    assert_eq!(found(&hello_win()), []);
    assert_eq!(found(&alloy()), []);
    let writer = PodTemplate {
        containers: vec![Container {
            image: "mcr.microsoft.com/windows/nanoserver:ltsc2025".into(),
            command: vec![
                "cmd".into(),
                "/v:on".into(),
                "/c".into(),
                "for /l %i in (0,0,1) do (ping -n 11 127.0.0.1 >nul)".into(),
            ],
            memory_request: Some(128 * MIB),
            memory_limit: Some(128 * MIB),
            startup: None,
            liveness: None,
            readiness: None,
            pre_stop: None,
            ..hello()
        }],
        volumes: vec![Volume {
            name: "reports".into(),
            claim: Some("reports".into()),
            mounter: Mounter::Csi("smb.csi.k8s.io".into()),
        }],
        ..hello_win()
    };
    assert_eq!(found(&writer), []);
}

#[test]
fn what_is_not_for_windows_is_left_alone() {
    let bare = PodTemplate {
        os: None,
        runtime_class: None,
        security: Security::default(),
        containers: vec![Container {
            memory_limit: None,
            ..hello()
        }],
        ..hello_win()
    };
    assert_eq!(sign(&bare), None);
    assert_eq!(found(&bare), []);
    let linux = PodTemplate {
        os: Some(Os::Linux),
        ..hello_win()
    };
    assert_eq!(found(&linux), [], "whatever else it says");
}

#[test]
fn a_pod_without_os_name_is_known_by_selector_runtime_class_options_or_image() {
    let unsaid = PodTemplate {
        os: None,
        security: Security::default(),
        ..hello_win()
    };
    only(&unsaid, "os-name-missing", Severity::Info, "os.name");
    let unseen_class = PodTemplate {
        runtime_class: Some(RuntimeClass {
            name: "windows-2022".into(),
            scheduling: None,
        }),
        ..unsaid.clone()
    };
    only(&unseen_class, "os-name-missing", Severity::Info, "os.name");
    let mut base = PodTemplate {
        runtime_class: None,
        ..unsaid
    };
    assert_eq!(sign(&base), None);
    base.containers[0].image = "mcr.microsoft.com/windows/nanoserver:ltsc2025".into();
    assert_eq!(
        sign(&base).as_deref(),
        Some("the image mcr.microsoft.com/windows/nanoserver:ltsc2025 is a Windows image")
    );
    base.containers[0].image = "ghcr.io/example/hello:1.3".into();
    base.affinity_os = Some(Os::Windows);
    assert!(sign(&base).is_some());
}

#[test]
fn nothing_that_leads_to_windows_nodes_is_a_warning_and_no_toleration_a_note() {
    let astray = PodTemplate {
        runtime_class: None,
        ..hello_win()
    };
    assert_eq!(
        found(&astray),
        [
            ("may-land-on-linux", Severity::Warning, "nodeSelector".to_owned()),
            ("taint-not-tolerated", Severity::Info, "tolerations".to_owned()),
        ]
    );
    let other_key = PodTemplate {
        node_selector: windows_2025().node_selector,
        tolerations: vec![Toleration {
            key: "gpu".into(),
            operator: "Exists".into(),
            ..Toleration::default()
        }],
        ..astray
    };
    let remark = only(&other_key, "taint-not-tolerated", Severity::Info, "tolerations");
    assert_eq!(remark.finding.evidence, ["tolerated keys: gpu"]);
}

#[test]
fn an_os_name_that_its_nodes_contradict_certainly_fails() {
    let confused = PodTemplate {
        runtime_class: None,
        node_selector: vec![("kubernetes.io/os".into(), "linux".into())],
        ..hello_win()
    };
    only(&confused, "os-contradiction", Severity::Critical, "nodeSelector");
}

#[test]
fn a_node_selector_that_contradicts_the_runtime_class_is_refused() {
    let clashing = PodTemplate {
        node_selector: vec![("node.kubernetes.io/windows-build".into(), "10.0.20348".into())],
        ..hello_win()
    };
    only(
        &clashing,
        "runtime-class-conflict",
        Severity::Critical,
        "nodeSelector",
    );
}

#[test]
fn a_linux_only_field_fails_with_os_name_and_does_nothing_without() {
    let mut template = hello_win();
    template.containers[0].security.linux_only = vec!["capabilities"];
    let place = "containers[0].securityContext.capabilities";
    only(&template, "linux-only-field", Severity::Critical, place);
    template.os = None;
    assert!(found(&template).contains(&("linux-only-field", Severity::Info, place.to_owned())));
    let pod = PodTemplate {
        linux_only: vec!["hostPID"],
        ..hello_win()
    };
    only(&pod, "linux-only-field", Severity::Critical, "hostPID");
}

#[test]
fn an_administrator_who_must_not_be_root_is_refused_wherever_that_is_written() {
    let at_pod = PodTemplate {
        security: Security {
            run_as_non_root: Some(true),
            windows: Some(user("containeradministrator")),
            ..Security::default()
        },
        ..hello_win()
    };
    let pod_place = "securityContext.windowsOptions.runAsUserName";
    only(
        &at_pod,
        "non-root-as-administrator",
        Severity::Critical,
        pod_place,
    );
    let mut at_container = hello_win();
    at_container.containers[0].security.windows = Some(user("ContainerAdministrator"));
    let own_place = format!("containers[0].{pod_place}");
    only(
        &at_container,
        "non-root-as-administrator",
        Severity::Critical,
        &own_place,
    );
    at_container.containers[0].security.run_as_non_root = Some(false);
    assert_eq!(found(&at_container), [], "the container allows it");
}

#[test]
fn a_host_process_pod_needs_the_nodes_network_and_nobody_else_in_it() {
    let apart = PodTemplate {
        host_network: false,
        ..alloy()
    };
    only(
        &apart,
        "host-process-without-host-network",
        Severity::Critical,
        "hostNetwork",
    );
    let mut mixed = alloy();
    let mut guest = hello();
    guest.security.windows = Some(WindowsOptions {
        host_process: Some(false),
        ..user("ContainerUser")
    });
    mixed.containers.push(guest);
    only(
        &mixed,
        "host-process-mixed",
        Severity::Critical,
        "securityContext.windowsOptions.hostProcess",
    );
}

#[test]
fn memory_without_limit_is_a_warning_for_a_workload_and_a_note_for_the_cluster_itself() {
    let place = "containers[0].resources.limits.memory";
    let mut template = hello_win();
    template.containers[0].memory_limit = None;
    only(&template, "no-memory-limit", Severity::Warning, place);
    template.object.namespace = Some("kube-system".into());
    only(&template, "no-memory-limit", Severity::Info, place);
    let mut host_process = alloy();
    host_process.containers[0].memory_limit = None;
    only(&host_process, "no-memory-limit", Severity::Info, place);
}

#[test]
fn a_request_below_the_limit_is_a_note_except_for_host_process() {
    let mut template = hello_win();
    template.containers[0].memory_request = Some(64 * MIB);
    let remark = only(
        &template,
        "memory-request-not-limit",
        Severity::Info,
        "containers[0].resources.requests.memory",
    );
    assert_eq!(
        remark.finding.evidence,
        ["requests.memory: 64Mi", "limits.memory: 256Mi"]
    );
    template.containers[0].memory_request = None;
    assert_eq!(found(&template), [], "the API server sets it to the limit");
}

#[test]
fn an_exec_probe_needs_time() {
    let mut template = hello_win();
    template.containers[0].liveness = Some(probe(exec(&["C:\\app\\check.exe"])));
    let place = "containers[0].livenessProbe.timeoutSeconds";
    only(&template, "exec-probe-timeout", Severity::Warning, place);
    template.containers[0].liveness = Some(Probe {
        timeout_seconds: 5,
        ..probe(exec(&["C:\\app\\check.exe"]))
    });
    assert_eq!(found(&template), []);
    template.containers[0].readiness = Some(probe(exec(&["C:\\app\\check.exe"])));
    let place = "containers[0].readinessProbe.timeoutSeconds";
    only(&template, "exec-probe-timeout", Severity::Info, place);
}

#[test]
fn a_slow_image_without_startup_probe_is_a_warning_and_an_unknown_one_a_note() {
    let mut template = hello_win();
    template.containers[0].startup = None;
    let place = "containers[0].startupProbe";
    let remark = only(&template, "no-startup-probe", Severity::Info, place);
    assert!(
        remark.finding.title.contains("within 30 s"),
        "{}",
        remark.finding.title
    );
    template.containers[0].image = "mcr.microsoft.com/windows/servercore:ltsc2025".into();
    only(&template, "no-startup-probe", Severity::Warning, place);
    template.containers[0].liveness = Some(Probe {
        initial_delay_seconds: 30,
        ..probe(Action::Network)
    });
    assert_eq!(found(&template), [], "a minute is enough");
}

#[test]
fn the_grace_period_must_outlast_pre_stop_and_a_slow_disk() {
    let mut template = hello_win();
    template.grace_seconds = 20;
    let remark = only(
        &template,
        "grace-too-short",
        Severity::Warning,
        "terminationGracePeriodSeconds",
    );
    assert_eq!(remark.finding.title, "15 s are left to stop in");
    assert_eq!(
        remark.finding.remedy,
        ["set terminationGracePeriodSeconds to 22 or more"]
    );
    template.grace_seconds = 22;
    assert_eq!(found(&template), []);
    template.grace_seconds = 4;
    only(
        &template,
        "pre-stop-exceeds-grace",
        Severity::Critical,
        "containers[0].lifecycle.preStop.sleep.seconds",
    );
}

#[test]
fn a_program_that_does_not_exist_fails_where_the_base_is_known() {
    const NANOSERVER: &str = "mcr.microsoft.com/windows/nanoserver:ltsc2025";
    const SERVERCORE: &str = "mcr.microsoft.com/windows/servercore:ltsc2025";
    const UNKNOWN: &str = "ghcr.io/example/hello:1.3";
    let critical = Some(Severity::Critical);
    let warning = Some(Severity::Warning);
    for (image, words, expected) in [
        (NANOSERVER, &["powershell", "-c", "exit"][..], critical),
        (NANOSERVER, &["cmd", "/c", "PowerShell.exe -c exit"], critical),
        (NANOSERVER, &["cmd", "/c", "echo bye & timeout 5"], critical),
        (NANOSERVER, &["cmd", "/c", "echo bye"], None),
        (NANOSERVER, &["C:\\Windows\\System32\\curl.exe", "-s"], None),
        (SERVERCORE, &["powershell", "-c", "exit"], None),
        (SERVERCORE, &["echo", "bye"], critical),
        (SERVERCORE, &["/bin/sh", "-c", "sleep 5"], critical),
        (UNKNOWN, &["powershell", "-c", "exit"], None),
        (UNKNOWN, &["sleep", "5"], warning),
        (UNKNOWN, &["type", "C:\\ready"], warning),
        (UNKNOWN, &["C:\\app\\hello.exe"], None),
        (UNKNOWN, &[], None),
    ] {
        let mut template = hello_win();
        template.containers[0].image = image.into();
        template.containers[0].pre_stop = Some(exec(words));
        match expected {
            Some(severity) => {
                let place = "containers[0].lifecycle.preStop.exec.command";
                only(&template, "no-such-program", severity, place);
            }
            None => assert_eq!(found(&template), [], "{image} {words:?}"),
        }
    }
}

#[test]
fn a_base_image_has_no_tag_latest() {
    for image in [
        "mcr.microsoft.com/windows/servercore",
        "mcr.microsoft.com/windows/nanoserver:latest",
    ] {
        let mut template = hello_win();
        template.containers[0].image = image.into();
        only(
            &template,
            "base-without-version",
            Severity::Critical,
            "containers[0].image",
        );
    }
    let mut pinned = hello_win();
    pinned.containers[0].image = "mcr.microsoft.com/windows/nanoserver@sha256:05d1a7fb".into();
    assert_eq!(found(&pinned), []);
}

#[test]
fn an_image_for_another_build_than_the_nodes_certainly_fails() {
    for (build, image, fits) in [
        (
            "10.0.26100",
            "mcr.microsoft.com/windows/nanoserver:ltsc2025",
            true,
        ),
        (
            "10.0.26100",
            "mcr.microsoft.com/windows/nanoserver:ltsc2022",
            true,
        ),
        (
            "10.0.26100",
            "mcr.microsoft.com/windows/nanoserver:ltsc2019",
            false,
        ),
        (
            "10.0.20348",
            "mcr.microsoft.com/windows/nanoserver:ltsc2025",
            false,
        ),
        ("10.0.20348", "mcr.microsoft.com/dotnet/samples:aspnetapp", true),
    ] {
        let mut template = hello_win();
        template.runtime_class = None;
        template.tolerations = windows_2025().tolerations;
        template.node_selector = vec![("node.kubernetes.io/windows-build".into(), build.into())];
        template.containers[0].image = image.into();
        if fits {
            assert_eq!(found(&template), [], "{image} on {build}");
        } else {
            only(
                &template,
                "image-build",
                Severity::Critical,
                "containers[0].image",
            );
        }
    }
    let mut host_process = alloy();
    host_process.node_selector = windows_2025().node_selector;
    host_process.containers[0].image = "mcr.microsoft.com/windows/nanoserver:ltsc2019".into();
    assert_eq!(
        found(&host_process),
        [],
        "its files are simply attached to a process of the node"
    );
}

#[test]
fn nfs_is_never_mounted_on_windows() {
    let volume = |mounter| PodTemplate {
        volumes: vec![Volume {
            name: "data".into(),
            claim: None,
            mounter,
        }],
        ..hello_win()
    };
    for mounter in [Mounter::Nfs, Mounter::Csi("nfs.csi.k8s.io".into())] {
        only(&volume(mounter), "nfs-volume", Severity::Critical, "volumes[0]");
    }
    for mounter in [Mounter::Other, Mounter::Csi("smb.csi.k8s.io".into())] {
        assert_eq!(found(&volume(mounter)), []);
    }
}

#[test]
fn iis_is_silent_unless_log_monitor_starts_it() {
    let mut template = hello_win();
    template.containers[0].image =
        "mcr.microsoft.com/windows/servercore/iis:windowsservercore-ltsc2025".into();
    only(&template, "silent-stdout", Severity::Info, "containers[0].image");
    template.containers[0].command = vec![
        "C:\\LogMonitor\\LogMonitor.exe".into(),
        "C:\\ServiceMonitor.exe".into(),
        "w3svc".into(),
    ];
    assert_eq!(found(&template), []);
}
