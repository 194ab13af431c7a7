//! The simulated cluster behind `drainboard demo` and behind the tests.

pub mod apiserver;
pub mod backends;
