//! The loop: what is drawn when, and what the sources are asked.
