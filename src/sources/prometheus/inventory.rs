//! Which series this Prometheus holds and which exporters it scrapes; why something is missing.

use super::fleet::{Fleet, Owner, owner};
use super::samples::NodeSamples;
use super::wire::Vector;
use crate::domain::measurement::{Measurements, Missing, NodeKey, NodeQuantity, Quantity};
use crate::domain::reading::Absence;
use crate::sources::exporter::collectors::Collectors;
use crate::sources::exporter::names::{
    BUILD_INFO, CONTAINER_COLLECTOR, CONTAINER_FAMILIES, NODE_FAMILIES, SERVICE_COLLECTOR, SERVICE_STATE,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What was found once, and is looked up again now and then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// Jobs of each series of the catalogue that exists.
    series: BTreeMap<String, BTreeSet<String>>,
    /// How many instances have a build info: the measure of how much a Prometheus knows about Windows.
    instances: usize,
    exporters: HashMap<NodeKey, Collectors>,
}

impl Inventory {
    /// Reads the answers to `Series` and `Exporters`.
    pub fn new(series: &Vector<'_>, exporters: &Vector<'_>, fleet: Option<&Fleet>) -> Self {
        let mut inventory = Self::default();
        for row in &series.rows {
            let name = row.metric.name_of_series.as_ref();
            inventory
                .series
                .entry(name.to_owned())
                .or_default()
                .insert(row.metric.job.to_string());
        }
        for row in &exporters.rows {
            let Owner::Ours(node) = owner(&row.metric, fleet) else {
                continue;
            };
            let exporter = inventory.exporters.entry(node).or_default();
            let good = row.value.is_some_and(|(_, number)| number.0 > 0.0);
            match row.metric.quantity.as_ref() {
                "success" => exporter.set_success(&row.metric.collector, good),
                "timeout" => exporter.set_timeout(&row.metric.collector, good),
                _ => exporter.set_version(&row.metric.version),
            }
        }
        inventory.instances = inventory.exporters.len();
        inventory
    }

    /// How many instances of this cluster it scrapes.
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// Whether there is any series of the exporter.
    pub fn has_windows_series(&self) -> bool {
        self.series.keys().any(|name| name.starts_with("windows_"))
    }

    /// What is scraped, in words: how many exporters of which versions under which jobs.
    pub fn shown(&self) -> String {
        let versions: BTreeSet<&str> = self.exporters.values().filter_map(Collectors::version).collect();
        let versions: Vec<&str> = versions.into_iter().collect();
        let jobs: Vec<&str> = self.jobs().collect();
        let mut parts = vec![match self.instances {
            1 => "1 Windows instance".to_owned(),
            many => format!("{many} Windows instances"),
        }];
        if !versions.is_empty() {
            parts.push(format!("exporter {}", versions.join(", ")));
        }
        if !jobs.is_empty() {
            parts.push(format!("job {}", jobs.join(", ")));
        }
        if !jobs.is_empty() && !jobs.contains(&RULES_JOB) {
            parts.push(format!(
                "rules and dashboards of kube-prometheus-stack read job {RULES_JOB} only"
            ));
        }
        parts.join(", ")
    }

    fn jobs(&self) -> impl Iterator<Item = &str> {
        self.series
            .iter()
            .filter(|(name, _)| name.starts_with("windows_"))
            .flat_map(|(_, jobs)| jobs)
            .map(String::as_str)
            .filter(|job| !job.is_empty())
            .collect::<BTreeSet<_>>()
            .into_iter()
    }

    /// What a round lacks, and why: for everything where no series of a quantity exists, else for each scraped
    /// node without it.
    pub fn missing(
        &self,
        found: &Measurements,
        samples: &NodeSamples,
        fleet: Option<&Fleet>,
    ) -> Vec<Missing> {
        let mut missing = Vec::new();
        let present: HashSet<(&NodeKey, NodeQuantity)> =
            found.nodes.iter().map(|one| (&one.node, one.quantity)).collect();
        for family in &NODE_FAMILIES {
            let known = family
                .chain
                .iter()
                .any(|formula| formula.series().all(|name| self.has(name)));
            self.explain(
                &mut missing,
                Quantity::Node(family.quantity),
                family.collector,
                known,
                |node| present.contains(&(node, family.quantity)),
            );
        }
        let with_services: HashSet<&NodeKey> = found.services.iter().map(|one| &one.node).collect();
        self.explain(
            &mut missing,
            Quantity::Services,
            SERVICE_COLLECTOR,
            self.has(SERVICE_STATE),
            |node| with_services.contains(node),
        );
        for family in &CONTAINER_FAMILIES {
            let known = self.has(family.series) || family.recorded.is_some_and(|name| self.has(name));
            // Samples of containers do not name their node.
            self.explain(
                &mut missing,
                Quantity::Container(family.quantity),
                CONTAINER_COLLECTOR,
                known,
                |_| true,
            );
        }
        missing.extend(ambiguous(samples));
        missing.extend(self.not_scraped(fleet, found));
        missing
    }

