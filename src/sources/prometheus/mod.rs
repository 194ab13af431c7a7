//! Windows metrics out of a Prometheus server: found by itself among the cluster's services, or at an address
//! that the operator gives.

pub mod alerts;
pub mod catalogue;
pub mod connection;
pub mod discover;
pub mod fleet;
pub mod health;
pub mod inventory;
pub mod matcher;
pub mod samples;
#[cfg(test)]
mod tests;
pub mod wire;

use crate::domain::Timestamp;
use crate::domain::measurement::{ContainerMeasurement, Measurements, Missing, NodeKey, ServiceMeasurement};
use crate::sources::context::SourceContext;
use crate::sources::event::{Demand, Payload, Problem};
use crate::sources::pace::{Pace, Reporter};
use crate::sources::transport::direct::Credentials;
use crate::sources::transport::failure::{Failure, FailureKind};
use catalogue::QueryName;
use chrono::Utc;
use connection::Connection;
use fleet::Fleet;
use health::Health;
use samples::{Clock, NodeSamples, Oddities};
use secrecy::SecretString;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Where Prometheus is and what it wants to see. Credentials are for an address only: they cannot pass the API
/// server's proxy.
#[derive(Clone, Default)]
pub struct Options {
    /// Its address, which may hold `user:password@`; `None` looks among the cluster's services.
    pub url: Option<String>,
    /// `user:password`.
    pub basic: Option<SecretString>,
    /// Token of `Authorization: Bearer`.
    pub bearer: Option<SecretString>,
    /// Further headers: name, value.
    pub headers: Vec<(String, SecretString)>,
    /// PEM file with the authorities that are trusted besides the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the client certificate.
    pub client_cert: Option<PathBuf>,
    /// PEM file with its key.
    pub client_key: Option<PathBuf>,
    /// Label matchers that pick this cluster, e.g. `cluster="prod"`.
    pub matcher: Option<String>,
}

/// Without the address, which may hold user and password, and without the other secrets.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("matcher", &self.matcher)
            .finish_non_exhaustive()
    }
}

impl Options {
    fn credentials(&self) -> Credentials {
        Credentials {
            basic: self.basic.clone(),
            bearer: self.bearer.clone(),
            headers: self.headers.clone(),
            ca_file: self.ca_file.clone(),
            client_cert: self.client_cert.clone(),
            client_key: self.client_key.clone(),
        }
    }
}

/// Rest between two rounds; targets are usually scraped every 30 s, some every 15 s.
const ROUND: Duration = Duration::from_secs(15);

/// Rest before a Prometheus that failed, or does not exist, is looked for again.
const AGAIN: Duration = Duration::from_secs(10);

/// How long an inventory counts.
const INVENTORY: Duration = Duration::from_mins(1);

/// How long a list of nodes counts when some instance is unknown.
const NODES: Duration = Duration::from_mins(5);

/// Length and step of the history.
const HISTORY_SECONDS: i64 = 3600;
const STEP_SECONDS: u32 = 60;

/// Asks Prometheus while its samples are needed, and tells in `health` of which nodes it has fresh ones.
pub async fn run(context: SourceContext, options: Options, health: watch::Sender<Health>) {
    let cancel = context.cancel.clone();
    cancel
        .run_until_cancelled(async move {
            let reporter = Reporter::start(context.sink.clone()).await;
            let runner = Runner {
                context,
                options,
                health,
                reporter,
                connection: None,
                services: Vec::new(),
                containers: Vec::new(),
                history_at: None,
            };
            // Its state is large: it lives on the heap.
            Box::pin(runner.run()).await;
        })
        .await;
}

struct Runner {
    context: SourceContext,
    options: Options,
    health: watch::Sender<Health>,
    reporter: Reporter,
    connection: Option<Connection>,
    /// Of the last round that needed them, so that a change of pane does not empty the other one. They keep
    /// their sample times.
    services: Vec<ServiceMeasurement>,
    containers: Vec<ContainerMeasurement>,
    history_at: Option<Instant>,
}

