//! Pages and previews, as text with roles.

use super::cluster::*;
use crate::domain::measurement::{NodeHistory, NodeKey, NodeQuantity, Sample};
use crate::domain::node::NodeDetail;
use crate::domain::object::{Change, ClusterEvent, ObjectKey, Os};
use crate::domain::pod::{ContainerDetail, PodDetail, Termination};
use crate::domain::reading::Source;
use crate::sources::event::{Detail, DetailKey, Payload, Problem, WatchState, Watched};
use crate::store::view::{Body, Page, RowKey};

pub fn shown(page: &Page) -> String {
    let mut out = vec![roles(&page.title)];
    for section in &page.sections {
        out.push(format!("== {}", section.title));
        match &section.body {
            Body::Lines(lines) => out.extend(lines.iter().map(roles)),
            Body::Table(heads, rows) => {
                out.push(heads.iter().map(|head| head.0).collect::<Vec<_>>().join(" | "));
                out.extend(
                    rows.iter()
                        .map(|row| row.iter().map(roles).collect::<Vec<_>>().join(" | ")),
                );
            }
            Body::Chart(series) => out.extend(series.iter().map(|series| {
                let values: Vec<String> = series
                    .points
                    .iter()
                    .map(|point| format!("{:.2}", point.1))
                    .collect();
                format!(
                    "{} [{}] now {}",
                    series.label,
                    values.join(" "),
                    roles(&series.now)
                )
            })),
        }
    }
    out.join("\n")
}

fn event(about_kind: &str, namespace: Option<&str>, name: &str, reason: &str, message: &str) -> ClusterEvent {
    ClusterEvent {
        key: ObjectKey {
            namespace: Some("default".into()),
            name: format!("{name}.{reason}").into(),
            uid: reason.into(),
        },
        about_kind: about_kind.into(),
        about_namespace: namespace.map(Into::into),
        about_name: name.into(),
        about_uid: None,
        warning: reason == "Rebooted",
        reason: reason.into(),
        message: message.into(),
        count: 2,
        last_seen: Some(ago(180)),
    }
}

const POD: &str = "hello-win-759c899954-tkfg6";

fn pod_key() -> DetailKey {
    DetailKey::Pod("win-demo".into(), POD.into())
}

fn told() -> Told {
    let mut told = Told::article();
    let minutes = |values: [f64; 3], quantity| NodeHistory {
        node: NodeKey::Name(WIN.into()),
        quantity,
        points: (0i64..)
            .zip(values)
            .map(|(index, value)| Sample {
                value,
                at: ago(1800 - index * 600),
            })
            .collect(),
        step_seconds: 600,
    };
    let history = vec![
        minutes([4.0 * GIB, 8.0 * GIB, 5.0 * GIB], NodeQuantity::Commit),
        minutes([16.0 * GIB, 16.0 * GIB, 20.0 * GIB], NodeQuantity::CommitLimit),
        minutes([0.05, 0.5, 0.054], NodeQuantity::CpuRatio),
    ];
    told.say(Source::Prometheus, Payload::History(history));
    let events = vec![
        event(
            "Node",
            None,
            WIN,
            "Rebooted",
            "Node rebooted,\u{1b}[31m boot id: 11",
        ),
        event(
            "Pod",
            Some("win-demo"),
            POD,
            "Pulled",
            "Container image already present",
        ),
    ];
    told.say(Source::Kubernetes, Payload::Events(upserts(events)));
    told
}

#[test]
fn the_page_of_the_windows_node() {
    let mut told = told();
    let mut host = pod(
        "kube-system",
        "kube-proxy-windows-z9qdq",
        Some(WIN),
        Some(Os::Windows),
    );
    host.host_process = true;
    told.say(Source::Kubernetes, Payload::Pods(vec![Change::Upsert(host)]));
    let detail = NodeDetail {
        images: Box::new([("ghcr.io/example/hello:1.3".into(), 300 << 20)]),
        csi_drivers: Some(Box::new(["smb.csi.k8s.io".into()])),
    };
    told.say(
        Source::Kubernetes,
        Payload::Detail(DetailKey::Node(WIN.into()), Ok(Detail::Node(detail))),
    );
    insta::assert_snapshot!(shown(&told.store.node_page(&WIN.into(), now()).unwrap()));
}

#[test]
fn the_page_of_a_linux_node_has_no_windows_sections() {
    let told = told();
    let page = told.store.node_page(&"k8s-lab-node-1".into(), now()).unwrap();
    let titles: Vec<&str> = page
        .sections
        .iter()
        .map(|section| section.title.as_str())
        .collect();
    assert!(
        !titles.contains(&"services") && !titles.contains(&"last hour"),
        "{titles:?}"
    );
    assert!(!shown(&page).contains("commit"));
}

