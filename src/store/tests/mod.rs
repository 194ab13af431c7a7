//! Stories: given this cluster, when this happens, the operator sees that.

mod cluster;
mod filters;
mod generations;
mod observe;
mod pages;
mod sources_off;
mod tables;
