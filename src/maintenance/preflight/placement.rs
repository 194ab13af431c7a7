//! Where the leaving pods can go, and who will be Pending.

use super::Weight;
use super::assess::{Case, workload};
use super::fit::{Obstacle, Room, Wanted};
use super::notes::{Notes, count, listed, verb};
use super::survey::{Place, RuntimeClass};
use crate::domain::object::Os;
use crate::domain::pod::Pod;
use crate::maintenance::pods::{OwnerKey, ended, is_ready};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Where the replacements of the leaving pods find a place, if they are created one after another, the largest first.
pub struct Homes<'a> {
    /// With the node that takes it.
    pub placed: Vec<(&'a Pod, &'a Place)>,
    /// With what every other node has against it.
    pub homeless: Vec<(&'a Pod, Vec<(&'a Place, Obstacle)>)>,
}

impl<'a> Homes<'a> {
    /// Finds them. `None` when it is not known what the pods ask for.
    pub fn find(case: &Case<'a>, notes: &mut Notes) -> Option<Self> {
        let survey = case.survey;
        let wishes = match &survey.wishes {
            Ok(wishes) => wishes,
            Err(reason) => {
                notes.unknown("where the pods can go", reason);
                return None;
            }
        };
        let no_classes = BTreeMap::new();
        let classes = match &survey.runtime_classes {
            Ok(classes) => classes,
            Err(reason) => {
                if case.leaving().any(|pod| pod.runtime_class.is_some()) {
                    notes.unknown("what the RuntimeClasses of the pods ask for", reason);
                }
                &no_classes
            }
        };
        let mut pods: Vec<_> = case
            .leaving()
            .filter(|pod| pod.owner.is_some() && !ended(pod))
            .filter_map(|pod| {
                let class = pod.runtime_class.as_ref().and_then(|name| classes.get(name));
                let wanted = Wanted::of(wishes.get(&pod.uid)?, class);
                let asked = wanted.requests(pod);
                Some((pod, wanted, asked))
            })
            .collect();
        pods.sort_by_key(|(_, _, (cpu, memory))| Reverse((*memory, *cpu)));
        let mut rooms = Room::elsewhere(survey);
        let mut homes = Self {
            placed: Vec::new(),
            homeless: Vec::new(),
        };
        for (pod, wanted, asked) in pods {
            let mut fitting = Vec::new();
            let mut obstacles = Vec::new();
            for (index, room) in rooms.iter().enumerate() {
                match room.obstacle(&wanted, asked) {
                    None => fitting.push(index),
                    Some(obstacle) => obstacles.push((room.place, obstacle)),
                }
            }
            let likest = fitting
                .into_iter()
                .min_by_key(|index| unlike(case.place, rooms[*index].place));
            match likest {
                Some(index) => {
                    rooms[index].take(asked);
                    homes.placed.push((pod, rooms[index].place));
                }
                None => homes.homeless.push((pod, obstacles)),
            }
        }
        Some(homes)
    }

    /// Whether this pod fits on no other node.
    pub fn is_homeless(&self, pod: &Pod) -> bool {
        self.homeless.iter().any(|(one, _)| one.uid == pod.uid)
    }
}

/// How unlike a node is to the one that is left: 2 for another system, 1 for another build of Windows.
fn unlike(here: &Place, there: &Place) -> u8 {
    if here.node.os == there.node.os {
        u8::from(here.node.windows_build_label != there.node.windows_build_label)
    } else {
        2
    }
}

pub fn judge(case: &Case<'_>, homes: &Homes<'_>, notes: &mut Notes) {
    runtime_classes_are_there(case, notes);
    pending(case, homes, notes);
    placed(case, homes, notes);
    strangers(case, homes, notes);
    gaps(case, homes, notes);
    unjudged(case, notes);
}

fn runtime_classes_are_there(case: &Case<'_>, notes: &mut Notes) {
    let Ok(classes) = &case.survey.runtime_classes else {
        return;
    };
    let mut gone: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for pod in case.leaving() {
        if let Some(class) = pod.runtime_class.as_deref().filter(|class| !has(classes, class)) {
            gone.entry(class).or_default().insert(workload(pod));
        }
    }
    for (class, workloads) in gone {
        notes.add(
            Weight::Warning,
            format!(
                "RuntimeClass {class} is gone: no new pod of {} can be created",
                listed(workloads)
            ),
            format!("create RuntimeClass {class} anew before you begin"),
        );
    }
}

fn has(classes: &BTreeMap<crate::domain::Name, RuntimeClass>, name: &str) -> bool {
    classes.keys().any(|class| &**class == name)
}

/// What the system of the node is called in a sentence, with a space behind it; empty where it is unknown.
const fn system(os: Option<Os>) -> &'static str {
    match os {
        Some(Os::Windows) => "Windows ",
        Some(Os::Linux) => "Linux ",
        None => "",
    }
}

