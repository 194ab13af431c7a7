use super::*;
use proptest::prelude::*;

fn windows(os_version: &str) -> Platform {
    Platform {
        os: "windows".into(),
        architecture: "amd64".into(),
        os_version: os_version.into(),
        ..Platform::default()
    }
}

fn linux(architecture: &str, variant: &str) -> Platform {
    Platform {
        os: "linux".into(),
        architecture: architecture.into(),
        variant: variant.into(),
        ..Platform::default()
    }
}

fn windows_node(version: &str) -> NodePlatform {
    NodePlatform {
        os: Os::Windows,
        architecture: "amd64".into(),
        windows: Some(version.parse().unwrap()),
    }
}

fn linux_node(architecture: &str) -> NodePlatform {
    NodePlatform {
        os: Os::Linux,
        architecture: architecture.into(),
        windows: None,
    }
}

fn build(number: u32) -> WindowsBuild {
    WindowsBuild {
        major: 10,
        minor: 0,
        build: number,
    }
}

#[test]
fn each_node_of_the_articles_cluster_takes_its_own_variant_of_hello() {
    let index = [
        linux("amd64", ""),
        linux("arm64", ""),
        windows("10.0.26100.33674"),
    ];
    assert_eq!(linux_node("amd64").choose(&index), Some(0));
    assert_eq!(linux_node("arm64").choose(&index), Some(1));
    assert_eq!(
        windows_node("10.0.26100.33438").choose(&index),
        Some(2),
        "its revision is older, which does not matter"
    );
    assert_eq!(
        windows_node("10.0.20348.4297").choose(&index),
        None,
        "a newer image never runs on an older kernel"
    );
}

#[test]
fn a_node_runs_its_build_and_those_back_to_the_ltsc_release_before() {
    for (node, runs, runs_not) in [
        (17763, vec![17763], vec![14393, 20348]),
        (20348, vec![20348], vec![17763, 25398, 26100]),
        (25398, vec![20348, 25398], vec![17763, 26100]),
        (26100, vec![20348, 25398, 26100], vec![17763, 26101]),
        (29500, vec![26100, 29500], vec![20348, 25398, 29501]),
    ] {
        for image in runs {
            assert!(node_runs_build(build(node), build(image)), "{image} on {node}");
        }
        for image in runs_not {
            assert!(!node_runs_build(build(node), build(image)), "{image} on {node}");
        }
    }
}

#[test]
fn of_two_that_fit_the_greater_text_wins_even_where_its_number_is_smaller() {
    let node = windows_node("10.0.26100.33438");
    assert_eq!(
        node.choose(&[windows("10.0.20348.4297"), windows("10.0.26100.33674")]),
        Some(1)
    );
    assert_eq!(
        node.choose(&[windows("10.0.26100.33674"), windows("10.0.26100.9")]),
        Some(1),
        "text, not number: 9 beats 33674"
    );
}

#[test]
fn without_os_version_every_windows_node_takes_it_and_a_broken_one_nobody() {
    for node in ["10.0.26100.33438", "10.0.17763.1"] {
        assert!(windows_node(node).takes(&windows("")));
        assert!(!windows_node(node).takes(&windows("10.0")));
        assert!(!windows_node(node).takes(&windows("ltsc2025.0.0")));
    }
    assert!(windows_node("10.0.26100.33438").takes(&windows("10.0.26100")));
    assert!(
        !windows_node("10.0.26100.1").takes(&windows("10.0.91636")),
        "no number of 16 bits"
    );
}

#[test]
fn a_linux_node_prefers_its_own_architecture() {
    let index = [linux("386", ""), linux("amd64", "v1")];
    assert_eq!(linux_node("amd64").choose(&index), Some(1));
    assert_eq!(linux_node("amd64").choose(&index[..1]), Some(0));
    assert_eq!(
        linux_node("arm64").choose(&[linux("arm", ""), linux("arm64", "v8")]),
        Some(1)
    );
    assert_eq!(linux_node("arm64").choose(&index), None);
    let foreign = Platform {
        architecture: "arm64".into(),
        ..windows("10.0.26100.1")
    };
    assert!(!windows_node("10.0.26100.1").takes(&foreign));
}

#[test]
fn what_is_noteworthy_about_a_variant() {
    let nodes = [
        ("win-1".into(), "10.0.26100.33438".parse().unwrap()),
        ("win-2".into(), "10.0.26100.33674".parse().unwrap()),
        ("old-1".into(), "10.0.20348.4297".parse().unwrap()),
    ];
    for (os_version, expected) in [
        ("", vec![Mark::NoOsVersion]),
        ("10.0", vec![Mark::BadOsVersion]),
        ("10.0.29500.1", vec![Mark::NewerThanAnyNode]),
        (
            "10.0.26100.33674",
            vec![Mark::RevisionNewer(vec!["win-1".into()])],
        ),
        ("10.0.26100.33438", vec![]),
        ("10.0.26100", vec![]),
    ] {
        assert_eq!(marks(&windows(os_version), &nodes), expected, "{os_version}");
    }
    assert_eq!(marks(&linux("amd64", ""), &nodes), []);
    assert_eq!(
        marks(&windows("10.0.29500.1"), &[]),
        [],
        "no cluster, no comparison"
    );
}

proptest! {
    #[test]
    fn what_is_chosen_is_taken(versions in prop::collection::vec("(10\\.0\\.(20348|25398|26100|26101)(\\.[0-9]{1,5})?)?", 0..6)) {
        let index: Vec<Platform> = versions.iter().map(|version| windows(version)).collect();
        let node = windows_node("10.0.26100.33438");
        match node.choose(&index) {
            Some(chosen) => {
                prop_assert!(node.takes(&index[chosen]));
                for other in index.iter().filter(|other| node.takes(other)) {
                    prop_assert!(index[chosen].os_version >= other.os_version);
                }
            }
            None => prop_assert!(!index.iter().any(|platform| node.takes(platform))),
        }
    }
}
