//! The program on a terminal: what it takes, it gives back, however it ends or pauses.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot set its stage up fails"
)]

mod children;
mod desk;
mod ends;
mod maintenance;
mod pauses;
mod sizes;
