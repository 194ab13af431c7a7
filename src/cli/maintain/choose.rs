//! Which nodes are meant, and in which order.

use super::args::{MaintainArgs, Order};
use crate::cli::exit::CliError;
use crate::domain::Name;
use crate::runner::session::Setup;
use crate::sources::kubernetes::maintain::pool::{Chosen, nodes_of};
use crate::store::Store;

/// The nodes that were named, or chosen by pool or labels, in the order that was asked for; each once.
///
/// # Errors
/// None is in the pool or has the labels, or the nodes could not be listed.
pub async fn nodes(args: &MaintainArgs, setup: &Setup, store: &Store) -> Result<Vec<Name>, CliError> {
    let pool = args.pool.clone().map(Chosen::Pool);
    let labels = args.selector.clone().map(Chosen::Labels);
    let (mut nodes, order) = match pool.or(labels) {
        None => (
            args.nodes.iter().map(|node| Name::from(node.as_str())).collect(),
            Order::AsGiven,
        ),
        Some(chosen) => {
            let label = setup.options.pool_label.as_deref();
            let found = nodes_of(setup.client.clone(), setup.request_timeout, &chosen, label).await;
            (found.map_err(CliError::Usage)?, Order::Name)
        }
    };
    match args.order.unwrap_or(order) {
        Order::Name => nodes.sort_unstable(),
        // A node whose pods are not known comes last.
        Order::FewestPods => nodes.sort_by_key(|node| store.pods_on(node).unwrap_or(usize::MAX)),
        Order::AsGiven => {}
    }
    let mut seen = std::collections::BTreeSet::new();
    nodes.retain(|node| seen.insert(node.clone()));
    Ok(nodes)
}
