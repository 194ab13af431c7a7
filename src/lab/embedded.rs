//! The lab in this process: an embedded API server on loopback, and everything that lives in its cluster.

use super::apiserver::{ApiServer, ApiServerOptions, User};
use super::article;
use super::backends::Backends;
use super::client::LabClient;
use super::controllers::Controllers;
use super::error::LabError;
use super::exporter::{self, EXPORTER_PORT};
use super::kubelet::node_object::KUBELET_PORT;
use super::kubelet::{Fleet, server};
use super::loki::{self, GATEWAY_PORT, LOKI_PORT, Shipper};
use super::metrics_api;
use super::prometheus::{self, Database, PROMETHEUS_PORT, Scraper};
use super::seed::{Ownership, Seed, pasts};
use super::timings::Timings;
use super::world::World;
use crate::domain::object::Os;
use crate::lab::LAB_ANNOTATION;
use crate::lab::client::{Merge, ObjectPath};
use axum::Router;
use axum::http::StatusCode;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How the lab plays.
#[derive(Clone, Copy, Debug)]
pub struct LabOptions {
    /// The article's durations are divided by this; 1 is real time.
    pub speed: f64,
    /// Windows nodes: the article's one, and more like it.
    pub windows_nodes: u8,
    /// Port of the API server on loopback; 0 takes a free one.
    pub port: u16,
}

impl Default for LabOptions {
    fn default() -> Self {
        Self {
            speed: 1.0,
            windows_nodes: 1,
            port: 0,
        }
    }
}

/// A service of the simulated cluster that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Prometheus.
    Prometheus,
    /// `windows_exporter` of the Windows node.
    Exporter,
    /// metrics-server.
    MetricsApi,
    /// Loki and its gateway.
    Loki,
}

/// A running lab. Everything ends when it is stopped or dropped.
pub struct Lab {
    server: ApiServer,
    kubeconfig: String,
    world: World,
    backends: Backends,
    database: Database,
    prometheus: ServedPod,
    logs: loki::Database,
    loki: ServedPod,
    loki_gateway: ServedPod,
    loki_url: String,
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

/// Longest wait for the cluster to be there.
const START_TIMEOUT: Duration = Duration::from_mins(1);

impl Lab {
    /// Starts the article's cluster and waits until its pods run.
    ///
    /// # Errors
    /// When the API server cannot be started, or the cluster is not there within a minute.
    pub async fn start(options: LabOptions) -> Result<Self, LabError> {
        let backends = Backends::default();
        let server = ApiServer::start(ApiServerOptions {
            port: options.port,
            backends: backends.clone(),
            ..ApiServerOptions::default()
        })
        .await
        .map_err(LabError::ApiServer)?;
        let kubeconfig = server.kubeconfig(User::Admin);
        let client = LabClient::new(client_of(&kubeconfig).await?);
        let timings = Timings::new(options.speed);
        let world = World::new(article::machines_with(options.windows_nodes, chrono::Utc::now()));
        let mark = json!({"metadata": {"annotations": {LAB_ANNOTATION: "embedded"}}});
        client
            .patch(&ObjectPath::namespace("kube-system"), Merge::Plain, &mark)
            .await?;

        let fleet = Fleet::new(client.clone(), world.clone(), timings, pasts());
        let seed = Seed {
            ownership: Ownership::Given,
            real_monitoring: false,
        };
        seed.plant(&client, &fleet).await?;
        let (database, logs) = (Database::default(), loki::Database::default());
        let mut lab = Self {
            server,
            kubeconfig,
            world,
            backends,
            prometheus: ServedPod::new(
                "prometheus",
                PROMETHEUS_PORT,
                prometheus::router(database.clone()),
            ),
            database,
            loki: ServedPod::new("loki", LOKI_PORT, loki::router(logs.clone())),
            loki_gateway: ServedPod::new("loki-gateway", GATEWAY_PORT, loki::gateway(logs.clone())),
            loki_url: String::new(),
            logs,
            cancel: CancellationToken::new(),
            tasks: JoinSet::new(),
        };
        lab.register_kubelets();
        lab.tasks.spawn(fleet.run(lab.cancel.clone()));
        lab.tasks
            .spawn(Controllers::new(client, timings).run(lab.cancel.clone()));
        lab.wait_until_running().await?;
        lab.start_monitoring();
        lab.start_logging().await.map_err(LabError::ApiServer)?;
        Ok(lab)
    }

    fn register_kubelets(&self) {
        for machine in self.world.machines() {
            let address = SocketAddr::new(IpAddr::V4(machine.address), KUBELET_PORT);
            self.backends
                .register(address, server::router(self.world.clone(), &machine.name));
        }
    }

    fn start_monitoring(&mut self) {
        self.set(Switch::Exporter, true);
        let scraper = Scraper {
            world: self.world.clone(),
            backends: self.backends.clone(),
            database: self.database.clone(),
        };
        scraper.tell_the_past(chrono::Utc::now());
        self.tasks.spawn(scraper.run(self.cancel.clone()));
        self.set(Switch::Prometheus, true);
        self.follow(&self.prometheus.clone());
        self.set(Switch::MetricsApi, true);
    }

