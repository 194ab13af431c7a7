//! The store at the size that it must stay fluid at: 150,000 pods on 5,000 nodes, 1,000 of them Windows.
//!
//! `cargo bench --bench store` prints the resident memory that the rows take, then how long each operation of the
//! screens takes until its frame of 160 x 48 cells is built and drawn. Goals: a frame in under 8 ms, a filter within
//! 100 ms, all in under 300 MiB.

#![allow(clippy::print_stdout, reason = "the memory is a result of the bench")]
#![allow(missing_docs, reason = "criterion's macros")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use drainboard::domain::measurement::{
    ContainerKey, ContainerMeasurement, ContainerQuantity, Measurements, NodeKey, NodeMeasurement,
    NodeQuantity, Sample,
};
use drainboard::domain::node::{Condition, ConditionStatus, Node, NodeResources};
use drainboard::domain::object::{Change, Os};
use drainboard::domain::pod::{Container, ContainerKind, ContainerState, Owner, Phase, Pod, Resources};
use drainboard::domain::reading::Source;
use drainboard::domain::{Name, Timestamp};
use drainboard::sources::event::{
    Generation, Payload, Scope, SourceEvent, SourcePhase, SourceState, WatchState, Watched,
};
use drainboard::store::Store;
use drainboard::store::view::{Direction, TableKind, TableQuery};
use drainboard::tui::glyphs::Charset;
use drainboard::tui::render::{self, Look};
use drainboard::tui::scene;
use drainboard::tui::theme::Theme;
use drainboard::tui::ui::{Cursor, Options, Ui};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use std::cell::RefCell;
use std::hint::black_box;

const NODES: usize = 5_000;
/// Every fifth node runs Windows.
const WINDOWS_EVERY: usize = 5;
const PODS: usize = 150_000;
const NAMESPACES: usize = 300;
/// As the API server pages its lists.
const PAGE: usize = 500;
const SIZE: Size = Size::new(160, 48);
/// The selected row: in the middle, so that nothing gains from the table's ends.
const SELECTED: usize = 70_000;

fn now() -> Timestamp {
    Timestamp::from_timestamp(1_794_045_600, 0).unwrap_or_default()
}

fn at(seconds_ago: usize) -> Timestamp {
    now() - chrono::TimeDelta::seconds(i64::try_from(seconds_ago).unwrap_or(0))
}

/// Texts that repeat, shared as the sources share them.
struct Interned {
    nodes: Vec<Name>,
    namespaces: Vec<Name>,
    states: [Name; 3],
    container: Name,
    images: Vec<Name>,
    label_keys: [Name; 2],
    owner_kind: Name,
    nothing: Name,
    version: Name,
    kernels: [Name; 2],
    ready: Name,
}

impl Interned {
    fn new() -> Self {
        let names = |count: usize, of: &dyn Fn(usize) -> String| -> Vec<Name> {
            (0..count).map(|index| of(index).into()).collect()
        };
        Self {
            nodes: names(NODES, &|index| format!("pool-{}-node-{index:05}", index % 7)),
            namespaces: names(NAMESPACES, &|index| format!("team-{index:03}")),
            states: ["Running".into(), "CrashLoopBackOff".into(), "Pending".into()],
            container: "app".into(),
            images: names(400, &|index| {
                format!("registry.example/team/service-{index}:2026.{index}")
            }),
            label_keys: ["app.kubernetes.io/name".into(), "pod-template-hash".into()],
            owner_kind: "ReplicaSet".into(),
            nothing: "".into(),
            version: "v1.37.2".into(),
            kernels: ["10.0.26100.33438".into(), "6.12.48".into()],
            ready: "Ready".into(),
        }
    }

