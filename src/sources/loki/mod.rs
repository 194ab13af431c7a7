//! Logs out of a Loki server: found by itself among the cluster's services, or at an address that the operator
//! gives.

pub mod catalogue;
pub mod connection;
mod crowd;
pub mod discover;
mod event_log;
mod follow;
pub mod labels;
pub mod limits;
pub mod logql;
pub mod pages;
mod seen;
pub mod tail;
#[cfg(test)]
mod tests;
mod wire;

use crate::domain::Name;
use crate::domain::log::{LogOrder, LogPage, LogQuery, LogRange};
use crate::sources::context::{EventSink, SourceContext};
use crate::sources::event::{Demand, LogsAnswer, LogsId, LogsQuestion, Payload, Problem};
use crate::sources::pace::{Pace, Reporter};
use crate::sources::transport::direct::Credentials;
use crate::sources::transport::failure::{Failure, FailureKind};
use chrono::Utc;
use connection::Connection;
use labels::LabelChoice;
use secrecy::SecretString;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// Where Loki is and what it wants to see. Credentials are for an address only: they cannot pass the API server's
/// proxy; the tenant can.
#[derive(Clone, Default)]
pub struct Options {
    /// Its address, which may hold `user:password@`; `None` looks among the cluster's services.
    pub url: Option<String>,
    /// What is shown at that address.
    pub credentials: Credentials,
    /// Whose logs, where a Loki keeps tenants apart (`X-Scope-OrgID`).
    pub tenant: Option<SecretString>,
    /// Names of labels that are not to be detected.
    pub labels: LabelChoice,
}

/// Without the address, which may hold user and password, and without the other secrets.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}

/// Between two looks whether it still answers, and which labels it uses.
const LOOK: Duration = Duration::from_mins(1);

/// Rest before a Loki that failed, or does not exist, is looked for again.
const AGAIN: Duration = Duration::from_secs(10);

/// Rest between two questions for the event log that is on screen: a record is in Loki three seconds after it was
/// written.
const EVENT_LOG: Duration = Duration::from_secs(5);

fn serves(demand: &Demand) -> Demand {
    Demand {
        event_log: demand.event_log.clone(),
        ..Demand::default()
    }
}

/// Looks after the connection and answers questions.
pub async fn run(
    context: SourceContext,
    options: Options,
    questions: mpsc::UnboundedReceiver<(LogsId, LogsQuestion)>,
) {
    let cancel = context.cancel.clone();
    cancel
        .run_until_cancelled(async move {
            let reporter = Reporter::start(context.sink.clone()).await;
            let runner = Runner {
                context,
                options,
                reporter,
                loki: Err(not_looked_for()),
                tasks: JoinSet::new(),
                running: HashMap::new(),
                event_log: None,
            };
            Box::pin(runner.run(questions)).await;
        })
        .await;
}

struct Runner {
    context: SourceContext,
    options: Options,
    reporter: Reporter,
    loki: Result<Connection, Problem>,
    tasks: JoinSet<LogsId>,
    running: HashMap<LogsId, AbortHandle>,
    /// The question for the event log that is on screen.
    event_log: Option<AbortOnDropHandle<()>>,
}

impl Runner {
    async fn run(mut self, mut questions: mpsc::UnboundedReceiver<(LogsId, LogsQuestion)>) {
        let mut refresh = self.context.refresh.clone();
        refresh.mark_unchanged();
        let mut due = Instant::now() + self.look().await;
        let mut pace = Pace::new(&self.context, serves);
        let mut event_log_due = Instant::now();
        loop {
            tokio::select! {
                round = pace.next(event_log_due.saturating_duration_since(Instant::now())) => {
                    event_log_due = Instant::now() + EVENT_LOG;
                    self.tell_event_log(round.demand.event_log);
                }
                () = tokio::time::sleep_until(due) => due = Instant::now() + self.look().await,
                () = refreshed(&mut refresh) => {
                    self.loki = Err(not_looked_for());
                    due = Instant::now() + self.look().await;
                }
                question = questions.recv() => match question {
                    Some((id, question)) => self.take(id, question).await,
                    None => return,
                },
                Some(ended) = self.tasks.join_next() => {
                    if let Ok(id) = ended {
                        self.running.remove(&id);
                    }
                }
            }
        }
    }

