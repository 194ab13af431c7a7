//! The list of writes, as a test or an operator reads it: who changed what.

use std::sync::{Arc, Mutex, PoisonError};

/// One request that was not a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// User name.
    pub user: String,
    /// `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Path with query.
    pub path: String,
    /// HTTP status of the answer.
    pub code: u16,
}

/// All writes since the start. Cheap to clone; all clones are one list.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    entries: Arc<Mutex<Vec<AuditEntry>>>,
}

impl Audit {
    /// The writes so far, oldest first.
    pub fn entries(&self) -> Vec<AuditEntry> {
        self.entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Adds a write.
    pub fn add(&self, entry: AuditEntry) {
        self.entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(entry);
    }
}
