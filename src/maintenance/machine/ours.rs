//! Whether the node and its cordon are still those of this maintenance. Somebody else may uncordon the node, take the
//! maintenance over, abandon it from elsewhere, or delete the node.

use super::Turn;
use crate::domain::node::Node;
use crate::maintenance::event::Ending;
use crate::maintenance::observation::Observation;
use crate::maintenance::record::{Reached, Record};
use crate::maintenance::state::{Doubt, State, Step};

impl Turn<'_> {
    /// Whether the observation may be acted on. A watch can be late or go back to an older state, so what looks as if
    /// the node were lost is asked of the API server before it is believed, and nothing is changed until then.
    pub(super) fn still_ours(&mut self, observation: &Observation) -> bool {
        let Some(record) = self.state.record.as_ref() else {
            return false;
        };
        let node = observation.node.as_ref();
        let theirs = node.and_then(written_on);
        let own = theirs.as_ref().is_some_and(|theirs| theirs.id == record.id);
        self.state.flight.annotation_seen |= own;
        let same_node = node.is_some_and(|node| node.uid == record.node_uid);
        if lost(self.state, node).is_some() && (self.state.flight.annotation_seen || !same_node) {
            self.state.flight.doubt = Doubt::Raised;
            self.state.flight.list_at = Some(self.at);
            return false;
        }
        let uncordoned = own && theirs.is_some_and(|theirs| theirs.reached == Reached::PodsBack);
        let awaits_it = (Step::Restart..=Step::Uncordon).contains(&self.state.step);
        if uncordoned && awaits_it && node.is_some_and(|node| !node.unschedulable) {
            // It was done, and its answer is late or lost.
            self.uncordoned();
        }
        true
    }

    /// A fresh look at the node. False when it is not ours any more (then it ends here), or when a doubt came up after it
    /// was asked for.
    pub(super) fn looked_at(&mut self, node: Option<&Node>) -> bool {
        if let Some((ending, reason)) = lost(self.state, node) {
            self.end(ending, reason);
            return false;
        }
        if self.state.flight.doubt == Doubt::Asked {
            self.state.flight.doubt = Doubt::None;
        }
        self.state.flight.doubt == Doubt::None
    }
}

fn written_on(node: &Node) -> Option<Record> {
    node.maintenance
        .as_deref()
        .and_then(|text| Record::parse(text).ok())
}

/// Why the node is not ours any more, if it looks like that.
fn lost(state: &State, node: Option<&Node>) -> Option<(Ending, String)> {
    let record = state.record.as_ref()?;
    let name = &state.node;
    let Some(node) = node else {
        return Some((Ending::Aborted, format!("node {name} is not there any more")));
    };
    if node.uid != record.node_uid {
        let reason = format!(
            "node {name} was deleted and joined again: it is another node now, and its cordon is not ours"
        );
        return Some((Ending::Refused, reason));
    }
    let Some(theirs) = written_on(node) else {
        let reason = format!(
            "somebody abandoned this maintenance from elsewhere: the annotation of node {name} is gone"
        );
        return Some((Ending::Aborted, reason));
    };
    if theirs.id != record.id {
        return Some((Ending::Aborted, format!("{} took node {name} over", theirs.by)));
    }
    if node.unschedulable || theirs.reached == Reached::PodsBack || record.reached == Reached::PodsBack {
        return None;
    }
    let reason = format!("somebody uncordoned node {name} while it was being worked on; it is left as it is");
    Some((Ending::Aborted, reason))
}
