//! What the direct scrape must know of Prometheus: it steps in for the nodes of which that has nothing fresh.

use crate::domain::Timestamp;
use crate::domain::measurement::NodeKey;
use std::collections::HashMap;

/// How Prometheus is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Health {
    /// It has not been asked, or has not answered yet.
    #[default]
    Unknown,
    /// It does not exist or does not answer; the text says which.
    Down(String),
    /// It answers, with these nodes' newest samples.
    Answering(HashMap<NodeKey, Timestamp>),
}
