//! The kubeconfig changes and the old cluster answers late: header and rows name the same server at every moment.

use crate::desk::{ABSENT, Desk, WIN, article, name};
use drainboard::domain::reading::Source;
use drainboard::lab::apiserver::{ApiServer, ApiServerOptions, Fault, User};
use drainboard::lab::embedded::Lab;
use drainboard::sources::event::Request;
use drainboard::sources::{SourcesOptions, start};
use drainboard::store::Store;
use drainboard::store::view::{TableKind, TableQuery};
use drainboard::tui::event_loop::{self, Console, Heard, Lines};
use drainboard::tui::glyphs::Charset;
use drainboard::tui::render::{Frame, Look};
use drainboard::tui::sessions::{Sessions, Terms};
use drainboard::tui::theme::Theme;
use drainboard::tui::ui::{Options, Ui};
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use ratatui::layout::Size;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use tokio::sync::mpsc;

const NODES: TableKind = TableKind::Nodes;
/// How late the old cluster answers.
const LATE: Duration = Duration::from_secs(2);

/// Another cluster: a Windows node of the same name and one of its own, and nobody who measures.
async fn prod() -> ApiServer {
    let server = ApiServer::start(ApiServerOptions::default()).await.unwrap();
    let parsed = Kubeconfig::from_yaml(&server.kubeconfig(User::Admin)).unwrap();
    let config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await;
    let client = Client::try_from(config.unwrap()).unwrap();
    let nodes: Api<k8s_openapi::api::core::v1::Node> = Api::all(client);
    for (name, address) in [(WIN, "192.168.10.25"), ("prod-win-7", "10.9.8.7")] {
        let node = json!({
            "metadata": {"name": name, "labels": {"kubernetes.io/os": "windows"}},
            "status": {
                "addresses": [{"type": "InternalIP", "address": address}],
                "capacity": {"cpu": "8"},
                "conditions": [{"type": "Ready", "status": "True"}],
                "nodeInfo": {"kernelVersion": "10.0.20348.2700", "operatingSystem": "windows"},
            },
        });
        let node: k8s_openapi::api::core::v1::Node = serde_json::from_value(with_node_info(node)).unwrap();
        nodes.create(&PostParams::default(), &node).await.unwrap();
    }
    server
}

/// `nodeInfo` with every field that a Node must have.
fn with_node_info(mut node: Value) -> Value {
    let info = node["status"]["nodeInfo"].as_object_mut().unwrap();
    for field in [
        "architecture",
        "bootID",
        "containerRuntimeVersion",
        "kubeProxyVersion",
        "kubeletVersion",
        "machineID",
        "osImage",
        "systemUUID",
    ] {
        info.insert(field.to_owned(), json!("x"));
    }
    node
}

/// A kubeconfig with both clusters.
fn both(lab: &Lab, prod: &ApiServer, current: &str) -> String {
    let of = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (first, second) = (of(lab.kubeconfig()), of(&prod.kubeconfig(User::Admin)));
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": current,
        "clusters": [
            {"name": "lab", "cluster": first["clusters"][0]["cluster"]},
            {"name": "prod", "cluster": second["clusters"][0]["cluster"]},
        ],
        "users": [
            {"name": "lab", "user": first["users"][0]["user"]},
            {"name": "prod", "user": second["users"][0]["user"]},
        ],
        "contexts": [
            {"name": "lab", "context": {"cluster": "lab", "user": "lab"}},
            {"name": "prod", "context": {"cluster": "prod", "user": "prod"}},
        ],
    })
    .to_string()
}

fn answers_late(server: &ApiServer) {
    server.faults().set("/api", Fault::Delay(LATE));
}

