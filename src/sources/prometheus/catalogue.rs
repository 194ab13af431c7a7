//! Every query that is put to a Prometheus server, generated from the tables in
//! [`names`](crate::sources::exporter::names).
//!
//! Raw series come first, recorded ones only where raw ones are not kept: a recorded value is as old as its
//! rule's last evaluation plus the sample behind that, and its timestamp tells neither. Half of the stock
//! Windows node rules are empty with exporter 0.31, because they still read names that it dropped.
//!
//! Each value is paired with `timestamp()` of its own series in the same answer (label `quantity` ending in
//! `.time`): Prometheus goes on answering for five minutes after a target died, and the age of a reading is
//! that of its newest raw sample.

use super::matcher::Matcher;
use crate::domain::measurement::{NodeQuantity, WATCHED_SERVICES};
use crate::sources::exporter::names::{
    BUILD_INFO, COLLECTOR_SUCCESS, COLLECTOR_TIMEOUT, CONTAINER_FAMILIES, ContainerFamily, Formula,
    NODE_FAMILIES, NodeFamily, SERVICE_PROCESS, SERVICE_STATE,
};

/// Labels by which a scraped exporter is known: its address, the target's pod, and what tells two clusters or
/// two jobs apart. Restarted exporters differ in `pod`; the newest sample of a node wins.
pub const TARGET_LABELS: &str = "cluster, instance, job, namespace, node, pod";

/// Label that says which quantity a series of an answer holds.
pub const QUANTITY: &str = "quantity";

/// Ending of [`QUANTITY`] for the sample time of that quantity, seconds since 1970.
pub const TIME_SUFFIX: &str = ".time";

/// What a query is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QueryName {
    /// Quantities of nodes and their sample times; labels [`TARGET_LABELS`] and `quantity`.
    Nodes,
    /// States of the services that decide over a node: labels [`TARGET_LABELS`], `name`, `quantity`, and
    /// `state` where `quantity="state"`; with `started_at` (seconds since 1970) and `state.time`.
    Services,
    /// Quantities of containers: labels `quantity` and `container_id`, or `exported_namespace`, `exported_pod`,
    /// `exported_container` where there is no id; one sample time for all of a container's quantities
    /// (`commit.time`), as they come from one scrape.
    Containers,
    /// Versions of exporters and outcome of their collectors: [`TARGET_LABELS`] with `version`, or `collector`
    /// and `quantity` = `success` or `timeout` (0 or 1).
    Exporters,
    /// Which series exist, and how many: labels `__name__`, `job`.
    Series,
    /// Over a range: commit, commit limit and CPU of nodes; labels [`TARGET_LABELS`] and `quantity`.
    NodeHistory,
}

impl QueryName {
    /// Every query.
    pub const ALL: [Self; 6] = [
        Self::Nodes,
        Self::Services,
        Self::Containers,
        Self::Exporters,
        Self::Series,
        Self::NodeHistory,
    ];

    /// The name in messages and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Services => "services",
            Self::Containers => "containers",
            Self::Exporters => "exporters",
            Self::Series => "series",
            Self::NodeHistory => "node history",
        }
    }
}

/// A query with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedQuery {
    /// What it is for.
    pub name: QueryName,
    /// `PromQL`.
    pub promql: String,
}

/// The whole catalogue, each selector narrowed by `matcher`.
pub fn queries(matcher: &Matcher) -> Vec<NamedQuery> {
    QueryName::ALL
        .into_iter()
        .map(|name| query(name, matcher))
        .collect()
}

/// One query of the catalogue.
pub fn query(name: QueryName, matcher: &Matcher) -> NamedQuery {
    let promql = match name {
        QueryName::Nodes => nodes(matcher),
        QueryName::Services => services(matcher),
        QueryName::Containers => containers(matcher),
        QueryName::Exporters => exporters(matcher),
        QueryName::Series => series(matcher),
        QueryName::NodeHistory => node_history(matcher),
    };
    NamedQuery { name, promql }
}

fn nodes(matcher: &Matcher) -> String {
    any(NODE_FAMILIES.iter().flat_map(|family| {
        [
            tagged(&node_value(family, matcher), family.key),
            tagged(
                &node_time(family, matcher),
                &format!("{}{TIME_SUFFIX}", family.key),
            ),
        ]
    }))
}

fn node_value(family: &NodeFamily, matcher: &Matcher) -> String {
    any(family
        .chain
        .iter()
        .map(|formula| formula_value(*formula, matcher)))
}

