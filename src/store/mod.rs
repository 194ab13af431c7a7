//! The only state: folds source events, joins them, answers view models.

pub mod view;
