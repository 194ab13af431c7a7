//! A Prometheus that was found: how to ask it, and what it holds.

use super::Options;
use super::catalogue::{QueryName, alerts, query};
use super::discover::candidates;
use super::fleet::Fleet;
use super::inventory::Inventory;
use super::matcher::Matcher;
use super::wire::vector;
use crate::sources::context::SourceContext;
use crate::sources::transport::direct::Direct;
use crate::sources::transport::failure::{Failure, FailureKind};
use crate::sources::transport::route::{Backend, Route};
use crate::sources::transport::{Answer, HttpTransport};
use std::time::Duration;
use tokio::time::Instant;

/// The Prometheus in use.
pub struct Connection {
    transport: HttpTransport,
    matcher: Matcher,
    /// Other services that look like a Prometheus.
    others: usize,
    /// What it holds.
    pub inventory: Inventory,
    /// The cluster's Windows nodes; `None` if they cannot be listed.
    pub fleet: Option<Fleet>,
    /// When the inventory was taken.
    pub inventoried: Instant,
    /// When the nodes were listed.
    pub listed: Instant,
}

impl Connection {
    /// Goes to the address of the options, else looks among the cluster's services: of several the one that
    /// scrapes most of this cluster's Windows nodes, else the first that answers.
    ///
    /// # Errors
    /// Wrong options, none found ([`FailureKind::NotInstalled`]), none answers.
    pub async fn open(client: &kube::Client, timeout: Duration, options: &Options) -> Result<Self, Failure> {
        let matcher = match &options.matcher {
            Some(text) => Matcher::parse(text).map_err(|error| {
                Failure::new(
                    FailureKind::Options,
                    error.to_string(),
                    "correct --prometheus-matcher",
                )
            })?,
            None => Matcher::default(),
        };
        let api = HttpTransport::through(client.clone(), Route::Api, timeout);
        if let Some(url) = &options.url {
            let direct = Direct::new(url, &options.credentials(), Backend::Prometheus)?;
            let transport = HttpTransport::direct(direct, timeout);
            let fleet = list_nodes(&api).await;
            return Self::probe(transport, matcher, fleet).await;
        }
        let (candidates, fleet) = tokio::join!(candidates(&api), list_nodes(&api));
        let candidates = candidates?;
        let others = candidates.len().saturating_sub(1);
        let probes = candidates.into_iter().map(|route| {
            let transport = HttpTransport::through(client.clone(), route, timeout);
            Self::probe(transport, matcher.clone(), fleet.clone())
        });
        let mut best: Option<Self> = None;
        let mut failure = None;
        for probed in futures::future::join_all(probes).await {
            match probed {
                Ok(found) if best.as_ref().is_none_or(|best| found.rank() > best.rank()) => {
                    best = Some(found);
                }
                Ok(_) => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match (best, failure) {
            (Some(best), _) => Ok(Self { others, ..best }),
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(none_found()),
        }
    }

    fn rank(&self) -> (usize, bool) {
        (self.inventory.instances(), self.inventory.has_windows_series())
    }

    async fn probe(
        transport: HttpTransport,
        matcher: Matcher,
        fleet: Option<Fleet>,
    ) -> Result<Self, Failure> {
        let mut connection = Self {
            transport,
            matcher,
            others: 0,
            inventory: Inventory::default(),
            fleet,
            inventoried: Instant::now(),
            listed: Instant::now(),
        };
        connection.take_inventory().await?;
        Ok(connection)
    }

    /// Looks again which series and exporters there are.
    pub async fn take_inventory(&mut self) -> Result<(), Failure> {
        let (series, exporters) = tokio::try_join!(
            self.instant(QueryName::Series),
            self.instant(QueryName::Exporters)
        )?;
        self.inventory = Inventory::new(&vector(&series)?, &vector(&exporters)?, self.fleet.as_ref());
        self.inventoried = Instant::now();
        Ok(())
    }

    /// Lists the nodes again: an instance that was unknown may be a new one.
    pub async fn list_nodes(&mut self, context: &SourceContext) {
        let api = HttpTransport::through(context.client.clone(), Route::Api, context.request_timeout);
        if let Some(fleet) = list_nodes(&api).await {
            self.fleet = Some(fleet);
        }
        self.listed = Instant::now();
    }

    /// Puts a query of the catalogue, evaluated at the server's now.
    pub async fn instant(&self, name: QueryName) -> Result<Answer, Failure> {
        let query = query(name, &self.matcher);
        self.transport
            .ask("/api/v1/query", &[("query", &query.promql)])
            .await
            .map_err(|failure| named(failure, name))
    }

    /// Puts a query of the catalogue over a range that ends at `end` (seconds since 1970, the server's clock).
    pub async fn range(&self, name: QueryName, start: i64, end: i64, step: u32) -> Result<Answer, Failure> {
        let query = query(name, &self.matcher);
        let parameters = [
            ("query", query.promql.as_str()),
            ("start", &start.to_string()),
            ("end", &end.to_string()),
            ("step", &step.to_string()),
        ];
        self.transport
            .ask("/api/v1/query_range", &parameters)
            .await
            .map_err(|failure| named(failure, name))
    }

    /// Asks which of these alerts fire.
    pub async fn alerts(&self, wanted: &Matcher) -> Result<Answer, Failure> {
        let promql = alerts(wanted, &self.matcher);
        self.transport.ask("/api/v1/query", &[("query", &promql)]).await
    }

    /// How it is reached and what it holds, for the operator.
    pub fn shown(&self) -> String {
        let others = match self.others {
            0 => String::new(),
            1 => " (1 more service looks like a Prometheus)".to_owned(),
            many => format!(" ({many} more services look like a Prometheus)"),
        };
        format!("{}{others}: {}", self.transport.route(), self.inventory.shown())
    }

    /// Who answers.
    pub fn route(&self) -> &Route {
        self.transport.route()
    }
}

/// Which of the catalogue's queries failed.
fn named(mut failure: Failure, name: QueryName) -> Failure {
    failure.problem.what = format!("query '{}': {}", name.name(), failure.problem.what);
    failure
}

/// The Windows nodes, or `None` where they cannot be listed: then no instance can be called foreign.
async fn list_nodes(api: &HttpTransport) -> Option<Fleet> {
    match Fleet::read(api).await {
        Ok(fleet) => Some(fleet),
        Err(failure) => {
            tracing::debug!(%failure, "the Windows nodes cannot be listed for Prometheus");
            None
        }
    }
}

fn none_found() -> Failure {
    Failure::new(
        FailureKind::NotInstalled,
        "no service of this cluster looks like a Prometheus",
        "install kube-prometheus-stack (with windowsMonitoring.enabled=true), or give an address with --prometheus",
    )
}
