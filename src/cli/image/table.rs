//! The variants for people.

use super::{Node, Placed};
use crate::cli::output::aligned;
use crate::domain::Name;
use crate::domain::format::bytes_long;
use crate::domain::image::{Mark, Platform};
use crate::domain::text::sanitise;
use crate::store::view::Align;
use std::fmt::Write as _;

/// Node names in one cell; JSON has them all.
const NAMES_IN_A_CELL: usize = 4;

const ABSENT: &str = "–";

/// Image, variants, and what is noteworthy about them.
pub fn text(placed: &Placed) -> String {
    let image = &placed.image;
    let mut text = String::new();
    let what = if image.is_index {
        "index"
    } else {
        "no index, a single manifest"
    };
    let _ = writeln!(
        text,
        "{}   {what} {}",
        sanitise(&image.reference),
        sanitise(&image.digest)
    );
    if image.attestations > 0 {
        let _ = writeln!(text, "attestations beside the variants: {}", image.attestations);
    }
    text.push('\n');
    text.push_str(&variants(placed));
    let notes = notes(placed);
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn variants(placed: &Placed) -> String {
    let mut lines = vec![
        ["PLATFORM", "OS.VERSION", "SIZE", "NODES"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (index, variant) in placed.image.variants.iter().enumerate() {
        let nodes = match &placed.cluster {
            Ok(takers) => names(&takers.of_variant[index]),
            Err(_) => ABSENT.to_owned(),
        };
        lines.push(vec![
            platform_name(&variant.platform),
            or_absent(&variant.platform.os_version),
            bytes_long(variant.size_bytes),
            nodes,
        ]);
    }
    aligned(&lines, &[Align::Left, Align::Left, Align::Right, Align::Left])
}

/// `windows/amd64`, `linux/arm/v7`.
fn platform_name(platform: &Platform) -> String {
    let parts = [&platform.os, &platform.architecture, &platform.variant];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| sanitise(part).into_owned())
        .collect();
    or_absent(&parts.join("/"))
}

fn or_absent(text: &str) -> String {
    if text.is_empty() {
        ABSENT.to_owned()
    } else {
        sanitise(text).into_owned()
    }
}

fn names(all: &[Name]) -> String {
    if all.is_empty() {
        return ABSENT.to_owned();
    }
    let shown: Vec<String> = all
        .iter()
        .take(NAMES_IN_A_CELL)
        .map(|name| sanitise(name).into_owned())
        .collect();
    let more = all.len().saturating_sub(NAMES_IN_A_CELL);
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    shown.join(", ") + &rest
}

fn notes(placed: &Placed) -> Vec<String> {
    let mut notes = Vec::new();
    for (variant, marks) in placed.image.variants.iter().zip(&placed.marks) {
        let name = platform_name(&variant.platform);
        let version = sanitise(&variant.platform.os_version);
        notes.extend(
            marks
                .iter()
                .map(|mark| format!("▲ {name} {}", words(mark, &version))),
        );
    }
    match &placed.cluster {
        Ok(takers) => notes.extend(takers.without.iter().map(without)),
        Err(problem) => notes.push(format!(
            "No cluster to compare with, so which nodes take which variant is not known: {problem}"
        )),
    }
    notes
}

fn words(mark: &Mark, version: &str) -> String {
    match mark {
        Mark::NoOsVersion => {
            "has no os.version: every Windows node takes it, and where its build does not suit the node the container fails at its \
             start (The operating system of the container does not match the operating system of the host). A HostProcess image \
             needs none. Build it with BuildKit 0.20 or later, which takes the version from the base image."
                .to_owned()
        }
        Mark::BadOsVersion => format!("{version}: no os.version of Windows, so no Windows node takes it; rebuild the index"),
        Mark::NewerThanAnyNode => format!(
            "{version}: newer build than any Windows node of this cluster, and a newer image never runs on an older kernel"
        ),
        Mark::RevisionNewer(nodes) => format!(
            "{version}: newer revision than {}. The build decides, so it is taken; twice an update broke just that (0xc0370106). \
             Should containers exit at once, update the node.",
            names(nodes)
        ),
    }
}

fn without(node: &Node) -> String {
    let platform = &node.platform;
    let version = platform
        .windows
        .map_or_else(String::new, |version| format!(" {version}"));
    format!(
        "▲ {} ({}/{}{version}) takes no variant: the pull ends with `no match for platform in manifest`",
        sanitise(&node.name),
        platform.os.name(),
        sanitise(&platform.architecture),
    )
}
