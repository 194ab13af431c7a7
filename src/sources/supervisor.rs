//! Starts the sources, answers requests, restarts what a request makes obsolete. Each start of a source has its
//! own generation, so that an answer to an older context or scope can be told from a current one.

use super::context::{EventSink, SourceContext};
use super::event::{
    Demand, DetailKey, Generation, LogsId, LogsQuestion, Payload, Problem, Request, Scope, SourceEvent,
    SourcePhase, SourceState,
};
use super::kubernetes::config::{self, Choice, Session};
use super::prometheus::health::Health;
use super::{exporter, kubernetes, loki, metrics_api, prometheus};
use crate::domain::Name;
use crate::domain::reading::Source;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{Id, JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

/// Messages that may wait for the store before the sources wait for it.
const EVENTS: usize = 64;

/// All sources, in the order in which they start.
const SOURCES: [Source; 5] = [
    Source::Kubernetes,
    Source::Prometheus,
    Source::Exporter,
    Source::MetricsApi,
    Source::Loki,
];
/// Those that look at the chosen namespace only.
const SCOPED: [Source; 2] = [Source::Kubernetes, Source::MetricsApi];

/// What to look at, and how.
#[derive(Clone, Debug, Default)]
pub struct SourcesOptions {
    /// `--kubeconfig`.
    pub kubeconfig: Option<PathBuf>,
    /// `--context`; otherwise the current one.
    pub context: Option<String>,
    /// Restricts the watches to a namespace.
    pub namespace: Option<String>,
    /// Label selector of the pod watch; empty for all.
    pub pod_selector: String,
    /// Where Prometheus is.
    pub prometheus: prometheus::Options,
    /// Where Loki is.
    pub loki: loki::Options,
    /// Longest wait for an answer.
    pub request_timeout: Duration,
    /// Whether a credential plugin may use the terminal while [`start`] runs.
    pub interactive: bool,
}

/// The running sources.
pub struct Running {
    /// What may be asked of them.
    pub requests: mpsc::UnboundedSender<Request>,
    /// What they say.
    pub events: mpsc::Receiver<SourceEvent>,
    /// Contexts of the kubeconfig when it was read.
    pub contexts: Vec<String>,
    /// Client of the current context, without hidden retries; `None` while no context is open.
    pub client: watch::Receiver<Option<kube::Client>>,
    cancel: CancellationToken,
    supervisor: JoinHandle<()>,
}

impl Running {
    /// Ends all sources and waits until they have ended.
    pub async fn shutdown(self) {
        self.cancel.cancel();
        if let Err(error) = self.supervisor.await {
            tracing::error!(%error, "the supervisor of the sources failed");
        }
    }
}

/// Opens the context and starts the sources. The API server need not answer for that: whether it does is told by
/// events.
///
/// # Errors
/// No usable kubeconfig, context or credentials.
pub async fn start(options: SourcesOptions) -> Result<Running, Problem> {
    let choice = Choice {
        kubeconfig: options.kubeconfig.clone(),
        context: options.context.clone(),
        connect_timeout: options.request_timeout,
        interactive: options.interactive,
    };
    let session = config::open(choice).await?;
    let contexts = session.contexts.clone();
    let (requests, asked) = mpsc::unbounded_channel();
    let (events, said) = mpsc::channel(EVENTS);
    let (opened, client) = watch::channel(Some(session.client.clone()));
    let cancel = CancellationToken::new();
    let supervisor = Supervisor {
        namespace: options.namespace.as_deref().map(Name::from),
        pod_selector: options.pod_selector.clone(),
        options,
        events,
        demand: watch::Sender::new(Demand::default()),
        refresh: watch::Sender::new(0),
        prometheus_health: watch::Sender::new(Health::Unknown),
        generation: 0,
        session: Ok(session),
        opened,
        sources: HashMap::new(),
        details: None,
        logs: None,
        tasks: JoinSet::new(),
        cancel: cancel.clone(),
    };
    let supervisor = tokio::spawn(async move {
        let cancel = supervisor.cancel.clone();
        cancel.run_until_cancelled(supervisor.run(asked)).await;
    });
    Ok(Running {
        requests,
        events: said,
        contexts,
        client,
        cancel,
        supervisor,
    })
}

/// A source that was started.
struct Started {
    generation: Generation,
    task: Id,
    cancel: CancellationToken,
}

struct Supervisor {
    options: SourcesOptions,
    namespace: Option<Name>,
    pod_selector: String,
    events: mpsc::Sender<SourceEvent>,
    demand: watch::Sender<Demand>,
    refresh: watch::Sender<u64>,
    /// What Prometheus tells the direct scrape of the exporters.
    prometheus_health: watch::Sender<Health>,
    generation: u64,
    /// The connection, or the context that could not be opened.
    session: Result<Session, String>,
    /// The client of that connection, for whoever writes to the cluster.
    opened: watch::Sender<Option<kube::Client>>,
    sources: HashMap<Source, Started>,
    details: Option<mpsc::UnboundedSender<DetailKey>>,
    logs: Option<mpsc::UnboundedSender<(LogsId, LogsQuestion)>>,
    tasks: JoinSet<()>,
    cancel: CancellationToken,
}

impl Supervisor {
    async fn run(mut self, requests: mpsc::UnboundedReceiver<Request>) {
        self.start_all(&SOURCES).await;
        self.serve(requests).await;
    }

    async fn serve(mut self, mut requests: mpsc::UnboundedReceiver<Request>) {
        loop {
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => self.answer(request).await,
                    None => return,
                },
                Some(ended) = self.tasks.join_next_with_id() => {
                    if let Err(error) = ended {
                        self.report_panic(error).await;
                    }
                }
            }
        }
    }

    async fn answer(&mut self, request: Request) {
        match request {
            Request::Rescope {
                namespace,
                pod_selector,
            } => {
                self.namespace = namespace;
                self.pod_selector = pod_selector;
                self.start_all(&SCOPED).await;
            }
            Request::SwitchContext(context) => self.switch(context).await,
            Request::Demand(demand) => {
                self.demand.send_if_modified(|current| {
                    let changed = *current != demand;
                    *current = demand;
                    changed
                });
            }
            Request::Detail(key) => {
                if let Some(details) = &self.details
                    && details.send(key).is_err()
                {
                    tracing::debug!("a detail was asked of a source that has ended");
                }
            }
            Request::Logs(id, question) => {
                if let Some(logs) = &self.logs
                    && logs.send((id, question)).is_err()
                {
                    tracing::debug!("logs were asked of a source that has ended");
                }
            }
            Request::Refresh => self.ask_again().await,
        }
    }

    /// All sources ask again; what could not be opened, or failed for good, is started anew.
    async fn ask_again(&mut self) {
        if let Err(context) = &self.session {
            let context = context.clone();
            return self.switch(context).await;
        }
        self.refresh.send_modify(|count| *count += 1);
        for source in SOURCES {
            if !self.sources.contains_key(&source) {
                self.start(source).await;
            }
        }
    }

    /// Everything of the old context ends before anything of the new one starts; the kubeconfig is read again.
    async fn switch(&mut self, context: String) {
        self.stop_all();
        self.opened.send_replace(None);
        let choice = Choice {
            kubeconfig: self.options.kubeconfig.clone(),
            context: Some(context.clone()),
            connect_timeout: self.options.request_timeout,
            interactive: false,
        };
        match config::open(choice).await {
            Ok(session) => {
                self.opened.send_replace(Some(session.client.clone()));
                self.session = Ok(session);
                self.start_all(&SOURCES).await;
            }
            Err(problem) => {
                self.session = Err(context.clone());
                let scope = Scope {
                    context: context.into(),
                    ..Scope::default()
                };
                // Nothing that any source said of the old context stays under the new name.
                for source in SOURCES {
                    let sink = self.begin(source, scope.clone()).await;
                    sink.send(failed(problem.clone())).await;
                }
            }
        }
    }

    async fn start_all(&mut self, sources: &[Source]) {
        for source in sources {
            self.start(*source).await;
        }
    }

    /// Starts a source, or starts it anew.
    async fn start(&mut self, source: Source) {
        let Some((context, scope)) = self.prepare(source).await else {
            return;
        };
        match source {
            Source::Kubernetes => {
                let (details, keys) = mpsc::unbounded_channel();
                self.details = Some(details);
                self.spawn(
                    source,
                    &context.cancel.clone(),
                    kubernetes::run(context, scope, keys),
                );
            }
            Source::Prometheus => {
                self.prometheus_health.send_replace(Health::Unknown);
                let options = self.options.prometheus.clone();
                let health = self.prometheus_health.clone();
                self.spawn(
                    source,
                    &context.cancel.clone(),
                    prometheus::run(context, options, health),
                );
            }
            Source::Exporter => {
                let health = self.prometheus_health.subscribe();
                self.spawn(source, &context.cancel.clone(), exporter::run(context, health));
            }
            Source::MetricsApi => {
                let namespace = self.namespace.clone();
                self.spawn(
                    source,
                    &context.cancel.clone(),
                    metrics_api::run(context, namespace),
                );
            }
            Source::Loki => {
                let (logs, questions) = mpsc::unbounded_channel();
                self.logs = Some(logs);
                let options = self.options.loki.clone();
                self.spawn(
                    source,
                    &context.cancel.clone(),
                    loki::run(context, options, questions),
                );
            }
        }
    }

    /// Ends the source if it runs and announces its new generation.
    async fn prepare(&mut self, source: Source) -> Option<(SourceContext, Scope)> {
        self.stop(source);
        let session = self.session.as_ref().ok()?.clone();
        let scope = Scope {
            context: session.context,
            server: session.server,
            namespace: self.namespace.clone(),
            pod_selector: self.pod_selector.as_str().into(),
        };
        let sink = self.begin(source, scope.clone()).await;
        let context = SourceContext {
            client: session.client,
            sink,
            demand: self.demand.subscribe(),
            refresh: self.refresh.subscribe(),
            request_timeout: self.options.request_timeout,
            cancel: self.cancel.child_token(),
        };
        Some((context, scope))
    }

    /// Opens a generation of a source: the store forgets what it holds of it.
    async fn begin(&mut self, source: Source, scope: Scope) -> EventSink {
        self.generation += 1;
        let sink = EventSink::new(source, Generation(self.generation), self.events.clone());
        sink.send(Payload::Begin(scope)).await;
        sink
    }

    fn spawn(
        &mut self,
        source: Source,
        cancel: &CancellationToken,
        run: impl Future<Output = ()> + Send + 'static,
    ) {
        let ends = cancel.clone();
        let task = self.tasks.spawn(async move {
            ends.run_until_cancelled(run).await;
        });
        let started = Started {
            generation: Generation(self.generation),
            task: task.id(),
            cancel: cancel.clone(),
        };
        self.sources.insert(source, started);
    }

    fn stop(&mut self, source: Source) {
        if let Some(started) = self.sources.remove(&source) {
            started.cancel.cancel();
        }
    }

    fn stop_all(&mut self) {
        for (_, started) in self.sources.drain() {
            started.cancel.cancel();
        }
        self.details = None;
        self.logs = None;
    }

    /// A bug in one source must not take the others down.
    async fn report_panic(&mut self, error: tokio::task::JoinError) {
        let task = error.id();
        let Some(source) = self
            .sources
            .iter()
            .find(|(_, started)| started.task == task)
            .map(|(source, _)| *source)
        else {
            return;
        };
        let Some(started) = self.sources.remove(&source) else {
            return;
        };
        tracing::error!(%source, %error, "a source failed");
        if source == Source::Prometheus {
            // The direct scrape steps in.
            self.prometheus_health
                .send_replace(Health::Down("the source stopped".to_owned()));
        }
        let sink = EventSink::new(source, started.generation, self.events.clone());
        sink.send(failed(Problem {
            what: format!("the source {source} stopped: an error in drainboard itself"),
            next_step: "refresh to start it again, and report the log".to_owned(),
        }))
        .await;
    }
}

