//! From the API's objects to what a preflight judges.

use crate::domain::Name;
use crate::domain::node::Toleration;
use crate::domain::pod::Resources;
use crate::domain::quantity;
use crate::domain::selector::{LabelSelector, Term};
use crate::maintenance::preflight::survey::{Image, NodePort, RuntimeClass, Wishes};
use crate::sources::kubernetes::wire::value::{List, Text};
use k8s_openapi::api::core::v1::{self as core, NodeSelectorRequirement, NodeSelectorTerm, PodSpec};
use k8s_openapi::api::node::v1 as node;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A node, of which only the images count: its row is decoded from the same answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeImages<'a> {
    #[serde(borrow)]
    status: ImagesStatus<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ImagesStatus<'a> {
    #[serde(borrow)]
    images: List<ContainerImage<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ContainerImage<'a> {
    #[serde(borrow)]
    names: List<Text<'a>>,
    size_bytes: u64,
}

impl NodeImages<'_> {
    /// The images in the node's store.
    pub fn to_images(&self) -> Box<[Image]> {
        let images = self.status.images.iter();
        images
            .map(|image| Image {
                names: image.names.iter().map(Text::to_name).collect(),
                bytes: image.size_bytes,
            })
            .collect()
    }
}

/// Where a pod may run.
pub fn wishes(pod: &core::Pod) -> Wishes {
    let Some(spec) = &pod.spec else {
        return Wishes::default();
    };
    let mut unjudged = unjudged(spec);
    let terms = required_terms(spec);
    if terms.iter().any(|term| !is_judged(term)) {
        unjudged.push("node affinity by fields or numbers");
    }
    Wishes {
        node_selector: pairs(spec.node_selector.as_ref()),
        tolerations: tolerations(spec.tolerations.as_deref()),
        node_terms: terms.iter().map(selector).collect(),
        overhead: overhead(spec.overhead.as_ref()),
        unjudged: unjudged.into(),
    }
}

/// What the scheduler looks at besides.
fn unjudged(spec: &PodSpec) -> Vec<&'static str> {
    let affinity = spec.affinity.as_ref();
    let required = |terms: Option<&Vec<core::PodAffinityTerm>>| terms.is_some_and(|terms| !terms.is_empty());
    let pods = affinity.and_then(|affinity| affinity.pod_affinity.as_ref());
    let anti = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref());
    let mut spread = spec.topology_spread_constraints.iter().flatten();
    let mut volumes = spec.volumes.iter().flatten();
    let mut ports = spec
        .containers
        .iter()
        .flat_map(|container| container.ports.iter().flatten());
    let looked_at = [
        (
            "pod affinity",
            required(pods.and_then(|pods| pods.required_during_scheduling_ignored_during_execution.as_ref())),
        ),
        (
            "pod anti-affinity",
            required(anti.and_then(|anti| anti.required_during_scheduling_ignored_during_execution.as_ref())),
        ),
        (
            "topology spread",
            spread.any(|constraint| constraint.when_unsatisfiable == "DoNotSchedule"),
        ),
        (
            "where its volumes can be mounted",
            volumes.any(|volume| volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some()),
        ),
        (
            "host ports",
            ports.any(|port| port.host_port.is_some_and(|port| port > 0)),
        ),
        (
            "another scheduler",
            spec.scheduler_name
                .as_deref()
                .is_some_and(|name| name != "default-scheduler"),
        ),
    ];
    looked_at
        .into_iter()
        .filter_map(|(what, found)| found.then_some(what))
        .collect()
}

fn required_terms(spec: &PodSpec) -> &[NodeSelectorTerm] {
    spec.affinity
        .as_ref()
        .and_then(|affinity| affinity.node_affinity.as_ref())
        .and_then(|nodes| nodes.required_during_scheduling_ignored_during_execution.as_ref())
        .map_or(&[], |required| &required.node_selector_terms)
}

