//! Reading objects: what a row is made of, selectors, pages.

use super::peer::{Peer, items, names, refusal};
use drainboard::domain::object::Os;
use drainboard::sources::kubernetes::intern::Interner;
use drainboard::sources::kubernetes::wire::{node, pod};
use serde_json::Value;

const WINDOWS: &str = "k8s-lab-win-1";

pub async fn the_version_is_the_articles(peer: &Peer) {
    let version = peer.get("/version").await.json();
    for (field, expected) in [("major", "1"), ("minor", "37"), ("gitVersion", "v1.37.2")] {
        assert_eq!(version[field], expected);
    }
}

pub async fn a_path_that_nobody_serves_is_not_found(peer: &Peer) {
    // So it is with `metrics.k8s.io` in a cluster without metrics-server.
    let answer = peer.get("/apis/nobody.example.com/v1beta1/nodes").await;
    assert_eq!(answer.refusal(), refusal(404, "", "404 page not found\n"));
    let answer = peer.get("/api/v1/nothings").await;
    assert_eq!(
        answer.refusal(),
        refusal(
            404,
            "NotFound",
            "the server could not find the requested resource"
        )
    );
}

/// Every one of these pointers leads to a string.
pub fn strings(object: &Value, pointers: &[&str]) {
    for pointer in pointers {
        let value = object.pointer(pointer);
        assert!(
            value.is_some_and(Value::is_string),
            "{}{pointer}: {value:?}",
            object["metadata"]["name"]
        );
    }
}

const METADATA: [&str; 4] = [
    "/metadata/name",
    "/metadata/uid",
    "/metadata/resourceVersion",
    "/metadata/creationTimestamp",
];

pub async fn a_node_has_what_the_rows_are_made_of(peer: &Peer) {
    let list = peer.get("/api/v1/nodes").await.json();
    assert_eq!(list["kind"], "NodeList");
    strings(&list, &["/metadata/resourceVersion"]);
    assert_eq!(
        names(&list),
        ["k8s-lab-master-1", "k8s-lab-node-1", "k8s-lab-node-2", WINDOWS]
    );
    for node in items(&list) {
        assert!(
            node.get("kind").is_none(),
            "items of a list do not repeat their kind"
        );
        strings(node, &METADATA);
        strings(
            node,
            &[
                "/metadata/labels/kubernetes.io~1os",
                "/status/addresses/0/type",
                "/status/addresses/0/address",
                "/status/nodeInfo/bootID",
                "/status/nodeInfo/kernelVersion",
                "/status/nodeInfo/osImage",
                "/status/nodeInfo/containerRuntimeVersion",
                "/status/nodeInfo/kubeletVersion",
                "/status/nodeInfo/operatingSystem",
                "/status/capacity/cpu",
                "/status/capacity/memory",
                "/status/capacity/pods",
                "/status/allocatable/cpu",
                "/status/allocatable/memory",
                "/status/allocatable/pods",
            ],
        );
        assert!(node["spec"].get("unschedulable").is_none(), "{}", node["spec"]);
        for condition in node["status"]["conditions"].as_array().unwrap() {
            strings(
                condition,
                &["/type", "/status", "/reason", "/message", "/lastTransitionTime"],
            );
        }
    }

    let text = peer.get(&format!("/api/v1/nodes/{WINDOWS}")).await.text;
    let row = serde_json::from_str::<node::Node<'_>>(&text)
        .unwrap()
        .to_row(&mut Interner::default());
    assert_eq!(row.os, Some(Os::Windows));
    assert_eq!(&*row.kernel_version, "10.0.26100.33438");
    assert_eq!(&*row.kubelet_version, "v1.37.2");
    assert_eq!(&*row.boot_id, "11");
    assert_eq!(row.windows_build_label.as_deref(), Some("10.0.26100"));
    assert_eq!(row.internal_ips.len(), 1);
    assert!(row.created_at.is_some());
    assert_eq!(row.capacity.cpu_millicores, Some(4000));
    assert_eq!(row.capacity.memory_bytes, Some(8 << 30));
    let taints: Vec<_> = row
        .taints
        .iter()
        .map(|taint| (&*taint.key, &*taint.effect))
        .collect();
    assert_eq!(taints, [("os", "NoSchedule")]);
    let mut conditions: Vec<_> = row.conditions.iter().map(|condition| &*condition.kind).collect();
    conditions.sort_unstable();
    assert_eq!(
        conditions,
        ["DiskPressure", "MemoryPressure", "PIDPressure", "Ready"]
    );
    assert!(row.conditions.iter().all(|condition| condition.since.is_some()));
}

