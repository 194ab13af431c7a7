//! Windows memory: commit is what is charged against limits, the working set is only what lies in RAM.
//!
//! A container's limit becomes the commit limit of its job object; when commit meets it Windows kills nothing,
//! allocations fail with error 1455. A node's commit limit is RAM plus page file. A node near its limit fails
//! allocations of everybody, the kubelet's included.

use super::reading::{Absence, Reading};
use super::severity::Severity;

/// From this part of the commit limit on: amber.
pub const AMBER_RATIO: f64 = 0.8;
/// From this part of the commit limit on: red.
pub const RED_RATIO: f64 = 0.9;
/// The kubelet evicts pods when less commit than this is left on a Windows node, bytes: its default
/// `memory.available<500Mi`, which counts commit on Windows since Kubernetes 1.31.
pub const EVICTION_LINE_BYTES: u64 = 500 << 20;

/// How much commit ÷ limit matters, for a container and for a node.
pub fn commit_severity(ratio: f64) -> Severity {
    if ratio >= RED_RATIO {
        Severity::Critical
    } else if ratio >= AMBER_RATIO {
        Severity::Warning
    } else {
        Severity::Fine
    }
}

/// Commit ÷ limit of a container, 1.0 at the limit. `commit` in bytes.
///
/// Without a limit (0 is none) the answer is [`Absence::NoLimit`], whatever the commit: such a container can
/// take the node's whole commit.
pub fn commit_to_limit(commit: &Reading<f64>, limit_bytes: Option<u64>) -> Reading<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    match limit_bytes {
        None | Some(0) => Reading::Absent(Absence::NoLimit),
        Some(limit) => commit.clone().map(|bytes| bytes / limit as f64),
    }
}

/// Commit ÷ commit limit of a node, 1.0 at the limit. Both in bytes.
pub fn node_commit_ratio(commit: &Reading<f64>, limit: &Reading<f64>) -> Reading<f64> {
    join(commit, limit, |commit, limit| {
        (limit > 0.0).then(|| commit / limit)
    })
}

/// Commit that is left on a node, bytes; 0 when the limit is reached.
pub fn commit_left(commit: &Reading<f64>, limit: &Reading<f64>) -> Reading<f64> {
    join(commit, limit, |commit, limit| Some((limit - commit).max(0.0)))
}

/// Whether the kubelet begins to evict with this much commit left (bytes).
#[expect(clippy::cast_precision_loss, reason = "500 MiB are exact")]
pub fn beyond_eviction_line(left_bytes: f64) -> bool {
    left_bytes < EVICTION_LINE_BYTES as f64
}

/// Page file of a node, bytes: about what the commit limit has beyond RAM.
pub fn page_file(limit: &Reading<f64>, physical: &Reading<f64>) -> Reading<f64> {
    join(limit, physical, |limit, physical| {
        Some((limit - physical).max(0.0))
    })
}

/// A value of two readings: the source of the first, the sample time of the older one, absent if one is.
fn join(
    first: &Reading<f64>,
    second: &Reading<f64>,
    value: impl FnOnce(f64, f64) -> Option<f64>,
) -> Reading<f64> {
    match (first, second) {
        (Reading::Absent(reason), _) | (_, Reading::Absent(reason)) => Reading::Absent(reason.clone()),
        (
            Reading::Present {
                value: one,
                source,
                sampled_at: first_at,
            },
            Reading::Present {
                value: other,
                sampled_at: second_at,
                ..
            },
        ) => match value(*one, *other) {
            Some(value) => Reading::Present {
                value,
                source: *source,
                sampled_at: *first_at.min(second_at),
            },
            None => Reading::Absent(Absence::NoSample),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Severity::{Critical, Fine, Warning};
    use super::*;
    use crate::domain::Timestamp;
    use crate::domain::reading::Source;
    use proptest::prelude::*;

    const GIB: f64 = 1_073_741_824.0;

    fn sampled(value: f64, second: i64) -> Reading<f64> {
        Reading::Present {
            value,
            source: Source::Prometheus,
            sampled_at: Timestamp::from_timestamp(second, 0).unwrap(),
        }
    }

    #[test]
    fn hello_win_commits_98_of_256_mib() {
        let ratio = commit_to_limit(&sampled(98.0 * 1_048_576.0, 0), Some(256 << 20));
        assert_eq!(format!("{:.2}", ratio.value().unwrap()), "0.38");
    }

    #[test]
    fn amber_begins_at_eight_tenths_and_red_at_nine() {
        let severities = [0.0, 0.799_999, 0.8, 0.899_999, 0.9, 1.7].map(commit_severity);
        assert_eq!(severities, [Fine, Fine, Warning, Warning, Critical, Critical]);
    }

    #[test]
    fn a_container_without_limit_says_so_even_when_nothing_was_measured() {
        let unmeasured = Reading::Absent(Absence::NotYet);
        for limit in [None, Some(0)] {
            let ratio = commit_to_limit(&unmeasured, limit);
            assert_eq!(ratio.absence(), Some(&Absence::NoLimit));
        }
        assert_eq!(
            commit_to_limit(&unmeasured, Some(1)).absence(),
            Some(&Absence::NotYet)
        );
    }

    #[test]
    fn the_node_of_the_article_commits_5_of_16_gib() {
        let (commit, limit) = (sampled(5.0 * GIB, 70), sampled(16.0 * GIB, 60));
        let ratio = node_commit_ratio(&commit, &limit);
        assert_eq!(ratio.value(), Some(&0.3125));
        assert_eq!(
            page_file(&limit, &sampled(8.0 * GIB, 65)).value(),
            Some(&(8.0 * GIB))
        );
        let now = Timestamp::from_timestamp(100, 0).unwrap();
        assert_eq!(
            ratio.age_seconds(now),
            Some(40),
            "as old as the older of the two samples"
        );
    }

    #[test]
    fn eviction_begins_below_500_mib_left() {
        let mib = 1_048_576.0;
        assert!(!beyond_eviction_line(500.0 * mib));
        assert!(beyond_eviction_line(500.0 * mib - 1.0));
        let left = commit_left(&sampled(16.1 * GIB, 0), &sampled(16.0 * GIB, 0));
        assert_eq!(
            left.value(),
            Some(&0.0),
            "commit beyond a shrunken limit leaves nothing"
        );
    }

    #[test]
    fn a_commit_limit_of_zero_is_no_measurement() {
        let ratio = node_commit_ratio(&sampled(1.0, 0), &sampled(0.0, 0));
        assert_eq!(ratio.absence(), Some(&Absence::NoSample));
    }

    proptest! {
        #[test]
        fn an_absent_part_makes_the_whole_absent(value in 1.0..1e12_f64, first in any::<bool>()) {
            let absent = Reading::Absent(Absence::NotOnThisOs);
            let present = sampled(value, 0);
            let (one, other) = if first { (&absent, &present) } else { (&present, &absent) };
            for joined in [node_commit_ratio(one, other), commit_left(one, other), page_file(one, other)] {
                prop_assert_eq!(joined.absence(), Some(&Absence::NotOnThisOs));
            }
        }
    }
}
