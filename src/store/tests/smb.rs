//! SMB mappings: given these volumes, pods, logs and events, the operator sees that. The public reports are those of
//! csi-driver-smb's and its neighbours' issue lists.

use super::cluster::*;
use super::tables::shown;
use crate::domain::node::{Taint, Toleration};
use crate::domain::object::{ClusterEvent, DaemonSet, ObjectKey, Os};
use crate::domain::pod::{ContainerState, Pod, Termination};
use crate::domain::reading::{Absence, Source};
use crate::domain::severity::Severity;
use crate::domain::smb::failure::Cause;
use crate::domain::smb::log::{Privacy, Seen, read};
use crate::domain::smb::warning::{SmbWarning, WhyMissing};
use crate::domain::storage::{CsiDriver, CsiNode, CsiSource, PersistentVolume, StorageClass, VolumeSource};
use crate::domain::{Name, Timestamp};
use crate::sources::event::{LogPart, Payload, PluginLog, PluginLogs, Problem, WatchState, Watched};
use crate::store::smb::{MappingState, SmbMapping, ToldBy};
use crate::store::view::{Body, RowKey, TableKind, TableQuery};

const VOLUME: &str = "pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";
const DIRECTORY: &str = "win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";
const WRITER: &str = "reports-writer-67b96b59b-rfb6z";
const PLUGIN: &str = "csi-smb-node-win-tmwv5";

fn key(namespace: Option<&str>, name: &str) -> ObjectKey {
    ObjectKey {
        namespace: namespace.map(Name::from),
        name: name.into(),
        uid: format!("uid-{name}").into(),
    }
}

fn remote() -> String {
    format!(r"\\files.example.com\k8s\{DIRECTORY}")
}

fn handle() -> String {
    format!("files.example.com/k8s#{DIRECTORY}#{VOLUME}#archive")
}

fn csi(driver: &str, handle: &str, source: Option<&str>) -> VolumeSource {
    VolumeSource::Csi(CsiSource {
        driver: driver.into(),
        handle: handle.into(),
        source: source.map(Name::from),
        sub_dir: None,
        stage_secret: Some(("storage-credentials".into(), "smb-files-k8s".into())),
    })
}

fn volume(name: &str, claim: &str, source: VolumeSource, options: &[&str]) -> PersistentVolume {
    PersistentVolume {
        key: key(None, name),
        phase: "Bound".into(),
        class: Some("smb".into()),
        claim: Some(("win-demo".into(), claim.into())),
        mount_options: options.iter().map(|option| Name::from(*option)).collect(),
        source,
    }
}

fn reports() -> PersistentVolume {
    volume(
        VOLUME,
        "reports",
        csi("smb.csi.k8s.io", &handle(), Some("//files.example.com/k8s")),
        &["vers=3.1.1", "nobrl"],
    )
}

fn with_claim(mut pod: Pod, claim: &str) -> Pod {
    pod.claims = [Name::from(claim)].into();
    pod
}

/// The pod of the article that writes to the share.
fn writer() -> Pod {
    with_claim(pod("win-demo", WRITER, Some(WIN), Some(Os::Windows)), "reports")
}

/// A pod that waits for its volume.
fn waiting(mut pod: Pod) -> Pod {
    pod.containers[0].state = ContainerState::Waiting("ContainerCreating".into());
    pod
}

fn plugin() -> Pod {
    let mut plugin = pod("kube-system", PLUGIN, Some(WIN), Some(Os::Windows));
    plugin.host_process = true;
    let mut registrar = container("node-driver-registrar");
    registrar.image = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0".into();
    let mut driver = container("smb");
    driver.image = "registry.k8s.io/sig-storage/smbplugin:v1.20.4-windows-hp".into();
    plugin.containers = [registrar, driver].into();
    plugin
}

fn driver(name: &str) -> CsiDriver {
    CsiDriver {
        key: key(None, name),
        attach_required: false,
    }
}

fn csi_node(drivers: &[&str]) -> CsiNode {
    CsiNode {
        key: key(None, WIN),
        drivers: drivers.iter().map(|driver| Name::from(*driver)).collect(),
    }
}

