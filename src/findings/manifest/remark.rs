//! A finding that points at a field.

use super::place::Place;
use super::template::{Container, PodTemplate};
use crate::findings::{Finding, Severity};

/// A finding about a pod template, and the field that it points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The finding.
    pub finding: Finding,
    /// The field.
    pub place: Place,
}

impl Remark {
    /// About the template as a whole.
    pub(super) fn about(
        template: &PodTemplate,
        (severity, id): (Severity, &'static str),
        place: Place,
        title: impl Into<String>,
    ) -> Self {
        Self {
            finding: Finding {
                severity,
                id,
                object: template.object.clone(),
                title: title.into(),
                evidence: Vec::new(),
                why: "",
                remedy: Vec::new(),
            },
            place,
        }
    }

    /// About one of its containers; `title` goes on behind the container's name.
    pub(super) fn about_container(
        template: &PodTemplate,
        container: &Container,
        rule: (Severity, &'static str),
        place: Place,
        title: &str,
    ) -> Self {
        let title = format!("container {}: {title}", container.name);
        Self::about(template, rule, place, title)
    }

    /// Adds a fact.
    #[must_use]
    pub(super) fn seen(mut self, fact: impl Into<String>) -> Self {
        self.finding.evidence.push(fact.into());
        self
    }

    /// Says why it matters.
    #[must_use]
    pub(super) fn why(mut self, why: &'static str) -> Self {
        self.finding.why = why;
        self
    }

    /// Adds what to do.
    #[must_use]
    pub(super) fn remedy(mut self, step: impl Into<String>) -> Self {
        self.finding.remedy.push(step.into());
        self
    }
}
