//! The page of a maintenance in each of its steps.

use super::cluster::*;
use super::pages::shown;
use super::work::Work;
use crate::domain::event_record::{EventRecord, RecordLevel};
use crate::domain::node::ConditionStatus;
use crate::domain::object::Change;
use crate::domain::reading::Source;
use crate::maintenance::effect::{Answer, Eviction, LockError, WriteError};
use crate::maintenance::input::{Command, Heard};
use crate::maintenance::options::{Options, Purpose, Reboot};
use crate::maintenance::pods::PodRef;
use crate::maintenance::record::Reached;
use crate::sources::event::{EventLog, Payload};
use std::time::Duration;

/// The store that knows what the maintenance knows of its node.
fn told(work: &Work) -> Told {
    let mut told = Told::article();
    told.say(
        Source::Kubernetes,
        Payload::Nodes(vec![Change::Upsert(work.node.clone())]),
    );
    told
}

/// The page, with roles.
fn page(work: &Work) -> String {
    shown(&told(work).store.workflow_page(work.state(), now()))
}

/// The page without roles.
fn words(work: &Work, told: &Told, at: crate::domain::Timestamp) -> String {
    let page = shown(&told.store.workflow_page(work.state(), at));
    let mut plain = String::new();
    let mut rest = page.as_str();
    while let Some((before, after)) = rest.split_once('<') {
        plain.push_str(before);
        rest = after.split_once('>').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

#[track_caller]
fn says(page: &str, words: &str) {
    assert!(page.contains(words), "'{words}' is not on the page:\n{page}");
}

#[track_caller]
fn says_not(page: &str, words: &str) {
    assert!(!page.contains(words), "'{words}' is on the page:\n{page}");
}

#[test]
fn before_anything_changes_the_worst_stands_first() {
    insta::assert_snapshot!(page(&Work::asked()));
}

#[test]
fn a_drain_with_a_blocked_pod() {
    let mut work = Work::draining();
    for name in ["dkp9z", "vk445", "9g74w", "2xkqj", "wz8dn"] {
        work.evicted(name, Eviction::Accepted);
    }
    work.evicted(
        "vwdq6",
        Eviction::Blocked {
            message: "budget hello-win needs 1 of 2 healthy, allows 0".to_owned(),
            retry_after: Some(Duration::from_secs(10)),
        },
    );
    work.evicted("g9wrq", Eviction::Throttled { retry_after: None });
    work.pods.retain(|pod| !pod.name.ends_with("dkp9z"));
    work.after(11).hear(Heard::Tick).listed();
    insta::assert_snapshot!(page(&work));
}

#[test]
fn waiting_for_the_restart() {
    let work = Work::restarting();
    let mut told = told(&work);
    let waiting = [
        Work::pending("win-demo", "hello-win-759c899954-x2d8m", "hello-win-759c899954"),
        Work::pending("win-demo", "aspnetapp-769559d8ff-hd4t6", "aspnetapp-769559d8ff"),
    ];
    told.say(
        Source::Kubernetes,
        Payload::Pods(waiting.into_iter().map(Change::Upsert).collect()),
    );
    insta::assert_snapshot!(shown(&told.store.workflow_page(work.state(), now())));
}

#[test]
fn after_the_boot_the_network_pods_are_waited_for() {
    insta::assert_snapshot!(page(&Work::restarted("10.0.26100.33438")));
}

#[test]
fn the_pods_come_back_and_one_has_no_network() {
    let mut work = Work::uncordoned();
    work.after(60).observed(|observation| {
        observation.ready.insert(Work::owner("hello-win-759c899954"), 2);
        observation.ready.insert(Work::owner("aspnetapp-769559d8ff"), 1);
        let pod = PodRef {
            namespace: "win-demo".into(),
            name: "aspnetapp-769559d8ff-btj9j".into(),
            uid: Work::uid("btj9j"),
        };
        let said = "Readiness probe failed: Get \"http://172.21.41.34:8080/\": context deadline exceeded";
        observation
            .probes_time_out
            .insert(Work::uid("btj9j"), (pod, said.to_owned()));
    });
    insta::assert_snapshot!(page(&work));
}

#[test]
fn the_same_revision_is_a_question_with_its_ways_out() {
    let work = Work::restarted("10.0.26100.32995");
    let page = words(&work, &told(&work), now());
    says(
        &page,
        "its revision did not grow (10.0.26100.32995 before, 10.0.26100.32995 now)",
    );
    says(
        &page,
        "accept the same revision if the node is as new as it should be",
    );
    says(&page, "● Revision");
}

#[test]
fn a_silent_node_still_gets_traffic_and_the_page_says_how_long() {
    let work = Work::restarting();
    let told = told(&work);
    let page = words(&work, &told, now());
    says_not(&page, "is silent");
    // Its lease was last seen renewed 31 s ago.
    let page = words(&work, &told, now() + chrono::TimeDelta::seconds(31));
    says(
        &page,
        "silent for 31 s: its endpoints stay ready up to 50 s (00:19 left)",
    );
    says(&page, "its pods 300 s more (05:19 left)");
    says(&page, "31 s ▲");
    let page = words(&work, &told, now() + chrono::TimeDelta::seconds(70));
    says(&page, "up to 50 s (over now)");
}

#[test]
fn ready_is_shown_beside_what_it_proves() {
    let work = Work::restarting();
    let page = words(&work, &told(&work), now());
    says(&page, "boot id | 11 | the restart: another id than before");
    says(&page, "Ready | True | nothing: True proves nothing for 50 s");
    says(&page, "boot time | 20:00:00 UTC   prometheus, 12 s ago");
}

#[test]
fn a_node_that_does_not_come_back_has_likely_causes_and_a_remedy() {
    let mut work = Work::restarting();
    work.is_ready(ConditionStatus::False);
    let told = told(&work);
    let early = words(&work, &told, work.at + chrono::TimeDelta::seconds(299));
    says_not(&early, "does not come back");
    let at = work.at + chrono::TimeDelta::seconds(301);
    let page = words(&work, &told, at);
    for said in [
        "it does not come back",
        "waited for 05:01: look at its console",
        "7009",
        "sc.exe config containerd start= delayed-auto",
        "sc.exe config kubelet start= delayed-auto",
        "both services",
    ] {
        says(&page, said);
    }
    let copied = told.store.workflow_commands(work.state(), at);
    assert_eq!(copied.last(), Some(&"sc.exe config kubelet start= delayed-auto"));
}

#[test]
fn a_node_that_has_not_gone_down_yet_is_not_called_lost() {
    let work = Work::restarting();
    let mut told = told(&work);
    // The operator installs updates for half an hour; the kubelet goes on renewing its lease.
    let at = work.at + chrono::TimeDelta::seconds(1700);
    told.say_at(
        Source::Kubernetes,
        Payload::Leases(vec![Change::Upsert(lease(&work.node.name, 7))]),
        at,
    );
    says_not(&words(&work, &told, at), "does not come back");
    assert_eq!(
        told.store.workflow_commands(work.state(), at).last(),
        Some(&"Restart-Computer")
    );
}

#[test]
fn what_the_system_log_says_of_a_restart_is_told_with_its_meaning() {
    let work = Work::restarting();
    let mut told = told(&work);
    says(&words(&work, &told, now()), "asking Loki");
    let record = |id: u32, source: &str, minutes: i64| EventRecord {
        at: now() - chrono::TimeDelta::minutes(minutes),
        source: source.into(),
        id,
        level: RecordLevel::Error,
        message: "The containerd\r\nservice\u{1b}[31m failed".into(),
    };
    let log = EventLog {
        records: vec![
            record(7000, "Service Control Manager", 1),
            record(7009, "Service Control Manager", 2),
            record(41, "Microsoft-Windows-Kernel-Power", 600),
        ],
        ..EventLog::default()
    };
    told.say_at(
        Source::Loki,
        Payload::EventLog(work.node.name.clone(), Ok(log)),
        now(),
    );
    let page = words(&work, &told, now());
    says(&page, "== System log");
    says(
        &page,
        "7009 | Error | ▲ slow start (slow disk?): set both containerd and kubelet to delayed-auto",
    );
    says(&page, "The containerd service");
    // From before the maintenance, and not of this restart.
    says_not(&page, "Kernel-Power");
    assert!(!page.contains('\u{1b}'));
}

#[test]
fn a_restart_asks_for_no_revision() {
    let work = Work::restarting_with(Options {
        purpose: Purpose::Restart,
        attended: true,
        reboot: Some(Reboot::Command(vec![
            "ssh".into(),
            "{node}".into(),
            "shutdown /r".into(),
        ])),
        ..Options::default()
    });
    let page = words(&work, &told(&work), now());
    says(&page, "○ Revision |  |  | not asked for: restart");
    says(&page, "can be run from here: ssh {node} shutdown /r");
    says_not(&page, "sconfig");
}

#[test]
fn a_resumed_maintenance_does_not_invent_times() {
    let work = Work::resumed(Work::record(Reached::Restart));
    let page = words(&work, &told(&work), now());
    says(&page, "✔ Drain |  |  | before this run of the program");
    says(&page, "● Restart");
    says(
        &page,
        "of k8s-lab-win-1   03:41   begun 09:56:19 UTC by anna@desk",
    );
}

#[test]
fn steps_that_were_skipped_knowingly_are_not_called_done() {
    let mut work = Work::restarting();
    work.hear(Heard::Operator(Command::FinishWithoutRestart));
    let page = words(&work, &told(&work), now());
    says(&page, "– Revision |  |  | skipped, knowingly");
    says(&page, "– Network |  |  | skipped, knowingly");
}

#[test]
fn an_ending_says_why_and_how_to_go_on() {
    let mut work = Work::asked();
    work.hear(Heard::Operator(Command::Begin));
    work.answered(Answer::Locked(Err(LockError::Held {
        by: "bob@laptop (17aa, k8s-lab-win-2)".to_owned(),
        age_seconds: 12,
    })));
    let page = words(&work, &told(&work), now());
    says(&page, "✖ refused: the pool's Lease is held by bob@laptop");
    says(&page, "nothing of the cluster was changed");
    says(&page, "✖ Cordon");

    let mut work = Work::restarting();
    work.node.uid = "another".into();
    work.observed(|_| {}).listed();
    let page = words(&work, &told(&work), now());
    says(
        &page,
        "✖ refused: node k8s-lab-win-1 was deleted and joined again",
    );
    says(&page, "`drainboard maintain k8s-lab-win-1 --resume`");
    says(&page, "✖ Restart");

    let mut work = Work::restarting();
    work.hear(Heard::Operator(Command::Abandon));
    work.answered(Answer::Cleared(Ok(())));
    let page = words(&work, &told(&work), now());
    says(
        &page,
        "✖ ended: abandoned: node k8s-lab-win-1 stays cordoned and drained",
    );
    says_not(&page, "--resume");
}

#[test]
fn a_maintenance_that_is_done_says_what_the_node_does_now() {
    let mut work = Work::uncordoned();
    work.after(19).hear(Heard::Operator(Command::StopWaiting));
    work.answered(Answer::Cleared(Ok(())));
    let page = words(&work, &told(&work), now());
    says(&page, "✔ done: k8s-lab-win-1 takes pods again");
    says(&page, "✔ Pods back");
}

#[test]
fn an_api_server_that_is_away_is_what_is_waited_for() {
    let mut work = Work::asked();
    work.hear(Heard::Operator(Command::Begin));
    work.answered(Answer::Locked(Ok(())));
    work.answered(Answer::Cordoned(Err(WriteError::Retry(
        "connection refused".to_owned(),
    ))));
    says(
        &words(&work, &told(&work), now()),
        "● Cordon: the API server: connection refused",
    );
}

#[test]
fn text_from_outside_is_made_harmless() {
    let mut work = Work::draining();
    work.evicted(
        "vwdq6",
        Eviction::Refused("\u{1b}[2Jforbidden\nfor you".to_owned()),
    );
    let page = words(&work, &told(&work), now());
    says(&page, "forbidden for you");
    assert!(!page.contains('\u{1b}'));
}
