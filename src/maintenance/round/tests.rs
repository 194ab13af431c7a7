//! Rounds as stories, and over random interleavings: what must hold however the outside behaves.

use super::event::{Reason, RoundEnding, RoundEvent, RoundHappening};
use super::plan::{Plan, Terms};
use super::{Effect, Found, Heard, Round, Stage, Standing, next_wake, resume, start, step};
use crate::domain::{Name, Timestamp};
use crate::maintenance::event::Ending;
use crate::maintenance::options::{Kept, Purpose};
use crate::maintenance::pods::PodRef;
use chrono::TimeDelta;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

/// Saturday, 2026-12-12, four days after Patch Tuesday.
const SATURDAY: &str = "2026-12-12T21:00:00Z";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn plan(terms: Terms) -> Plan {
    Plan {
        id: "r-1".to_owned(),
        by: "ops@desk".to_owned(),
        started_at: at(SATURDAY),
        purpose: Purpose::Update,
        kept: Kept::default(),
        terms,
        nodes: ["win-1", "win-2", "win-3"].map(Name::from).to_vec(),
    }
}

/// A round with a clock, and all that it told.
struct Play {
    round: Round,
    now: Timestamp,
    told: Vec<RoundEvent>,
    begun: Vec<(Name, bool)>,
    asks: usize,
}

impl Play {
    fn new(terms: Terms, now: &str, earlier: Option<f64>) -> Self {
        let now = at(now);
        Self::of(start(plan(terms), earlier, true, now), now)
    }

    fn of((round, effects): (Round, Vec<Effect>), now: Timestamp) -> Self {
        let mut play = Self {
            round,
            now,
            told: Vec::new(),
            begun: Vec::new(),
            asks: 0,
        };
        play.perform(effects);
        play
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Begin { node, again } => self.begun.push((node, again)),
                Effect::AskAlerts => self.asks += 1,
                Effect::Tell(what, node) => self.told.push(RoundEvent {
                    what,
                    at: self.now,
                    node,
                }),
            }
        }
    }

    fn hear(&mut self, heard: Heard) -> &mut Self {
        let (round, effects) = step(self.round.clone(), heard, self.now);
        self.round = round;
        self.perform(effects);
        self
    }

    fn after(&mut self, minutes: i64) -> &mut Self {
        self.now += TimeDelta::minutes(minutes);
        self.hear(Heard::Tick)
    }

    /// The node that was begun last is done after so long.
    fn done_after(&mut self, minutes: i64) -> &mut Self {
        self.hear(Heard::Begun { boot_id: "11".into() });
        self.now += TimeDelta::minutes(minutes);
        self.hear(Heard::Ended {
            ending: Ending::Done,
            seconds: TimeDelta::minutes(minutes).as_seconds_f64(),
            maintenance: "m-1".to_owned(),
        })
    }

    fn begun(&self) -> Vec<&str> {
        self.begun.iter().map(|(node, _)| &**node).collect()
    }

    /// What it waits for now, with until when.
    fn waits(&self) -> Option<(Reason, Option<String>, String)> {
        match &self.round.waiting {
            Some(RoundHappening::Waiting { reason, until, text }) => {
                let until = until.map(|until| until.format("%Y-%m-%dT%H:%MZ").to_string());
                Some((*reason, until, text.clone()))
            }
            _ => None,
        }
    }

    fn forecast(&self) -> Option<String> {
        let end = self.round.forecast(self.now)?;
        Some(end.format("%Y-%m-%dT%H:%MZ").to_string())
    }
}

fn pod(uid: &str, ready: bool) -> (PodRef, bool) {
    let pod = PodRef {
        namespace: "win-demo".into(),
        name: uid.into(),
        uid: uid.into(),
    };
    (pod, ready)
}

fn seen(node_ready: bool, boot_id: &str, pods: &[(&str, bool)]) -> Heard {
    Heard::Seen {
        node_ready,
        boot_id: boot_id.into(),
        pods: pods.iter().map(|(uid, ready)| pod(uid, *ready)).collect(),
    }
}

fn in_window() -> Terms {
    Terms {
        window: Some("Sat,Sun 22:00-04:00 Europe/Berlin".parse().unwrap()),
        ..Terms::default()
    }
}

fn soaking() -> Terms {
    Terms {
        soak: Some(Duration::from_mins(10)),
        ..Terms::default()
    }
}

