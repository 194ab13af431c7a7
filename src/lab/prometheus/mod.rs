//! The Prometheus of the simulated cluster. It scrapes the simulated exporters, keeps an hour of samples, and
//! answers the queries of drainboard's own catalogue. There is no `PromQL` engine in it: any other query is
//! refused.

mod answers;
mod api;
mod scrape;
mod series;

pub use api::router;
pub use scrape::{SCRAPE_INTERVAL, Scraper};
pub use series::Database;

/// Port of Prometheus.
pub const PROMETHEUS_PORT: u16 = 9090;