pub async fn a_pod_has_what_the_rows_are_made_of(peer: &Peer) {
    let list = peer.get("/api/v1/namespaces/win-demo/pods").await.json();
    assert_eq!(list["kind"], "PodList");
    assert_eq!(items(&list).len(), 7);
    for pod in items(&list) {
        strings(pod, &METADATA);
        strings(
            pod,
            &[
                "/metadata/namespace",
                "/metadata/ownerReferences/0/kind",
                "/metadata/ownerReferences/0/name",
                "/spec/nodeName",
                "/spec/runtimeClassName",
                "/spec/containers/0/name",
                "/spec/containers/0/image",
                "/spec/containers/0/resources/limits/cpu",
                "/spec/containers/0/resources/limits/memory",
                "/spec/schedulerName",
                "/status/phase",
                "/status/podIP",
                "/status/startTime",
                "/status/qosClass",
                "/status/conditions/0/type",
                "/status/conditions/0/status",
                "/status/containerStatuses/0/name",
                "/status/containerStatuses/0/containerID",
                "/status/containerStatuses/0/state/running/startedAt",
            ]
            .into_iter()
            // The article gives aspnetapp no limits.
            .filter(|pointer| {
                !(pod["metadata"]["labels"]["app.kubernetes.io/name"] == "aspnetapp"
                    && pointer.contains("limits"))
            })
            .collect::<Vec<_>>(),
        );
        let status = &pod["status"]["containerStatuses"][0];
        assert!(status["ready"].is_boolean(), "{status}");
        assert!(status["started"].is_boolean(), "{status}");
        assert!(status["restartCount"].is_u64(), "{status}");
        assert_eq!(pod["metadata"]["ownerReferences"][0]["controller"], true);
    }

    let hello = names(&list)
        .into_iter()
        .find(|name| name.starts_with("hello-win-"))
        .unwrap()
        .to_owned();
    let text = peer
        .get(&format!("/api/v1/namespaces/win-demo/pods/{hello}"))
        .await
        .text;
    let row = serde_json::from_str::<pod::Pod<'_>>(&text)
        .unwrap()
        .to_row(&mut Interner::default());
    assert_eq!(row.node.as_deref(), Some(WINDOWS));
    let container = &row.containers[0];
    assert_eq!(&*container.name, "hello");
    assert_eq!(container.limits.memory_bytes, Some(256 << 20));
    assert_eq!(container.limits.cpu_millicores, Some(500));
}

pub async fn an_object_that_is_not_there_is_not_found(peer: &Peer) {
    let answer = peer.get("/api/v1/namespaces/win-demo/pods/gone").await;
    assert_eq!(
        answer.refusal(),
        refusal(404, "NotFound", "pods \"gone\" not found")
    );
    assert_eq!(
        answer.details(),
        serde_json::json!({ "name": "gone", "kind": "pods" })
    );
    let answer = peer
        .get("/apis/apps/v1/namespaces/win-demo/daemonsets/gone")
        .await;
    assert_eq!(
        answer.refusal(),
        refusal(404, "NotFound", "daemonsets.apps \"gone\" not found")
    );
    assert_eq!(
        answer.details(),
        serde_json::json!({ "name": "gone", "group": "apps", "kind": "daemonsets" })
    );
}

