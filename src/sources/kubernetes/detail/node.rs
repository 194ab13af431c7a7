//! What only the page of a node shows: images and registered CSI drivers.

use super::Object;
use crate::domain::Name;
use crate::domain::node::NodeDetail;
use crate::sources::kubernetes::http::ApiServer;
use k8s_openapi::api::core::v1::{ContainerImage, Node};
use k8s_openapi::api::storage::v1::CSINode;

/// Fetches the node and its `CSINode`. A `CSINode` that cannot be read leaves the drivers unknown.
pub async fn fetch(api: &ApiServer, name: &str) -> Result<NodeDetail, String> {
    let (node_object, csi_object) = (Object::node(name), Object::csi_node(name));
    let (node, csi_node) = tokio::join!(node_object.get::<Node>(api), csi_object.get::<CSINode>(api));
    if let Err(reason) = &csi_node {
        tracing::info!(node = name, reason, "the CSI drivers of a node are unknown");
    }
    let images = node?
        .status
        .and_then(|status| status.images)
        .unwrap_or_default()
        .iter()
        .filter_map(image)
        .collect();
    Ok(NodeDetail {
        images,
        csi_drivers: csi_node.ok().map(|csi_node| {
            csi_node
                .spec
                .drivers
                .into_iter()
                .map(|driver| Name::from(driver.name))
                .collect()
        }),
    })
}

/// An image has several names; the one with a tag says more than the one with a digest.
fn image(image: &ContainerImage) -> Option<(Name, u64)> {
    let names = image.names.as_ref()?;
    let name = names
        .iter()
        .find(|name| !name.contains('@'))
        .or_else(|| names.first())?;
    let bytes = u64::try_from(image.size_bytes.unwrap_or(0)).unwrap_or(0);
    Some((Name::from(name.as_str()), bytes))
}
