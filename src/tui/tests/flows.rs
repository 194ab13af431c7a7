//! What the operator does, and what the screen answers.
