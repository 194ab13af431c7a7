//! The command line as a user or a script meets it: the real binary, against servers in this process.

mod bad_input;
mod figures;
mod operator;
mod usage;