#[test]
fn the_page_of_a_windows_pod() {
    let mut told = told();
    let mut crashed = pods().remove(1);
    crashed.containers[0].restarts = 1;
    crashed.containers[0].last_termination = Some(Box::new(Termination {
        exit_code: -1_073_741_510,
        signal: None,
        reason: "Error".into(),
        started_at: Some(ago(3600)),
        finished_at: Some(ago(2530)),
    }));
    told.say(Source::Kubernetes, Payload::Pods(vec![Change::Upsert(crashed)]));
    let waiting = shown(
        &told
            .store
            .pod_page(&"win-demo".into(), &POD.into(), now())
            .unwrap(),
    );
    assert!(waiting.contains("being fetched…"));
    let detail = PodDetail {
        grace_period_seconds: Some(30),
        containers: Box::new([ContainerDetail {
            name: "hello".into(),
            probes: Box::new(["liveness http /healthz :http every 10 s".into()]),
            mounts: Box::new([(r"C:\data".into(), "data".into())]),
        }]),
        volumes: Box::new([("data".into(), "claim reports".into())]),
    };
    told.say(
        Source::Kubernetes,
        Payload::Detail(pod_key(), Ok(Detail::Pod(detail))),
    );
    insta::assert_snapshot!(shown(
        &told
            .store
            .pod_page(&"win-demo".into(), &POD.into(), now())
            .unwrap()
    ));
}

#[test]
fn a_detail_that_could_not_be_had_says_why_on_the_page() {
    let mut told = told();
    let problem = "pods is forbidden: no right to get them";
    told.say(
        Source::Kubernetes,
        Payload::Detail(pod_key(), Err(problem.into())),
    );
    let page = shown(
        &told
            .store
            .pod_page(&"win-demo".into(), &POD.into(), now())
            .unwrap(),
    );
    assert_eq!(page.matches(problem).count(), 2, "{page}");
    let yaml = DetailKey::Yaml(
        crate::sources::event::Kind::Pod,
        ObjectKey {
            namespace: Some("win-demo".into()),
            name: POD.into(),
            uid: "u".into(),
        },
    );
    assert_eq!(told.store.yaml(&yaml), None);
    told.say(
        Source::Kubernetes,
        Payload::Detail(yaml.clone(), Ok(Detail::Yaml("kind: Pod\n".into()))),
    );
    assert_eq!(told.store.yaml(&yaml), Some(Ok("kind: Pod\n")));
}

#[test]
fn a_forbidden_watch_of_events_says_so_where_they_would_be() {
    let mut told = Told::article();
    let forbidden = WatchState::Forbidden(Problem {
        what: "events is forbidden".to_owned(),
        next_step: "ask for a ClusterRole".to_owned(),
    });
    told.say(Source::Kubernetes, Payload::Watch(Watched::Events, forbidden));
    let page = shown(&told.store.node_page(&WIN.into(), now()).unwrap());
    assert!(page.contains("events is forbidden"), "{page}");
}

#[test]
fn previews_of_a_node_and_a_pod() {
    let told = told();
    let pod = RowKey::Pod {
        namespace: "win-demo".into(),
        name: POD.into(),
        uid: format!("uid-{POD}").into(),
    };
    let mut lines = told.store.preview(&RowKey::Node(WIN.into()), now());
    lines.extend(told.store.preview(&RowKey::Node("k8s-lab-node-1".into()), now()));
    lines.extend(told.store.preview(&pod, now()));
    insta::assert_snapshot!(lines.iter().map(roles).collect::<Vec<_>>().join("\n"));
    assert!(told.store.preview(&RowKey::Node("gone".into()), now()).is_empty());
}

#[test]
fn the_header_says_how_each_source_is() {
    let mut told = told();
    told.fails(Source::Exporter, "scraping pod monitoring/exporter-x");
    let header = told.store.header(now());
    let badges: Vec<String> = header
        .sources
        .iter()
        .map(|badge| format!("{} {} {} {:?}", badge.name, badge.glyph, badge.age, badge.role))
        .collect();
    assert_eq!(
        badges,
        [
            "API ● 12 s Ok",
            "Prometheus ● 12 s Ok",
            "exporter ✖ 12 s Error",
            "metrics ● 12 s Ok",
        ]
    );
    assert_eq!(
        header.sources[2].problem.as_deref(),
        Some("scraping pod monitoring/exporter-x → see that it runs")
    );
    assert_eq!(header.days_to_patch_tuesday, 3);
    assert_eq!(
        (
            header.counts.nodes,
            header.counts.windows_nodes,
            header.counts.pods
        ),
        (4, 1, 3)
    );
}