fn is_judged(term: &NodeSelectorTerm) -> bool {
    term.match_fields.as_ref().is_none_or(Vec::is_empty)
        && term
            .match_expressions
            .iter()
            .flatten()
            .all(|expression| label_term(expression).is_some())
}

/// The part of a term that is about labels and their values.
fn selector(term: &NodeSelectorTerm) -> LabelSelector {
    let expressions = term.match_expressions.iter().flatten();
    LabelSelector::new(expressions.filter_map(label_term).collect())
}

fn label_term(expression: &NodeSelectorRequirement) -> Option<Term> {
    let label = expression.key.clone();
    let values = || expression.values.clone().unwrap_or_default();
    match expression.operator.as_str() {
        "In" => Some(Term::In(label, values())),
        "NotIn" => Some(Term::NotIn(label, values())),
        "Exists" => Some(Term::Exists(label)),
        "DoesNotExist" => Some(Term::Missing(label)),
        _ => None,
    }
}

fn pairs(sent: Option<&BTreeMap<String, String>>) -> Box<[(Name, Name)]> {
    sent.into_iter()
        .flatten()
        .map(|(label, value)| (Name::from(label.as_str()), Name::from(value.as_str())))
        .collect()
}

fn tolerations(sent: Option<&[core::Toleration]>) -> Box<[Toleration]> {
    let present = |text: Option<&String>| {
        let text = text.filter(|text| !text.is_empty())?;
        Some(Name::from(text.as_str()))
    };
    sent.into_iter()
        .flatten()
        .map(|toleration| Toleration {
            key: present(toleration.key.as_ref()),
            value: (toleration.operator.as_deref() != Some("Exists"))
                .then(|| Name::from(toleration.value.as_deref().unwrap_or_default())),
            effect: present(toleration.effect.as_ref()),
        })
        .collect()
}

fn overhead(sent: Option<&BTreeMap<String, Quantity>>) -> Resources {
    let amount = |name: &str| Some(sent?.get(name)?.0.as_str());
    Resources {
        cpu_millicores: amount("cpu").and_then(|text| quantity::millicores(text).ok()),
        memory_bytes: amount("memory").and_then(|text| quantity::bytes(text).ok()),
    }
}

/// The scheduling part of a `RuntimeClass`.
pub fn runtime_class(class: &node::RuntimeClass) -> RuntimeClass {
    let scheduling = class.scheduling.as_ref();
    RuntimeClass {
        node_selector: pairs(scheduling.and_then(|scheduling| scheduling.node_selector.as_ref())),
        tolerations: tolerations(scheduling.and_then(|scheduling| scheduling.tolerations.as_deref())),
    }
}