pub async fn field_selectors_choose(peer: &Peer) {
    let all = peer.get("/api/v1/pods").await.json();
    let on_windows = |pod: &&Value| pod["spec"]["nodeName"] == WINDOWS;
    let chosen = peer
        .get(&format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{WINDOWS}"))
        .await
        .json();
    assert!(items(&chosen).len() >= 9, "{:?}", names(&chosen));
    assert_eq!(
        items(&chosen).len(),
        items(&all).iter().filter(on_windows).count()
    );
    assert!(items(&chosen).iter().all(|pod| on_windows(&pod)));
    for (selector, expected) in [
        ("metadata.name%3Dk8s-lab-win-1", 1),
        ("metadata.name!%3Dk8s-lab-win-1", 3),
        ("spec.unschedulable%3Dfalse", 4),
    ] {
        let chosen = peer
            .get(&format!("/api/v1/nodes?fieldSelector={selector}"))
            .await
            .json();
        assert_eq!(items(&chosen).len(), expected, "{selector}");
    }
    let running = peer
        .get("/api/v1/namespaces/win-demo/pods?fieldSelector=status.phase%3DRunning")
        .await
        .json();
    assert_eq!(items(&running).len(), 7);
}

pub async fn label_selectors_choose(peer: &Peer) {
    for (selector, expected) in [
        ("kubernetes.io/os%3Dwindows", vec![WINDOWS]),
        ("kubernetes.io/os%3D%3Dwindows", vec![WINDOWS]),
        (
            "kubernetes.io/os!%3Dwindows,!node-role.kubernetes.io/control-plane",
            vec!["k8s-lab-node-1", "k8s-lab-node-2"],
        ),
        (
            "kubernetes.io/os%20in%20(linux,darwin),node-role.kubernetes.io/control-plane",
            vec!["k8s-lab-master-1"],
        ),
        ("kubernetes.io/os%20notin%20(linux)", vec![WINDOWS]),
        ("node.kubernetes.io/windows-build", vec![WINDOWS]),
    ] {
        let chosen = peer
            .get(&format!("/api/v1/nodes?labelSelector={selector}"))
            .await
            .json();
        assert_eq!(names(&chosen), expected, "{selector}");
    }
}

pub async fn selectors_that_cannot_be_read_are_refused(peer: &Peer) {
    let (code, reason, message) = peer.get("/api/v1/nodes?labelSelector=a%20of%20b").await.refusal();
    assert_eq!((code, reason.as_str()), (400, "BadRequest"), "{message}");
    let (code, reason, message) = peer
        .get("/api/v1/pods?fieldSelector=spec.colour%3Dblue")
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (400, "BadRequest"));
    assert!(
        message.ends_with("field label not supported: spec.colour"),
        "{message}"
    );
}

pub async fn pages_are_one_list(peer: &Peer) {
    let whole = peer.get("/api/v1/nodes").await.json();
    let first = peer.get("/api/v1/nodes?limit=3").await.json();
    assert_eq!(items(&first).len(), 3);
    assert_eq!(first["metadata"]["remainingItemCount"], 1);
    let token = first["metadata"]["continue"].as_str().unwrap();
    let encoded: String = form_urlencoded::byte_serialize(token.as_bytes()).collect();
    let second = peer
        .get(&format!("/api/v1/nodes?limit=3&continue={encoded}"))
        .await
        .json();
    assert!(second["metadata"].get("continue").is_none_or(|token| token == ""));
    assert_eq!(
        second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"],
        "both pages are of one moment"
    );
    assert_eq!([names(&first), names(&second)].concat(), names(&whole));

    let chosen = peer
        .get("/api/v1/nodes?limit=1&labelSelector=kubernetes.io/os%3Dlinux")
        .await
        .json();
    assert!(chosen["metadata"]["continue"].is_string());
    assert!(
        chosen["metadata"].get("remainingItemCount").is_none(),
        "with a selector the rest is not counted"
    );

    let (code, reason, _) = peer
        .get("/api/v1/nodes?limit=3&continue=nonsense")
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (400, "BadRequest"));
}