#[test]
fn the_forecast_grows_with_what_was_seen() {
    let mut play = Play::new(Terms::default(), SATURDAY, None);
    assert_eq!((play.begun(), play.forecast()), (vec!["win-1"], None));
    play.done_after(20);
    // Two nodes of 20 minutes are left; it is 21:20.
    assert_eq!(play.forecast().unwrap(), "2026-12-12T22:00Z");
    play.done_after(40);
    // The upper middle of 20 and 40; it is 22:00.
    assert_eq!(play.forecast().unwrap(), "2026-12-12T22:40Z");
    play.done_after(30);
    assert_eq!(play.round.stage, Stage::Over(RoundEnding::Done));
    assert_eq!(play.begun(), ["win-1", "win-2", "win-3"]);
}

#[test]
fn before_the_first_node_earlier_maintenances_tell_and_the_soak_times_count() {
    let play = Play::new(soaking(), SATURDAY, Some(600.0));
    assert_eq!(play.forecast().unwrap(), "2026-12-12T22:00Z");
}

#[test]
fn nodes_are_begun_in_the_window_only_and_only_if_they_would_be_done_in_it() {
    let mut play = Play::new(in_window(), "2026-12-12T12:00:00Z", None);
    let (reason, until, text) = play.waits().unwrap();
    assert_eq!(
        (reason, until.as_deref()),
        (Reason::Window, Some("2026-12-12T21:00Z"))
    );
    assert!(text.contains("Sat 2026-12-12 22:00 CET"), "{text}");
    assert_eq!(next_wake(&play.round), Some(at(SATURDAY)));
    play.after(9 * 60).done_after(200);
    // It is 00:20 and the window is open until 03:00 (UTC): another 200 minutes do not fit.
    assert_eq!(play.begun(), ["win-1"]);
    let (reason, until, text) = play.waits().unwrap();
    assert_eq!(
        (reason, until.as_deref()),
        (Reason::Forecast, Some("2026-12-13T21:00Z"))
    );
    assert!(
        text.contains("would be done about") && text.contains("04:00 CET"),
        "{text}"
    );
    // One node a night: the third is done in the week after.
    assert_eq!(play.forecast().unwrap(), "2026-12-20T00:20Z");
    let told = play.told.len();
    play.after(5);
    assert_eq!(play.told.len(), told, "the same is not told again");
}

#[test]
fn a_node_that_fits_into_no_window_is_said_at_once() {
    let play = Play::new(in_window(), SATURDAY, Some(7.0 * 3600.0));
    assert_eq!(play.round.stage, Stage::Over(RoundEnding::Refused));
    assert!(play.told.last().unwrap().what.to_string().contains("420 min"));
    assert_eq!(play.begun(), Vec::<&str>::new());
}

#[test]
fn the_first_failure_ends_it_and_says_what_is_left() {
    let mut play = Play::new(Terms::default(), SATURDAY, None);
    play.done_after(10).hear(Heard::Begun { boot_id: "11".into() });
    play.hear(Heard::Ended {
        ending: Ending::TimedOut,
        seconds: 1.0,
        maintenance: "m-2".to_owned(),
    });
    assert_eq!(play.round.stage, Stage::Over(RoundEnding::TimedOut));
    let last = play.told.last().unwrap().what.to_string();
    assert!(last.contains("1 done, left: win-2, win-3"), "{last}");
    assert_eq!(play.begun(), ["win-1", "win-2"]);
}

#[test]
fn a_pause_waits_for_the_operator_once() {
    let terms = Terms {
        pause_after_first: true,
        ..Terms::default()
    };
    let mut play = Play::new(terms.clone(), SATURDAY, None);
    play.done_after(10).after(600);
    assert_eq!(
        (play.begun(), play.waits().unwrap().0),
        (vec!["win-1"], Reason::Pause)
    );
    play.hear(Heard::GoOn).done_after(10).done_after(10);
    assert_eq!(play.round.stage, Stage::Over(RoundEnding::Done));

    let mut alone = Play::of(start(plan(terms), None, false, at(SATURDAY)), at(SATURDAY));
    alone.done_after(10);
    assert_eq!(alone.round.stage, Stage::Over(RoundEnding::Paused));
}

#[test]
fn in_the_soak_time_what_was_ready_must_stay_ready() {
    let soak = || {
        let mut play = Play::new(soaking(), SATURDAY, None);
        play.done_after(10);
        play.hear(seen(true, "12", &[("a", true), ("b", false), ("c", true)]));
        play
    };
    // A pod that gets ready, one that was not ready from the start, one that goes away, a new one that starts.
    let mut play = soak();
    play.hear(seen(true, "12", &[("a", true), ("b", false), ("d", false)]))
        .after(9);
    assert_eq!(play.begun(), ["win-1"]);
    play.after(1);
    assert_eq!(play.begun(), ["win-1", "win-2"]);

    for (trouble, words) in [
        (
            seen(true, "12", &[("a", false)]),
            "pod win-demo/a is not ready any more",
        ),
        (
            seen(false, "12", &[("a", true)]),
            "node win-1 is not ready any more",
        ),
        (seen(true, "13", &[("a", true)]), "node win-1 restarted once more"),
    ] {
        let mut play = soak();
        play.hear(trouble);
        assert_eq!(play.round.stage, Stage::Over(RoundEnding::Unsettled));
        let last = play.told.last().unwrap().what.to_string();
        assert!(last.contains(words), "{last}");
    }
    // The last node soaks too.
    let mut play = Play::new(soaking(), SATURDAY, None);
    for _ in 0..3 {
        play.done_after(10).after(10);
    }
    assert_eq!(play.round.stage, Stage::Over(RoundEnding::Done));
    assert_eq!(play.now, at("2026-12-12T22:00:00Z"));
}