impl Runner {
    async fn run(mut self) {
        let mut pace = Pace::new(&self.context, Demand::samples);
        let mut rest = Duration::ZERO;
        loop {
            let round = pace.next(rest).await;
            if round.refreshed {
                self.connection = None;
                self.history_at = None;
            }
            rest = match self.round(&round.demand).await {
                Ok(()) => ROUND,
                Err(failure) => {
                    self.fail(failure).await;
                    AGAIN
                }
            };
        }
    }

    async fn fail(&mut self, failure: Failure) {
        tracing::warn!(%failure, "Prometheus");
        self.health
            .send_replace(Health::Down(failure.problem.what.clone()));
        // A busy server is still the right one.
        if failure.kind != FailureKind::Busy {
            self.connection = None;
        }
        if failure.kind == FailureKind::NotInstalled {
            self.reporter.off("", Some(failure.problem)).await;
        } else {
            self.reporter.failed(failure.problem).await;
        }
    }

    async fn round(&mut self, demand: &Demand) -> Result<(), Failure> {
        let held = self.connection.take();
        let mut connection = if let Some(connection) = held {
            connection
        } else {
            let context = &self.context;
            Connection::open(&context.client, context.request_timeout, &self.options).await?
        };
        if connection.inventoried.elapsed() >= INVENTORY {
            connection.take_inventory().await?;
        }
        let asked = Utc::now();
        let (nodes, services, containers) = tokio::join!(
            connection.instant(QueryName::Nodes),
            optional(demand.nodes, connection.instant(QueryName::Services)),
            optional(demand.containers, connection.instant(QueryName::Containers)),
        );
        let nodes = nodes?;
        let vector = wire::vector(&nodes)?;
        let clock = Clock::new(&vector.rows, asked);
        let samples = samples::nodes(vector, connection.fleet.as_ref(), asked);
        if let Some(failure) = other_cluster(&connection, &samples) {
            self.forget(&failure).await;
            return Err(failure);
        }
        let mut trouble = oddities(&samples.oddities);
        if let Some(answer) = services {
            let read = answer.and_then(|answer| {
                let vector = wire::vector(&answer)?;
                let fleet = connection.fleet.as_ref();
                Ok(samples::services(vector, fleet, &samples, asked))
            });
            keep(&mut self.services, read, &mut trouble);
        }
        if let Some(answer) = containers {
            let read = answer.and_then(|answer| Ok(samples::containers(wire::vector(&answer)?, asked)));
            keep(&mut self.containers, read, &mut trouble);
        }
        self.tell(&connection, &samples).await;
        if demand.history && self.history_is_due() {
            let told = self.history(&connection, clock, asked).await;
            trouble = trouble.or(told.err().map(|failure| failure.problem));
        }
        self.reporter.answered(&connection.shown(), asked, trouble).await;
        if !samples.oddities.foreign.is_empty() && connection.listed.elapsed() >= NODES {
            connection.list_nodes(&self.context).await;
        }
        self.connection = Some(connection);
        Ok(())
    }

    /// Sends the round, and to the direct scrape how fresh each node is.
    async fn tell(&self, connection: &Connection, samples: &NodeSamples) {
        let mut newest: HashMap<NodeKey, Timestamp> = HashMap::new();
        for one in &samples.nodes {
            let held = newest.entry(one.node.clone()).or_insert(one.sample.at);
            *held = (*held).max(one.sample.at);
        }
        self.health.send_replace(Health::Answering(newest));
        let mut measurements = Measurements {
            nodes: samples.nodes.clone(),
            services: self.services.clone(),
            containers: self.containers.clone(),
            missing: Vec::new(),
        };
        measurements.missing =
            connection
                .inventory
                .missing(&measurements, samples, connection.fleet.as_ref());
        self.context.sink.send(Payload::Measurements(measurements)).await;
    }

