//! Stories: given this cluster, when this happens, the operator sees that.

mod cluster;
mod generations;
mod pages;
mod sources_off;
mod tables;
