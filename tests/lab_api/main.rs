//! The embedded API server, asked as its users ask it: by `kube` and by `kubectl`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a story whose scene is missing ends at once, and one that cannot be checked here says so"
)]

mod evictions;
mod kubectl;
mod objects;
mod reach;
mod rights;
mod support;
mod watches;