fn node_time(family: &NodeFamily, matcher: &Matcher) -> String {
    any(family.chain.iter().map(|formula| {
        let selector = match *formula {
            Formula::Gauge(name) | Formula::Difference(name, _) => matcher.selector(name, &[]),
            Formula::SystemVolumeShare(name, _) => matcher.selector(name, &[SYSTEM_VOLUME]),
            Formula::BusyShare(name) => matcher.selector(name, &[IDLE]),
        };
        newest(TARGET_LABELS, &selector)
    }))
}

const SYSTEM_VOLUME: &str = r#"volume="C:""#;
const IDLE: &str = r#"mode="idle""#;
const ALL_TIME: &str = r#"mode=~"idle|user|privileged""#;

fn formula_value(formula: Formula, matcher: &Matcher) -> String {
    let by = TARGET_LABELS;
    match formula {
        Formula::Gauge(name) => format!("max by ({by}) ({})", matcher.selector(name, &[])),
        Formula::Difference(whole, part) => format!(
            "max by ({by}) ({} - {})",
            matcher.selector(whole, &[]),
            matcher.selector(part, &[])
        ),
        Formula::SystemVolumeShare(part, whole) => format!(
            "max by ({by}) ({} / {})",
            matcher.selector(part, &[SYSTEM_VOLUME]),
            matcher.selector(whole, &[SYSTEM_VOLUME])
        ),
        Formula::BusyShare(counter) => format!(
            "1 - sum by ({by}) (rate({}[5m])) / sum by ({by}) (rate({}[5m]))",
            matcher.selector(counter, &[IDLE]),
            matcher.selector(counter, &[ALL_TIME])
        ),
    }
}

