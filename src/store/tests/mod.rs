//! Stories: given this cluster, when this happens, the operator sees that.

mod boots;
pub(crate) mod cluster;
mod filters;
mod generations;
mod observe;
mod pages;
mod smb;
mod sources_off;
mod tables;
mod updates;
pub(crate) mod work;
mod workflow;
