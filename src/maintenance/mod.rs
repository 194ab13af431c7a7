//! The guided maintenance of a node: preflight → cordon → drain → update and restart → proof of reboot → revision →
//! network → uncordon → pods back.
//!
//! [`machine::step`] is pure and by value: `step(state, input) -> (state, effects)`. Inputs are observations of the
//! cluster, answers to earlier effects, time, and the operator. An executor (`sources::kubernetes::maintain`) performs
//! the effects; a [`record::Record`], written to an annotation of the node and to a journal, is all that must survive
//! for the work to go on from another terminal.

pub mod boots;
pub mod effect;
pub mod event;
pub mod input;
pub mod machine;
pub mod network;
pub mod observation;
pub mod options;
pub mod pods;
pub mod preflight;
pub mod record;
pub mod round;
pub mod state;
pub mod told;
pub mod window;
