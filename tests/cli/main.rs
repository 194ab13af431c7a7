//! The command line as a user or a script meets it: the real binary, against servers in this process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    reason = "a test fails by panicking; its figures are rounded before they are compared"
)]

mod bad_input;
mod figures;
mod lab_verbs;
mod logs;
mod operator;
mod usage;