    fn has(&self, series: &str) -> bool {
        self.series.contains_key(series)
    }

    fn explain(
        &self,
        missing: &mut Vec<Missing>,
        quantity: Quantity,
        collector: &'static str,
        known: bool,
        present: impl Fn(&NodeKey) -> bool,
    ) {
        if !known {
            missing.push(Missing {
                quantity,
                node: None,
                reason: self.why_nowhere(collector),
            });
            return;
        }
        for (node, exporter) in &self.exporters {
            if !present(node) {
                missing.push(Missing {
                    quantity,
                    node: Some(node.clone()),
                    reason: exporter.why_missing(collector),
                });
            }
        }
    }

    /// Of several exporters the one that says most: a collector that is on but failed beats one that is off.
    fn why_nowhere(&self, collector: &'static str) -> Absence {
        let reasons: BTreeSet<String> = self
            .exporters
            .values()
            .map(|exporter| exporter.why_missing(collector).to_string())
            .collect();
        let text = match reasons.into_iter().next() {
            Some(reason) => reason,
            None if self.has_windows_series() && !self.has(BUILD_INFO) => {
                format!("no series of collector {collector} in this Prometheus; is that collector on?")
            }
            None => {
                "this Prometheus scrapes no windows_exporter of this cluster; with kube-prometheus-stack set \
                     windowsMonitoring.enabled=true"
                    .to_owned()
            }
        };
        Absence::NotCollected(Arc::from(text))
    }

    /// Nodes of which there is no series at all, although there are of others.
    fn not_scraped(&self, fleet: Option<&Fleet>, found: &Measurements) -> Vec<Missing> {
        let seen: HashSet<&NodeKey> = found.nodes.iter().map(|one| &one.node).collect();
        if seen.is_empty() || !seen.iter().all(|key| matches!(key, NodeKey::Address(_))) {
            return Vec::new();
        }
        let mut missing = Vec::new();
        for address in fleet.into_iter().flat_map(Fleet::addresses) {
            let node = NodeKey::Address(address);
            if seen.contains(&node) || self.exporters.contains_key(&node) {
                continue;
            }
            let reason = Absence::NotCollected(Arc::from(format!(
                "Prometheus has no sample of {address}: look at its targets page for this instance (exporter pod, \
                 firewall on port 9182)"
            )));
            missing.extend(node_quantities().map(|quantity| Missing {
                quantity,
                node: Some(node.clone()),
                reason: reason.clone(),
            }));
        }
        missing
    }
}

/// Everything that Prometheus may tell.
pub fn all_quantities() -> impl Iterator<Item = Quantity> {
    let containers = CONTAINER_FAMILIES
        .iter()
        .map(|family| Quantity::Container(family.quantity));
    node_quantities().chain(containers)
}

fn node_quantities() -> impl Iterator<Item = Quantity> {
    NODE_FAMILIES
        .iter()
        .map(|family| Quantity::Node(family.quantity))
        .chain([Quantity::Services])
}

/// Job label that the rules and dashboards of kube-prometheus-stack select.
const RULES_JOB: &str = "windows-exporter";

fn ambiguous(samples: &NodeSamples) -> impl Iterator<Item = Missing> {
    let clusters: Vec<&str> = samples.oddities.clusters.iter().map(String::as_str).collect();
    let reason = Absence::NotCollected(Arc::from(format!(
        "more than one cluster in this Prometheus has a node with this address ({}): pick one with \
         --prometheus-matcher",
        clusters.join(", ")
    )));
    samples.ambiguous.iter().flat_map(move |node| {
        let reason = reason.clone();
        node_quantities().map(move |quantity| Missing {
            quantity,
            node: Some(node.clone()),
            reason: reason.clone(),
        })
    })
}