    fn node(&self, index: usize) -> Node {
        let windows = index.is_multiple_of(WINDOWS_EVERY);
        let [_, _, high, low] = u32::try_from(index).unwrap_or(0).to_be_bytes();
        Node {
            name: self.nodes[index].clone(),
            uid: format!("{index:036}").into(),
            os: Some(if windows { Os::Windows } else { Os::Linux }),
            created_at: Some(at(86_400)),
            roles: Box::default(),
            internal_ips: Box::new([[10, 1, high, low].into()]),
            kubelet_version: self.version.clone(),
            kernel_version: self.kernels[usize::from(!windows)].clone(),
            os_image: self.nothing.clone(),
            architecture: "amd64".into(),
            container_runtime: self.nothing.clone(),
            boot_id: self.nothing.clone(),
            windows_build_label: None,
            unschedulable: false,
            cordoned_by: None,
            maintenance: None,
            proven_boot: None,
            taints: Box::default(),
            conditions: Box::new([Condition {
                kind: self.ready.clone(),
                status: ConditionStatus::True,
                reason: self.nothing.clone(),
                message: self.nothing.clone(),
                since: Some(at(86_400)),
            }]),
            capacity: NodeResources {
                cpu_millicores: Some(16_000),
                memory_bytes: Some(64 << 30),
                pods: Some(110),
            },
            allocatable: NodeResources::default(),
        }
    }

    fn pod(&self, index: usize, restarts: u32) -> Pod {
        let node = index % NODES;
        let service = index / 5 % 3_000;
        let hash = index.wrapping_mul(0x9e37_79b9) & 0xffff_ffff;
        let resources = Resources {
            cpu_millicores: Some(500),
            memory_bytes: Some(256 << 20),
        };
        let state = usize::from(index.is_multiple_of(997));
        Pod {
            uid: format!("{hash:08x}-0000-4000-8000-{index:012x}").into(),
            namespace: self.namespaces[index * NAMESPACES / PODS].clone(),
            name: format!(
                "service-{service}-{:010x}-{:05x}",
                service * 7919,
                index & 0xf_ffff
            )
            .into(),
            node: Some(self.nodes[node].clone()),
            // Linux pods seldom say it: theirs is that of their node.
            os: node.is_multiple_of(WINDOWS_EVERY).then_some(Os::Windows),
            phase: Phase::Running,
            state: self.states[state].clone(),
            reason: self.nothing.clone(),
            ready: 1,
            ready_of: 1,
            restarts,
            last_restart_at: None,
            created_at: Some(at(index % 1_000_000 + 3600)),
            started_at: Some(at(index % 1_000_000 + 3600)),
            deleted_at: None,
            ip: Some([10, 2, 3, 4].into()),
            owner: Some(Owner {
                kind: self.owner_kind.clone(),
                name: format!("service-{service}-{:010x}", service * 7919).into(),
            }),
            host_process: false,
            mirror: false,
            empty_dir: false,
            runtime_class: None,
            claims: Box::default(),
            labels: Box::new([
                (self.label_keys[0].clone(), self.images[service % 400].clone()),
                (self.label_keys[1].clone(), self.nothing.clone()),
            ]),
            containers: Box::new([Container {
                name: self.container.clone(),
                image: self.images[service % 400].clone(),
                kind: ContainerKind::App,
                container_id: format!("containerd://{index:064x}").into(),
                requests: resources,
                limits: resources,
                ready: true,
                restarts,
                state: ContainerState::Running(Some(at(3600))),
                last_termination: None,
            }]),
        }
    }

