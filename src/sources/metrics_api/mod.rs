//! The resource metrics API, `metrics.k8s.io`: working set and CPU of nodes and containers, what `kubectl top`
//! shows. It has no watch, so it is polled while something visible needs it.
//!
//! `HostProcess` containers on Windows are reported with zeros here; who joins the samples knows them.

#[cfg(test)]
mod tests;
pub mod wire;

use crate::domain::Name;
use crate::domain::measurement::{
    ContainerMeasurement, ContainerQuantity, Measurements, Missing, NodeMeasurement, NodeQuantity, Quantity,
};
use crate::sources::context::SourceContext;
use crate::sources::event::{Demand, Payload};
use crate::sources::pace::{Pace, Reporter};
use crate::sources::transport::HttpTransport;
use crate::sources::transport::failure::{Failure, FailureKind};
use crate::sources::transport::route::Route;
use chrono::Utc;
use std::time::Duration;
use wire::{List, NodeUsage, PodUsage};

/// Rest between two rounds: metrics-server itself collects every 15 s.
const ROUND: Duration = Duration::from_secs(15);

const GROUP: &str = "/apis/metrics.k8s.io/v1beta1";

/// Polls the metrics API; containers of one namespace only, if one is given.
pub async fn run(context: SourceContext, namespace: Option<Name>) {
    let cancel = context.cancel.clone();
    cancel
        .run_until_cancelled(async move {
            let reporter = Reporter::start(context.sink.clone()).await;
            let runner = Runner {
                api: HttpTransport::through(context.client.clone(), Route::Api, context.request_timeout),
                context,
                namespace,
                reporter,
                nodes: Vec::new(),
                containers: Vec::new(),
            };
            runner.run().await;
        })
        .await;
}

struct Runner {
    context: SourceContext,
    api: HttpTransport,
    namespace: Option<Name>,
    reporter: Reporter,
    /// Of the last round that needed them, so that a change of pane does not empty the other one. They keep
    /// their sample times.
    nodes: Vec<NodeMeasurement>,
    containers: Vec<ContainerMeasurement>,
}

impl Runner {
    async fn run(mut self) {
        let mut pace = Pace::new(&self.context, serves);
        let mut rest = Duration::ZERO;
        loop {
            let round = pace.next(rest).await;
            self.round(&round.demand).await;
            rest = ROUND;
        }
    }

    /// Nodes and pods are separate rights: one may be refused while the other is read.
    async fn round(&mut self, demand: &Demand) {
        let asked = Utc::now();
        let (nodes, containers) = tokio::join!(
            self.ask_nodes(demand.nodes),
            self.ask_containers(demand.containers)
        );
        let mut missing = Vec::new();
        let mut failures = Vec::new();
        let mut answered = false;
        match nodes {
            Some(Ok(samples)) => {
                self.nodes = samples;
                answered = true;
            }
            Some(Err(failure)) => {
                let lost = [NodeQuantity::WorkingSet, NodeQuantity::CpuCores];
                missing.extend(lost.map(|quantity| lacking(Quantity::Node(quantity), &failure)));
                failures.push(failure);
            }
            None => {}
        }
        match containers {
            Some(Ok(samples)) => {
                self.containers = samples;
                answered = true;
            }
            Some(Err(failure)) => {
                let lost = [ContainerQuantity::WorkingSet, ContainerQuantity::CpuCores];
                missing.extend(lost.map(|quantity| lacking(Quantity::Container(quantity), &failure)));
                failures.push(failure);
            }
            None => {}
        }
        let measurements = Measurements {
            nodes: self.nodes.clone(),
            services: Vec::new(),
            containers: self.containers.clone(),
            missing,
        };
        self.context.sink.send(Payload::Measurements(measurements)).await;
        let first = failures.into_iter().next();
        match first {
            Some(failure) if !answered => {
                tracing::warn!(%failure, "metrics.k8s.io");
                if failure.kind == FailureKind::NotInstalled {
                    self.reporter.off("", Some(failure.problem)).await;
                } else {
                    self.reporter.failed(failure.problem).await;
                }
            }
            failure => {
                let problem = failure.map(|failure| failure.problem);
                self.reporter
                    .answered("metrics.k8s.io through the API server", asked, problem)
                    .await;
            }
        }
    }

    async fn ask_nodes(&self, wanted: bool) -> Option<Result<Vec<NodeMeasurement>, Failure>> {
        if !wanted {
            return None;
        }
        let read = async {
            let answer = self
                .api
                .get(&format!("{GROUP}/nodes"), &[])
                .await
                .map_err(|failure| explain(failure, "nodes"))?;
            let list: List<NodeUsage<'_>> = answer.json()?;
            Ok(list.items.iter().flat_map(NodeUsage::samples).collect())
        };
        Some(read.await)
    }

    async fn ask_containers(&self, wanted: bool) -> Option<Result<Vec<ContainerMeasurement>, Failure>> {
        if !wanted {
            return None;
        }
        let path = match &self.namespace {
            Some(namespace) => format!("{GROUP}/namespaces/{namespace}/pods"),
            None => format!("{GROUP}/pods"),
        };
        let read = async {
            let answer = self
                .api
                .get(&path, &[])
                .await
                .map_err(|failure| explain(failure, "pods"))?;
            let list: List<PodUsage<'_>> = answer.json()?;
            Ok(list.items.iter().flat_map(PodUsage::samples).collect())
        };
        Some(read.await)
    }
}

/// History comes from Prometheus only.
fn serves(demand: &Demand) -> Demand {
    Demand {
        history: false,
        ..demand.samples()
    }
}

fn lacking(quantity: Quantity, failure: &Failure) -> Missing {
    Missing {
        quantity,
        node: None,
        reason: failure.absence(),
    }
}

/// What an error status means for this API.
fn explain(failure: Failure, resource: &str) -> Failure {
    match failure.kind {
        FailureKind::NotFound => Failure::new(
            FailureKind::NotInstalled,
            "this cluster has no metrics.k8s.io",
            "install metrics-server; `kubectl top` needs it, too",
        ),
        FailureKind::Forbidden => Failure::new(
            FailureKind::Forbidden,
            failure.problem.what,
            format!("ask for a role with verb list on {resource} of group metrics.k8s.io"),
        ),
        FailureKind::Status(502..=504) => Failure::new(
            failure.kind,
            failure.problem.what,
            "look at metrics-server: `kubectl get apiservice v1beta1.metrics.k8s.io`; it is tried again by itself",
        ),
        _ => failure,
    }
}
