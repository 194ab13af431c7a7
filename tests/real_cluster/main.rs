//! The stories told against the real control plane, etcd, kube-state-metrics and Prometheus.
//!
//! They run beside the cluster that `tests/real/enter` brings up, and only there:
//! `tests/real/run` compiles this file, enters and starts it.

mod parts;

mod the_parts_answer;
