//! Pure types and arithmetic: no I/O, no clock. `now` is always a parameter.

pub mod budget;
pub mod cpu_maximum;
pub mod cpu_time;
pub mod event_record;
pub mod exit_code;
pub mod format;
pub mod host_process;
pub mod image;
pub mod log;
pub mod measurement;
pub mod memory;
pub mod node;
pub mod node_state;
pub mod node_truth;
pub mod object;
pub mod patch_tuesday;
pub mod pod;
pub mod pod_state;
pub mod quantity;
pub mod reading;
pub mod selector;
pub mod severity;
pub mod smb;
pub mod storage;
pub mod text;
pub mod wait;
pub mod windows_version;

use std::sync::Arc;

/// An interned piece of text: namespaces, node names, images and reasons repeat thousands of times in a
/// cluster, so rows share them.
pub type Name = Arc<str>;

/// Points in time, always UTC. jiff (the crate of kube's own types) is converted once, in `sources/`.
pub type Timestamp = chrono::DateTime<chrono::Utc>;
