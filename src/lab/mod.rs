//! The simulated cluster behind `drainboard demo` and behind the tests.

pub mod backends;
