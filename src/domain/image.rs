//! Which variant of an image a node takes, by containerd's rules (`platform_windows_compat.go`, `compare.go` and
//! `database.go` of containerd/platforms v1.0.0-rc.2).
//!
//! On Windows operating system, architecture and build decide; the revision does not. Among several that fit the
//! greatest `os.version` wins, compared **as text**: revision 9 beats 33674.

use super::Name;
use super::object::Os;
use super::windows_version::{WindowsBuild, WindowsVersion};
use std::cmp::Ordering;

/// Builds whose images later builds run: the LTSC releases that containerd knows, oldest first.
const LTSC_BUILDS: [u32; 2] = [20348, 26100];

/// `platform` of a variant in the index of an image. Empty texts where it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// `os`.
    pub os: Name,
    /// `architecture`.
    pub architecture: Name,
    /// `variant`, e.g. `v8`.
    pub variant: Name,
    /// `os.version`, e.g. `10.0.26100.33674`; four numbers on Windows.
    pub os_version: Name,
}

/// What containerd on a node matches images against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePlatform {
    /// Operating system.
    pub os: Os,
    /// `amd64`, `arm64`, …
    pub architecture: Name,
    /// Version of Windows; `None` on Linux.
    pub windows: Option<WindowsVersion>,
}

/// Whether a Windows node of build `node` runs images of build `image` with process isolation.
///
/// Before Windows Server 2022 the builds must be equal. Later a node runs its own build and those back to the LTSC
/// release before it: 26100 runs 20348 to 26100, and whatever follows 26100 no longer runs 20348.
pub fn node_runs_build(node: WindowsBuild, image: WindowsBuild) -> bool {
    if (node.major, node.minor) != (image.major, image.minor) {
        return false;
    }
    if node.build < LTSC_BUILDS[0] {
        return node.build == image.build;
    }
    let oldest = LTSC_BUILDS
        .into_iter()
        .rev()
        .find(|ltsc| node.build > *ltsc)
        .unwrap_or(LTSC_BUILDS[0]);
    (oldest..=node.build).contains(&image.build)
}

/// The build in an `os.version`: what stands behind its third number does not matter. `None` for fewer than three, and for
/// numbers that containerd does not take.
pub fn build_of(os_version: &str) -> Option<WindowsBuild> {
    let mut parts = os_version.split('.');
    let mut small = || parts.next()?.parse::<u8>().ok().map(u32::from);
    let (major, minor) = (small()?, small()?);
    let build = parts.next()?.parse::<u16>().ok()?;
    Some(WindowsBuild {
        major,
        minor,
        build: build.into(),
    })
}

impl NodePlatform {
    /// Whether containerd on this node takes a variant at all.
    pub fn takes(&self, platform: &Platform) -> bool {
        self.rank(platform).is_some()
    }

    /// Which of these variants it pulls: an index into them. A variant without platform comes last; containerd looks
    /// into its config, so it must be given with the platform from there.
    pub fn choose(&self, variants: &[Platform]) -> Option<usize> {
        let fitting = variants
            .iter()
            .enumerate()
            .filter_map(|(index, platform)| self.rank(platform).map(|rank| (index, platform, rank)));
        // The first of equals stays, as containerd's sort is stable.
        fitting
            .min_by(|(_, one, one_rank), (_, other, other_rank)| {
                one_rank.cmp(other_rank).then_with(|| match self.os {
                    Os::Windows => other.os_version.cmp(&one.os_version),
                    Os::Linux => Ordering::Equal,
                })
            })
            .map(|(index, ..)| index)
    }

    /// How good a fit it is, 0 the best; `None` if it does not fit.
    fn rank(&self, platform: &Platform) -> Option<usize> {
        if !platform.os.eq_ignore_ascii_case(self.os.name()) {
            return None;
        }
        let offered = normalised(&platform.architecture, &platform.variant);
        let own = normalised(&self.architecture, "");
        let rank = match self.os {
            Os::Windows => (offered == own).then_some(0)?,
            Os::Linux => accepted(&own).iter().position(|accepted| *accepted == offered)?,
        };
        let version_fits = match self.windows {
            Some(version) if !platform.os_version.is_empty() => {
                build_of(&platform.os_version).is_some_and(|build| node_runs_build(version.build, build))
            }
            _ => true,
        };
        version_fits.then_some(rank)
    }
}

