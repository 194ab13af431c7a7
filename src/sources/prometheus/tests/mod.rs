//! Stories: given this Prometheus, the operator sees that.

mod bad_input;
mod direct;
mod found;
mod joins;
mod lab;

use super::health::Health;
use super::{Options, run};
use crate::domain::measurement::{Measurements, NodeQuantity};
use crate::domain::reading::Source;
use crate::sources::bench::Bench;
use crate::sources::event::SourcePhase;
use tokio::sync::watch;

async fn bench() -> Bench {
    Bench::new(Source::Prometheus).await
}

/// Starts the source; it ends with the bench.
fn start(bench: &Bench, options: Options) -> watch::Receiver<Health> {
    let health = watch::Sender::new(Health::Unknown);
    let receiver = health.subscribe();
    tokio::spawn(run(bench.context.clone(), options, health));
    receiver
}

fn value(round: &Measurements, quantity: NodeQuantity) -> Option<f64> {
    let values: Vec<f64> = round
        .nodes
        .iter()
        .filter(|one| one.quantity == quantity)
        .map(|one| one.sample.value)
        .collect();
    assert!(values.len() < 2, "{quantity:?} twice: {values:?}");
    values.first().copied()
}

/// Seconds from the sample of commit to now.
fn age_of_commit(round: &Measurements) -> i64 {
    let commit = round
        .nodes
        .iter()
        .find(|one| one.quantity == NodeQuantity::Commit)
        .unwrap();
    (chrono::Utc::now() - commit.sample.at).num_seconds()
}

async fn problem(bench: &mut Bench, phase: SourcePhase) -> (String, String) {
    let state = bench
        .state("a problem", |state| {
            state.phase == phase && state.last_error.is_some()
        })
        .await;
    let problem = state.last_error.unwrap();
    (problem.what, problem.next_step)
}