#[test]
fn alerts_block_until_prometheus_says_that_none_fires() {
    let terms = Terms {
        alerts: Some("severity=critical".to_owned()),
        ..Terms::default()
    };
    let mut play = Play::new(terms, SATURDAY, None);
    assert_eq!((play.asks, play.begun().len()), (1, 0));
    play.hear(Heard::Alerts(Err("no Prometheus was found".to_owned())));
    let (reason, _, text) = play.waits().unwrap();
    assert_eq!(reason, Reason::AlertsUnknown);
    assert!(text.contains("no Prometheus was found"), "{text}");
    assert_eq!(next_wake(&play.round), Some(play.now + TimeDelta::seconds(15)));
    play.after(1).hear(Heard::Alerts(Ok(vec!["EtcdDown".to_owned()])));
    assert_eq!(play.asks, 2);
    assert!(play.waits().unwrap().2.contains("EtcdDown"));
    play.after(1).hear(Heard::Alerts(Ok(Vec::new())));
    assert_eq!((play.asks, play.begun()), (3, vec!["win-1"]));
    // The answer is for one node.
    play.done_after(10);
    assert_eq!((play.asks, play.begun().len()), (4, 1));
}

#[test]
fn a_round_that_was_cut_off_goes_on_where_it_was() {
    let mut play = Play::new(soaking(), SATURDAY, None);
    play.done_after(10)
        .after(10)
        .hear(Heard::Begun { boot_id: "11".into() });
    let found = |in_work, boot_id: &str, proven: Option<&str>| Found {
        in_work,
        boot_id: boot_id.into(),
        proven_boot: proven.map(Name::from),
        done_since: false,
    };
    let go_on = |second: Found| {
        let all = BTreeMap::from([
            ("win-1".into(), found(false, "12", Some("12"))),
            ("win-2".into(), second),
            ("win-3".into(), found(false, "11", Some("11"))),
        ]);
        let later = play.now + TimeDelta::minutes(1);
        Play::of(
            resume(plan(soaking()), &play.told, &all, None, true, later),
            later,
        )
    };
    // In work: it is gone on with.
    let gone_on = go_on(found(true, "12", None));
    assert_eq!(gone_on.begun, [(Name::from("win-2"), true)]);
    // Begun, and nothing is left of it at the same boot: it is begun anew.
    let anew = go_on(found(false, "11", Some("11")));
    assert_eq!(anew.begun, [(Name::from("win-2"), false)]);
    // Done while nobody noted it: the proof is on the node, or in its own journal.
    let done = go_on(found(false, "12", Some("12")));
    assert_eq!(done.begun, [(Name::from("win-3"), false)]);
    let noted = go_on(Found {
        done_since: true,
        ..found(false, "11", None)
    });
    assert_eq!(noted.begun, [(Name::from("win-3"), false)]);
    assert_eq!(noted.round.nodes[1].standing, Standing::Done { seconds: None });
}

#[test]
fn a_soak_time_that_was_cut_off_is_waited_for_and_one_that_failed_is_over() {
    let mut play = Play::new(soaking(), SATURDAY, None);
    play.done_after(10);
    let go_on = |play: &Play| {
        let later = play.now + TimeDelta::minutes(4);
        Play::of(
            resume(plan(soaking()), &play.told, &BTreeMap::new(), None, true, later),
            later,
        )
    };
    let waits = go_on(&play).waits().unwrap();
    assert_eq!(
        (waits.0, waits.1.as_deref()),
        (Reason::Soak, Some("2026-12-12T21:20Z"))
    );
    play.hear(seen(true, "12", &[]));
    play.hear(seen(false, "12", &[]));
    assert_eq!(go_on(&play).begun(), ["win-2"]);
}

#[derive(Clone, Debug)]
enum Move {
    Later(i64),
    Hear(Heard),
    /// The program is killed, and the round gone on with.
    Kill,
}

