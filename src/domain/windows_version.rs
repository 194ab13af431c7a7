//! Versions of Windows as nodes report them: `10.0.26100.33438` is major, minor, build, revision.
//!
//! The build decides which images run; the revision (UBR) grows with each monthly update.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A release of Windows: what the label `node.kubernetes.io/windows-build` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowsBuild {
    /// 10 for every Windows that runs Kubernetes.
    pub major: u32,
    /// 0.
    pub minor: u32,
    /// E.g. 26100.
    pub build: u32,
}

/// A build with its revision: `status.nodeInfo.kernelVersion` of a Windows node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowsVersion {
    /// The release.
    pub build: WindowsBuild,
    /// The monthly update, e.g. 33438.
    pub revision: u32,
}

/// The text is no version of Windows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is no Windows version: {expected} was expected")]
pub struct VersionError {
    text: Box<str>,
    expected: &'static str,
}

impl WindowsBuild {
    /// The Windows Server with this build, where Kubernetes supports or supported it.
    pub const fn product(self) -> Option<&'static str> {
        match self.build {
            17763 => Some("Windows Server 2019"),
            20348 => Some("Windows Server 2022"),
            25398 => Some("Windows Server, version 23H2"),
            26100 => Some("Windows Server 2025"),
            _ => None,
        }
    }
}

impl FromStr for WindowsBuild {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        numbers(text)
            .map(|[major, minor, build]| Self { major, minor, build })
            .ok_or_else(|| VersionError {
                text: text.into(),
                expected: "major.minor.build",
            })
    }
}

impl FromStr for WindowsVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        numbers(text)
            .map(|[major, minor, build, revision]| Self {
                build: WindowsBuild { major, minor, build },
                revision,
            })
            .ok_or_else(|| VersionError {
                text: text.into(),
                expected: "major.minor.build.revision",
            })
    }
}

impl fmt::Display for WindowsBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.build)
    }
}

impl fmt::Display for WindowsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.build, self.revision)
    }
}

/// Exactly `N` decimal numbers with dots between them.
fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let parts: Vec<u32> = text
        .split('.')
        .map(|part| {
            part.bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| part.parse().ok())?
        })
        .collect::<Option<_>>()?;
    parts.try_into().ok()
}

/// The newest revision of each build in a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewestRevisions(BTreeMap<WindowsBuild, u32>);

impl FromIterator<WindowsVersion> for NewestRevisions {
    fn from_iter<I: IntoIterator<Item = WindowsVersion>>(versions: I) -> Self {
        let mut newest = BTreeMap::new();
        for version in versions {
            let revision = newest.entry(version.build).or_default();
            *revision = version.revision.max(*revision);
        }
        Self(newest)
    }
}

impl NewestRevisions {
    /// The newest revision of this build, if the fleet has the build.
    pub fn newest(&self, build: WindowsBuild) -> Option<u32> {
        self.0.get(&build).copied()
    }

    /// By how much this version's revision is behind the newest of its build; 0 for the newest itself and for
    /// a build that the fleet does not have.
    pub fn behind(&self, version: WindowsVersion) -> u32 {
        self.newest(version.build)
            .map_or(0, |newest| newest.saturating_sub(version.revision))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version(text: &str) -> WindowsVersion {
        text.parse().unwrap()
    }

    #[test]
    fn the_kernel_version_of_the_article_is_taken_apart() {
        let found = version("10.0.26100.33438");
        assert_eq!((found.build.major, found.build.minor), (10, 0));
        assert_eq!((found.build.build, found.revision), (26100, 33438));
        assert_eq!("10.0.26100".parse(), Ok(found.build));
        assert_eq!(found.build.product(), Some("Windows Server 2025"));
    }

    #[test]
    fn what_is_no_version_is_refused_with_the_text_and_what_was_expected() {
        for text in [
            "",
            "10.0.26100",
            "10.0.26100.1.2",
            "10.0.26100.",
            "10.0.+1.2",
            "6.8.0-45-generic",
            "10.0.x.1",
        ] {
            let error = text.parse::<WindowsVersion>().unwrap_err();
            assert!(
                error.to_string().contains("major.minor.build.revision"),
                "{error}"
            );
            assert!(error.to_string().contains(text), "{error}");
        }
    }

    #[test]
    fn a_node_is_behind_only_the_newest_of_its_own_build() {
        let fleet: NewestRevisions = ["10.0.26100.33438", "10.0.26100.32995", "10.0.20348.4297"]
            .map(version)
            .into_iter()
            .collect();
        assert_eq!(fleet.behind(version("10.0.26100.32995")), 443);
        assert_eq!(fleet.behind(version("10.0.26100.33438")), 0);
        assert_eq!(fleet.behind(version("10.0.20348.4297")), 0);
        assert_eq!(fleet.behind(version("10.0.17763.1")), 0, "alone of its build");
    }

    proptest! {
        #[test]
        fn a_version_survives_its_text(major: u32, minor: u32, build: u32, revision: u32) {
            let build = WindowsBuild { major, minor, build };
            let whole = WindowsVersion { build, revision };
            prop_assert_eq!(whole.to_string().parse(), Ok(whole));
            prop_assert_eq!(build.to_string().parse(), Ok(build));
        }

        #[test]
        fn nobody_is_ahead_of_the_newest(revisions in prop::collection::vec(0_u32..100, 1..8)) {
            let build = WindowsBuild { major: 10, minor: 0, build: 26100 };
            let fleet: NewestRevisions =
                revisions.iter().map(|&revision| WindowsVersion { build, revision }).collect();
            let newest = *revisions.iter().max().unwrap();
            for revision in revisions {
                prop_assert_eq!(fleet.behind(WindowsVersion { build, revision }), newest - revision);
            }
        }
    }
}
