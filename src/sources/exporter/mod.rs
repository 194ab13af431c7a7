//! `windows_exporter`, scraped directly through the API server's pod proxy where Prometheus is missing, down or
//! has nothing fresh of a node.

pub mod collectors;
pub mod exposition;
pub mod names;
pub mod pods;
pub mod reading;
#[cfg(test)]
mod tests;

use crate::domain::Timestamp;
use crate::domain::measurement::{Measurements, Missing, NodeKey, Quantity};
use crate::domain::reading::{Absence, Source, stale_after_seconds};
use crate::sources::context::SourceContext;
use crate::sources::event::{Demand, Payload, Problem};
use crate::sources::pace::{Pace, Reporter};
use crate::sources::prometheus::fleet::Fleet;
use crate::sources::prometheus::health::Health;
use crate::sources::prometheus::inventory::all_quantities;
use crate::sources::transport::HttpTransport;
use crate::sources::transport::failure::{Failure, FailureKind};
use crate::sources::transport::route::Route;
use chrono::Utc;
use futures::StreamExt;
use pods::{ExporterPod, exporter_pods};
use reading::Scrape;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Rest between two rounds.
const ROUND: Duration = Duration::from_secs(15);

/// Rest between the first two scrapes of an exporter, so that CPU can be told in the first round.
const SECOND_LOOK: Duration = Duration::from_secs(1);

/// How long Prometheus may keep us waiting for its first word.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a list of exporter pods counts.
const PODS: Duration = Duration::from_mins(1);

/// Scrapes under way at one time.
const AT_ONCE: usize = 8;

/// Scrapes exporters while their samples are needed and Prometheus has none.
pub async fn run(context: SourceContext, health: watch::Receiver<Health>) {
    let cancel = context.cancel.clone();
    cancel
        .run_until_cancelled(async move {
            let reporter = Reporter::start(context.sink.clone()).await;
            let runner = Runner {
                api: HttpTransport::through(context.client.clone(), Route::Api, context.request_timeout),
                context,
                health,
                reporter,
                pods: None,
                earlier: HashMap::new(),
                off: None,
            };
            runner.run().await;
        })
        .await;
}

/// How one scrape went, and when.
type Scraped = (ExporterPod, Result<(Timestamp, Scrape), Failure>);

/// Why nothing is scraped, as it was said last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Off {
    NotNeeded,
    NoPods,
    NoWindowsNodes,
}

struct Runner {
    context: SourceContext,
    api: HttpTransport,
    health: watch::Receiver<Health>,
    reporter: Reporter,
    pods: Option<(Instant, Vec<ExporterPod>)>,
    /// The last scrape of each exporter pod, for its counters.
    earlier: HashMap<ExporterPod, Scrape>,
    off: Option<Off>,
}

impl Runner {
    async fn run(mut self) {
        let mut pace = Pace::new(&self.context, serves);
        let mut rest = Duration::ZERO;
        loop {
            let round = tokio::select! {
                round = pace.next(rest) => round,
                () = turned(&mut self.health, self.off) => pace.next(Duration::ZERO).await,
            };
            if round.refreshed {
                self.pods = None;
            }
            self.first_word().await;
            if let Err(failure) = self.round().await {
                tracing::warn!(%failure, "windows_exporter");
                self.pods = None;
                self.off = None;
                self.reporter.failed(failure.problem).await;
            }
            rest = ROUND;
        }
    }

    /// Prometheus comes first: nothing is scraped before it has answered or failed, unless it takes its time.
    async fn first_word(&mut self) {
        let known = self.health.wait_for(|health| *health != Health::Unknown);
        // Gone or too slow is the same here: it has nothing to say.
        let _ = tokio::time::timeout(PATIENCE, known).await;
    }

    async fn round(&mut self) -> Result<(), Failure> {
        let pods = match &self.pods {
            Some((at, pods)) if at.elapsed() < PODS => pods.clone(),
            _ => {
                let pods = exporter_pods(&self.api).await?;
                self.pods = Some((Instant::now(), pods.clone()));
                pods
            }
        };
        let health = self.health.borrow().clone();
        let wanted = wanted(&pods, &health, Utc::now());
        if wanted.is_empty() {
            let off = if !pods.is_empty() {
                Off::NotNeeded
            } else if Fleet::read(&self.api).await.is_ok_and(|fleet| fleet.is_empty()) {
                Off::NoWindowsNodes
            } else {
                Off::NoPods
            };
            self.rest(off).await;
            return Ok(());
        }
        self.off = None;
        let fresh: Vec<ExporterPod> = wanted
            .iter()
            .filter(|pod| !self.earlier.contains_key(*pod))
            .cloned()
            .collect();
        if !fresh.is_empty() {
            for (pod, scraped) in self.scrape_all(&fresh).await {
                if let Ok((_, scrape)) = scraped {
                    self.earlier.insert(pod, scrape);
                }
            }
            tokio::time::sleep(SECOND_LOOK).await;
        }
        let scraped = self.scrape_all(&wanted).await;
        self.tell(scraped, &health).await
    }

    async fn scrape_all(&self, pods: &[ExporterPod]) -> Vec<Scraped> {
        let scrapes = pods.iter().cloned().map(|pod| {
            let route = Route::Pod {
                namespace: pod.namespace.clone(),
                name: pod.name.clone(),
                port: pod.port,
            };
            let transport =
                HttpTransport::through(self.context.client.clone(), route, self.context.request_timeout);
            async move { (pod, scrape(&transport).await) }
        });
        futures::stream::iter(scrapes)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await
    }

