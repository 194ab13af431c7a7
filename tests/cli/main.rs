//! The command line as a user or a script meets it: the real binary, against servers in this process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::print_stdout,
    reason = "a test fails by panicking; its figures are rounded before they are compared; it says what it did not check"
)]

mod bad_input;
mod figures;
mod image;
mod lab_verbs;
mod lint;
mod logs;
mod operator;
mod part;
mod probe;
mod registry;
mod rules;
mod smb;
mod usage;
