//! `windows_exporter`: names of its series, its text format, and the direct scrape.

pub mod collectors;
pub mod names;