    /// A round about the Windows nodes and their pods (Prometheus) or about the Linux ones (`metrics.k8s.io`).
    fn round(&self, pods: &[Pod], windows: bool, seed: usize) -> Measurements {
        let mut round = Measurements::default();
        let value = |index: usize, scale: u32| {
            f64::from(u32::try_from((index + seed).wrapping_mul(7919) % 1000).unwrap_or(0)) * f64::from(scale)
        };
        let node_quantities: &[(NodeQuantity, u32)] = if windows {
            &[
                (NodeQuantity::Commit, 10 << 20),
                (NodeQuantity::CommitLimit, 80 << 20),
            ]
        } else {
            &[(NodeQuantity::WorkingSet, 10 << 20), (NodeQuantity::CpuCores, 1)]
        };
        for (index, node) in self.nodes.iter().enumerate() {
            if windows != index.is_multiple_of(WINDOWS_EVERY) {
                continue;
            }
            for (quantity, scale) in node_quantities {
                round.nodes.push(NodeMeasurement {
                    node: NodeKey::Name(node.clone()),
                    quantity: *quantity,
                    sample: Sample {
                        value: value(index, *scale) + 1.0,
                        at: at(10),
                    },
                });
            }
        }
        let quantities: &[(ContainerQuantity, u32)] = if windows {
            &[
                (ContainerQuantity::Commit, 300_000),
                (ContainerQuantity::CommitPeak, 310_000),
                (ContainerQuantity::WorkingSet, 100_000),
                (ContainerQuantity::CpuCores, 1),
            ]
        } else {
            &[
                (ContainerQuantity::WorkingSet, 100_000),
                (ContainerQuantity::CpuCores, 1),
            ]
        };
        for (index, pod) in pods.iter().enumerate() {
            if windows != (pod.os == Some(Os::Windows)) {
                continue;
            }
            for (quantity, scale) in quantities {
                round.containers.push(ContainerMeasurement {
                    container: ContainerKey::Named {
                        namespace: pod.namespace.clone(),
                        pod: pod.name.clone(),
                        container: self.container.clone(),
                    },
                    quantity: *quantity,
                    sample: Sample {
                        value: value(index, *scale),
                        at: at(10),
                    },
                });
            }
        }
        if windows {
            // Prometheus answers query by query.
            round.containers.sort_by_key(|measurement| measurement.quantity);
        }
        round
    }
}

fn tell(store: &mut Store, source: Source, payload: Payload) {
    let event = SourceEvent {
        source,
        generation: Generation(1),
        payload,
    };
    black_box(store.apply(event, now()));
}

fn answers(store: &mut Store, source: Source) {
    let state = SourceState {
        phase: SourcePhase::Connected,
        reached: String::new(),
        last_answer: Some(now()),
        last_error: None,
    };
    tell(store, source, Payload::State(state));
}

fn full(interned: &Interned, pods: &[Pod]) -> Store {
    let mut store = Store::new();
    let scope = Scope {
        context: "bench".into(),
        ..Scope::default()
    };
    for source in [Source::Kubernetes, Source::Prometheus, Source::MetricsApi] {
        tell(&mut store, source, Payload::Begin(scope.clone()));
        answers(&mut store, source);
    }
    let nodes = (0..NODES)
        .map(|index| Change::Upsert(interned.node(index)))
        .collect();
    tell(&mut store, Source::Kubernetes, Payload::Nodes(nodes));
    for page in pods.chunks(PAGE) {
        let page = page.iter().cloned().map(Change::Upsert).collect();
        tell(&mut store, Source::Kubernetes, Payload::Pods(page));
    }
    for watched in Watched::ALL {
        tell(
            &mut store,
            Source::Kubernetes,
            Payload::Watch(watched, WatchState::Live),
        );
    }
    tell(
        &mut store,
        Source::Prometheus,
        Payload::Measurements(interned.round(pods, true, 0)),
    );
    tell(
        &mut store,
        Source::MetricsApi,
        Payload::Measurements(interned.round(pods, false, 0)),
    );
    store
}

/// The pod table on a terminal, selected by place and not by identity so that each frame costs the same.
struct Screen {
    ui: Ui,
    look: Look,
    terminal: Terminal<TestBackend>,
}

impl Screen {
    fn new() -> Self {
        let mut ui = Ui::new(Options::default());
        ui.size = SIZE;
        ui.tab = TableKind::Pods;
        let theme = Theme::named("terminal");
        let terminal = Terminal::new(TestBackend::new(SIZE.width, SIZE.height));
        let (Ok(theme), Ok(terminal)) = (theme, terminal) else {
            unreachable!("the theme is in the program, and the terminal is memory")
        };
        Self {
            ui,
            look: Look {
                theme,
                charset: Charset::Unicode,
            },
            terminal,
        }
    }

    /// Builds and draws what `query` asks for.
    fn frame(&mut self, store: &mut Store, query: &TableQuery) {
        self.frame_at(store, query, SELECTED);
    }

