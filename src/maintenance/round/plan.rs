//! What was asked for: the nodes of a round, and what must hold between them. Kept in its journal.

use super::super::options::{Kept, Options, Purpose};
use super::super::window::Window;
use crate::domain::{Name, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What stands between two nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Terms {
    /// `--pause-after-first`: the operator confirms that it goes on after the first node.
    pub pause_after_first: bool,
    /// `--soak`: how long a node, and the pods that had left it, must stay well after it.
    pub soak: Option<Duration>,
    /// `--window`: nodes are begun in it only.
    pub window: Option<Window>,
    /// `--block-on-alerts`: label matchers of the alerts that must not fire when a node is begun.
    pub alerts: Option<String>,
}

impl Terms {
    /// These, and what was kept where they say nothing.
    #[must_use]
    pub fn or(self, kept: Self) -> Self {
        Self {
            pause_after_first: self.pause_after_first || kept.pause_after_first,
            soak: self.soak.or(kept.soak),
            window: self.window.or(kept.window),
            alerts: self.alerts.or(kept.alerts),
        }
    }
}

/// A round as it was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Names the round.
    pub id: String,
    /// User and host.
    pub by: String,
    /// When it was begun.
    pub started_at: Timestamp,
    /// What each maintenance is for.
    pub purpose: Purpose,
    /// Options of each maintenance that go on counting.
    pub kept: Kept,
    /// What stands between two nodes.
    pub terms: Terms,
    /// The nodes, in order.
    pub nodes: Vec<Name>,
}

impl Plan {
    /// Puts back what was asked for, for nodes that are not begun yet.
    pub fn restore(&self, options: &mut Options) {
        options.purpose = self.purpose;
        self.kept.restore(options);
    }
}
