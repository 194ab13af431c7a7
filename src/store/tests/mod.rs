//! Stories: given this cluster, when this happens, the operator sees that.

pub(super) mod cluster;
mod filters;
mod generations;
mod pages;
mod sources_off;
mod tables;
