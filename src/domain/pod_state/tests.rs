use super::*;
use ContainerState::{Running, Terminated, Unreported, Waiting};
use proptest::prelude::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_timestamp(second, 0).unwrap()
}

fn ended(exit_code: i32, reason: &str) -> ContainerState {
    killed(exit_code, None, reason)
}

fn killed(exit_code: i32, signal: Option<i32>, reason: &str) -> ContainerState {
    Terminated(Box::new(Termination {
        exit_code,
        signal,
        reason: reason.into(),
        started_at: None,
        finished_at: None,
    }))
}

fn waiting(reason: &str) -> ContainerState {
    Waiting(reason.into())
}

/// An ordinary container in this state; a running one is ready.
fn container(state: &ContainerState) -> StatusFacts<'_> {
    StatusFacts {
        sidecar: false,
        started: matches!(state, Running(_)),
        ready: matches!(state, Running(_)),
        restarts: 0,
        state,
        last_finished_at: None,
    }
}

fn sidecar(state: &ContainerState) -> StatusFacts<'_> {
    StatusFacts {
        sidecar: true,
        ..container(state)
    }
}

/// A pod with these containers, all of them in the status.
fn pod<'a>(phase: &'a str, inits: &[StatusFacts<'a>], containers: &[StatusFacts<'a>]) -> PodFacts<'a> {
    PodFacts {
        phase,
        init_containers: inits.len(),
        sidecars: inits.iter().filter(|init| init.sidecar).count(),
        containers: containers.len(),
        init_statuses: inits.to_vec(),
        statuses: containers.to_vec(),
        ..PodFacts::default()
    }
}

fn word(facts: &PodFacts<'_>) -> String {
    PodState::of(facts).word.into_owned()
}

/// `1/2 Running`.
fn shown(facts: &PodFacts<'_>) -> String {
    let state = PodState::of(facts);
    format!("{}/{} {}", state.ready, state.ready_of, state.word)
}

const UP: ContainerState = Running(None);

#[test]
fn a_pod_that_runs_is_running() {
    let facts = pod("Running", &[], &[container(&UP), container(&UP)]);
    assert_eq!(shown(&facts), "2/2 Running");
}

#[test]
fn a_container_that_waits_names_the_pod() {
    for reason in ["ContainerCreating", "CrashLoopBackOff", "ImagePullBackOff"] {
        let state = waiting(reason);
        assert_eq!(word(&pod("Pending", &[], &[container(&state)])), reason);
    }
}

#[test]
fn of_several_words_the_first_container_s_stays() {
    let (first, second) = (waiting("CrashLoopBackOff"), waiting("ErrImagePull"));
    let facts = pod("Running", &[], &[container(&first), container(&second)]);
    assert_eq!(word(&facts), "CrashLoopBackOff");
}

#[test]
fn a_run_that_ended_without_reason_shows_signal_or_code() {
    let states = [
        (killed(137, Some(9), ""), "Signal:9"),
        (killed(1, Some(0), ""), "ExitCode:1"),
        (ended(-1_073_741_510, ""), "ExitCode:-1073741510"),
        (ended(-1_073_741_819, "Error"), "Error"),
    ];
    for (state, expected) in states {
        assert_eq!(word(&pod("Failed", &[], &[container(&state)])), expected);
    }
}

#[test]
fn completed_gives_way_to_a_container_that_still_runs() {
    let done = ended(0, "Completed");
    let mut facts = pod("Running", &[], &[container(&done), container(&UP)]);
    facts.ready = true;
    assert_eq!(shown(&facts), "1/2 Running");
    facts.ready = false;
    assert_eq!(shown(&facts), "1/2 NotReady");
    assert_eq!(
        shown(&pod("Succeeded", &[], &[container(&done)])),
        "0/1 Completed"
    );
}

#[test]
fn completed_gives_way_to_a_container_that_failed() {
    let (done, failed) = (ended(0, "Completed"), ended(2, "Error"));
    let mut facts = pod("Failed", &[], &[container(&done), container(&failed)]);
    assert_eq!(word(&facts), "Error");
    facts = pod(
        "Running",
        &[],
        &[container(&done), container(&failed), container(&UP)],
    );
    assert_eq!(word(&facts), "Error");
    facts.ready = true;
    assert_eq!(word(&facts), "Running");
}

#[test]
fn an_evicted_pod_says_so() {
    let facts = PodFacts {
        reason: "Evicted",
        ..pod("Failed", &[], &[])
    };
    assert_eq!(word(&facts), "Evicted");
}

#[test]
fn a_gated_pod_says_so() {
    let facts = PodFacts {
        scheduling_gated: true,
        ..pod("Pending", &[], &[])
    };
    assert_eq!(word(&facts), "SchedulingGated");
}

#[test]
fn a_deleted_pod_is_terminating_until_it_has_ended() {
    for (phase, reason, expected) in [
        ("Running", "", "Terminating"),
        ("Running", "NodeLost", "Unknown"),
        ("Pending", "", "Terminating"),
        ("Failed", "Evicted", "Evicted"),
        ("Succeeded", "", "Succeeded"),
    ] {
        let facts = PodFacts {
            reason,
            deleting: true,
            ..pod(phase, &[], &[])
        };
        assert_eq!(word(&facts), expected, "{phase} {reason}");
    }
}

