//! Which labels a Loki uses: they depend on the collector that feeds it.

use crate::domain::Name;
use crate::domain::log::{LogLabels, LogStream};
use std::fmt;

/// What a label tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelRole {
    /// Namespace of the pod.
    Namespace,
    /// Name of the pod.
    Pod,
    /// Name of the container.
    Container,
    /// Name of the node.
    Node,
}

impl LabelRole {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Namespace, Self::Pod, Self::Container, Self::Node];

    /// Its word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Namespace => "namespace",
            Self::Pod => "pod",
            Self::Container => "container",
            Self::Node => "node",
        }
    }

    /// The names that collectors give it, in the order in which they are looked for.
    const fn known(self) -> &'static [&'static str] {
        match self {
            // Alloy and Promtail; OpenTelemetry; Fluent Bit.
            Self::Namespace => &[
                "namespace",
                "k8s_namespace_name",
                "kubernetes_namespace_name",
                "namespace_name",
            ],
            Self::Pod => &["pod", "k8s_pod_name", "kubernetes_pod_name", "pod_name"],
            Self::Container => &[
                "container",
                "k8s_container_name",
                "kubernetes_container_name",
                "container_name",
            ],
            Self::Node => &[
                "node",
                "node_name",
                "k8s_node_name",
                "kubernetes_host",
                "host",
                "hostname",
                "instance",
            ],
        }
    }
}

/// What the operator says of the labels; the rest is detected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelChoice {
    /// Names of labels.
    pub names: Vec<(LabelRole, String)>,
    /// Label and value of the streams that carry the Windows event logs.
    pub events: Option<(String, String)>,
}

/// The name of a label, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelName {
    /// Its name.
    pub name: Name,
    /// A label of the stream; otherwise metadata of each line (OpenTelemetry), which a selector does not know.
    pub of_stream: bool,
}

/// The labels of a Loki.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    namespace: LabelName,
    pod: LabelName,
    container: LabelName,
    node: LabelName,
    /// Label and value of the Windows event logs; `None` if there are none.
    pub events: Option<(Name, Name)>,
}

/// Label whose values tell the streams of event logs apart.
pub const JOB: &str = "job";

impl Labels {
    /// Of a Loki with streams that have these labels, and these values of [`JOB`].
    pub fn detect(known: &[String], jobs: &[String], choice: &LabelChoice) -> Self {
        // Collectors are told apart by how they name the pod's namespace: their names are not mixed.
        let has = |name: &str| known.iter().any(|label| label == name);
        let family = LabelRole::Namespace.known().iter().position(|name| has(name));
        let name_of = |role: LabelRole| {
            let chosen = choice.names.iter().find(|(other, _)| *other == role);
            if let Some((_, name)) = chosen {
                return LabelName {
                    name: name.as_str().into(),
                    of_stream: known.is_empty() || has(name),
                };
            }
            let there = role.known().iter().find(|name| has(name));
            let usual = match role {
                LabelRole::Node if family == Some(1) => "k8s_node_name",
                LabelRole::Node => "node",
                _ => role.known().get(family.unwrap_or(0)).copied().unwrap_or("pod"),
            };
            LabelName {
                name: there.copied().unwrap_or(usual).into(),
                // Only what OpenTelemetry sends is kept as metadata where it is no label.
                of_stream: there.is_some() || family != Some(1),
            }
        };
        Self {
            namespace: name_of(LabelRole::Namespace),
            pod: name_of(LabelRole::Pod),
            container: name_of(LabelRole::Container),
            node: name_of(LabelRole::Node),
            events: match &choice.events {
                Some((label, value)) => Some((label.as_str().into(), value.as_str().into())),
                None => jobs
                    .iter()
                    .find(|job| is_event_log(job))
                    .map(|job| (JOB.into(), job.as_str().into())),
            },
        }
    }

