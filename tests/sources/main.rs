//! One source after the other is switched off, grows old, or answers something else, and the cluster behind the
//! screens changes: what the operator sees then. Real sources, store and commands against the embedded lab.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set its stage up fails"
)]

mod another_cluster;
mod bad_answers;
mod desk;
mod grown_old;
mod observed;
mod odd_samples;
#[path = "../cli/operator.rs"]
#[expect(dead_code, reason = "every command here names the same kubeconfig")]
mod operator;
mod smb;
mod switched_off;
mod watches_refused;