#[test]
fn init_containers_are_counted_while_they_work() {
    let (done, to_come) = (ended(0, "Completed"), waiting("PodInitializing"));
    let blocked = container(&to_come);
    let facts = pod("Pending", &[container(&done), container(&UP)], &[blocked]);
    assert_eq!(shown(&facts), "0/1 Init:1/2");
    let facts = pod("Pending", &[blocked, blocked], &[blocked]);
    assert_eq!(shown(&facts), "0/1 Init:0/2");
    let facts = pod("Pending", &[container(&Unreported)], &[blocked]);
    assert_eq!(shown(&facts), "0/1 Init:0/1");
}

#[test]
fn an_init_container_that_fails_names_the_pod() {
    let to_come = waiting("PodInitializing");
    let states = [
        (waiting("CrashLoopBackOff"), "Init:CrashLoopBackOff"),
        (ended(1, "Error"), "Init:Error"),
        (ended(3, ""), "Init:ExitCode:3"),
        (killed(137, Some(9), ""), "Init:Signal:9"),
    ];
    for (state, expected) in states {
        assert_eq!(
            word(&pod("Pending", &[container(&state)], &[container(&to_come)])),
            expected
        );
    }
}

#[test]
fn a_sidecar_counts_in_ready() {
    let facts = pod("Running", &[sidecar(&UP)], &[container(&UP)]);
    assert_eq!(shown(&facts), "2/2 Running");
    let unready = StatusFacts {
        ready: false,
        ..sidecar(&UP)
    };
    assert_eq!(
        shown(&pod("Running", &[unready], &[container(&UP)])),
        "1/2 Running"
    );
}

#[test]
fn a_sidecar_that_has_not_started_holds_the_pod_up() {
    let to_come = waiting("PodInitializing");
    let starting = StatusFacts {
        started: false,
        ready: false,
        ..sidecar(&UP)
    };
    let facts = pod("Pending", &[starting], &[container(&to_come)]);
    assert_eq!(shown(&facts), "0/2 Init:0/1");
}

#[test]
fn a_sidecar_that_restarts_later_does_not_hide_the_containers() {
    let broken = waiting("CrashLoopBackOff");
    let restarting = StatusFacts {
        restarts: 4,
        ..sidecar(&broken)
    };
    let facts = PodFacts {
        initialized: true,
        ..pod("Running", &[restarting], &[container(&UP)])
    };
    assert_eq!(shown(&facts), "1/2 Init:CrashLoopBackOff");
    assert_eq!(PodState::of(&facts).restarts, 4);
}

#[test]
fn restarts_are_those_of_containers_and_sidecars_once_the_pod_runs() {
    let done = ended(0, "Completed");
    let init = StatusFacts {
        restarts: 7,
        last_finished_at: Some(at(900)),
        ..container(&done)
    };
    let side = StatusFacts {
        restarts: 1,
        last_finished_at: Some(at(300)),
        ..sidecar(&UP)
    };
    let main = StatusFacts {
        restarts: 2,
        last_finished_at: Some(at(200)),
        ..container(&UP)
    };
    let state_of = |inits, containers| PodState::of(&pod("Running", inits, containers));

    let running = state_of(&[init, side], &[main]);
    assert_eq!((running.restarts, running.last_restart_at), (3, Some(at(300))));
}

#[test]
fn while_init_containers_work_only_theirs_are_counted() {
    let (broken, to_come) = (waiting("CrashLoopBackOff"), waiting("PodInitializing"));
    let init = StatusFacts {
        restarts: 3,
        last_finished_at: Some(at(900)),
        ..container(&broken)
    };
    let main = StatusFacts {
        restarts: 2,
        ..container(&to_come)
    };
    let later = StatusFacts {
        restarts: 50,
        ..container(&to_come)
    };
    let state = PodState::of(&pod("Pending", &[init, later], &[main]));
    assert_eq!((state.restarts, state.last_restart_at), (3, Some(at(900))));
}

#[test]
fn restarts_read_as_kubectl_prints_them() {
    assert_eq!(restarts_text(0, Some(at(0)), at(10)), "0");
    assert_eq!(restarts_text(3, None, at(10)), "3");
    assert_eq!(restarts_text(3, Some(at(0)), at(312)), "3 (5m12s ago)");
}

fn any_state() -> impl Strategy<Value = ContainerState> {
    prop_oneof![
        Just(Unreported),
        Just(UP),
        prop::sample::select(vec!["", "PodInitializing", "CrashLoopBackOff"]).prop_map(waiting),
        (0..3_i32, prop::sample::select(vec!["", "Completed", "Error"]))
            .prop_map(|(code, reason)| ended(code, reason)),
    ]
}

proptest! {
    #[test]
    fn no_pod_has_more_ready_containers_than_containers_nor_an_empty_word(
        inits in prop::collection::vec((any_state(), any::<bool>(), any::<bool>()), 0..4),
        containers in prop::collection::vec((any_state(), any::<bool>()), 1..4),
        initialized: bool, ready: bool, deleting: bool,
    ) {
        let init_facts: Vec<_> = inits
            .iter()
            .map(|(state, is_sidecar, started)| StatusFacts {
                sidecar: *is_sidecar, started: *started, ready: *is_sidecar && *started, ..container(state)
            })
            .collect();
        let main_facts: Vec<_> = containers
            .iter()
            .map(|(state, ready)| StatusFacts { ready: *ready, ..container(state) })
            .collect();
        let facts = PodFacts { deleting, initialized, ready, ..pod("Running", &init_facts, &main_facts) };
        let state = PodState::of(&facts);
        prop_assert!(state.ready <= state.ready_of);
        prop_assert!(!state.word.is_empty());
        prop_assert!(!deleting || state.word == "Terminating");
    }
}
