//! Where the pods can go.

use super::*;
use crate::maintenance::preflight::survey::Image;

fn image(name: &str, bytes: u64) -> Image {
    Image {
        names: [name.into()].into(),
        bytes,
    }
}

#[test]
fn the_only_windows_node_means_downtime_in_words() {
    let found = preflight(&one_windows_node());
    says(
        &found,
        Weight::Warning,
        &[
            "k8s-lab-win-1 is the only Windows node: 2 pods wait as Pending until it is back: win-demo/hello",
            "down from the drain until the pods are ready again",
        ],
    );
    is_silent(&found, "find room");
}

#[test]
fn pods_that_fit_on_a_second_node_go_there() {
    let found = preflight(&two_windows_nodes());
    says(
        &found,
        Weight::Info,
        &["2 of 2 pods find room elsewhere", "k8s-lab-win-2 (2)"],
    );
    says(
        &found,
        Weight::Warning,
        &["win-demo/hello has ready pods on this node only"],
    );
    is_silent(&found, "Pending");
}

#[test]
fn every_reason_of_the_other_windows_nodes_is_told() {
    let against = |change: fn(&mut Place)| {
        let mut survey = two_windows_nodes();
        change(&mut survey.nodes[2]);
        let found = preflight(&survey);
        let note = found.notes.into_iter().find(|note| note.text.contains("Pending"));
        note.unwrap().text
    };
    let cordoned = against(|place| place.node.unschedulable = true);
    assert!(
        cordoned.contains("no other node takes them (k8s-lab-win-2: cordoned)"),
        "{cordoned}"
    );
    let silent = against(|place| place.node.conditions = [ready(ConditionStatus::Unknown)].into());
    assert!(silent.contains("k8s-lab-win-2: not Ready"), "{silent}");
    let build = against(|place| {
        place.labels = [
            ("kubernetes.io/os".into(), "windows".into()),
            ("node.kubernetes.io/windows-build".into(), "10.0.20348".into()),
        ]
        .into();
    });
    assert!(
        build.contains("not labelled node.kubernetes.io/windows-build=10.0.26100"),
        "{build}"
    );
    let tainted = against(|place| {
        place.node.taints = [Taint {
            key: "gpu".into(),
            value: "".into(),
            effect: "NoExecute".into(),
        }]
        .into();
    });
    assert!(tainted.contains("taint gpu:NoExecute not tolerated"), "{tainted}");
    let full = against(|place| place.node.allocatable.pods = Some(0));
    assert!(full.contains("all 0 places for pods taken"), "{full}");
    let memory = against(|place| place.node.allocatable.memory_bytes = Some(100 * MIB));
    assert!(memory.contains("100 MiB free, 256 MiB requested"), "{memory}");
    let cpu = against(|place| place.node.allocatable.cpu_millicores = Some(100));
    assert!(cpu.contains("100m CPU free, 250m requested"), "{cpu}");
}

#[test]
fn a_pod_takes_the_room_that_the_next_one_misses() {
    let mut survey = two_windows_nodes();
    survey.nodes[2].node.allocatable.memory_bytes = Some(700 * MIB);
    survey.pods.push(pod("other", "1", WIN_2));
    let found = preflight(&survey);
    says(&found, Weight::Info, &["1 of 2 pods finds room elsewhere"]);
    says(
        &found,
        Weight::Warning,
        &["1 pod waits as Pending", "188 MiB free, 256 MiB requested"],
    );
}

#[test]
fn required_affinity_is_matched_and_the_rest_is_said_to_be_up_to_the_scheduler() {
    let mut survey = two_windows_nodes();
    survey.wishes.as_mut().unwrap().insert(
        "uid-of-hello-abc-1".into(),
        Wishes {
            node_terms: ["disk=ssd".parse().unwrap(), "disk=nvme".parse().unwrap()].into(),
            unjudged: ["pod anti-affinity"].into(),
            ..Wishes::default()
        },
    );
    let found = preflight(&survey);
    says(
        &found,
        Weight::Warning,
        &["1 pod waits", "no match for its node affinity"],
    );
    says(
        &found,
        Weight::Info,
        &["not judged", "pod anti-affinity (win-demo/hello)"],
    );
    survey.nodes[2].labels = survey.nodes[2]
        .labels
        .iter()
        .cloned()
        .chain([("disk".into(), "nvme".into())])
        .collect();
    is_silent(&preflight(&survey), "Pending");
}

#[test]
fn a_windows_pod_that_names_no_system_may_land_on_linux() {
    let mut survey = one_windows_node();
    for pod in &mut survey.pods {
        pod.runtime_class = None;
    }
    says(
        &preflight(&survey),
        Weight::Warning,
        &[
            "a node with another operating system: win-demo/hello (to k8s-lab-node-1)",
            "nodeSelector kubernetes.io/os",
        ],
    );
}

#[test]
fn a_runtime_class_that_is_gone_keeps_every_new_pod_out() {
    let mut survey = two_windows_nodes();
    survey.runtime_classes = Ok(BTreeMap::new());
    says(
        &preflight(&survey),
        Weight::Warning,
        &["RuntimeClass windows-2025 is gone: no new pod of win-demo/hello"],
    );
    survey.runtime_classes = Err("runtimeclasses is forbidden".to_owned());
    says(
        &preflight(&survey),
        Weight::Warning,
        &["RuntimeClasses", "could not be judged"],
    );
}

#[test]
fn what_the_pods_ask_for_may_be_unknown() {
    let mut survey = two_windows_nodes();
    survey.wishes = Err("the answer was cut off before its end".to_owned());
    let found = preflight(&survey);
    says(
        &found,
        Weight::Warning,
        &["where the pods can go could not be judged"],
    );
    is_silent(&found, "Pending");
}

#[test]
fn images_that_must_be_pulled_are_named_with_their_size() {
    let mut survey = two_windows_nodes();
    let network = || image("docker.io/example/calico-node-windows:1.0", MIB);
    survey.nodes[0].images = [image("docker.io/example/hello:1.0", 12 << 30), network()].into();
    survey.nodes[2].images = [image("mcr.microsoft.com/windows/nanoserver:ltsc2025", MIB)].into();
    let found = preflight(&survey);
    says(
        &found,
        Weight::Info,
        &[
            "before replacements run on k8s-lab-win-2",
            "example/hello:1.0 (12 GiB)",
        ],
    );
    is_silent(&found, "pull them again");
    survey.nodes[0].images = [image("docker.io/example/hello:0.9", MIB), network()].into();
    says(
        &preflight(&survey),
        Weight::Info,
        &["may have to pull them again: example/hello:1.0"],
    );
}

#[test]
fn of_fifty_images_nobody_knows_what_is_missing() {
    let mut survey = two_windows_nodes();
    let many: Box<[Image]> = (0..50)
        .map(|number| image(&format!("example/{number}:1"), MIB))
        .collect();
    survey.nodes[0].images = many.clone();
    survey.nodes[2].images = many;
    is_silent(&preflight(&survey), "pull");
}

#[test]
fn a_list_without_the_image_of_a_pod_that_runs_there_is_no_whole_list() {
    let mut survey = two_windows_nodes();
    survey.nodes[0].images = [image("example/other:1.0", MIB)].into();
    survey.nodes[2].images = [image("example/other:1.0", MIB)].into();
    survey.pods.push(daemon("calico-node-windows", WIN_2));
    is_silent(&preflight(&survey), "pull");
}
