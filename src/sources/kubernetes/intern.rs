//! Shares equal texts between rows: namespaces, node names, images, labels and reasons repeat thousands of
//! times in a cluster.

use super::wire::value::Text;
use crate::domain::Name;
use std::collections::HashSet;

/// A set of shared texts. Texts that no row uses any more are dropped when the set has doubled.
#[derive(Debug)]
pub struct Interner {
    names: HashSet<Name>,
    clean_at: usize,
}

/// Below this size cleaning is not worth its time.
const SMALLEST_CLEANING: usize = 4096;

impl Default for Interner {
    fn default() -> Self {
        Self {
            names: HashSet::new(),
            clean_at: SMALLEST_CLEANING,
        }
    }
}

impl Interner {
    /// The shared text.
    pub fn get(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        if self.names.len() >= self.clean_at {
            self.names.retain(|name| Name::strong_count(name) > 1);
            self.clean_at = (self.names.len() * 2).max(SMALLEST_CLEANING);
        }
        let name = Name::from(text);
        self.names.insert(name.clone());
        name
    }

    /// Shared keys and values.
    pub fn pairs(&mut self, pairs: &[(Text<'_>, Text<'_>)]) -> Box<[(Name, Name)]> {
        pairs
            .iter()
            .map(|(key, value)| (self.get(key), self.get(value)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_allocation() {
        let mut names = Interner::default();
        assert!(Name::ptr_eq(&names.get("win-demo"), &names.get("win-demo")));
    }

    #[test]
    fn texts_of_rows_that_are_gone_do_not_pile_up() {
        let mut names = Interner::default();
        let kept = names.get("kept");
        for number in 0..100_000 {
            names.get(&format!("revision-{number}"));
        }
        assert!(names.names.len() <= SMALLEST_CLEANING);
        assert!(Name::ptr_eq(&kept, &names.get("kept")));
    }
}