fn failed(problem: Problem) -> Payload {
    Payload::State(SourceState {
        phase: SourcePhase::Failed,
        reached: String::new(),
        last_answer: None,
        last_error: Some(problem),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_source_with_a_bug_is_shown_as_failed_and_the_others_go_on() {
        let (events, mut said) = mpsc::channel(EVENTS);
        let cancel = CancellationToken::new();
        let mut supervisor = Supervisor {
            options: SourcesOptions::default(),
            namespace: None,
            pod_selector: String::new(),
            events,
            demand: watch::Sender::new(Demand::default()),
            refresh: watch::Sender::new(0),
            prometheus_health: watch::Sender::new(Health::Unknown),
            generation: 7,
            session: Err("nowhere".to_owned()),
            opened: watch::Sender::new(None),
            sources: HashMap::new(),
            details: None,
            logs: None,
            tasks: JoinSet::new(),
            cancel: cancel.clone(),
        };
        supervisor.spawn(Source::Exporter, &cancel.child_token(), std::future::pending());
        supervisor.spawn(Source::Prometheus, &cancel.child_token(), async {
            panic!("a bug")
        });
        let health = supervisor.prometheus_health.subscribe();
        let (_requests, asked) = mpsc::unbounded_channel();
        let running = tokio::spawn(cancel.clone().run_until_cancelled_owned(supervisor.serve(asked)));

        let event = tokio::time::timeout(Duration::from_mins(1), said.recv())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (event.source, event.generation),
            (Source::Prometheus, Generation(7))
        );
        let Payload::State(state) = event.payload else {
            panic!("{event:?}")
        };
        assert_eq!(state.phase, SourcePhase::Failed);
        assert!(
            state
                .last_error
                .unwrap()
                .what
                .contains("an error in drainboard itself")
        );
        assert!(
            matches!(&*health.borrow(), Health::Down(_)),
            "the direct scrape steps in"
        );
        assert!(said.is_empty(), "the other source is not touched");
        cancel.cancel();
        running.await.unwrap();
    }
}