    fn frame_at(&mut self, store: &mut Store, query: &TableQuery, index: usize) {
        let table = self.ui.table_mut();
        table.query.clone_from(query);
        table.cursor = Cursor {
            key: None,
            index,
            chosen: true,
        };
        let scene = scene::build(&mut self.ui, store, now());
        let frame = render::frame(&scene, &self.ui, &self.look);
        let drawn = self.terminal.draw(|target| frame.show(target));
        assert!(drawn.is_ok());
    }
}

fn filtered(filter: &str) -> TableQuery {
    TableQuery {
        filter: filter.into(),
        ..TableQuery::default()
    }
}

fn sorted(column: &str) -> TableQuery {
    TableQuery {
        sort: Some((column.into(), Direction::Descending)),
        ..TableQuery::default()
    }
}

/// Resident memory of this process, MiB; 0 where `/proc` does not tell.
fn resident_mib() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0);
    (pages * 4096) >> 20
}

fn benches(criterion: &mut Criterion) {
    let interned = Interned::new();
    let before = resident_mib();
    let mut screen = Screen::new();
    let mut store = full(
        &interned,
        &(0..PODS).map(|index| interned.pod(index, 0)).collect::<Vec<_>>(),
    );
    screen.frame(&mut store, &sorted("ws"));
    println!(
        "resident: {} MiB for {PODS} pods, one table sorted",
        resident_mib() - before
    );
    let pods: Vec<Pod> = (0..PODS).map(|index| interned.pod(index, 0)).collect();

    let plain = TableQuery::default();
    criterion.bench_function("frame, nothing changed", |bench| {
        bench.iter(|| screen.frame(&mut store, &plain));
    });
    let mut page = 0;
    criterion.bench_function("frame, the next page", |bench| {
        bench.iter(|| {
            page += 1;
            screen.frame_at(&mut store, &plain, page * usize::from(SIZE.height) % PODS);
        });
    });

    let by_ws = sorted("ws");
    for (name, query) in [("natural order", &plain), ("sorted by ws", &by_ws)] {
        screen.frame(&mut store, query);
        let mut restarts = 0;
        criterion.bench_function(&format!("100 pods change, frame in {name}"), |bench| {
            bench.iter_batched(
                || {
                    restarts += 1;
                    let changes = (0..100).map(|index| interned.pod(index * 1_499, restarts));
                    changes.map(Change::Upsert).collect::<Vec<_>>()
                },
                |changes| {
                    tell(&mut store, Source::Kubernetes, Payload::Pods(changes));
                    screen.frame(&mut store, query);
                },
                BatchSize::PerIteration,
            );
        });
    }

    // From one table to another, each timed until it is drawn.
    let state = RefCell::new((&mut store, &mut screen));
    let mut turn = |name: String, from: &TableQuery, to: &TableQuery| {
        let show = |query: &TableQuery| {
            let (store, screen) = &mut *state.borrow_mut();
            screen.frame(store, query);
        };
        criterion.bench_function(&name, |bench| {
            bench.iter_batched(|| show(from), |()| show(to), BatchSize::PerIteration);
        });
    };
    for filter in [
        "service-12",
        "'node-00042",
        "!service-1",
        "commit>80%",
        "node:pool-3 ws>50Mi",
        "zzzz",
    ] {
        turn(format!("filter `{filter}`"), &plain, &filtered(filter));
    }
    turn("filter cleared".into(), &filtered("service-12"), &plain);
    for column in ["ws", "commit", "name", "age"] {
        turn(format!("sort by {column}"), &plain, &sorted(column));
    }

    let mut seed = 0;
    for (name, windows, source) in [
        ("Prometheus", true, Source::Prometheus),
        ("metrics.k8s.io", false, Source::MetricsApi),
    ] {
        criterion.bench_function(&format!("a round of {name}, frame sorted by ws"), |bench| {
            bench.iter_batched(
                || {
                    seed += 1;
                    interned.round(&pods, windows, seed)
                },
                |round| {
                    tell(&mut store, source, Payload::Measurements(round));
                    screen.frame(&mut store, &by_ws);
                },
                BatchSize::PerIteration,
            );
        });
    }
}

criterion_group! {
    name = store;
    config = Criterion::default().sample_size(10);
    targets = benches
}
criterion_main!(store);
