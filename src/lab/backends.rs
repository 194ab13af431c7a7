//! Which HTTP service answers at which address of the simulated cluster: kubelets, exporters, Prometheus,
//! metrics-server. The embedded API server proxies to these in process; an attached lab binds them for real.

use axum::Router;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

/// The address book. Cheap to clone; all clones are one book.
#[derive(Clone, Default)]
pub struct Backends {
    routers: Arc<RwLock<HashMap<SocketAddr, Router>>>,
}

impl Backends {
    /// From now on `router` answers at `address`.
    pub fn register(&self, address: SocketAddr, router: Router) {
        self.routers
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(address, router);
    }

    /// From now on nothing answers there (connection refused).
    pub fn remove(&self, address: &SocketAddr) {
        self.routers
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(address);
    }

    /// Who answers there.
    pub fn find(&self, address: &SocketAddr) -> Option<Router> {
        self.routers
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(address)
            .cloned()
    }
}