/// Every row is one of the server that the header names, and nothing measured of the lab stands at prod's nodes.
fn one_server(desk: &mut Desk, lab: &str, prod: &str) {
    let header = desk.header();
    let rows = desk.rows(NODES, &TableQuery::default());
    let names: Vec<String> = rows.iter().map(name).collect();
    match header.context.as_str() {
        "" => assert!(names.is_empty(), "{names:?}"),
        "lab" => {
            assert_eq!(header.server, lab);
            assert!(!names.iter().any(|name| name.starts_with("prod-")), "{names:?}");
        }
        "prod" => {
            assert_eq!(header.server, prod);
            let own = |name: &String| name == WIN || name.starts_with("prod-");
            assert!(names.iter().all(own), "{names:?}");
            for (name, cell) in desk.column(NODES, "commit", &TableQuery::default()) {
                assert_eq!(cell, ABSENT, "{name} shows what the lab measured");
            }
            assert!(desk.rows(TableKind::Pods, &TableQuery::default()).is_empty());
        }
        other => panic!("a context that nobody chose: {other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_the_old_context_that_come_late_are_not_shown() {
    let (lab, prod) = (article().await, prod().await);
    let urls = (lab.api_url().to_owned(), prod.url().to_owned());
    answers_late(lab.api());
    let mut desk = Desk::with(&both(&lab, &prod, "lab")).await;
    desk.sees("the first context", |desk| desk.header().context == "lab")
        .await;

    // Every question is on its way when the operator changes the context.
    desk.asks(Request::SwitchContext("prod".to_owned()));
    desk.sees_while(
        "the other cluster",
        |desk| desk.names(NODES, &TableQuery::default()).len() == 2,
        |desk| one_server(desk, &urls.0, &urls.1),
    )
    .await;
    let begin = tokio::time::Instant::now();
    desk.sees_while(
        "that the late answers have come and gone",
        |_| begin.elapsed() > LATE + LATE,
        |desk| one_server(desk, &urls.0, &urls.1),
    )
    .await;
    assert_eq!(desk.names(NODES, &TableQuery::default()), [WIN, "prod-win-7"]);
    assert!(desk.badge(Source::Prometheus).problem.is_some());

    // And back again, while prod is slow.
    lab.api().faults().clear();
    answers_late(&prod);
    desk.asks(Request::Refresh);
    desk.asks(Request::SwitchContext("lab".to_owned()));
    desk.sees_while(
        "the lab with its figures",
        |desk| desk.cell(NODES, WIN, "commit").contains("31 %"),
        |desk| one_server(desk, &urls.0, &urls.1),
    )
    .await;
    assert_eq!(desk.names(NODES, &TableQuery::default()).len(), 4);
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_that_somebody_changes_changes_nothing_until_the_operator_switches() {
    let (lab, prod) = (article().await, prod().await);
    let mut desk = Desk::with(&both(&lab, &prod, "lab")).await;
    desk.sees("the lab", |desk| desk.cell(NODES, WIN, "commit").contains("31 %"))
        .await;
    let urls = (lab.api_url().to_owned(), prod.url().to_owned());

    std::fs::write(&desk.kubeconfig, both(&lab, &prod, "prod")).unwrap();
    answers_late(lab.api());
    desk.asks(Request::Refresh);
    desk.asks(Request::Rescope {
        namespace: Some("win-demo".into()),
        pod_selector: String::new(),
    });
    desk.sees_while(
        "the narrower scope of the same server",
        |desk| {
            desk.header().namespace.as_deref() == Some("win-demo")
                && desk.rows(TableKind::Pods, &TableQuery::default()).len() == 7
        },
        |desk| one_server(desk, &urls.0, &urls.1),
    )
    .await;
    assert_eq!(desk.header().server, urls.0);
    // A command that starts now goes where the file says.
    let nodes = desk.items("nodes").await;
    assert_eq!(nodes.len(), 2, "{nodes:?}");

    desk.asks(Request::SwitchContext("prod".to_owned()));
    desk.sees_while(
        "prod",
        |desk| desk.header().context == "prod" && desk.names(NODES, &TableQuery::default()).len() == 2,
        |desk| {
            let header = desk.header();
            assert!((header.context == "lab") == (header.server == urls.0.as_str()));
        },
    )
    .await;
    desk.leaves().await;
    lab.stop().await;
}

/// A terminal that hands out every frame.
struct Recorder {
    heard: mpsc::UnboundedReceiver<Heard>,
    frames: mpsc::UnboundedSender<String>,
}

impl Console for Recorder {
    fn size(&self) -> io::Result<Size> {
        Ok(Size::new(200, 60))
    }

    async fn hear(&mut self) -> io::Result<Heard> {
        Ok(self.heard.recv().await.unwrap_or(Heard::Leave))
    }

    fn draw(&mut self, frame: &Frame) -> io::Result<()> {
        let symbols: Vec<&str> = frame
            .buffer
            .content
            .iter()
            .map(ratatui::buffer::Cell::symbol)
            .collect();
        let lines: Vec<String> = symbols.chunks(200).map(<[&str]>::concat).collect();
        // The test may have seen enough.
        let _ = self.frames.send(lines.join("\n"));
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn continued(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn copy(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_frame_that_is_drawn_shows_the_rows_of_the_context_that_it_names() {
    let (lab, prod) = (article().await, prod().await);
    answers_late(lab.api());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    std::fs::write(&path, both(&lab, &prod, "lab")).unwrap();
    let mut running = start(SourcesOptions {
        kubeconfig: Some(path),
        request_timeout: Duration::from_mins(1),
        ..SourcesOptions::default()
    })
    .await
    .unwrap();
    let requests = running.requests.clone();
    let (says, heard) = mpsc::unbounded_channel();
    let (frames, mut drawn) = mpsc::unbounded_channel();
    let screens = tokio::spawn(async move {
        let mut console = Recorder { heard, frames };
        let mut lines = Lines {
            requests: running.requests.clone(),
            events: &mut running.events,
        };
        let mut sessions = Sessions::new(running.client.clone(), Terms::default());
        let mut ui = Ui::new(Options::default());
        let look = Look {
            theme: Theme::named("monochrome").unwrap(),
            charset: Charset::Unicode,
        };
        let mut store = Store::new();
        event_loop::run(
            &mut console,
            &mut store,
            &mut lines,
            &mut sessions,
            &mut ui,
            &look,
            chrono::Utc::now,
        )
        .await
        .unwrap();
        running.shutdown().await;
    });
    let script = async {
        let mut switches = ["prod", "lab", "prod"].into_iter();
        let mut wanted = "lab";
        loop {
            let frame: String = drawn.recv().await.unwrap();
            let context = frame.split_whitespace().next().unwrap_or_default().to_owned();
            let (lab_rows, prod_rows) = (frame.contains("k8s-lab-node-1"), frame.contains("prod-win-7"));
            match context.as_str() {
                "lab" => assert!(!prod_rows, "{frame}"),
                "prod" => assert!(!lab_rows && !frame.contains("31 %"), "{frame}"),
                _ => assert!(!lab_rows && !prod_rows, "{frame}"),
            }
            if context == wanted && (lab_rows || prod_rows) {
                let Some(next) = switches.next() else { break };
                wanted = next;
                requests.send(Request::SwitchContext(next.to_owned())).unwrap();
            }
        }
    };
    tokio::time::timeout(Duration::from_mins(2), script)
        .await
        .unwrap();
    says.send(Heard::Leave).unwrap();
    screens.await.unwrap();
    lab.stop().await;
}
