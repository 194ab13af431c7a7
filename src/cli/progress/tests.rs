use super::*;
use crate::domain::measurement::Measurements;
use crate::sources::event::{Demand, Detail, DetailKey, Generation, Problem, SourceState};
use Source::{Exporter, Kubernetes, MetricsApi, Prometheus};
use SourcePhase::{Connected, Failed, Off, Starting};

fn says(progress: &mut Progress, source: Source, payload: Payload) {
    progress.note(&SourceEvent {
        source,
        generation: Generation(1),
        payload,
    });
}

fn is(progress: &mut Progress, source: Source, phase: SourcePhase) {
    let state = SourceState {
        phase,
        reached: String::new(),
        last_answer: None,
        last_error: None,
    };
    says(progress, source, Payload::State(state));
}

fn measures(progress: &mut Progress, source: Source) {
    says(progress, source, Payload::Measurements(Measurements::default()));
}

fn asked_for_samples() -> Progress {
    Progress::new(Wanted {
        demand: Demand {
            nodes: true,
            containers: true,
            history: false,
            event_log: None,
            smb: false,
        },
        ..Wanted::default()
    })
}

/// A cluster whose watches are all live, and whose Prometheus and metrics API have answered.
fn answered() -> Progress {
    let mut progress = asked_for_samples();
    is(&mut progress, Kubernetes, Connected);
    for watched in Watched::ALL {
        says(
            &mut progress,
            Kubernetes,
            Payload::Watch(watched, WatchState::Live),
        );
    }
    for source in [Prometheus, MetricsApi] {
        is(&mut progress, source, Connected);
        measures(&mut progress, source);
    }
    is(&mut progress, Exporter, Off);
    progress
}

#[test]
fn a_cluster_that_answered_is_printed() {
    assert_eq!(answered().still_waiting(), []);
    assert_eq!(
        asked_for_samples().still_waiting(),
        [Kubernetes, Prometheus, Exporter, MetricsApi]
    );
}

#[test]
fn a_watch_that_is_forbidden_or_fails_has_answered() {
    let mut progress = answered();
    says(
        &mut progress,
        Kubernetes,
        Payload::Watch(Watched::Pods, WatchState::Loading),
    );
    assert_eq!(progress.still_waiting(), [Kubernetes]);
    let refused = WatchState::Forbidden(Problem {
        what: "pods is forbidden".to_owned(),
        next_step: "ask for a ClusterRole".to_owned(),
    });
    says(&mut progress, Kubernetes, Payload::Watch(Watched::Pods, refused));
    assert!(progress.is_settled());
}

#[test]
fn an_api_server_that_fails_is_not_waited_for() {
    let mut progress = Progress::new(Wanted::default());
    is(&mut progress, Kubernetes, Failed);
    assert!(progress.is_settled());
}

#[test]
fn when_prometheus_is_down_the_exporter_is_waited_for() {
    let mut progress = answered();
    progress.measured.remove(&Prometheus);
    is(&mut progress, Prometheus, Failed);
    is(&mut progress, Exporter, Starting);
    assert_eq!(progress.still_waiting(), [Exporter]);
    is(&mut progress, Exporter, Connected);
    assert_eq!(
        progress.still_waiting(),
        [Exporter],
        "connected, but no samples yet"
    );
    measures(&mut progress, Exporter);
    assert!(progress.is_settled());
}

#[test]
fn without_prometheus_and_exporter_nothing_is_waited_for() {
    let mut progress = answered();
    progress.measured.remove(&Prometheus);
    is(&mut progress, Prometheus, Off);
    assert!(progress.is_settled());
}

#[test]
fn a_page_waits_for_what_only_it_shows() {
    let mut progress = answered();
    let key = DetailKey::Node("k8s-lab-win-1".into());
    progress.wanted.detail = Some(key.clone());
    let other = DetailKey::Node("k8s-lab-node-1".into());
    says(
        &mut progress,
        Kubernetes,
        Payload::Detail(other, Ok(Detail::Yaml(String::new()))),
    );
    assert_eq!(progress.still_waiting(), [Kubernetes]);
    says(
        &mut progress,
        Kubernetes,
        Payload::Detail(key, Err("not found".to_owned())),
    );
    assert!(progress.is_settled());
}