/// The article's cluster with these pods and volumes; its plugin runs, and nothing was read of its log.
fn cluster(mut pods: Vec<Pod>, volumes: Vec<PersistentVolume>) -> Told {
    pods.push(plugin());
    let mut told = Told::rows(nodes(), pods);
    let kubernetes = Source::Kubernetes;
    told.say(kubernetes, Payload::PersistentVolumes(upserts(volumes)));
    told.say(
        kubernetes,
        Payload::CsiNodes(upserts(vec![csi_node(&["smb.csi.k8s.io"])])),
    );
    told.say(
        kubernetes,
        Payload::CsiDrivers(upserts(vec![driver("smb.csi.k8s.io")])),
    );
    told
}

/// The plugin's lines, each with the seconds before now at which it was written.
fn logs(told: &mut Told, lines: &[(i64, String)]) {
    let seen: Vec<Seen> = lines
        .iter()
        .filter_map(|(before, line)| read(ago(*before), line))
        .collect();
    assert_eq!(seen.len(), lines.len(), "each line of a fixture tells something");
    let part = LogPart {
        begins: Some(lines.first().map_or(now(), |(before, _)| ago(*before))),
        seen,
    };
    round(told, Ok(vec![(PLUGIN, Ok(part))]));
}

type Read = Result<Vec<(&'static str, Result<LogPart, Problem>)>, Problem>;

fn round(told: &mut Told, read: Read) {
    let plugins = read.map(|plugins| {
        plugins
            .into_iter()
            .map(|(pod, outcome)| PluginLog {
                node: WIN.into(),
                pod: ("kube-system".into(), pod.into()),
                outcome,
            })
            .collect()
    });
    let logs = PluginLogs {
        read_at: now(),
        plugins,
    };
    told.say(Source::Kubernetes, Payload::PluginLogs(logs));
}

fn begin() -> String {
    format!(
        r"I1107 12:50:41.289414    3084 smb.go:108] begin to run NewSmbGlobalMapping with {}, AZURE\svc-k8s-smb, requirePrivacy=true",
        remote()
    )
}

fn published() -> String {
    let staging = crate::domain::smb::handle::global_mount(&handle());
    format!(
        r"I1107 12:50:42.264444    3084 nodeserver.go:133] NodePublishVolume: mount {staging} at c:\var\lib\kubelet\pods\uid-{WRITER}\volumes\kubernetes.io~csi\{VOLUME}\mount volumeID({}) successfully",
        handle()
    )
}

/// The article's two lines, 44 minutes ago.
fn article_lines() -> Vec<(i64, String)> {
    vec![(2640, begin()), (2639, published())]
}

fn refusal(code: u32, words: &str) -> String {
    format!(
        r#"E1107 12:50:43.1    3084 mounter.go:91] NewSmbGlobalMapping({}) failed with NewSmbGlobalMapping failed. output: "New-SmbGlobalMapping : {words}\r\nAt line:1 char:190\r\n    + FullyQualifiedErrorId : Windows System Error {code},New-SmbGlobalMapping\r\n", err: exit status 1"#,
        remote()
    )
}

fn event(pod: &str, message: &str, last_seen: Timestamp) -> ClusterEvent {
    ClusterEvent {
        key: key(Some("win-demo"), &format!("{pod}.17b1")),
        about_kind: "Pod".into(),
        about_namespace: Some("win-demo".into()),
        about_name: pod.into(),
        about_uid: None,
        warning: true,
        reason: "FailedMount".into(),
        message: message.into(),
        count: 8,
        last_seen: Some(last_seen),
    }
}

#[track_caller]
fn only(told: &Told) -> &SmbMapping {
    let mappings = told.store.smb_mappings();
    assert_eq!(mappings.len(), 1, "{mappings:#?}");
    &mappings[0]
}

/// Names of the warnings about mappings, nodes and pods, with their severities.
fn ids(told: &Told) -> Vec<(&'static str, Severity)> {
    let warnings = told.store.smb_warnings();
    warnings
        .iter()
        .map(|warned| {
            assert!(!warned.evidence.is_empty(), "{warned:?} has no evidence");
            (warned.warning.id(), warned.warning.severity())
        })
        .collect()
}

#[track_caller]
fn warned<'a>(told: &'a Told, id: &str) -> &'a crate::domain::smb::warning::Warned {
    let warnings = told.store.smb_warnings();
    let found = warnings.iter().find(|warned| warned.warning.id() == id);
    found.unwrap_or_else(|| panic!("no {id} in {:?}", ids(told)))
}

