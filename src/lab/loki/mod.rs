//! The Loki of the simulated cluster, behind its gateway. It keeps what the node's Alloy ships, and answers
//! selectors with line filters; there is no `LogQL` engine in it: other stages are refused.

mod api;
mod database;
mod logql;
mod ship;
mod tail;

pub use api::{gateway, router, streams};
pub use database::{Database, Labelled, Labels};
pub use logql::Query;
pub use ship::Shipper;

/// Port of Loki.
pub const LOKI_PORT: u16 = 3100;

/// Port of its gateway.
pub const GATEWAY_PORT: u16 = 8080;
