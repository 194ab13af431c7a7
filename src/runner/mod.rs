//! Runs a maintenance: ties the state machine to the executor, the journal and the observations of the store.
//! Screens and command line drive the same [`session::Session`].

pub mod boots;
mod clock;
pub mod journal;
pub mod report;
pub mod round;
pub mod round_journal;
pub mod session;
