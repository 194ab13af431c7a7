//! Given such an index and such nodes, the operator sees that.

use super::*;
use crate::domain::object::Os;
use crate::sources::registry::Variant;

fn image(os_versions: &[&str]) -> Image {
    Image {
        reference: "ghcr.io/example/app:2.0".to_owned(),
        digest: "sha256:912dccf9".to_owned(),
        is_index: true,
        variants: os_versions
            .iter()
            .map(|version| Variant {
                platform: Platform {
                    os: "windows".into(),
                    architecture: "amd64".into(),
                    variant: "".into(),
                    os_version: (*version).into(),
                },
                digest: "sha256:1".to_owned(),
                size_bytes: 200 << 20,
            })
            .collect(),
        attestations: 0,
    }
}

fn node(name: &str, version: &str) -> Node {
    Node {
        name: name.into(),
        platform: NodePlatform {
            os: Os::Windows,
            architecture: "amd64".into(),
            windows: version.parse().ok(),
        },
    }
}

#[test]
fn each_node_of_two_windows_versions_takes_its_own_and_one_takes_none() {
    let nodes = vec![
        node("win-2022", "10.0.20348.4297"),
        node("win-2025", "10.0.26100.33438"),
        node("win-2019", "10.0.17763.7009"),
    ];
    let placed = Placed::new(image(&["10.0.20348.4297", "10.0.26100.33438"]), Ok(nodes));
    assert_eq!(
        table::text(&placed),
        "\
ghcr.io/example/app:2.0   index sha256:912dccf9

PLATFORM        OS.VERSION            SIZE   NODES
windows/amd64   10.0.20348.4297    200 MiB   win-2022
windows/amd64   10.0.26100.33438   200 MiB   win-2025

▲ win-2019 (windows/amd64 10.0.17763.7009) takes no variant: the pull ends with `no match for platform in manifest`
"
    );
}

#[test]
fn many_nodes_are_counted_in_the_table_and_named_in_json() {
    let nodes = (1..=6)
        .map(|number| node(&format!("win-{number}"), "10.0.26100.33438"))
        .collect();
    let placed = Placed::new(image(&["10.0.26100.33438"]), Ok(nodes));
    let text = table::text(&placed);
    assert!(text.contains("win-1, win-2, win-3, win-4 and 2 more\n"), "{text}");
    let document = serde_json::to_value(json::document(&placed)).unwrap();
    assert_eq!(document["items"][0]["nodes"].as_array().unwrap().len(), 6);
}

#[test]
fn what_a_registry_says_steers_no_terminal() {
    let problem = Problem {
        what: "no kubeconfig".to_owned(),
        next_step: "name one".to_owned(),
    };
    let mut hostile = image(&["10.0\u{1b}]52;c;eA==\u{7}\u{202e}"]);
    hostile.variants[0].platform.architecture = "amd\u{1b}[2J64".into();
    let text = table::text(&Placed::new(hostile, Err(problem)));
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    assert!(text.contains("windows/amd64"), "{text}");
    assert!(
        text.ends_with("is not known: no kubeconfig → name one\n"),
        "{text}"
    );
}