fn pending(case: &Case<'_>, homes: &Homes<'_>, notes: &mut Notes) {
    let name = &case.place.node.name;
    let os = case.place.node.os;
    let alone = !case.survey.elsewhere().any(|place| place.node.os == os);
    // Pods with the same reasons are told together.
    let mut groups: BTreeMap<String, Vec<&Pod>> = BTreeMap::new();
    for (pod, obstacles) in &homes.homeless {
        let likely = obstacles.iter().filter(|(place, _)| place.node.os == os);
        let why = listed(likely.map(|(place, obstacle)| format!("{}: {obstacle}", place.node.name)));
        groups.entry(why).or_default().push(pod);
    }
    for (why, pods) in groups {
        let waiting = format!(
            "{} {}",
            count(pods.len(), "pod"),
            verb(pods.len(), "waits", "wait")
        );
        let workloads: BTreeSet<String> = pods.iter().map(|pod| workload(pod)).collect();
        let text = if alone {
            format!(
                "{name} is the only {}node: {waiting} as Pending until it is back",
                system(os)
            )
        } else {
            format!("{waiting} as Pending until {name} is back, because no other node takes them ({why})")
        };
        notes.add(
            Weight::Warning,
            format!("{text}: {}", listed(&workloads)),
            format!(
                "{} down from the drain until the pods are ready again: announce it, or add a node that takes them",
                verb(workloads.len(), "it is", "they are")
            ),
        );
    }
}

fn placed(case: &Case<'_>, homes: &Homes<'_>, notes: &mut Notes) {
    if homes.placed.is_empty() {
        return;
    }
    let mut by_node: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, place) in &homes.placed {
        *by_node.entry(&place.node.name).or_default() += 1;
    }
    let text = format!(
        "{} of {} {} room elsewhere, for example on {}",
        homes.placed.len(),
        count(case.leaving().count(), "pod"),
        verb(homes.placed.len(), "finds", "find"),
        listed(by_node.iter().map(|(node, pods)| format!("{node} ({pods})")))
    );
    notes.add(Weight::Info, text, "");
}

/// Pods whose spec does not keep them from a node where their image may not run.
fn strangers(case: &Case<'_>, homes: &Homes<'_>, notes: &mut Notes) {
    for (degree, what, remedy) in [
        (
            2,
            "another operating system",
            "pin them with nodeSelector kubernetes.io/os, or with a RuntimeClass",
        ),
        (
            1,
            "another build of Windows",
            "pin them with nodeSelector node.kubernetes.io/windows-build, or with a RuntimeClass, unless their image \
             has a variant for it",
        ),
    ] {
        let strangers: BTreeSet<String> = homes
            .placed
            .iter()
            .filter(|(_, place)| unlike(case.place, place) == degree)
            .map(|(pod, place)| format!("{} (to {})", workload(pod), place.node.name))
            .collect();
        if !strangers.is_empty() {
            let text = format!(
                "the scheduler may put pods on a node with {what}: {}",
                listed(strangers)
            );
            notes.add(Weight::Warning, text, remedy);
        }
    }
}

/// Workloads that have room elsewhere, but no ready pod there now.
fn gaps(case: &Case<'_>, homes: &Homes<'_>, notes: &mut Notes) {
    let ready_elsewhere: BTreeSet<OwnerKey> = case
        .survey
        .pods
        .iter()
        .filter(|pod| is_ready(pod) && pod.node.as_ref() != Some(&case.survey.node))
        .filter_map(OwnerKey::of)
        .collect();
    let gaps: BTreeSet<String> = homes
        .placed
        .iter()
        .filter(|(pod, _)| OwnerKey::of(pod).is_some_and(|owner| !ready_elsewhere.contains(&owner)))
        .map(|(pod, _)| workload(pod))
        .collect();
    if !gaps.is_empty() {
        notes.add(
            Weight::Warning,
            format!(
                "{} {} ready pods on this node only: down until the replacements are ready elsewhere",
                listed(&gaps),
                verb(gaps.len(), "has", "have")
            ),
            "more replicas on other nodes first, or announce the gap",
        );
    }
}

fn unjudged(case: &Case<'_>, notes: &mut Notes) {
    let Ok(wishes) = &case.survey.wishes else { return };
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    let mut workloads: BTreeSet<String> = BTreeSet::new();
    for pod in case.leaving() {
        if let Some(wishes) = wishes.get(&pod.uid).filter(|wishes| !wishes.unjudged.is_empty()) {
            kinds.extend(wishes.unjudged.iter());
            workloads.insert(workload(pod));
        }
    }
    if !kinds.is_empty() {
        let text = format!(
            "not judged, and up to the scheduler: {} ({})",
            listed(kinds),
            listed(workloads)
        );
        notes.add(Weight::Info, text, "");
    }
}
