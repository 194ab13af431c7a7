//! The simulated cluster behind `drainboard demo` and behind the tests.

pub mod apiserver;
pub mod article;
pub mod attach;
pub mod backends;
pub mod client;
pub mod controllers;
pub mod embedded;
pub mod error;
pub mod event_log;
pub mod exporter;
pub mod figures;
pub mod kubelet;
pub mod loki;
pub mod machine;
pub mod manifest;
pub mod marked;
pub mod metrics_api;
mod off;
pub mod play;
pub mod prometheus;
pub mod seed;
pub mod serve;
pub mod synthetic;
pub mod text;
pub mod timings;
pub mod world;

/// Annotation of the namespace `kube-system` that marks a cluster as a lab. No `drainboard lab` command touches
/// a server without it.
pub const LAB_ANNOTATION: &str = "drainboard.dev/lab";

#[cfg(test)]
mod tests;
