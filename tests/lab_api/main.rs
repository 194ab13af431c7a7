//! The embedded API server, asked as its users ask it: by `kube` and by `kubectl`.

mod objects;
mod support;
mod watches;
