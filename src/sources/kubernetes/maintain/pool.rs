//! Which nodes a round is over: those of a pool, or with certain labels.

use super::ask::{asked, words};
use super::list::{decode, pages};
use super::lock::{PREFIX, lease_of};
use super::seen::SeenNode;
use crate::domain::Name;
use crate::domain::selector::LabelSelector;
use crate::sources::event::Scope;
use crate::sources::kubernetes::http::ApiServer;
use kube::api::ListParams;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How the nodes are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Those of this pool, which is what its Lease is named after: `10.0.26100`, `linux`, `10.0.26100-rack-7`.
    Pool(String),
    /// Those with these labels.
    Labels(LabelSelector),
}

/// The nodes of the choice by name; at least one.
///
/// # Errors
/// In words: none has been found, or the nodes could not be listed.
pub async fn nodes_of(
    client: kube::Client,
    request_timeout: Duration,
    chosen: &Chosen,
    pool_label: Option<&str>,
) -> Result<Vec<Name>, String> {
    let api = ApiServer::new(client, request_timeout, Arc::new(Scope::default()));
    let params = match chosen {
        Chosen::Pool(_) => ListParams::default(),
        Chosen::Labels(selector) => ListParams::default().labels(&selector.to_string()),
    };
    let mut nodes = Vec::new();
    let mut pools = BTreeSet::new();
    pages(&api, "/api/v1/nodes", &params, |reply| {
        let page = decode::<SeenNode<'_>>(reply, "NodeList")?;
        for node in &*page.items {
            let lease = lease_of(node, pool_label);
            let pool = lease.strip_prefix(PREFIX).unwrap_or(&lease);
            if matches!(chosen, Chosen::Labels(_)) || matches!(chosen, Chosen::Pool(wanted) if wanted == pool)
            {
                nodes.push(Name::from(&*node.metadata.name));
            }
            pools.insert(pool.to_owned());
        }
        Ok(page.token())
    })
    .await
    .map_err(|failure| words(&failure, &asked("list", "nodes")))?;
    nodes.sort_unstable();
    match chosen {
        _ if !nodes.is_empty() => Ok(nodes),
        Chosen::Labels(selector) => Err(format!(
            "no node has the labels {selector}: `kubectl get nodes --show-labels` shows what they have"
        )),
        Chosen::Pool(pool) => {
            let pools: Vec<String> = pools.into_iter().collect();
            Err(format!(
                "no node is in the pool '{pool}'; there are: {} (--pool-label divides them further)",
                pools.join(", ")
            ))
        }
    }
}