fn any_move() -> impl Strategy<Value = Move> {
    let ending = prop::sample::select(vec![Ending::Done, Ending::Done, Ending::Done, Ending::TimedOut]);
    prop_oneof![
        (1_i64..300).prop_map(Move::Later),
        (1_i64..40_000).prop_map(Move::Later),
        Just(Move::Hear(Heard::Begun { boot_id: "11".into() })),
        (ending, 1.0..20_000.0).prop_map(|(ending, seconds)| Move::Hear(Heard::Ended {
            ending,
            seconds,
            maintenance: "m".to_owned()
        })),
        Just(Move::Hear(Heard::Alerts(Ok(Vec::new())))),
        Just(Move::Hear(Heard::Alerts(Ok(vec!["A".to_owned()])))),
        Just(Move::Hear(Heard::Alerts(Err("down".to_owned())))),
        (any::<bool>(), any::<bool>()).prop_map(|(node, pod)| Move::Hear(seen(node, "12", &[("a", pod)]))),
        Just(Move::Hear(Heard::GoOn)),
        Just(Move::Kill),
    ]
}

prop_compose! {
    fn any_terms()(pause in any::<bool>(), soak in any::<bool>(), window in any::<bool>(), alerts in any::<bool>()) -> Terms {
        Terms {
            pause_after_first: pause,
            soak: soaking().soak.filter(|_| soak),
            window: in_window().window.filter(|_| window),
            alerts: alerts.then(|| "severity=critical".to_owned()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// However the outside behaves: one node at a time, each begun once unless it is gone on with, in the window, after
    /// the soak time, confirmed where that was asked for, and only on a fresh word that no alert fires.
    #[test]
    fn nothing_is_begun_that_may_not_be(terms in any_terms(), moves in prop::collection::vec(any_move(), 0..60)) {
        let mut play = Play::new(terms.clone(), SATURDAY, None);
        let mut done_at: Option<Timestamp> = None;
        let mut confirmed = false;
        let mut silent_at: Option<Timestamp> = None;
        let mut under_way: Option<Name> = play.begun.first().map(|(node, _)| node.clone());
        for one in moves {
            let before = play.begun.len();
            let was_over = play.round.is_over();
            match one {
                Move::Later(seconds) => {
                    play.now += TimeDelta::seconds(seconds);
                    play.hear(Heard::Tick);
                }
                Move::Hear(heard) => {
                    if matches!(heard, Heard::Alerts(_)) {
                        let none = matches!(&heard, Heard::Alerts(Ok(firing)) if firing.is_empty());
                        silent_at = none.then_some(play.now);
                    }
                    confirmed |= heard == Heard::GoOn && play.round.stage == Stage::Paused;
                    if let (Heard::Ended { ending: Ending::Done, .. }, Stage::Working { .. }) = (&heard, &play.round.stage) {
                        done_at = Some(play.now);
                        under_way = None;
                    }
                    play.hear(heard);
                }
                Move::Kill if !play.round.is_over() => {
                    let found = play.round.nodes.iter().map(|one| (one.node.clone(), Found {
                        in_work: under_way.as_ref() == Some(&one.node) && play.told.iter().any(|told| {
                            told.node.as_ref() == Some(&one.node) && matches!(told.what, RoundHappening::NodeBegun { .. })
                        }),
                        ..Found::default()
                    })).collect();
                    under_way = None;
                    let journal: Vec<RoundEvent> = play.told.clone();
                    let (round, effects) = resume(plan(terms.clone()), &journal, &found, None, true, play.now);
                    play.round = round;
                    play.perform(effects);
                }
                Move::Kill => {}
            }
            if let Some(wake) = next_wake(&play.round) {
                prop_assert!(wake > play.now, "it would be woken again and again");
            }
            prop_assert!(!was_over || play.begun.len() == before, "begun after the end");
            prop_assert!(play.begun.len() <= before + 1);
            if let Some((node, again)) = play.begun.get(before).cloned() {
                prop_assert!(under_way.is_none(), "two nodes at once");
                let done = play.round.done();
                prop_assert!(!done.contains(&node), "{} is done already", node);
                under_way = Some(node);
                if again {
                    continue;
                }
                if let Some(window) = &terms.window {
                    prop_assert!(window.opening(play.now).unwrap().from <= play.now);
                }
                if let (Some(soak), Some(done_at)) = (terms.soak, done_at) {
                    prop_assert!(play.now >= done_at + TimeDelta::from_std(soak).unwrap());
                }
                if terms.pause_after_first && !done.is_empty() {
                    prop_assert!(confirmed, "begun without confirmation");
                }
                if terms.alerts.is_some() {
                    let fresh = silent_at.is_some_and(|silent| play.now - silent < super::ALERTS_REST);
                    prop_assert!(fresh, "begun while an alert may fire");
                    silent_at = None;
                }
            }
        }
    }
}
