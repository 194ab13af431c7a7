//! What else is watched or looked up: heartbeats, DaemonSets, budgets, events, CSI drivers, logs.

use super::objects::strings;
use super::peer::{Peer, eventually, items, names, refusal};
use drainboard::domain::smb::handle::staging_hash;
use drainboard::domain::smb::ledger::{LastHappened, Ledger};
use drainboard::domain::smb::log;
use drainboard::domain::storage::VolumeSource;
use drainboard::sources::kubernetes::intern::Interner;
use drainboard::sources::kubernetes::wire::{budget, daemonset, event, lease, storage};
use serde_json::Value;

/// The path as drainboard asks for whole lists: from the server's cache.
fn whole(path: &str) -> String {
    format!("{path}?resourceVersion=0&resourceVersionMatch=NotOlderThan")
}

pub async fn each_node_has_a_heartbeat(peer: &Peer) {
    let list = peer
        .get(&whole(
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
        ))
        .await
        .json();
    assert_eq!(list["kind"], "LeaseList");
    assert_eq!(
        names(&list),
        [
            "k8s-lab-master-1",
            "k8s-lab-node-1",
            "k8s-lab-node-2",
            "k8s-lab-win-1"
        ]
    );
    for item in items(&list) {
        let text = item.to_string();
        let row = serde_json::from_str::<lease::Lease<'_>>(&text)
            .unwrap()
            .to_row(&mut Interner::default());
        assert_eq!(row.duration_seconds, Some(40));
        let age = (chrono::Utc::now() - row.renew_time.unwrap()).num_seconds();
        assert!((-5..120).contains(&age), "renewed {age} s ago");
    }
}

pub async fn a_daemon_set_says_how_many_are_ready(peer: &Peer) {
    let path = whole("/apis/apps/v1/namespaces/monitoring/daemonsets");
    eventually(|| async {
        let list = peer.get(&path).await.json();
        assert_eq!(list["kind"], "DaemonSetList");
        let exporter = items(&list)
            .iter()
            .find(|set| set["metadata"]["name"] == "kps-prometheus-windows-exporter")
            .unwrap()
            .to_string();
        let row = serde_json::from_str::<daemonset::DaemonSet<'_>>(&exporter)
            .unwrap()
            .to_row(&mut Interner::default());
        assert!(row.host_process);
        assert!(
            row.node_selector
                .iter()
                .any(|(label, value)| &**label == "kubernetes.io/os" && &**value == "windows")
        );
        if (row.desired, row.ready) == (1, 1) {
            Ok(())
        } else {
            Err(format!("{} of {} ready", row.ready, row.desired))
        }
    })
    .await;
}

pub async fn a_budget_says_what_it_allows(peer: &Peer) {
    let path = whole("/apis/policy/v1/poddisruptionbudgets");
    eventually(|| async {
        let list = peer.get(&path).await.json();
        assert_eq!(list["kind"], "PodDisruptionBudgetList");
        let hello = items(&list)
            .iter()
            .find(|budget| budget["metadata"]["name"] == "hello")
            .unwrap()
            .to_string();
        let row = serde_json::from_str::<budget::DisruptionBudget<'_>>(&hello)
            .unwrap()
            .to_row(&mut Interner::default());
        assert_eq!(row.key.namespace.as_deref(), Some("demo"));
        assert_eq!(
            (row.min_available.as_deref(), row.max_unavailable),
            (Some("1"), None)
        );
        assert!(row.selector.is_some());
        let status = (row.allowed, row.healthy, row.desired, row.expected, row.observed);
        if status == (1, 2, 1, 2, true) {
            Ok(())
        } else {
            Err(format!("{status:?}"))
        }
    })
    .await;
}

pub async fn events_say_what_happened_to_whom_and_when(peer: &Peer) {
    let list = peer.get(&whole("/api/v1/events")).await.json();
    assert_eq!(list["kind"], "EventList");
    assert!(!items(&list).is_empty());
    for item in items(&list) {
        strings(
            item,
            &[
                "/metadata/name",
                "/metadata/namespace",
                "/metadata/uid",
                "/involvedObject/kind",
                "/involvedObject/name",
                "/reason",
                "/message",
                "/type",
            ],
        );
        let text = item.to_string();
        let row = serde_json::from_str::<event::Event<'_>>(&text)
            .unwrap()
            .to_row(&mut Interner::default());
        assert!(row.last_seen.is_some(), "{item}");
    }
}

