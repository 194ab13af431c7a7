//! What an exporter says of itself: its version, and how its collectors fare.

use super::names::{CONTAINER_COLLECTOR, collectors_of, enable_advice};
use crate::domain::reading::Absence;
use crate::sources::transport::failure::clean;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One exporter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collectors {
    version: Option<String>,
    outcomes: BTreeMap<String, Outcome>,
}

/// The last run of one collector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outcome {
    failed: bool,
    timed_out: bool,
}

impl Collectors {
    /// Its version (`windows_exporter_build_info`).
    pub fn set_version(&mut self, version: &str) {
        self.version = Some(clean(version.trim_start_matches('v')));
    }

    /// The version, if it was told.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// An enabled collector and whether its last run worked (`windows_exporter_collector_success`).
    pub fn set_success(&mut self, collector: &str, success: bool) {
        self.outcomes.entry(collector.to_owned()).or_default().failed = !success;
    }

    /// Whether its last run took too long (`windows_exporter_collector_timeout`).
    pub fn set_timeout(&mut self, collector: &str, timed_out: bool) {
        self.outcomes.entry(collector.to_owned()).or_default().timed_out = timed_out;
    }

    /// Why this exporter lacks what `collector` gives, and how to get it.
    pub fn why_missing(&self, collector: &'static str) -> Absence {
        let version = self.version().unwrap_or("of unknown version");
        let enabled = collectors_of(collector)
            .iter()
            .find_map(|name| Some((name, self.outcomes.get(*name)?)));
        let text = match enabled {
            None if self.outcomes.is_empty() => {
                format!("the exporter tells nothing about its collectors; is collector {collector} on?")
            }
            None => enable_advice(collector),
            Some((name, outcome)) if outcome.timed_out => format!(
                "collector {name} timed out; look at the exporter's log, or give it more time (scrape timeout)"
            ),
            Some((name, outcome)) if outcome.failed => {
                format!("collector {name} failed; look at the exporter's log on that node")
            }
            Some((name, _)) if collector == CONTAINER_COLLECTOR => {
                format!("collector {name} is on but sees no container (exporter {version})")
            }
            // An older collector that gave it once is on, the one that gives it now is off.
            Some((name, _)) if is_current(version) && *name != collector => enable_advice(collector),
            Some((name, _)) if is_current(version) => format!(
                "collector {name} is on and exporter {version} gives nothing for it; it may be starting: look at its log if \
                 that stays so"
            ),
            Some((name, _)) => format!(
                "collector {name} is on but exporter {version} does not give this; use 0.31 or newer, and add \
                 collector {collector}"
            ),
        };
        Absence::NotCollected(Arc::from(text))
    }
}

/// Whether this version has all collectors that are asked for: 0.31 and newer.
fn is_current(version: &str) -> bool {
    let mut numbers = version
        .trim_start_matches('v')
        .split('.')
        .map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(0), Some(31))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(change: impl FnOnce(&mut Collectors)) -> String {
        let mut exporter = Collectors::default();
        exporter.set_version("v0.31.8");
        exporter.set_success("cpu", true);
        change(&mut exporter);
        exporter.why_missing("memory").to_string()
    }

    #[test]
    fn the_operator_learns_whether_a_collector_is_off_failed_slow_or_too_old() {
        assert!(why(|_| {}).starts_with("collector memory is off; enable it"));
        assert!(why(|exporter| exporter.set_success("memory", false)).starts_with("collector memory failed"));
        let slow = why(|exporter| {
            exporter.set_success("memory", false);
            exporter.set_timeout("memory", true);
        });
        assert!(slow.starts_with("collector memory timed out"), "{slow}");
        let old = why(|exporter| {
            exporter.set_version("0.25.1");
            exporter.set_success("cs", true);
        });
        assert!(old.contains("exporter 0.25.1 does not give this"), "{old}");
        let starting = why(|exporter| exporter.set_success("memory", true));
        assert!(starting.contains("it may be starting"), "{starting}");
    }
}