    /// Loki gets the past before anybody can ask it, and a port on loopback, which stands for the node port of the
    /// article: through the API server there is no websocket.
    async fn start_logging(&mut self) -> std::io::Result<()> {
        let mut shipper = Shipper::new(self.world.clone(), self.logs.clone());
        shipper.ship(chrono::Utc::now());
        self.spawn(shipper.run());
        self.set(Switch::Loki, true);
        for pod in [self.loki.clone(), self.loki_gateway.clone()] {
            self.follow(&pod);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        self.loki_url = format!("http://{}", listener.local_addr()?);
        let app = loki::gateway(self.logs.clone());
        self.spawn(async move {
            if let Err(error) = axum::serve(listener, app).await {
                tracing::warn!(%error, "the port of Loki is closed");
            }
        });
        Ok(())
    }

    fn follow(&mut self, pod: &ServedPod) {
        let follower = pod.clone().follow(self.world.clone(), self.backends.clone());
        self.spawn(follower);
    }

    /// Runs until the lab stops.
    fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        let cancel = self.cancel.clone();
        self.tasks
            .spawn(async move { cancel.run_until_cancelled_owned(work).await.unwrap_or(()) });
    }

    async fn wait_until_running(&self) -> Result<(), LabError> {
        let wanted: usize = article::workloads()
            .iter()
            .map(|workload| workload.pods.len())
            .sum();
        let running = async {
            while self.world.pods().len() < wanted {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(START_TIMEOUT, running)
            .await
            .map_err(|_| LabError::NotReady {
                seconds: START_TIMEOUT.as_secs(),
                missing: format!("{} of {wanted} pods run", self.world.pods().len()),
            })
    }

    /// URL of the API server.
    pub fn api_url(&self) -> &str {
        self.server.url()
    }

    /// A kubeconfig with every right, as YAML.
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// The API server: other users, faults, the writes so far.
    pub fn api(&self) -> &ApiServer {
        &self.server
    }

    /// Who answers at which address of the cluster: something else can be put there.
    pub fn backends(&self) -> &Backends {
        &self.backends
    }

    /// URL of Loki on loopback.
    pub fn loki_url(&self) -> &str {
        &self.loki_url
    }

    /// What Loki holds: more can be put into it.
    pub fn logs(&self) -> &loki::Database {
        &self.logs
    }

    /// What runs in the cluster.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Switches a service on or off.
    pub fn set(&self, switch: Switch, on: bool) {
        match switch {
            Switch::Prometheus => self.prometheus.set(on, &self.world, &self.backends),
            Switch::Loki => {
                self.loki.set(on, &self.world, &self.backends);
                self.loki_gateway.set(on, &self.world, &self.backends);
            }
            Switch::Exporter => {
                for machine in self.world.machines() {
                    if machine.os == Os::Windows {
                        let address = SocketAddr::new(IpAddr::V4(machine.address), EXPORTER_PORT);
                        let router = || exporter::router(self.world.clone(), &machine.name);
                        self.answer(address, on.then(router));
                    }
                }
            }
            Switch::MetricsApi => {
                let router = if on {
                    metrics_api::router(self.world.clone())
                } else {
                    // what the aggregator says when the service behind an APIService is gone
                    Router::new()
                        .fallback(|| async { (StatusCode::SERVICE_UNAVAILABLE, "service unavailable\n") })
                };
                self.server
                    .aggregated()
                    .register(metrics_api::GROUP, metrics_api::VERSION, router);
            }
        }
    }

    fn answer(&self, address: SocketAddr, router: Option<Router>) {
        match router {
            Some(router) => self.backends.register(address, router),
            None => self.backends.remove(&address),
        }
    }

    /// Stops everything.
    pub async fn stop(mut self) {
        self.cancel.cancel();
        while self.tasks.join_next().await.is_some() {}
        self.server.stop().await;
    }
}

/// A service that answers at the address of its pod, wherever that runs.
#[derive(Clone)]
struct ServedPod {
    /// Name of the application, in the namespace `monitoring`.
    app: &'static str,
    port: u16,
    router: Router,
    on: Arc<AtomicBool>,
    answers_at: Arc<Mutex<Option<SocketAddr>>>,
}

impl ServedPod {
    fn new(app: &'static str, port: u16, router: Router) -> Self {
        Self {
            app,
            port,
            router,
            on: Arc::default(),
            answers_at: Arc::default(),
        }
    }

    fn set(&self, on: bool, world: &World, backends: &Backends) {
        self.on.store(on, Ordering::Relaxed);
        self.answer_where_it_runs(world, backends);
    }

    fn answer_where_it_runs(&self, world: &World, backends: &Backends) {
        let pods = world.pods();
        let wanted = pods
            .iter()
            .find(|pod| &*pod.namespace == "monitoring" && &*pod.app == self.app)
            .filter(|_| self.on.load(Ordering::Relaxed))
            .map(|pod| SocketAddr::new(IpAddr::V4(pod.address), self.port));
        let mut answers_at = self.answers_at.lock().unwrap_or_else(PoisonError::into_inner);
        if *answers_at == wanted {
            return;
        }
        if let Some(address) = answers_at.take() {
            backends.remove(&address);
        }
        if let Some(address) = wanted {
            backends.register(address, self.router.clone());
        }
        *answers_at = wanted;
    }

    async fn follow(self, world: World, backends: Backends) {
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        loop {
            ticks.tick().await;
            self.answer_where_it_runs(&world, &backends);
        }
    }
}

/// A client for this kubeconfig, without hidden retries.
pub(super) async fn client_of(kubeconfig: &str) -> Result<Client, LabError> {
    let refused = |reason: String| LabError::Kubeconfig {
        path: PathBuf::from("of the lab"),
        reason,
    };
    let parsed = Kubeconfig::from_yaml(kubeconfig).map_err(|error| refused(error.to_string()))?;
    let mut config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default())
        .await
        .map_err(|error| refused(error.to_string()))?;
    config.default_retry = false;
    Client::try_from(config).map_err(|error| refused(error.to_string()))
}