pub async fn the_drivers_of_a_node_are_registered(peer: &Peer) {
    let node = peer
        .get("/apis/storage.k8s.io/v1/csinodes/k8s-lab-win-1")
        .await
        .json();
    let drivers: Vec<_> = node["spec"]["drivers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|driver| (&driver["name"], &driver["nodeID"]))
        .collect();
    assert_eq!(
        drivers,
        [(&Value::from("smb.csi.k8s.io"), &Value::from("k8s-lab-win-1"))]
    );
}

/// The only item of a list that has this name, as its text.
#[track_caller]
fn item(list: &Value, name: &str) -> String {
    let found = items(list).iter().find(|item| item["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {list}")).to_string()
}

const VOLUME: &str = "pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";

pub async fn the_smb_volume_has_what_its_mapping_is_joined_from(peer: &Peer) {
    let names = &mut Interner::default();
    let list = peer.get(&whole("/api/v1/persistentvolumes")).await.json();
    assert_eq!(list["kind"], "PersistentVolumeList");
    let text = item(&list, VOLUME);
    let volume = serde_json::from_str::<storage::PersistentVolume<'_>>(&text)
        .unwrap()
        .to_row(names);
    assert_eq!(volume.claim, Some(("win-demo".into(), "reports".into())));
    assert_eq!(volume.class.as_deref(), Some("smb"));
    assert!(volume.mount_options.iter().any(|option| &**option == "nobrl"));
    let VolumeSource::Csi(csi) = volume.source else {
        panic!("{text}")
    };
    assert_eq!(&*csi.driver, "smb.csi.k8s.io");
    assert_eq!(csi.source.as_deref(), Some("//files.example.com/k8s"));
    assert_eq!(
        staging_hash(&csi.handle),
        "baecf4ef08a658e21cb8545a32bc8fa6d0e686b7609dd86a15c949060a26e442"
    );
    let list = peer.get(&whole("/api/v1/persistentvolumeclaims")).await.json();
    assert_eq!(list["kind"], "PersistentVolumeClaimList");
    let text = item(&list, "reports");
    let claim = serde_json::from_str::<storage::VolumeClaim<'_>>(&text)
        .unwrap()
        .to_row(names);
    assert_eq!((&*claim.phase, claim.volume.as_deref()), ("Bound", Some(VOLUME)));
}

pub async fn the_smb_driver_and_its_class_are_there(peer: &Peer) {
    let names = &mut Interner::default();
    let list = peer
        .get(&whole("/apis/storage.k8s.io/v1/storageclasses"))
        .await
        .json();
    assert_eq!(list["kind"], "StorageClassList");
    let text = item(&list, "smb");
    let class = serde_json::from_str::<storage::StorageClass<'_>>(&text)
        .unwrap()
        .to_row(names);
    assert_eq!(&*class.provisioner, "smb.csi.k8s.io");
    assert_eq!(class.source.as_deref(), Some("//files.example.com/k8s"));
    assert!(class.mount_options.iter().any(|option| &**option == "nobrl"));
    let list = peer
        .get(&whole("/apis/storage.k8s.io/v1/csidrivers"))
        .await
        .json();
    assert_eq!(list["kind"], "CSIDriverList");
    let text = item(&list, "smb.csi.k8s.io");
    let driver = serde_json::from_str::<storage::CsiDriver<'_>>(&text)
        .unwrap()
        .to_row(names);
    assert!(!driver.attach_required);
    let list = peer.get(&whole("/apis/storage.k8s.io/v1/csinodes")).await.json();
    assert_eq!(list["kind"], "CSINodeList");
    let text = item(&list, "k8s-lab-win-1");
    let node = serde_json::from_str::<storage::CsiNode<'_>>(&text)
        .unwrap()
        .to_row(names);
    assert_eq!(
        node.drivers.iter().map(|name| &**name).collect::<Vec<_>>(),
        ["smb.csi.k8s.io"]
    );
}

pub async fn the_node_plugin_tells_what_it_mapped(peer: &Peer) {
    let pods = peer
        .get("/api/v1/pods?labelSelector=app%3Dcsi-smb-node-win&resourceVersion=0")
        .await
        .json();
    let pod = names(&pods)[0];
    let path = format!("/api/v1/namespaces/kube-system/pods/{pod}/log");
    let log = peer
        .get(&format!("{path}?container=smb&timestamps=true&tailLines=5000"))
        .await;
    assert_eq!(log.code, 200, "{}", log.text);
    let mut ledger = Ledger::default();
    let seen = log.text.lines().filter_map(|line| {
        let (time, line) = line.split_once(' ')?;
        let at = chrono::DateTime::parse_from_rfc3339(time).unwrap();
        log::read(at.with_timezone(&chrono::Utc), line)
    });
    ledger.add(seen.collect());
    let mappings = ledger.mappings(|_| None);
    let (remote, told) = mappings.first_key_value().unwrap();
    assert_eq!(
        remote.as_str(),
        format!(r"\\files.example.com\k8s\win-demo-reports-{VOLUME}")
    );
    assert_eq!(told.account.as_ref().unwrap().0.as_ref(), r"AZURE\svc-k8s-smb");
    assert_eq!(told.last.as_ref().unwrap().0, LastHappened::Mapped);
    let volumes: Vec<&str> = told.volumes.iter().map(|name| &**name).collect();
    assert_eq!(volumes, [VOLUME]);
    // From a time on, in whole seconds.
    let since = told.staged_at.unwrap().format("%Y-%m-%dT%H:%M:%SZ");
    let later = peer
        .get(&format!(
            "{path}?container=smb&timestamps=true&tailLines=5000&sinceTime={since}"
        ))
        .await;
    assert_eq!(later.code, 200, "{}", later.text);
    assert!(later.text.contains("NodePublishVolume: mount"), "{}", later.text);
}

pub async fn logs_come_from_the_kubelet(peer: &Peer) {
    let pods = peer
        .get("/api/v1/namespaces/win-demo/pods?labelSelector=app.kubernetes.io/name%3Dhello-win")
        .await
        .json();
    let pod = names(&pods)[0];
    let log = format!("/api/v1/namespaces/win-demo/pods/{pod}/log");
    let lines = peer.get(&format!("{log}?tailLines=2&timestamps=true")).await;
    assert_eq!(lines.code, 200, "{}", lines.text);
    assert_eq!(lines.text.lines().count(), 2, "{}", lines.text);
    for line in lines.text.lines() {
        let (time, _) = line.split_once(' ').unwrap();
        chrono::DateTime::parse_from_rfc3339(time).unwrap();
    }
    assert_eq!(
        peer.get(&format!("{log}?previous=true")).await.refusal(),
        refusal(
            400,
            "BadRequest",
            &format!("previous terminated container \"hello\" in pod \"{pod}\" not found")
        )
    );
    assert_eq!(
        peer.get(&format!("{log}?container=other")).await.refusal(),
        refusal(
            400,
            "BadRequest",
            &format!("container other is not valid for pod {pod}")
        )
    );
}
