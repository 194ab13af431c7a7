//! The variants as JSON, stable.

use super::Placed;
use crate::domain::image::Mark;
use serde::Serialize;

/// The image.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    image: &'a str,
    digest: &'a str,
    index: bool,
    attestations: usize,
    items: Vec<Item<'a>>,
    nodes_without_variant: Known<Vec<&'a str>>,
}

/// A variant.
#[derive(Debug, Serialize)]
struct Item<'a> {
    os: Option<&'a str>,
    architecture: Option<&'a str>,
    variant: Option<&'a str>,
    os_version: Option<&'a str>,
    digest: &'a str,
    size_bytes: u64,
    nodes: Known<Vec<&'a str>>,
    marks: Vec<Marked<'a>>,
}

/// What is noteworthy.
#[derive(Debug, Serialize)]
struct Marked<'a> {
    mark: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<&'a str>,
}

/// What only a cluster tells, or why it is not known.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Known<T> {
    Yes(T),
    No { absent: String },
}

/// The image.
pub fn document(placed: &Placed) -> Document<'_> {
    let image = &placed.image;
    Document {
        image: &image.reference,
        digest: &image.digest,
        index: image.is_index,
        attestations: image.attestations,
        items: (0..image.variants.len())
            .map(|index| item(placed, index))
            .collect(),
        nodes_without_variant: known(placed, |takers| {
            takers.without.iter().map(|node| &*node.name).collect()
        }),
    }
}

fn item(placed: &Placed, index: usize) -> Item<'_> {
    let variant = &placed.image.variants[index];
    let platform = &variant.platform;
    Item {
        os: said(&platform.os),
        architecture: said(&platform.architecture),
        variant: said(&platform.variant),
        os_version: said(&platform.os_version),
        digest: &variant.digest,
        size_bytes: variant.size_bytes,
        nodes: known(placed, |takers| {
            takers.of_variant[index].iter().map(|name| &**name).collect()
        }),
        marks: placed.marks[index].iter().map(marked).collect(),
    }
}

fn marked(mark: &Mark) -> Marked<'_> {
    let nodes = match mark {
        Mark::RevisionNewer(nodes) => nodes.iter().map(|name| &**name).collect(),
        _ => Vec::new(),
    };
    Marked {
        mark: mark.name(),
        nodes,
    }
}

fn known<'a, T>(placed: &'a Placed, value: impl FnOnce(&'a super::Takers) -> T) -> Known<T> {
    match &placed.cluster {
        Ok(takers) => Known::Yes(value(takers)),
        Err(problem) => Known::No {
            absent: problem.to_string(),
        },
    }
}

fn said(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