/// Architecture and variant in the one spelling that is compared.
fn normalised(architecture: &str, variant: &str) -> (String, String) {
    let architecture = architecture.to_ascii_lowercase();
    let variant = variant.to_ascii_lowercase();
    let (architecture, variant) = match (architecture.as_str(), variant.as_str()) {
        ("i386", _) => ("386", ""),
        ("x86_64" | "x86-64" | "amd64", "v1") => ("amd64", ""),
        ("x86_64" | "x86-64", other) => ("amd64", other),
        ("aarch64" | "arm64", "8" | "v8" | "v8.0") => ("arm64", ""),
        ("aarch64", other) => ("arm64", other),
        ("armhf", _) | ("arm", "" | "7") => ("arm", "v7"),
        ("armel", _) | ("arm", "6") => ("arm", "v6"),
        ("arm", "5") => ("arm", "v5"),
        ("arm", "8") => ("arm", "v8"),
        (other, variant) => (other, variant),
    };
    (architecture.to_owned(), variant.to_owned())
}

/// What a Linux node accepts, best first. The API does not tell the variant of its CPU: the plain one is assumed.
fn accepted(own: &(String, String)) -> Vec<(String, String)> {
    let more: &[(&str, &str)] = match own.0.as_str() {
        "amd64" => &[("386", "")],
        "arm64" => &[("arm", "v8"), ("arm", "v7"), ("arm", "v6"), ("arm", "v5")],
        "arm" => &[("arm", "v6"), ("arm", "v5")],
        _ => &[],
    };
    let more = more
        .iter()
        .map(|(architecture, variant)| ((*architecture).to_owned(), (*variant).to_owned()));
    std::iter::once(own.clone()).chain(more).collect()
}

/// What is noteworthy about a variant for Windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// No `os.version`: every Windows node takes it, and with a wrong build its containers fail to start.
    NoOsVersion,
    /// An `os.version` that is none: no node takes it.
    BadOsVersion,
    /// Its build is newer than that of every Windows node of the cluster.
    NewerThanAnyNode,
    /// Its revision is newer than that of these nodes of the same build: matching does not look at revisions, but
    /// twice an update has broken exactly that (0xc0370106).
    RevisionNewer(Vec<Name>),
}

impl Mark {
    /// The word in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoOsVersion => "no-os-version",
            Self::BadOsVersion => "bad-os-version",
            Self::NewerThanAnyNode => "newer-than-any-node",
            Self::RevisionNewer(_) => "revision-newer-than-node",
        }
    }
}

/// The marks of a variant, given the Windows nodes of the cluster by name; none of a cluster gives only what the
/// variant alone tells.
pub fn marks(platform: &Platform, nodes: &[(Name, WindowsVersion)]) -> Vec<Mark> {
    if !platform.os.eq_ignore_ascii_case(Os::Windows.name()) {
        return Vec::new();
    }
    if platform.os_version.is_empty() {
        return vec![Mark::NoOsVersion];
    }
    let Some(build) = build_of(&platform.os_version) else {
        return vec![Mark::BadOsVersion];
    };
    if !nodes.is_empty() && nodes.iter().all(|(_, node)| build > node.build) {
        return vec![Mark::NewerThanAnyNode];
    }
    let Ok(version) = platform.os_version.parse::<WindowsVersion>() else {
        return Vec::new();
    };
    let older: Vec<Name> = nodes
        .iter()
        .filter(|(_, node)| node.build == build && node.revision < version.revision)
        .map(|(name, _)| name.clone())
        .collect();
    if older.is_empty() {
        Vec::new()
    } else {
        vec![Mark::RevisionNewer(older)]
    }
}

#[cfg(test)]
mod tests;
