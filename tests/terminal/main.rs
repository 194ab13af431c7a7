//! The program on a terminal: what it takes, it gives back, however it ends or pauses.

mod children;
mod desk;
mod ends;
mod pauses;
mod sizes;
