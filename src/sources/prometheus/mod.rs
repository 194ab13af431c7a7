//! Windows metrics out of a Prometheus server.

pub mod catalogue;
pub mod matcher;