    fn history_is_due(&self) -> bool {
        let step = u64::from(STEP_SECONDS);
        self.history_at.is_none_or(|at| at.elapsed().as_secs() >= step)
    }

    async fn history(
        &mut self,
        connection: &Connection,
        clock: Clock,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let end = clock.theirs(now).timestamp();
        let answer = connection
            .range(QueryName::NodeHistory, end - HISTORY_SECONDS, end, STEP_SECONDS)
            .await?;
        let history = samples::history(
            wire::matrix(&answer)?,
            connection.fleet.as_ref(),
            STEP_SECONDS,
            clock,
        );
        self.history_at = Some(Instant::now());
        self.context.sink.send(Payload::History(history)).await;
        Ok(())
    }

    /// Samples of another cluster must not stay on the screen.
    async fn forget(&mut self, failure: &Failure) {
        self.services.clear();
        self.containers.clear();
        let measurements = Measurements {
            missing: inventory::all_quantities()
                .map(|quantity| Missing {
                    quantity,
                    node: None,
                    reason: failure.absence(),
                })
                .collect(),
            ..Measurements::default()
        };
        self.context.sink.send(Payload::Measurements(measurements)).await;
    }
}

/// Keeps what was read before where reading failed, and says so.
fn keep<T>(held: &mut Vec<T>, read: Result<Vec<T>, Failure>, trouble: &mut Option<Problem>) {
    match read {
        Ok(new) => *held = new,
        Err(failure) => *trouble = trouble.take().or(Some(failure.problem)),
    }
}

async fn optional<T>(wanted: bool, answer: impl Future<Output = T>) -> Option<T> {
    if wanted { Some(answer.await) } else { None }
}

/// A Prometheus that knows Windows instances, but no node of this cluster.
fn other_cluster(connection: &Connection, samples: &NodeSamples) -> Option<Failure> {
    let foreign = &samples.oddities.foreign;
    let has_nodes = connection
        .fleet
        .as_ref()
        .is_some_and(|fleet: &Fleet| !fleet.is_empty());
    if !has_nodes || foreign.is_empty() || !samples.nodes.is_empty() || !samples.ambiguous.is_empty() {
        return None;
    }
    let some: Vec<&str> = foreign.iter().take(3).map(String::as_str).collect();
    let more = if foreign.len() > some.len() { ", …" } else { "" };
    Some(Failure::new(
        FailureKind::Options,
        format!(
            "{} holds another cluster's data: none of its {} Windows instances ({}{more}) is a node of this cluster",
            connection.route(),
            foreign.len(),
            some.join(", ")
        ),
        "give the address of this cluster's Prometheus with --prometheus, or pick this cluster with \
         --prometheus-matcher",
    ))
}

/// What the operator should know although everything could be read.
fn oddities(oddities: &Oddities) -> Option<Problem> {
    let listed = |items: &BTreeSet<String>| items.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    if !oddities.clusters.is_empty() {
        return Some(Problem {
            what: format!(
                "Prometheus holds several clusters ({}) whose nodes share addresses: those nodes are left out",
                listed(&oddities.clusters)
            ),
            next_step: "pick this cluster with --prometheus-matcher, for example cluster=\"NAME\"".to_owned(),
        });
    }
    if !oddities.doubled.is_empty() {
        return Some(Problem {
            what: format!(
                "Prometheus scrapes some nodes twice, the newest sample is shown: {}",
                listed(&oddities.doubled)
            ),
            next_step: "remove one of the two scrape jobs, or pick one with --prometheus-matcher".to_owned(),
        });
    }
    if !oddities.warnings.is_empty() {
        return Some(Problem {
            what: format!("Prometheus warns: {}", listed(&oddities.warnings)),
            next_step: "look at Prometheus's own log".to_owned(),
        });
    }
    None
}