/// The Service, if it is open on ports of the nodes.
pub fn node_port(service: &core::Service) -> Option<NodePort> {
    let spec = service.spec.as_ref()?;
    let ports: Box<[u16]> = spec
        .ports
        .iter()
        .flatten()
        .filter_map(|port| u16::try_from(port.node_port?).ok())
        .filter(|port| *port > 0)
        .collect();
    if ports.is_empty() {
        return None;
    }
    // An empty selector selects nothing here: the endpoints are made by hand.
    let selector = spec.selector.as_ref().filter(|labels| !labels.is_empty());
    let terms = |labels: &BTreeMap<String, String>| {
        let each = labels.iter();
        each.map(|(label, value)| Term::In(label.clone(), vec![value.clone()]))
            .collect()
    };
    Some(NodePort {
        namespace: Name::from(service.metadata.namespace.as_deref().unwrap_or_default()),
        name: Name::from(service.metadata.name.as_deref().unwrap_or_default()),
        selector: selector.map(|labels| LabelSelector::new(terms(labels))),
        ports,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of_spec(spec: &Value) -> Wishes {
        let mut spec = spec.clone();
        spec["containers"] =
            json!([{"name": "main", "ports": [{"containerPort": 80, "hostPort": spec["hostPort"]}]}]);
        wishes(&serde_json::from_value(json!({"metadata": {}, "spec": spec})).unwrap())
    }

    #[test]
    fn a_pod_says_where_it_may_run() {
        let found = of_spec(&json!({
            "nodeSelector": {"kubernetes.io/os": "windows"},
            "tolerations": [
                {"key": "os", "value": "windows", "effect": "NoSchedule"},
                {"key": "gpu", "operator": "Exists"},
                {"operator": "Exists", "effect": "NoExecute"},
            ],
            "overhead": {"cpu": "250m", "memory": "1Mi"},
        }));
        assert_eq!(
            found.node_selector[..],
            [("kubernetes.io/os".into(), "windows".into())]
        );
        let said: Vec<_> = found
            .tolerations
            .iter()
            .map(|one| (one.key.as_deref(), one.value.as_deref(), one.effect.as_deref()))
            .collect();
        assert_eq!(
            said,
            [
                (Some("os"), Some("windows"), Some("NoSchedule")),
                (Some("gpu"), None, None),
                (None, None, Some("NoExecute")),
            ]
        );
        assert_eq!(found.overhead.cpu_millicores, Some(250));
        assert_eq!(found.overhead.memory_bytes, Some(1 << 20));
        assert!(found.unjudged.is_empty() && found.node_terms.is_empty());
    }

    #[test]
    fn required_node_affinity_is_read_term_by_term() {
        let affinity = |term: Value| {
            let terms = json!({"nodeSelectorTerms": [term, {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]});
            of_spec(
                &json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}),
            )
        };
        let found =
            affinity(json!({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}));
        let terms: Vec<String> = found.node_terms.iter().map(ToString::to_string).collect();
        assert_eq!(terms, ["zone in (a,b)", "disk"]);
        assert!(found.unjudged.is_empty());
        for half_understood in [
            json!({"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}]}),
            json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["k8s-lab-win-2"]}]}),
        ] {
            assert_eq!(
                affinity(half_understood).unjudged[..],
                ["node affinity by fields or numbers"]
            );
        }
    }

    #[test]
    fn what_is_not_judged_is_named() {
        let near = json!({"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]});
        let found = of_spec(&json!({
            "affinity": {"podAffinity": near, "podAntiAffinity": near},
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
            "volumes": [{"name": "reports", "persistentVolumeClaim": {"claimName": "reports"}}],
            "hostPort": 8080,
            "schedulerName": "own",
        }));
        assert_eq!(
            found.unjudged[..],
            [
                "pod affinity",
                "pod anti-affinity",
                "topology spread",
                "where its volumes can be mounted",
                "host ports",
                "another scheduler",
            ]
        );
    }

    #[test]
    fn only_services_with_ports_on_the_nodes_count() {
        let of = |spec: Value| {
            let service =
                json!({"metadata": {"namespace": "monitoring", "name": "loki-gateway"}, "spec": spec});
            node_port(&serde_json::from_value(service).unwrap())
        };
        let found =
            of(json!({"selector": {"app": "loki"}, "ports": [{"port": 80, "nodePort": 31100}]})).unwrap();
        assert_eq!(found.ports[..], [31100]);
        assert_eq!(found.selector.unwrap().to_string(), "app in (loki)");
        let by_hand = of(json!({"selector": {}, "ports": [{"port": 80, "nodePort": 31100}]})).unwrap();
        assert_eq!(by_hand.selector, None);
        assert_eq!(
            of(json!({"selector": {"app": "loki"}, "ports": [{"port": 80}]})),
            None
        );
    }

    #[test]
    fn images_keep_all_of_their_names() {
        let node = json!({"status": {"images": [{"names": ["example/web@sha256:1", "example/web:1.3"], "sizeBytes": 1024}]}});
        let text = node.to_string();
        let images = serde_json::from_str::<NodeImages<'_>>(&text).unwrap().to_images();
        assert_eq!(
            images[0].names[..],
            ["example/web@sha256:1".into(), "example/web:1.3".into()]
        );
        assert_eq!(images[0].bytes, 1024);
    }
}
