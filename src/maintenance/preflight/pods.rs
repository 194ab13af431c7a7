//! The pods of the node: which leave, what is lost with them, which refuse the drain, which hang already.

use super::assess::{Case, workload};
use super::notes::{Notes, count, listed, verb};
use super::{Weight, node};
use crate::domain::format::spoken_age;
use crate::domain::object::Os;
use crate::domain::pod::Pod;
use crate::maintenance::pods::{Loss, Refusal, Stays, Verdict};

/// A pod whose deletion is overdue by more than this hangs.
const OVERDUE_SECONDS: i64 = 60;

pub fn judge(case: &Case<'_>, notes: &mut Notes) {
    leave_and_stay(case, notes);
    are_refused(case, notes);
    are_lost(case, notes);
    hang(case, notes);
}

/// The pods with one of these verdicts.
fn with<'a>(case: &'a Case<'_>, wanted: impl Fn(Verdict) -> bool) -> Vec<&'a Pod> {
    let pods = case.pods.iter().filter(|(_, verdict)| wanted(*verdict));
    pods.map(|(pod, _)| *pod).collect()
}

fn names(pods: &[&Pod]) -> String {
    listed(pods.iter().map(|pod| format!("{}/{}", pod.namespace, pod.name)))
}

fn leave_and_stay(case: &Case<'_>, notes: &mut Notes) {
    let leaving: Vec<&Pod> = case.leaving().collect();
    let mut text = format!(
        "{} {} evicted",
        count(leaving.len(), "pod"),
        verb(leaving.len(), "is", "are")
    );
    if !leaving.is_empty() {
        text = format!("{text}: {}", names(&leaving));
    }
    let kinds = [
        (Stays::DaemonSet, "DaemonSet pod", "DaemonSet pods"),
        (Stays::Mirror, "static pod", "static pods"),
        (
            Stays::NotSelected,
            "pod outside of --pod-selector",
            "pods outside of --pod-selector",
        ),
        (
            Stays::LongDeleted,
            "pod deleted long ago",
            "pods deleted long ago",
        ),
    ];
    let staying: Vec<String> = kinds
        .into_iter()
        .filter_map(|(why, one, several)| {
            let pods = with(case, |verdict| verdict == Verdict::Stays(why)).len();
            (pods > 0).then(|| format!("{pods} {}", verb(pods, one, several)))
        })
        .collect();
    if !staying.is_empty() {
        text = format!("{text}; not touched: {}", staying.join(", "));
    }
    notes.add(Weight::Info, text, "");
}

fn are_refused(case: &Case<'_>, notes: &mut Notes) {
    let refused = |why| with(case, |verdict| verdict == Verdict::Refused(why));
    let with_data = refused(Refusal::EmptyDir);
    if !with_data.is_empty() {
        notes.add(
            Weight::Refuses,
            format!(
                "{} {} data in an emptyDir that is lost on eviction: {}",
                count(with_data.len(), "pod"),
                verb(with_data.len(), "has", "have"),
                names(&with_data)
            ),
            "save what matters, then --delete-emptydir-data",
        );
    }
    let alone = refused(Refusal::Uncontrolled);
    if !alone.is_empty() {
        notes.add(
            Weight::Refuses,
            format!(
                "{} {} no controller that would bring {} back: {}",
                count(alone.len(), "pod"),
                verb(alone.len(), "has", "have"),
                verb(alone.len(), "it", "them"),
                names(&alone)
            ),
            "delete them yourself, or let them go for good with --force",
        );
    }
}

fn are_lost(case: &Case<'_>, notes: &mut Notes) {
    let losing = |one| {
        with(
            case,
            |verdict| matches!(verdict, Verdict::Leaves(Some(loss)) if loss == one || loss == Loss::Both),
        )
    };
    let with_data = losing(Loss::EmptyDir);
    if !with_data.is_empty() {
        notes.add(
            Weight::Warning,
            format!(
                "the emptyDir data of {} is lost: {}",
                count(with_data.len(), "pod"),
                names(&with_data)
            ),
            "save what matters before you begin",
        );
    }
    let alone = losing(Loss::Uncontrolled);
    if !alone.is_empty() {
        notes.add(
            Weight::Warning,
            format!(
                "{} without a controller {} gone for good: {}",
                count(alone.len(), "pod"),
                verb(alone.len(), "is", "are"),
                names(&alone)
            ),
            "keep their manifests: `kubectl get pod … -o yaml`",
        );
    }
}

/// Pods that should be gone already and whose end the drain would wait for.
fn hang(case: &Case<'_>, notes: &mut Notes) {
    let overdue = |pod: &Pod| {
        let seconds = (case.now - pod.deleted_at?).num_seconds();
        (seconds > OVERDUE_SECONDS).then_some(seconds)
    };
    let hanging: Vec<String> = case
        .pods
        .iter()
        .filter(|(_, verdict)| !matches!(verdict, Verdict::Stays(_)))
        .filter_map(|(pod, _)| {
            let seconds = overdue(pod)?;
            Some(format!(
                "{}/{} of {} for {}",
                pod.namespace,
                pod.name,
                workload(pod),
                spoken_age(seconds)
            ))
        })
        .collect();
    if hanging.is_empty() {
        return;
    }
    let node = &case.place.node;
    let why = match (node::is_ready(node), node.os) {
        (false, _) => "the kubelet of the node does not confirm their end",
        (true, Some(Os::Windows)) => {
            "the kubelet cannot stop them (after a crash: FailedKillPod, hcnDeleteNamespace)"
        }
        (true, _) => "the kubelet cannot stop them, or a finalizer holds them",
    };
    notes.add(
        Weight::Blocks,
        format!(
            "{} {} in Terminating: {}; {why}",
            count(hanging.len(), "pod"),
            verb(hanging.len(), "hangs", "hang"),
            listed(&hanging)
        ),
        "a forced deletion only cleans the API: restart the node, and leave them out of the drain with \
         --skip-wait-for-delete-timeout",
    );
}
