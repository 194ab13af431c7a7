//! The guided maintenance, headless, against the embedded lab: real HTTP, real processes, the article's cluster.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set its stage up fails"
)]

#[path = "../cli/operator.rs"]
#[expect(dead_code, reason = "every command here names the same kubeconfig")]
mod operator;
mod scene;

mod before;
mod crash;
mod kills;
mod reboot_pod;
mod round;
mod session;
mod take_over;
