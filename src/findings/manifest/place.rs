//! Where in a pod spec a remark points.

use std::fmt;

/// One step from a field into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field of an object.
    Key(&'static str),
    /// An item of a list, from 0.
    Item(usize),
}

/// A field of a pod spec, which may be one that is missing: then the nearest field above it is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place(Vec<Step>);

impl Place {
    /// The pod spec itself.
    pub fn spec() -> Self {
        Self::default()
    }

    /// The field `key` of this one; dots lead deeper (`resources.limits.memory`).
    #[must_use]
    pub fn field(mut self, key: &'static str) -> Self {
        self.0.extend(key.split('.').map(Step::Key));
        self
    }

    /// An item of this list.
    #[must_use]
    pub fn item(mut self, index: usize) -> Self {
        self.0.push(Step::Item(index));
        self
    }

    /// The way from the pod spec.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

/// `containers[0].resources.limits.memory`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Item(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
