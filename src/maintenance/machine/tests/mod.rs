//! The machine in a simulated cluster.

mod abandon;
mod drain;
mod fuzz;
mod interference;
mod kills;
mod objects;
mod oracle;
mod reports;
mod restart;
mod session;
mod time_limits;
mod uncordon;
mod world;
