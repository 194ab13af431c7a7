//! The judgement: one look from each side, and what must be remembered.

use super::notes::Notes;
use super::placement::Homes;
use super::survey::{Place, Survey};
use super::{Fate, NodeBefore, Preflight, Weight};
use super::{budgets, host_process, images, monitoring, network_pods, node, permissions, placement, pods};
use crate::domain::Timestamp;
use crate::domain::pod::Pod;
use crate::maintenance::options::Options;
use crate::maintenance::pods::{OwnerKey, PodRef, Verdict, is_ready, verdict};
use std::collections::BTreeMap;

/// What each look starts from.
pub struct Case<'a> {
    pub survey: &'a Survey,
    pub options: &'a Options,
    pub now: Timestamp,
    /// The node.
    pub place: &'a Place,
    /// Its pods, and what a drain does with them.
    pub pods: Vec<(&'a Pod, Verdict)>,
}

impl<'a> Case<'a> {
    /// The pods that are evicted.
    pub fn leaving(&self) -> impl Iterator<Item = &'a Pod> {
        self.pods
            .iter()
            .filter(|(_, verdict)| matches!(verdict, Verdict::Leaves(_)))
            .map(|(pod, _)| *pod)
    }
}

/// What keeps a pod running, as people name it; the pod itself where nothing does.
pub fn workload(pod: &Pod) -> String {
    let name = OwnerKey::of(pod).map_or_else(|| pod.name.clone(), |owner| owner.name);
    format!("{}/{name}", pod.namespace)
}

/// What would happen to this node and its pods, and what stands against it.
pub fn assess(survey: &Survey, options: &Options, now: Timestamp) -> Preflight {
    let mut notes = Notes::default();
    permissions::judge(survey, &mut notes);
    let Some(place) = survey.here() else {
        notes.add(
            Weight::Refuses,
            format!("there is no node {}", survey.node),
            "`drainboard nodes` lists them",
        );
        return Preflight {
            notes: notes.worst_first(),
            ..Preflight::default()
        };
    };
    let bound = survey
        .pods
        .iter()
        .filter(|pod| pod.node.as_ref() == Some(&survey.node));
    let case = Case {
        survey,
        options,
        now,
        place,
        pods: bound.map(|pod| (pod, verdict(pod, options, now))).collect(),
    };
    node::judge(&case, &mut notes);
    host_process::judge(&case, &mut notes);
    network_pods::judge(&case, &mut notes);
    pods::judge(&case, &mut notes);
    let homes = Homes::find(&case, &mut notes);
    if let Some(homes) = &homes {
        placement::judge(&case, homes, &mut notes);
    }
    budgets::judge(&case, homes.as_ref(), &mut notes);
    monitoring::judge(&case, &mut notes);
    images::judge(&case, homes.as_ref(), &mut notes);
    Preflight {
        node: NodeBefore {
            uid: place.node.uid.clone(),
            boot_id: place.node.boot_id.clone(),
            kernel_version: place.node.kernel_version.clone(),
            kubelet_version: place.node.kubelet_version.clone(),
            cordoned: place.node.unschedulable,
        },
        pods: case
            .pods
            .iter()
            .map(|(pod, verdict)| (PodRef::of(pod), fate(*verdict)))
            .collect(),
        ready: ready(&case),
        notes: notes.worst_first(),
    }
}

const fn fate(verdict: Verdict) -> Fate {
    match verdict {
        Verdict::Leaves(loss) => Fate::Leaves(loss),
        Verdict::Stays(why) => Fate::Stays(why),
        Verdict::Refused(why) => Fate::Refused(why),
    }
}

/// The controllers of the pods that leave, with their ready pods on any node.
fn ready(case: &Case<'_>) -> Vec<(OwnerKey, u32)> {
    // The pods of a Job end; none of them comes back to be ready.
    let lasts = |owner: &OwnerKey| &*owner.kind != "Job";
    let leaving = case.leaving().filter_map(OwnerKey::of).filter(lasts);
    let mut ready: BTreeMap<OwnerKey, u32> = leaving.map(|owner| (owner, 0)).collect();
    for pod in case.survey.pods.iter().filter(|pod| is_ready(pod)) {
        if let Some(count) = OwnerKey::of(pod).and_then(|owner| ready.get_mut(&owner)) {
            *count += 1;
        }
    }
    ready.into_iter().collect()
}
