//! What is wrong, or could be, with the way out: the findings. Pure: each family of rules looks at what it is given
//! and answers with [`Finding`]s. [`manifest`] judges pod templates, written down in a file or running.

pub mod manifest;

use crate::domain::Name;
use std::fmt;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A standing condition that harms nothing now.
    Info,
    /// A threshold is crossed, or harm is likely.
    Warning,
    /// It fails, or certainly will.
    Critical,
}

impl Severity {
    /// The word in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// The object that a finding is about. Its texts come from outside: sanitise before showing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    /// Kind, e.g. `Deployment`.
    pub kind: Name,
    /// Namespace; `None` for cluster-scoped objects and where a manifest leaves it to `kubectl`.
    pub namespace: Option<Name>,
    /// Name.
    pub name: Name,
}

/// `Deployment win-demo/hello-win`.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

/// Something that is wrong or could be, with its way out. Texts may quote what came from outside: sanitise before
/// showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Which rule found it; stable, kebab-case.
    pub id: &'static str,
    /// What it is about.
    pub object: Object,
    /// What is wrong, in one line.
    pub title: String,
    /// What it was concluded from, one fact a line.
    pub evidence: Vec<String>,
    /// Why that matters on Windows.
    pub why: &'static str,
    /// What to do, in the order in which to do it.
    pub remedy: Vec<String>,
}