    /// The label with this role.
    pub const fn of(&self, role: LabelRole) -> &LabelName {
        match role {
            LabelRole::Namespace => &self.namespace,
            LabelRole::Pod => &self.pod,
            LabelRole::Container => &self.container,
            LabelRole::Node => &self.node,
        }
    }

    /// The stream with these labels; what a line's metadata tells fills the gaps.
    pub fn stream(&self, labels: LogLabels, metadata: &LogLabels) -> LogStream {
        let value = |role: LabelRole| {
            let name = &self.of(role).name;
            labels.get(name).or_else(|| metadata.get(name)).cloned()
        };
        LogStream {
            namespace: value(LabelRole::Namespace),
            pod: value(LabelRole::Pod),
            container: value(LabelRole::Container),
            node: value(LabelRole::Node),
            labels,
        }
    }
}

/// `windows-events` (the article's Alloy), `windows_event_log`, `winlog` (Fluent Bit), `windowseventlog`
/// (OpenTelemetry).
fn is_event_log(job: &str) -> bool {
    let job = job.to_ascii_lowercase();
    (job.contains("windows") && job.contains("event")) || job.contains("winlog") || job.contains("eventlog")
}

/// `labels namespace, pod, container, node; event log job=windows-events`.
impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = LabelRole::ALL.map(|role| &*self.of(role).name);
        write!(f, "labels {}", names.join(", "))?;
        match &self.events {
            Some((label, value)) => write!(f, "; event log {label}={value}"),
            None => f.write_str("; no Windows event log"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(known: &[&str], jobs: &[&str]) -> Labels {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Labels::detect(&owned(known), &owned(jobs), &LabelChoice::default())
    }

    #[test]
    fn the_labels_of_each_collector_are_recognised() {
        let alloy = [
            "app",
            "container",
            "filename",
            "job",
            "namespace",
            "node",
            "pod",
            "stream",
        ];
        assert_eq!(
            detected(&alloy, &["windows-events"]).to_string(),
            "labels namespace, pod, container, node; event log job=windows-events"
        );
        let promtail = ["container", "filename", "job", "namespace", "node_name", "pod"];
        assert_eq!(
            detected(&promtail, &["kube-system/coredns"]).to_string(),
            "labels namespace, pod, container, node_name; no Windows event log"
        );
        let fluent_bit = [
            "job",
            "kubernetes_container_name",
            "kubernetes_host",
            "kubernetes_namespace_name",
            "kubernetes_pod_name",
        ];
        assert_eq!(
            detected(&fluent_bit, &["fluentbit", "winlog"]).to_string(),
            "labels kubernetes_namespace_name, kubernetes_pod_name, kubernetes_container_name, kubernetes_host; \
             event log job=winlog"
        );
    }

    #[test]
    fn what_opentelemetry_keeps_as_metadata_is_no_label_of_a_selector() {
        let labels = detected(&["k8s_container_name", "k8s_namespace_name", "service_name"], &[]);
        let of = |role| {
            let label = labels.of(role);
            (&*label.name, label.of_stream)
        };
        assert_eq!(of(LabelRole::Namespace), ("k8s_namespace_name", true));
        assert_eq!(of(LabelRole::Container), ("k8s_container_name", true));
        assert_eq!(of(LabelRole::Pod), ("k8s_pod_name", false));
        assert_eq!(of(LabelRole::Node), ("k8s_node_name", false));
    }

    #[test]
    fn an_empty_loki_is_taken_for_one_that_alloy_will_feed_and_the_operator_has_the_last_word() {
        assert_eq!(
            detected(&[], &[]).to_string(),
            "labels namespace, pod, container, node; no Windows event log"
        );
        let choice = LabelChoice {
            names: vec![(LabelRole::Node, "machine".to_owned())],
            events: Some(("source".to_owned(), "eventlog".to_owned())),
        };
        let labels = Labels::detect(&["namespace".to_owned(), "machine".to_owned()], &[], &choice);
        assert_eq!(
            labels.to_string(),
            "labels namespace, pod, container, machine; event log source=eventlog"
        );
    }
}
