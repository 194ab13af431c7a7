//! The embedded API server, asked as its users ask it: by `kube` and by `kubectl`.

mod evictions;
mod kubectl;
mod objects;
mod reach;
mod rights;
mod support;
mod watches;