fn services(matcher: &Matcher) -> String {
    let by = format!("{TARGET_LABELS}, name");
    // Windows does not care about the case of a service's name, and exporters before 0.29 lower it.
    let watched = format!(r#"name=~"(?i){}""#, WATCHED_SERVICES.join("|"));
    let state = matcher.selector(SERVICE_STATE, &[&watched]);
    let process = matcher.selector(SERVICE_PROCESS, &[&watched]);
    any([
        tagged(&format!("max by ({by}, state) ({state} == 1)"), "state"),
        tagged(&format!("max by ({by}) ({process})"), "started_at"),
        tagged(&newest(&by, &state), &format!("state{TIME_SUFFIX}")),
    ])
}

fn containers(matcher: &Matcher) -> String {
    let values = CONTAINER_FAMILIES
        .iter()
        .map(|family| tagged(&container_value(family, matcher), family.key));
    let commit = &CONTAINER_FAMILIES[0];
    let time = any(container_selectors(commit, matcher)
        .iter()
        .map(|(by, selector)| newest(by, selector)));
    any(values.chain([tagged(&time, &format!("{}{TIME_SUFFIX}", commit.key))]))
}

fn container_value(family: &ContainerFamily, matcher: &Matcher) -> String {
    any(container_selectors(family, matcher).iter().map(|(by, selector)| {
        if family.counter {
            // The last two samples, divided by their own distance: `rate` would divide the growth of a young
            // container by the whole window.
            format!("max by ({by}) (irate({selector}[5m]))")
        } else {
            format!("max by ({by}) ({selector})")
        }
    }))
}

/// The chain of a container's series, as labels to keep and selector: raw by container id, which is the same
/// in the Kubernetes API and in no other cluster; raw by the names that the exporter saw, where relabelling
/// drops the id (the target's own labels push them to `exported_…`); the recorded rule, where raw series are
/// not kept.
fn container_selectors(family: &ContainerFamily, matcher: &Matcher) -> Vec<(&'static str, String)> {
    let by_id = "container_id";
    let identified = r#"container_id!="""#;
    let named = [
        r#"container_id="""#,
        r#"exported_namespace!="""#,
        r#"exported_pod!="""#,
        r#"exported_container!="""#,
    ];
    let mut chain = vec![
        (by_id, matcher.selector(family.series, &[identified])),
        (
            "exported_namespace, exported_pod, exported_container",
            matcher.selector(family.series, &named),
        ),
    ];
    if let Some(recorded) = family.recorded {
        chain.push((by_id, matcher.selector(recorded, &[identified])));
    }
    chain
}

fn exporters(matcher: &Matcher) -> String {
    let collectors = format!("max by ({TARGET_LABELS}, collector)");
    any([
        format!(
            "max by ({TARGET_LABELS}, version) ({})",
            matcher.selector(BUILD_INFO, &[])
        ),
        tagged(
            &format!("{collectors} ({})", matcher.selector(COLLECTOR_SUCCESS, &[])),
            "success",
        ),
        tagged(
            &format!("{collectors} ({})", matcher.selector(COLLECTOR_TIMEOUT, &[])),
            "timeout",
        ),
    ])
}

fn series(matcher: &Matcher) -> String {
    let names = known_series().join("|");
    let selector = matcher.selector("", &[&format!(r#"__name__=~"{names}""#)]);
    format!("count by (__name__, job) ({selector})")
}

/// What the query for alerts that fire begins with; the matchers of the operator follow.
pub const FIRING: &str = r#"ALERTS{alertstate="firing""#;

/// Of the alerts that match `wanted`, those that fire. It is beside the catalogue, because its text is the operator's.
pub fn alerts(wanted: &Matcher, cluster: &Matcher) -> String {
    let firing = [r#"alertstate="firing""#].into_iter().chain(wanted.labels());
    cluster.selector("ALERTS", &firing.collect::<Vec<_>>())
}

/// Every series that the catalogue reads, each once.
pub fn known_series() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = NODE_FAMILIES
        .iter()
        .flat_map(|family| family.chain)
        .flat_map(|formula| formula.series())
        .chain(CONTAINER_FAMILIES.iter().map(|family| family.series))
        .chain(CONTAINER_FAMILIES.iter().filter_map(|family| family.recorded))
        .chain([
            SERVICE_STATE,
            SERVICE_PROCESS,
            BUILD_INFO,
            COLLECTOR_SUCCESS,
            COLLECTOR_TIMEOUT,
        ])
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Quantities that have a history.
pub const HISTORY: [NodeQuantity; 3] = [
    NodeQuantity::Commit,
    NodeQuantity::CommitLimit,
    NodeQuantity::CpuRatio,
];

fn node_history(matcher: &Matcher) -> String {
    any(NODE_FAMILIES
        .iter()
        .filter(|family| HISTORY.contains(&family.quantity))
        .map(|family| tagged(&node_value(family, matcher), family.key)))
}

/// `timestamp()` works on plain selectors only; of anything else it is the time of the query.
fn newest(by: &str, selector: &str) -> String {
    format!("max by ({by}) (timestamp({selector}))")
}

fn tagged(expression: &str, quantity: &str) -> String {
    format!(r#"label_replace({expression}, "{QUANTITY}", "{quantity}", "", "")"#)
}

fn any(expressions: impl IntoIterator<Item = String>) -> String {
    expressions.into_iter().collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_parses_with_and_without_a_cluster_matcher() {
        for matcher in [
            Matcher::default(),
            Matcher::parse(r#"cluster="prod",region=~"eu.*""#).unwrap(),
        ] {
            for query in queries(&matcher) {
                if let Err(error) = promql_parser::parser::parse(&query.promql) {
                    panic!("{}: {error}\n{}", query.name.name(), query.promql);
                }
            }
        }
    }

    #[test]
    fn alerts_are_asked_for_as_the_operator_named_them() {
        let cluster = Matcher::parse(r#"cluster="prod""#).unwrap();
        let query = alerts(&Matcher::of_alerts("severity=critical").unwrap(), &cluster);
        assert_eq!(
            query,
            r#"ALERTS{alertstate="firing",severity="critical",cluster="prod"}"#
        );
        assert!(query.starts_with(FIRING));
        promql_parser::parser::parse(&query).unwrap();
    }

    #[test]
    fn the_cluster_matcher_stands_in_every_selector() {
        let matcher = Matcher::parse(r#"cluster="prod""#).unwrap();
        for query in queries(&matcher) {
            let selectors = known_series()
                .iter()
                .map(|series| query.promql.matches(&format!("{series}{{")).count())
                .sum::<usize>()
                .max(1);
            assert!(
                query.promql.matches(r#"cluster="prod""#).count() >= selectors,
                "{}: {}",
                query.name.name(),
                query.promql
            );
            let bare = known_series()
                .into_iter()
                .find(|series| query.promql.contains(&format!("{series})")));
            assert_eq!(bare, None, "{}", query.name.name());
        }
    }

    #[test]
    fn a_query_fits_into_the_address_of_a_proxied_request() {
        // Through the API server queries travel in the address; common proxies allow 8 KiB of it.
        for query in queries(&Matcher::default()) {
            let encoded: usize = query
                .promql
                .bytes()
                .map(|byte| {
                    if byte.is_ascii_alphanumeric() || byte == b'_' {
                        1
                    } else {
                        3
                    }
                })
                .sum();
            assert!(encoded < 8000, "{}: {encoded}", query.name.name());
        }
    }
}
