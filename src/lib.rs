//! drainboard.