#[test]
fn the_mapping_of_the_article() {
    let mut told = cluster(vec![writer()], vec![reports()]);
    logs(&mut told, &article_lines());
    let mapping = only(&told);
    assert_eq!((&*mapping.node, mapping.remote.as_str()), (WIN, &*remote()));
    assert_eq!(
        mapping.account.value().map(|account| &**account),
        Some(r"AZURE\svc-k8s-smb")
    );
    assert_eq!(mapping.privacy.value(), Some(&Privacy::On));
    assert_eq!(mapping.staged_at.value(), Some(&ago(2639)));
    assert_eq!(
        (&mapping.state, mapping.told_by),
        (&MappingState::Mapped, ToldBy::Log)
    );
    let volumes = mapping.volumes.as_ref().unwrap();
    assert_eq!(
        &*volumes[0].hash,
        "baecf4ef08a658e21cb8545a32bc8fa6d0e686b7609dd86a15c949060a26e442"
    );
    assert_eq!(volumes[0].claim, Some(("win-demo".into(), "reports".into())));
    assert_eq!(&*mapping.pods.as_ref().unwrap()[0].name, WRITER);
    // Nothing is worse than worth knowing.
    assert_eq!(
        ids(&told),
        [
            ("smb-domain-filled-in", Severity::Fine),
            ("smb-mount-options-ignored", Severity::Fine),
            ("smb-visible-on-node", Severity::Fine),
        ]
    );
    let query = TableQuery {
        wide: true,
        ..TableQuery::default()
    };
    insta::assert_snapshot!(shown(&told.table(TableKind::Smb, &query)));
    let page = told.store.smb_page(&WIN.into(), &remote(), now()).unwrap();
    let lines = page.sections.iter().map(|section| match &section.body {
        Body::Lines(lines) => {
            let lines: Vec<String> = lines.iter().map(text).collect();
            format!("{}\n  {}", section.title, lines.join("\n  "))
        }
        _ => panic!("the page has lines only"),
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn without_the_log_a_running_pod_proves_the_mapping_and_the_rest_is_absent_with_its_reason() {
    let mut told = cluster(vec![writer()], vec![reports()]);
    let mapping = only(&told);
    assert_eq!(
        (&mapping.state, mapping.told_by),
        (&MappingState::Mapped, ToldBy::Pod)
    );
    assert_eq!(mapping.account.absence(), Some(&Absence::NotYet));
    let problem = Problem {
        what: "list pods of the SMB node plugin in all namespaces is forbidden".into(),
        next_step: "ask for it".into(),
    };
    round(&mut told, Err(problem));
    let reason = only(&told).account.absence().unwrap().to_string();
    assert!(reason.contains("is forbidden → ask for it"), "{reason}");
    round(&mut told, Ok(Vec::new()));
    let reason = only(&told).privacy.absence().unwrap().to_string();
    assert_eq!(reason, "no SMB node plugin was found on k8s-lab-win-1");
    let part = LogPart {
        seen: Vec::new(),
        begins: Some(ago(60)),
    };
    round(&mut told, Ok(vec![(PLUGIN, Ok(part))]));
    let reason = only(&told).account.absence().unwrap().to_string();
    assert!(
        reason.contains("it begins at 2026-11-07 09:59:00 UTC"),
        "{reason}"
    );
}

#[test]
fn a_pod_whose_volume_is_not_mounted_yet_wants_the_mapping() {
    let told = cluster(vec![waiting(writer())], vec![reports()]);
    let mapping = only(&told);
    assert_eq!(
        (&mapping.state, mapping.told_by),
        (&MappingState::Wanted, ToldBy::Nobody)
    );
    assert!(!mapping.pods.as_ref().unwrap()[0].runs);
}

#[test]
fn volumes_that_may_not_be_read_leave_what_the_log_tells() {
    let mut told = cluster(vec![writer()], Vec::new());
    let problem = Problem {
        what: "list persistentvolumes is forbidden".into(),
        next_step: "ask for a ClusterRole".into(),
    };
    told.say(
        Source::Kubernetes,
        Payload::Watch(Watched::PersistentVolumes, WatchState::Forbidden(problem)),
    );
    assert_eq!(told.store.header(now()).counts.smb, None);
    logs(&mut told, &article_lines());
    let mapping = only(&told);
    for reason in [
        mapping.volumes.as_ref().unwrap_err(),
        mapping.pods.as_ref().unwrap_err(),
    ] {
        assert!(matches!(reason, Absence::Forbidden(_)), "{reason}");
    }
    assert_eq!(
        mapping.state,
        MappingState::Mapped,
        "nobody knows that it is unused"
    );
    assert_eq!(told.column(TableKind::Smb, "pods", &TableQuery::default()), ["–"]);
    assert_eq!(told.store.header(now()).counts.smb, Some(1));
}

#[test]
fn after_its_last_pod_a_mapping_is_removed_or_left_behind() {
    let mut told = cluster(Vec::new(), vec![reports()]);
    let unpublished = format!(
        r"NodeUnpublishVolume: unmount volume {} on c:\var\lib\kubelet\pods\uid-{WRITER}\volumes\kubernetes.io~csi\{VOLUME}\mount successfully",
        handle()
    );
    let mut lines = article_lines();
    lines.push((120, unpublished));
    logs(&mut told, &lines);
    assert_eq!(only(&told).state, MappingState::LeftBehind);
    let left = warned(&told, "smb-left-behind");
    assert_eq!(left.warning.severity(), Severity::Warning);
    assert!(
        left.warning
            .remedy(&left.about)
            .unwrap()
            .contains("Remove-SmbGlobalMapping")
    );
    let removing = format!("begin to run RemoveSmbGlobalMapping with {}", remote());
    logs(&mut told, &[(119, removing)]);
    assert_eq!(only(&told).state, MappingState::Removed);
    assert_eq!(
        ids(&told),
        [
            ("smb-domain-filled-in", Severity::Fine),
            ("smb-mount-options-ignored", Severity::Fine),
        ]
    );
    // An hour later nobody asks for it any more.
    let later = now() + chrono::TimeDelta::hours(1);
    told.say_at(
        Source::Kubernetes,
        Payload::PersistentVolumes(upserts(vec![reports_with_options(&[])])),
        later,
    );
    assert!(told.store.smb_mappings().is_empty());
}

fn reports_with_options(options: &[&str]) -> PersistentVolume {
    PersistentVolume {
        mount_options: options.iter().map(|option| Name::from(*option)).collect(),
        ..reports()
    }
}

#[test]
fn with_one_namespace_in_sight_nothing_is_called_left_behind() {
    let mut told = cluster(Vec::new(), vec![reports()]);
    let scope = crate::sources::event::Scope {
        namespace: Some("demo".into()),
        ..crate::sources::event::Scope::default()
    };
    told.generation += 1;
    told.begin(&scope);
    told.say(Source::Kubernetes, Payload::Nodes(upserts(nodes())));
    told.say(
        Source::Kubernetes,
        Payload::PersistentVolumes(upserts(vec![reports()])),
    );
    for watched in Watched::ALL {
        told.say(Source::Kubernetes, Payload::Watch(watched, WatchState::Live));
    }
    logs(
        &mut told,
        &[
            (2640, begin()),
            (2639, format!("mount {} on c:\\x successfully", remote())),
        ],
    );
    assert_eq!(only(&told).state, MappingState::Mapped);
    assert!(!ids(&told).iter().any(|(id, _)| *id == "smb-plugin-missing"));
}

#[test]
fn pods_on_both_systems_share_no_locks_with_nobrl() {
    let on_linux = with_claim(
        pod("win-demo", "reader-0", Some("k8s-lab-node-1"), Some(Os::Linux)),
        "reports",
    );
    let mut told = cluster(vec![writer(), on_linux], vec![reports()]);
    let locks = warned(&told, "smb-locks-not-shared");
    assert_eq!(locks.warning.severity(), Severity::Warning);
    let evidence = locks.evidence.join("\n");
    assert!(
        evidence.contains("reader-0 (linux)") && evidence.contains(WRITER),
        "{evidence}"
    );
    assert_eq!(
        only(&told).pods.as_ref().unwrap().len(),
        1,
        "pods of the node only"
    );
    let volumes = vec![reports_with_options(&["vers=3.1.1"])];
    told.say(Source::Kubernetes, Payload::PersistentVolumes(upserts(volumes)));
    assert!(!ids(&told).iter().any(|(id, _)| *id == "smb-locks-not-shared"));
}

#[test]
fn a_class_lends_its_options_to_a_volume_without() {
    let mut told = cluster(vec![writer()], vec![reports_with_options(&[])]);
    assert_eq!(ids(&told), [("smb-visible-on-node", Severity::Fine)]);
    let class = StorageClass {
        key: key(None, "smb"),
        provisioner: "smb.csi.k8s.io".into(),
        source: Some("//files.example.com/k8s".into()),
        mount_options: ["dir_mode=0770".into()].into(),
    };
    told.say(Source::Kubernetes, Payload::StorageClasses(upserts(vec![class])));
    let ignored = warned(&told, "smb-mount-options-ignored");
    assert!(ignored.warning.title().contains("dir_mode=0770"));
}

#[test]
fn azures_own_file_servers_are_in_its_domain() {
    let azure = volume(
        "azure",
        "reports",
        csi(
            "smb.csi.k8s.io",
            "one",
            Some("//acct.file.core.windows.net/share"),
        ),
        &[],
    );
    let mut told = cluster(vec![writer()], vec![azure]);
    let line = r"begin to run NewSmbGlobalMapping with \\acct.file.core.windows.net\share, AZURE\acct, requirePrivacy=true";
    logs(&mut told, &[(5, line.to_owned())]);
    assert!(!ids(&told).iter().any(|(id, _)| *id == "smb-domain-filled-in"));
}

#[test]
fn the_plugin_is_missing_where_its_toleration_is_for_another_taint() {
    let mut windows = node("k8s-lab-win-2", Os::Windows, 44);
    windows.taints = [Taint {
        key: "os".into(),
        value: "windows".into(),
        effect: "NoSchedule".into(),
    }]
    .into();
    let mut told = cluster(vec![writer()], vec![reports()]);
    told.say(Source::Kubernetes, Payload::Nodes(upserts(vec![windows])));
    assert!(matches!(
        &warned(&told, "smb-plugin-missing").warning,
        SmbWarning::PluginMissing(WhyMissing::NoDaemonSet)
    ));
    let set = DaemonSet {
        key: key(Some("kube-system"), "csi-smb-node-win"),
        desired: 0,
        ready: 0,
        node_selector: [("kubernetes.io/os".into(), "windows".into())].into(),
        host_process: true,
        tolerations: [Toleration {
            key: Some("node.kubernetes.io/os".into()),
            value: None,
            effect: Some("NoSchedule".into()),
        }]
        .into(),
        images: ["registry.k8s.io/sig-storage/smbplugin:v1.20.4-windows-hp".into()].into(),
    };
    told.say(Source::Kubernetes, Payload::DaemonSets(upserts(vec![set])));
    let missing = warned(&told, "smb-plugin-missing");
    let title = missing.warning.title();
    assert!(
        title.contains("taint `os` (it tolerates `node.kubernetes.io/os`)"),
        "{title}"
    );
    let window = told.table(TableKind::Smb, &TableQuery::default());
    let summary = text(&window.summary);
    assert!(
        summary.contains("1 SMB mapping · ▲ k8s-lab-win-2: the SMB node plugin does not run here"),
        "{summary}"
    );
}

#[test]
fn a_driver_that_is_not_registered_is_told_and_the_warning_goes_with_its_cause() {
    let mut told = cluster(vec![writer()], vec![reports()]);
    told.say(
        Source::Kubernetes,
        Payload::CsiNodes(upserts(vec![csi_node(&["other.csi"])])),
    );
    let unregistered = warned(&told, "smb-driver-not-registered");
    assert!(
        unregistered.evidence[0].contains("other.csi"),
        "{:?}",
        unregistered.evidence
    );
    told.say(
        Source::Kubernetes,
        Payload::CsiNodes(upserts(vec![csi_node(&["smb.csi.k8s.io"])])),
    );
    assert!(
        !ids(&told)
            .iter()
            .any(|(id, _)| *id == "smb-driver-not-registered")
    );
}

#[test]
fn a_registrar_that_restarted_once_at_its_start_is_harmless() {
    let mut told = cluster(vec![writer()], vec![reports()]);
    let mut plugin = plugin();
    plugin.containers[0].restarts = 1;
    plugin.containers[0].last_termination = Some(Box::new(Termination {
        exit_code: 1,
        signal: None,
        reason: "Error".into(),
        started_at: Some(ago(300)),
        finished_at: Some(ago(270)),
    }));
    told.say(Source::Kubernetes, Payload::Pods(upserts(vec![plugin.clone()])));
    let restarted = warned(&told, "smb-registrar-restarted");
    assert_eq!(restarted.warning.severity(), Severity::Fine);
    // With the node, both containers restart: that is no story of the registrar.
    plugin.containers[1].restarts = 1;
    told.say(Source::Kubernetes, Payload::Pods(upserts(vec![plugin])));
    assert!(!ids(&told).iter().any(|(id, _)| *id == "smb-registrar-restarted"));
}

#[test]
fn an_nfs_volume_in_a_windows_pod_is_told_before_it_fails_and_in_both_forms_of_the_error() {
    let nfs = volume("nfs-win-test", "nfs", csi("nfs.csi.k8s.io", "nfs#1", None), &[]);
    let in_tree = volume("nfs-old", "old", VolumeSource::Nfs, &[]);
    let mut unbound = with_claim(pod("win-demo", "nfs-old-test", None, Some(Os::Windows)), "old");
    unbound.containers[0].state = ContainerState::Unreported;
    let wants = waiting(with_claim(
        pod("win-demo", "nfs-win-test", Some(WIN), Some(Os::Windows)),
        "nfs",
    ));
    let mut told = cluster(vec![wants, unbound], vec![nfs, in_tree]);
    let refused = |told: &Told| -> Vec<bool> {
        let warnings = told.store.smb_warnings();
        let refused = warnings.iter().filter_map(|warned| match &warned.warning {
            SmbWarning::NfsOnWindows { refused, .. } => Some(*refused),
            _ => None,
        });
        refused.collect()
    };
    assert_eq!(refused(&told), [false, false]);
    let all = |told: &Told| -> String {
        let warnings = told.store.smb_warnings();
        let lines = warnings.iter().flat_map(|warned| warned.evidence.clone());
        lines.collect::<Vec<_>>().join("\n")
    };
    assert!(
        all(&told).contains("there is no CSIDriver nfs.csi.k8s.io"),
        "{}",
        all(&told)
    );
    told.say(
        Source::Kubernetes,
        Payload::CsiDrivers(upserts(vec![driver("nfs.csi.k8s.io")])),
    );
    assert!(
        all(&told).contains("the kubelet looks for the driver and finds none"),
        "{}",
        all(&told)
    );
    for message in [
        "MountVolume.MountDevice failed for volume \"nfs-win-test\" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name nfs.csi.k8s.io not found in the list of registered CSI drivers",
        "AttachVolume.Attach failed for volume \"nfs-win-test\" : timed out waiting for external-attacher of nfs.csi.k8s.io CSI driver to attach volume nfs#1",
    ] {
        let event = event("nfs-win-test", message, ago(36));
        told.say(Source::Kubernetes, Payload::Events(upserts(vec![event])));
        let mut seen = refused(&told);
        seen.sort_unstable();
        assert_eq!(seen, [false, true], "{message}");
    }
    let page = told
        .store
        .pod_page(&"win-demo".into(), &"nfs-win-test".into(), now())
        .unwrap();
    let Body::Lines(lines) = &page.sections[0].body else {
        panic!()
    };
    assert!(
        text(&lines[0]).contains("wants the NFS volume nfs-win-test"),
        "{}",
        text(&lines[0])
    );
}

/// The kubelet's event of a mount that failed, with the plugin's error in it.
fn mount_event(pod: &str, error: &str) -> ClusterEvent {
    let message = format!(
        r#"MountVolume.MountDevice failed for volume "{VOLUME}" : rpc error: code = Internal desc = volume({}) mount "//files.example.com/k8s/{DIRECTORY}" on "\\var\\lib\\kubelet\\plugins\\kubernetes.io\\csi\\smb.csi.k8s.io\\{}\\globalmount" failed with {error}"#,
        handle(),
        crate::domain::smb::handle::staging_hash(&handle())
    );
    event(pod, &message, ago(30))
}

fn of_powershell(code: u32, words: &str) -> String {
    format!(
        r#"NewSmbGlobalMapping failed. output: "New-SmbGlobalMapping : {words}\r\n    + FullyQualifiedErrorId : Windows System Error {code},New-SmbGlobalMapping\r\n", err: exit status 1"#
    )
}

/// Told by the event alone, and by the plugin's log alone, the failure is the same.
#[track_caller]
fn report(code: u32, words: &str, remedy: &[&str]) -> Told {
    let mut by_event = cluster(vec![waiting(writer())], vec![reports()]);
    let failed = mount_event(WRITER, &of_powershell(code, words));
    by_event.say(Source::Kubernetes, Payload::Events(upserts(vec![failed])));
    let mut by_log = cluster(vec![waiting(writer())], vec![reports()]);
    logs(&mut by_log, &[(31, begin()), (30, refusal(code, words))]);
    for (told, by) in [(&by_event, ToldBy::Event), (&by_log, ToldBy::Log)] {
        let mapping = only(told);
        assert_eq!(mapping.told_by, by);
        let MappingState::Failed(failure, _) = &mapping.state else {
            panic!("{:?}", mapping.state)
        };
        assert_eq!(failure.cause, Cause::Win32(code));
        let failing = warned(told, "smb-not-mapped");
        assert_eq!(failing.warning.severity(), Severity::Critical);
        let advice = failing.warning.remedy(&failing.about).unwrap();
        for words in remedy {
            assert!(advice.contains(words), "{words} is not in: {advice}");
        }
    }
    by_log
}

#[test]
fn csi_driver_smb_219_after_a_restart_the_node_is_still_connected_under_another_account() {
    let mut told = report(
        1219,
        "Multiple connections to a server or shared resource by the same user, using more than one user name, are not allowed.",
        &["Get-SmbGlobalMapping", "Remove-SmbGlobalMapping", "k8s-lab-win-1"],
    );
    // Cured: the warning goes.
    logs(&mut told, &[(10, begin()), (9, published())]);
    assert_eq!(only(&told).state, MappingState::Mapped);
    assert!(!ids(&told).iter().any(|(id, _)| *id == "smb-not-mapped"));
}

#[test]
fn csi_driver_smb_453_a_trailing_slash() {
    let mut told = report(87, "The parameter is incorrect.", &["trailing slash", "source"]);
    let class = StorageClass {
        key: key(None, "smb"),
        provisioner: "smb.csi.k8s.io".into(),
        source: Some("//files.example.com/k8s/".into()),
        mount_options: Box::default(),
    };
    told.say(Source::Kubernetes, Payload::StorageClasses(upserts(vec![class])));
    let evidence = warned(&told, "smb-not-mapped").evidence.join("\n");
    assert!(
        evidence.contains("`source` of StorageClass smb is //files.example.com/k8s/"),
        "{evidence}"
    );
}

#[test]
fn csi_driver_smb_294_a_name_of_the_cluster_dns_and_655_a_closed_door() {
    report(
        53,
        "The network path was not found.",
        &["cluster DNS", "hosts allow", "firewall"],
    );
    report(65, "Network access is denied.", &["hosts allow", "firewall"]);
}

#[test]
fn csi_driver_smb_520_without_a_domain_the_account_is_refused() {
    let told = report(
        1326,
        "The user name or password is incorrect.",
        &["`domain`", "AZURE"],
    );
    let filled_in = warned(&told, "smb-domain-filled-in");
    let title = filled_in.warning.title();
    assert!(
        title.contains("Secret storage-credentials/smb-files-k8s has no domain field"),
        "{title}"
    );
    assert_eq!(
        filled_in.warning.severity(),
        Severity::Critical,
        "{}",
        filled_in.warning.title()
    );
}

#[test]
fn csi_driver_smb_733_a_disconnected_mapping_whose_link_is_in_the_way() {
    let mut told = cluster(vec![waiting(writer())], vec![reports()]);
    let link = format!(
        r#"GRPC error: rpc error: code = Internal desc = volume({}) mount "//files.example.com/k8s/{DIRECTORY}" on "x" failed with os.Symlink({}, c:\x) failed with symlink a b: Cannot create a file when that file already exists."#,
        handle(),
        remote()
    );
    logs(
        &mut told,
        &[
            (33, format!("RemotePath {} is not valid, removing now", remote())),
            (
                32,
                format!("begin to run RemoveSmbGlobalMapping with {}", remote()),
            ),
            (31, begin()),
            (30, link),
        ],
    );
    let failing = warned(&told, "smb-not-mapped");
    assert_eq!(failing.warning, SmbWarning::NotMapped(Cause::Win32(183)));
    assert!(
        failing
            .warning
            .remedy(&failing.about)
            .unwrap()
            .contains("globalmount")
    );
    let lost = warned(&told, "smb-disconnected");
    assert_eq!(lost.warning.severity(), Severity::Warning);
}

#[test]
fn azuredisk_2082_powershell_itself_cannot_start() {
    let mut told = cluster(vec![waiting(writer())], vec![reports()]);
    let error = r#"NewSmbGlobalMapping failed. output: "", err: exit status 0xc0000142"#;
    let failed = mount_event(WRITER, error);
    told.say(Source::Kubernetes, Payload::Events(upserts(vec![failed])));
    let failing = warned(&told, "smb-not-mapped");
    assert_eq!(
        failing.warning,
        SmbWarning::NotMapped(Cause::PowerShell(0xc000_0142))
    );
    assert!(failing.warning.remedy(&failing.about).unwrap().contains("commit"));
}

#[test]
fn a_filter_finds_a_mapping_by_pod_volume_account_and_state() {
    let mut told = cluster(vec![writer()], vec![reports()]);
    logs(&mut told, &article_lines());
    for filter in [
        "reports-writer",
        "pvc-ea3d",
        "svc-k8s",
        "state:mapped",
        "privacy:on",
        "staged>40m",
    ] {
        let query = TableQuery {
            filter: filter.into(),
            ..TableQuery::default()
        };
        assert_eq!(told.table(TableKind::Smb, &query).matched, 1, "{filter}");
    }
    let query = TableQuery {
        filter: "!mapped".into(),
        ..TableQuery::default()
    };
    assert_eq!(told.table(TableKind::Smb, &query).matched, 0);
    let key = RowKey::Smb {
        node: WIN.into(),
        remote: remote().into(),
    };
    let query = TableQuery::default();
    assert_eq!(told.store.position(TableKind::Smb, &query, &key), Some(0));
    assert_eq!(told.store.key_at(TableKind::Smb, &query, 0), Some(key));
}

#[test]
fn hostile_text_in_every_place_changes_no_other_cell() {
    let evil = "a\u{1b}]52;c;ZXZpbA==\u{7}\u{202e}b";
    let source = format!("//files.example.com/{evil}");
    let nasty = volume(
        "nasty",
        "reports",
        csi("smb.csi.k8s.io", evil, Some(&source)),
        &[evil],
    );
    let mut told = cluster(vec![writer()], vec![nasty]);
    let line = format!(
        r"begin to run NewSmbGlobalMapping with \\files.example.com\{evil}, AZURE\{evil}, requirePrivacy=true"
    );
    logs(&mut told, &[(5, line)]);
    let window = told.table(
        TableKind::Smb,
        &TableQuery {
            wide: true,
            ..TableQuery::default()
        },
    );
    let mapping = only(&told);
    let page = told
        .store
        .smb_page(&mapping.node, mapping.remote.as_str(), now())
        .unwrap();
    let mut lines: Vec<String> = window
        .rows
        .iter()
        .flat_map(|row| row.cells.iter().map(text))
        .collect();
    lines.push(text(&page.title));
    for section in &page.sections {
        if let Body::Lines(of_section) = &section.body {
            lines.extend(of_section.iter().map(text));
        }
    }
    let key = window.rows[0].key.clone();
    lines.extend(told.store.preview(&key, now()).iter().map(text));
    for line in lines {
        assert!(!line.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{line:?}");
    }
}
