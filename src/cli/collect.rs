//! Asks every source once: starts them, folds what they say into a store until each has answered or failed, or
//! the time is over, and ends them.

use super::exit::CliError;
use super::progress::Progress;
use crate::domain::measurement::Missing;
use crate::domain::reading::Source;
use crate::runner::boots::Memory;
use crate::sources::event::{Demand, DetailKey, Payload, Problem, Request, SourcePhase, WatchState, Watched};
use crate::sources::{self, SourcesOptions};
use crate::store::Store;
use chrono::Utc;
use std::collections::BTreeMap;

/// What the sources said.
pub struct Collected {
    /// All of it, joined.
    pub store: Store,
    /// What each source says it cannot give, as of its last round.
    pub missing: BTreeMap<Source, Vec<Missing>>,
    /// Sources that had neither answered nor failed when the time was over.
    pub silent: Vec<Source>,
}

impl Collected {
    /// Remembers the boots of the nodes for later commands, and tells the store what earlier ones have seen.
    pub fn remember_boots(&mut self) {
        let server = self.store.scope().server;
        Memory::of(&server).share(&mut self.store, Utc::now());
    }
}

/// What the sources are asked for, beside the rows of the cluster.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Samples.
    pub demand: Demand,
    /// What a page about one object needs.
    pub detail: Option<DetailKey>,
    /// Whether logs can be read.
    pub logs: bool,
}

/// Asks every source for what is `wanted`, for at most the request timeout. `enough` may end it earlier.
///
/// # Errors
/// No usable kubeconfig, context or credentials.
async fn collect_until(
    options: SourcesOptions,
    wanted: Wanted,
    enough: impl Fn(&Store) -> bool,
) -> Result<Collected, CliError> {
    let timeout = options.request_timeout;
    let mut running = sources::start(options).await?;
    let mut store = Store::new();
    let mut missing = BTreeMap::new();
    let mut progress = Progress::new(wanted.clone());
    let detail = wanted.detail.map(Request::Detail);
    for request in std::iter::once(Request::Demand(wanted.demand)).chain(detail) {
        // The sources are gone only when they were ended; then the channel says so below.
        let _ = running.requests.send(request);
    }
    let folding = async {
        while let Some(event) = running.events.recv().await {
            progress.note(&event);
            if let Payload::Measurements(round) = &event.payload {
                missing.insert(event.source, round.missing.clone());
            }
            store.apply(event, Utc::now());
            if progress.is_settled() || enough(&store) {
                break;
            }
        }
    };
    // Running out of time is an answer too: what is there is printed, and `silent` says who was not heard.
    let _ = tokio::time::timeout(timeout, folding).await;
    running.shutdown().await;
    Ok(Collected {
        store,
        missing,
        silent: progress.still_waiting(),
    })
}

/// Asks every source.
///
/// # Errors
/// No usable kubeconfig, context or credentials.
pub async fn everything(options: SourcesOptions, wanted: Wanted) -> Result<Collected, CliError> {
    collect_until(options, wanted, |_| false).await
}

/// Asks every source, for a command that is about `watched`.
///
/// # Errors
/// No usable kubeconfig, context or credentials; or `watched` could not be read, whatever else could.
pub async fn about(watched: Watched, options: SourcesOptions, demand: Demand) -> Result<Collected, CliError> {
    let wanted = Wanted {
        demand,
        ..Wanted::default()
    };
    let seconds = options.request_timeout.as_secs_f32();
    let collected = collect_until(options, wanted, |store| unreadable(store, watched).is_some()).await?;
    complete(collected, watched, seconds)
}

/// Reads the list of `watched` and waits for no other source.
///
/// # Errors
/// As [`about`].
pub async fn list(watched: Watched, options: SourcesOptions) -> Result<Collected, CliError> {
    let seconds = options.request_timeout.as_secs_f32();
    let enough = |store: &Store| is_live(store, watched) || unreadable(store, watched).is_some();
    let collected = collect_until(options, Wanted::default(), enough).await?;
    complete(collected, watched, seconds)
}

/// What was collected, if the list of `watched` is complete.
fn complete(mut collected: Collected, watched: Watched, seconds: f32) -> Result<Collected, CliError> {
    match unreadable(&collected.store, watched) {
        Some(problem) => Err(problem.into()),
        None if is_live(&collected.store, watched) => {
            collected.remember_boots();
            Ok(collected)
        }
        None => Err(Problem {
            what: format!(
                "the API server did not send its list of {} within {seconds} s",
                watched.plural()
            ),
            next_step: "raise --request-timeout, or see what is slow with `drainboard check`".to_owned(),
        }
        .into()),
    }
}

/// Whether the list of `watched` is complete.
fn is_live(store: &Store, watched: Watched) -> bool {
    matches!(watch_state(store, watched), Some(WatchState::Live))
}

/// Why `watched` cannot be read, once that is known.
pub fn unreadable(store: &Store, watched: Watched) -> Option<Problem> {
    match watch_state(store, watched) {
        Some(WatchState::Live) => None,
        Some(WatchState::Forbidden(problem) | WatchState::Failed(problem)) => Some(problem.clone()),
        Some(WatchState::Loading) | None => {
            let states = store.source_states();
            let (_, state) = states
                .into_iter()
                .find(|(source, _)| *source == Source::Kubernetes)?;
            (state.phase == SourcePhase::Failed)
                .then(|| state.last_error.clone())
                .flatten()
        }
    }
}

fn watch_state(store: &Store, watched: Watched) -> Option<&WatchState> {
    let states = store.watch_states();
    states
        .into_iter()
        .find_map(|(other, state)| (other == watched).then_some(state))
}
