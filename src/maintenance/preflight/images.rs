//! Images that must be pulled before the pods run again. On Windows that is what takes the time: the base alone has
//! hundreds of megabytes, up to some gigabytes.

use super::Weight;
use super::assess::Case;
use super::notes::{Notes, listed};
use super::placement::Homes;
use super::survey::Place;
use crate::domain::format::bytes_long;
use crate::domain::pod::{Phase, Pod};
use std::collections::{BTreeMap, BTreeSet};

/// The kubelet reports no more images than this, the largest first.
const MOST_REPORTED: usize = 50;

pub fn judge(case: &Case<'_>, homes: Option<&Homes<'_>>, notes: &mut Notes) {
    again_on_this_node(case, notes);
    if let Some(homes) = homes {
        elsewhere(case, homes, notes);
    }
}

/// Whether the node reports all of its images, so that one that is missing is really not there: an image of a pod that
/// runs and stays there must be among them.
fn is_complete(case: &Case<'_>, place: &Place) -> bool {
    let leaves = |pod: &Pod| case.leaving().any(|leaving| leaving.uid == pod.uid);
    let pods = case.survey.pods.iter();
    let mut staying = pods.filter(|pod| {
        pod.node.as_ref() == Some(&place.node.name) && pod.phase == Phase::Running && !leaves(pod)
    });
    (1..MOST_REPORTED).contains(&place.images.len())
        && staying.all(|pod| images(pod).all(|image| size(place, image).is_some()))
}

/// Bytes of the image on the node; `None` if it is not among those that it reports.
fn size(place: &Place, image: &str) -> Option<u64> {
    let wanted = full_name(image);
    place
        .images
        .iter()
        .find(|one| one.names.iter().any(|name| full_name(name) == wanted))
        .map(|one| one.bytes)
}

/// A reference with the defaults that the runtime fills in: registry, `library/`, tag.
fn full_name(image: &str) -> String {
    let (registry, rest) = match image.split_once('/') {
        Some((host, rest)) if host.contains(['.', ':']) || host == "localhost" => (host, rest),
        _ => ("docker.io", image),
    };
    let registry = if registry == "index.docker.io" {
        "docker.io"
    } else {
        registry
    };
    let library = if registry == "docker.io" && !rest.contains('/') {
        "library/"
    } else {
        ""
    };
    let tag = if rest.contains([':', '@']) { "" } else { ":latest" };
    format!("{registry}/{library}{rest}{tag}")
}

fn images(pod: &Pod) -> impl Iterator<Item = &str> {
    pod.containers.iter().map(|container| &*container.image)
}

fn again_on_this_node(case: &Case<'_>, notes: &mut Notes) {
    if !is_complete(case, case.place) {
        return;
    }
    let missing: BTreeSet<&str> = case
        .leaving()
        .flat_map(images)
        .filter(|image| size(case.place, image).is_none())
        .collect();
    if !missing.is_empty() {
        let text = format!(
            "node {} does not report these images of the leaving pods, and may have to pull them again: {}",
            case.place.node.name,
            listed(missing)
        );
        notes.add(Weight::Info, text, "");
    }
}

fn elsewhere(case: &Case<'_>, homes: &Homes<'_>, notes: &mut Notes) {
    let mut pulls: BTreeMap<&str, BTreeMap<&str, Option<u64>>> = BTreeMap::new();
    let targets: BTreeMap<&str, &Place> = homes
        .placed
        .iter()
        .map(|(_, place)| (&*place.node.name, *place))
        .collect();
    let complete: BTreeSet<&str> = targets
        .into_iter()
        .filter_map(|(name, place)| is_complete(case, place).then_some(name))
        .collect();
    let placed = homes.placed.iter();
    for (pod, place) in placed.filter(|(_, place)| complete.contains(&*place.node.name)) {
        for image in images(pod).filter(|image| size(place, image).is_none()) {
            let there = pulls.entry(&place.node.name).or_default();
            there.insert(image, size(case.place, image));
        }
    }
    for (node, images) in pulls {
        let named = images.iter().map(|(image, bytes)| {
            bytes.map_or_else(
                || (*image).to_owned(),
                |bytes| format!("{image} ({})", bytes_long(bytes)),
            )
        });
        let text = format!(
            "before replacements run on {node}, it has to pull {}",
            listed(named)
        );
        notes.add(Weight::Info, text, "");
    }
}
