//! The machine in a simulated cluster.

mod abandon;
mod api_lost;
mod cluster;
mod drain;
mod executor;
mod fuzz;
mod interference;
mod kills;
mod objects;
mod oracle;
mod outcome;
mod reports;
mod restart;
mod session;
mod time_limits;
mod uncordon;
mod world;