    /// Sends the round and how it went: failed only if no exporter answered.
    async fn tell(&mut self, scraped: Vec<Scraped>, health: &Health) -> Result<(), Failure> {
        let all = scraped.len();
        let mut round = Measurements::default();
        let mut failures: BTreeMap<String, Failure> = BTreeMap::new();
        let mut versions = BTreeSet::new();
        let mut newest = None;
        let mut earlier = HashMap::new();
        for (pod, scraped) in scraped {
            let node = NodeKey::Name(pod.node.clone());
            match scraped {
                Ok((at, scrape)) => {
                    versions.extend(scrape.collectors.version().map(str::to_owned));
                    scrape.add_to(&mut round, &node, at, self.earlier.get(&pod));
                    newest = newest.max(Some(at));
                    earlier.insert(pod, scrape);
                }
                Err(failure) => {
                    round.missing.extend(all_quantities().map(|quantity| Missing {
                        quantity,
                        node: Some(node.clone()),
                        reason: failure.absence(),
                    }));
                    failures.insert(pod.node.to_string(), failure);
                }
            }
        }
        self.earlier = earlier;
        self.context.sink.send(Payload::Measurements(round)).await;
        let first = failures.into_iter().next();
        let Some(at) = newest else {
            return match first {
                Some((_, failure)) => Err(failure),
                None => Ok(()),
            };
        };
        let answered = self.earlier.len();
        let versions: Vec<String> = versions.into_iter().collect();
        let reached = format!(
            "{answered} of {all} exporter pods through the API server (version {}), because {}",
            versions.join(", "),
            reason(health)
        );
        let problem = first.map(|(_, failure)| failure.problem);
        self.reporter.answered(&reached, at, problem).await;
        Ok(())
    }

    async fn rest(&mut self, off: Off) {
        if self.off == Some(off) {
            return;
        }
        self.off = Some(off);
        self.earlier.clear();
        let problem = match off {
            Off::NotNeeded | Off::NoWindowsNodes => None,
            Off::NoPods => Some(Problem {
                what: "no running pod looks like windows_exporter".to_owned(),
                next_step: "install it on the Windows nodes (kube-prometheus-stack: windowsMonitoring.enabled=true); \
                            its pods are known by the label app.kubernetes.io/name=windows-exporter or port 9182"
                    .to_owned(),
            }),
        };
        // What was scraped before must not stand beside what Prometheus says now.
        let none = Measurements {
            missing: problem.iter().flat_map(none_anywhere).collect(),
            ..Measurements::default()
        };
        self.context.sink.send(Payload::Measurements(none)).await;
        let said = match off {
            Off::NotNeeded => "not needed: Prometheus has fresh samples of every node with an exporter",
            Off::NoPods => "no exporter pod",
            Off::NoWindowsNodes => "this cluster has no Windows node",
        };
        self.reporter.off(said, problem).await;
    }
}

fn none_anywhere(problem: &Problem) -> impl Iterator<Item = Missing> + use<> {
    let reason = Absence::NotCollected(problem.what.as_str().into());
    all_quantities().map(move |quantity: Quantity| Missing {
        quantity,
        node: None,
        reason: reason.clone(),
    })
}

async fn scrape(transport: &HttpTransport) -> Result<(Timestamp, Scrape), Failure> {
    let at = Utc::now();
    let answer = transport.get("/metrics", &[]).await?;
    let scrape = Scrape::read(answer.text()?);
    if !scrape.is_windows_exporter() {
        return Err(Failure::new(
            FailureKind::Garbage,
            format!(
                "{} answers /metrics without a series of windows_exporter",
                transport.route()
            ),
            "check its labels and port: something else runs there",
        ));
    }
    // Sums over cores and lists of containers would be of a part only, and look like the whole.
    if scrape.truncated {
        return Err(answer.cut_off());
    }
    if scrape.malformed > 0 {
        tracing::warn!(
            route = %transport.route(),
            malformed = scrape.malformed,
            "an exposition was not read whole"
        );
    }
    Ok((at, scrape))
}

/// History comes from Prometheus only.
fn serves(demand: &Demand) -> Demand {
    Demand {
        history: false,
        ..demand.samples()
    }
}

/// The exporters of which Prometheus has nothing fresh.
fn wanted(pods: &[ExporterPod], health: &Health, now: Timestamp) -> Vec<ExporterPod> {
    let limit = i64::try_from(stale_after_seconds(Source::Prometheus)).unwrap_or(i64::MAX);
    let fresh = |pod: &ExporterPod| match health {
        Health::Unknown | Health::Down(_) => false,
        Health::Answering(newest) => pod
            .keys()
            .iter()
            .filter_map(|key| newest.get(key))
            .any(|at| (now - *at).num_seconds() <= limit),
    };
    pods.iter().filter(|pod| !fresh(pod)).cloned().collect()
}

fn reason(health: &Health) -> String {
    match health {
        Health::Unknown => "Prometheus has not answered yet".to_owned(),
        Health::Down(what) => what.clone(),
        Health::Answering(_) => "Prometheus has nothing fresh of their nodes".to_owned(),
    }
}

/// Waits until Prometheus fails while this source rests because of it.
async fn turned(health: &mut watch::Receiver<Health>, off: Option<Off>) {
    let rests = off == Some(Off::NotNeeded);
    if !rests
        || health
            .wait_for(|health| matches!(health, Health::Down(_)))
            .await
            .is_err()
    {
        std::future::pending::<()>().await;
    }
}
