//! All contact with the outside. Each source owns its reconnect and says how it is. Nothing outside this
//! module sees a wire type; what leaves it is a [`event::SourceEvent`].

#[cfg(test)]
mod bench;
pub mod context;
pub mod event;
pub mod exporter;
pub mod kubernetes;
pub mod logs;
pub mod loki;
pub mod metrics_api;
pub mod pace;
pub mod prometheus;
pub mod registry;
pub mod services;
mod supervisor;
pub mod transport;
pub mod unix_time;

pub use supervisor::{Running, SourcesOptions, start};

#[cfg(test)]
mod tests;