    /// Asks whether it answers, or looks for it; answers how long that counts.
    async fn look(&mut self) -> Duration {
        let known = std::mem::replace(&mut self.loki, Err(not_looked_for()));
        let looked = if let Ok(mut known) = known {
            known.look_again(&self.options).await.map(|()| known)
        } else {
            let context = &self.context;
            Connection::open(&context.client, context.request_timeout, &self.options).await
        };
        match looked {
            Ok(found) => {
                let empty = (!found.holds_lines).then(nothing_held);
                self.reporter.answered(&found.shown(), Utc::now(), empty).await;
                self.loki = Ok(found);
                LOOK
            }
            Err(failure) => {
                tracing::warn!(%failure, "Loki");
                self.loki = Err(failure.problem.clone());
                if failure.kind == FailureKind::NotInstalled {
                    self.reporter.off("", Some(failure.problem)).await;
                    // What is installed meanwhile is found with the next look, which lists services.
                    LOOK
                } else {
                    self.reporter.failed(failure.problem).await;
                    AGAIN
                }
            }
        }
    }

    /// Asks for the System log of a node; a question that is still under way for another one is dropped.
    fn tell_event_log(&mut self, node: Option<Name>) {
        let Some(node) = node else { return };
        let (sink, loki) = (self.context.sink.clone(), self.loki.clone());
        self.event_log = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            let answer = match loki {
                Ok(loki) => event_log::newest(&loki, &node).await,
                Err(problem) => Err(problem),
            };
            sink.send(Payload::EventLog(node, answer)).await;
        })));
    }

    async fn take(&mut self, id: LogsId, question: LogsQuestion) {
        if let Some(running) = self.running.remove(&id) {
            running.abort();
        }
        if question == LogsQuestion::Stop {
            return;
        }
        let sink = self.context.sink.clone();
        let loki = match &self.loki {
            Ok(loki) => loki.clone(),
            Err(problem) => return say(&sink, id, LogsAnswer::Failed(problem.clone())).await,
        };
        let task = self.tasks.spawn(async move {
            answer(&loki, &sink, id, question).await;
            id
        });
        self.running.insert(id, task);
    }
}

async fn answer(loki: &Connection, sink: &EventSink, id: LogsId, question: LogsQuestion) {
    match question {
        LogsQuestion::Read {
            query,
            range,
            order,
            limit,
        } => {
            let answer = match read(loki, &query, range, order, limit).await {
                Ok(page) => LogsAnswer::Page(page),
                Err(failure) => LogsAnswer::Failed(failure.problem),
            };
            say(sink, id, answer).await;
        }
        LogsQuestion::Follow { query, since_ns } => {
            if let Err(failure) = follow::follow(loki, &query, since_ns, sink, id).await {
                say(sink, id, LogsAnswer::Failed(failure.problem)).await;
            }
        }
        LogsQuestion::Stop => {}
    }
}

async fn read(
    loki: &Connection,
    query: &LogQuery,
    range: LogRange,
    order: LogOrder,
    limit: usize,
) -> Result<LogPage, Failure> {
    let logql = catalogue::logql(query, &loki.labels)?;
    pages::page(loki, &logql, range, order, limit).await
}

async fn say(sink: &EventSink, id: LogsId, answer: LogsAnswer) {
    sink.send(Payload::Logs(id, answer)).await;
}

/// Never returns after the sender is gone: the program ends then.
async fn refreshed(refresh: &mut watch::Receiver<u64>) {
    if refresh.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn not_looked_for() -> Problem {
    Problem {
        what: "Loki has not answered yet".to_owned(),
        next_step: String::new(),
    }
}

fn nothing_held() -> Problem {
    Problem {
        what: "Loki answers, but holds nothing of the last hours".to_owned(),
        next_step:
            "check that a collector (Alloy, Promtail, Fluent Bit) runs on the nodes and sends to it, and \
                    whether it wants a tenant (--loki-tenant)"
                .to_owned(),
    }
}
