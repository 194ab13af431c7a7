//! `metrics.k8s.io/v1beta1`, the fields that are used.

use crate::domain::measurement::{
    ContainerKey, ContainerMeasurement, ContainerQuantity, NodeKey, NodeMeasurement, NodeQuantity, Sample,
};
use crate::domain::quantity::Quantity;
use crate::domain::{Name, Timestamp};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use std::borrow::Cow;

/// A list of usages.
#[derive(Debug, Deserialize)]
pub struct List<T> {
    /// Items.
    #[serde(default = "Vec::new")]
    pub items: Vec<T>,
}

/// Usage of a node.
#[derive(Debug, Deserialize)]
pub struct NodeUsage<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    timestamp: Cow<'a, str>,
    #[serde(borrow)]
    usage: Usage<'a>,
}

/// Usage of a pod's containers.
#[derive(Debug, Deserialize)]
pub struct PodUsage<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    timestamp: Cow<'a, str>,
    #[serde(borrow, default)]
    containers: Vec<ContainerUsage<'a>>,
}

#[derive(Debug, Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct ContainerUsage<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    usage: Usage<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage<'a> {
    #[serde(borrow)]
    cpu: Cow<'a, str>,
    #[serde(borrow)]
    memory: Cow<'a, str>,
}

impl NodeUsage<'_> {
    /// The samples: working set in bytes, CPU in cores.
    pub fn samples(&self) -> impl Iterator<Item = NodeMeasurement> {
        let node = Name::from(self.metadata.name.as_ref());
        let at = sampled(&self.timestamp);
        [
            (NodeQuantity::CpuCores, amount(&self.usage.cpu)),
            (NodeQuantity::WorkingSet, amount(&self.usage.memory)),
        ]
        .into_iter()
        .filter_map(move |(quantity, value)| {
            Some(NodeMeasurement {
                node: NodeKey::Name(node.clone()),
                quantity,
                sample: Sample {
                    value: value?,
                    at: at?,
                },
            })
        })
    }
}

impl PodUsage<'_> {
    /// The samples of its containers: working set in bytes, CPU in cores.
    pub fn samples(&self) -> impl Iterator<Item = ContainerMeasurement> {
        let namespace = Name::from(self.metadata.namespace.as_ref());
        let pod = Name::from(self.metadata.name.as_ref());
        let at = sampled(&self.timestamp);
        self.containers.iter().flat_map(move |container| {
            let key = ContainerKey::Named {
                namespace: namespace.clone(),
                pod: pod.clone(),
                container: Name::from(container.name.as_ref()),
            };
            [
                (ContainerQuantity::CpuCores, amount(&container.usage.cpu)),
                (ContainerQuantity::WorkingSet, amount(&container.usage.memory)),
            ]
            .into_iter()
            .filter_map(move |(quantity, value)| {
                Some(ContainerMeasurement {
                    container: key.clone(),
                    quantity,
                    sample: Sample {
                        value: value?,
                        at: at?,
                    },
                })
            })
        })
    }
}

fn amount(text: &str) -> Option<f64> {
    text.parse().ok().map(Quantity::fraction)
}

/// `timestamp` is the end of the `window` over which the usage was measured, so the newest sample is as old.
fn sampled(text: &str) -> Option<Timestamp> {
    let time = DateTime::parse_from_rfc3339(text).ok()?;
    Some(time.with_timezone(&Utc))
}
