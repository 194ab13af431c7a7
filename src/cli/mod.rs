//! Headless commands: one file per command.
