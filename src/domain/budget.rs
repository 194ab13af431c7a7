//! `PodDisruptionBudget`s: how many pods may be missing.

use super::Name;
use super::object::ObjectKey;
use super::pod::Pod;
use super::selector::LabelSelector;

/// A disruption budget with what a drain decides on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisruptionBudget {
    /// Identity.
    pub key: ObjectKey,
    /// `spec.selector`; `None` selects nothing (the API's null selector).
    pub selector: Option<LabelSelector>,
    /// `spec.minAvailable` as written, e.g. `1` or `50%`.
    pub min_available: Option<Name>,
    /// `spec.maxUnavailable` as written.
    pub max_unavailable: Option<Name>,
    /// `spec.unhealthyPodEvictionPolicy` is `AlwaysAllow`: pods that are not ready may always be evicted.
    pub unhealthy_always: bool,
    /// `status.disruptionsAllowed`: evictions that the budget allows now.
    pub allowed: u32,
    /// `status.currentHealthy`.
    pub healthy: u32,
    /// `status.desiredHealthy`.
    pub desired: u32,
    /// `status.expectedPods`.
    pub expected: u32,
    /// The status belongs to the spec (`observedGeneration`); otherwise the server refuses every eviction for now.
    pub observed: bool,
}

impl DisruptionBudget {
    /// Whether it protects this pod.
    pub fn protects(&self, pod: &Pod) -> bool {
        self.key.namespace.as_ref() == Some(&pod.namespace)
            && self
                .selector
                .as_ref()
                .is_some_and(|selector| selector.selects(&pod.labels))
    }

    /// It can never allow an eviction while its pods are as many as they should be: it wants all of them.
    pub const fn is_impossible(&self) -> bool {
        self.observed && self.expected > 0 && self.desired >= self.expected
    }
}
