//! A Loki that was found: how to ask it, and what it uses and allows.

use super::Options;
use super::discover::candidates;
use super::labels::{JOB, Labels};
use super::limits::Limits;
use super::tail::Tail;
use super::wire;
use crate::domain::log::{LogEntry, LogOrder, LogRange};
use crate::sources::transport::HttpTransport;
use crate::sources::transport::direct::Direct;
use crate::sources::transport::failure::{Failure, FailureKind};
use crate::sources::transport::route::{Backend, Route};
use http::HeaderValue;
use secrecy::ExposeSecret;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Asks Loki to tell labels of the stream, metadata of the line and parsed labels apart; an old one ignores it.
const CATEGORIZE: (&str, &str) = ("x-loki-response-encoding-flags", "categorize-labels");

/// Names the tenant.
const TENANT: &str = "x-scope-orgid";

/// The Loki in use. Cheap to clone.
#[derive(Clone)]
pub struct Connection {
    transport: HttpTransport,
    /// The way to its websocket; only an address of its own has one.
    tail: Option<Tail>,
    /// Other services that look like a Loki.
    others: usize,
    /// The labels it uses.
    pub labels: Arc<Labels>,
    /// Whether it holds any line of the last hours.
    pub holds_lines: bool,
    limits: Arc<Mutex<Limits>>,
}

impl Connection {
    /// Goes to the address of the options, else looks among the cluster's services: of several the first that
    /// answers and holds lines, else the first that answers.
    ///
    /// # Errors
    /// Wrong options, none found ([`FailureKind::NotInstalled`]), none answers.
    pub async fn open(client: &kube::Client, timeout: Duration, options: &Options) -> Result<Self, Failure> {
        if let Some(url) = &options.url {
            let mut credentials = options.credentials.clone();
            if let Some(tenant) = &options.tenant {
                credentials.headers.push((TENANT.to_owned(), tenant.clone()));
            }
            let (name, value) = CATEGORIZE;
            credentials.headers.push((name.to_owned(), value.into()));
            let direct = Direct::new(url, &credentials, Backend::Loki)?;
            let tail = Tail::new(Direct::for_upgrades(url, &credentials, Backend::Loki)?);
            let transport = HttpTransport::direct(direct, timeout);
            return Self::probe(transport, Some(tail), options).await;
        }
        let api = HttpTransport::through(client.clone(), Route::Api, timeout);
        let routes = candidates(&api).await?;
        let others = routes.len().saturating_sub(1);
        let mut second_best = None;
        let mut failure = None;
        for route in routes {
            let transport = HttpTransport::through(client.clone(), route, timeout);
            match Self::probe(with_headers(transport, options)?, None, options).await {
                Ok(found) if found.holds_lines => return Ok(Self { others, ..found }),
                Ok(found) => second_best = second_best.or(Some(found)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match (second_best, failure) {
            (Some(found), _) => Ok(Self { others, ..found }),
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(none_found()),
        }
    }

    /// Whether it answers is asked of its API: a gateway has no `/ready`.
    async fn probe(transport: HttpTransport, tail: Option<Tail>, options: &Options) -> Result<Self, Failure> {
        let mut connection = Self {
            transport,
            tail,
            others: 0,
            labels: Arc::new(Labels::detect(&[], &[], &options.labels)),
            holds_lines: false,
            limits: Arc::default(),
        };
        connection.look_again(options).await?;
        Ok(connection)
    }

    /// Asks again which labels there are: what shows that it answers, and finds collectors that came later.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn look_again(&mut self, options: &Options) -> Result<(), Failure> {
        let known = self.names("/loki/api/v1/labels").await?;
        let jobs = if options.labels.events.is_none() && known.iter().any(|name| name == JOB) {
            self.names(&format!("/loki/api/v1/label/{JOB}/values")).await?
        } else {
            Vec::new()
        };
        self.holds_lines = !known.is_empty();
        self.labels = Arc::new(Labels::detect(&known, &jobs, &options.labels));
        Ok(())
    }

    async fn names(&self, path: &str) -> Result<Vec<String>, Failure> {
        let answer = self.transport.get(path, &[]).await.map_err(explained)?;
        wire::names(&answer)
    }

    /// Puts one query over a range. The order is that of the answer, which tells only which end of the range is
    /// kept when there are more lines than `limit`.
    ///
    /// # Errors
    /// What Loki or the way to it says.
    pub async fn query_range(
        &self,
        logql: &str,
        range: LogRange,
        order: LogOrder,
        limit: usize,
    ) -> Result<Vec<LogEntry>, Failure> {
        let direction = match order {
            LogOrder::NewestFirst => "backward",
            LogOrder::OldestFirst => "forward",
        };
        let parameters = [
            ("query", logql),
            ("start", &range.start_ns.to_string()),
            ("end", &range.end_ns.to_string()),
            ("limit", &limit.to_string()),
            ("direction", direction),
        ];
        let answer = self
            .transport
            .get("/loki/api/v1/query_range", &parameters)
            .await
            .map_err(explained)?;
        wire::entries(&answer, &self.labels)
    }

    /// The websocket on which it sends new lines; `None` through the API server, whose proxy is polled.
    pub const fn tail(&self) -> Option<&Tail> {
        self.tail.as_ref()
    }

    /// What it allows, as far as is known.
    pub fn limits(&self) -> Limits {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from its error; false if it tells nothing new.
    pub fn learn(&self, failure: &Failure) -> bool {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits.learn(&failure.said)
    }

    /// How it is reached and which labels it uses, for the operator.
    pub fn shown(&self) -> String {
        let others = match self.others {
            0 => String::new(),
            1 => " (1 more service looks like a Loki)".to_owned(),
            many => format!(" ({many} more services look like a Loki)"),
        };
        format!("{}{others}: {}", self.transport.route(), self.labels)
    }
}

fn with_headers(transport: HttpTransport, options: &Options) -> Result<HttpTransport, Failure> {
    let (name, value) = CATEGORIZE;
    let mut transport = transport.with_header(name, HeaderValue::from_static(value));
    if let Some(tenant) = &options.tenant {
        let mut value = HeaderValue::from_str(tenant.expose_secret()).map_err(|_| {
            Failure::new(
                FailureKind::Options,
                "the tenant of Loki has characters that HTTP does not allow",
                "correct --loki-tenant",
            )
        })?;
        value.set_sensitive(true);
        transport = transport.with_header(TENANT, value);
    }
    Ok(transport)
}

/// Loki's errors are plain text; these mean something that can be done.
fn explained(mut failure: Failure) -> Failure {
    let advice = if failure.said.starts_with("no org id") {
        "this Loki keeps tenants apart: name yours with --loki-tenant"
    } else if failure.kind == FailureKind::Status(504) || failure.said.starts_with("request timed out") {
        "ask for a shorter time or a narrower selector; it is tried again by itself"
    } else {
        return failure;
    };
    advice.clone_into(&mut failure.problem.next_step);
    failure
}

fn none_found() -> Failure {
    Failure::new(
        FailureKind::NotInstalled,
        "no service of this cluster looks like a Loki",
        "install the Loki chart and a collector on the nodes, or give an address with --loki; pods' logs are read \
         from the kubelets meanwhile",
    )
}
