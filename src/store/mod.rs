//! The only state: folds source events, joins them, answers view models.

mod events;
mod fold;
mod measured;
mod order;
pub mod view;
