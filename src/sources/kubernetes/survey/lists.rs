//! The lists of a survey, page by page from the server's storage.

use super::wire;
use crate::domain::Name;
use crate::domain::budget::DisruptionBudget;
use crate::domain::pod::Pod;
use crate::maintenance::preflight::survey::{Known, NodePort, Place, RuntimeClass, Wishes};
use crate::sources::kubernetes::failure::Failure;
use crate::sources::kubernetes::http::{ApiServer, Reply};
use crate::sources::kubernetes::intern::Interner;
use crate::sources::kubernetes::maintain::ask::{asked, words};
use crate::sources::kubernetes::maintain::list::{decode, pages};
use crate::sources::kubernetes::wire as lean;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::node::v1 as node;
use kube::api::ListParams;
use std::collections::BTreeMap;

/// Lists all pages of a collection; `fold` takes each and gives the token of the next.
async fn list(
    api: &ApiServer,
    what: &str,
    path: &str,
    params: &ListParams,
    fold: impl FnMut(&Reply) -> Result<Option<String>, Failure>,
) -> Known<()> {
    pages(api, path, params, fold)
        .await
        .map_err(|failure| words(&failure, &asked("list", what)))
}

/// All nodes.
pub async fn nodes(api: &ApiServer) -> Known<Vec<Place>> {
    let mut names = Interner::default();
    let mut found = Vec::new();
    list(api, "nodes", "/api/v1/nodes", &ListParams::default(), |reply| {
        let page = decode::<lean::node::Node<'_>>(reply, "NodeList")?;
        let images = decode::<wire::NodeImages<'_>>(reply, "NodeList")?;
        let both = page.items.iter().zip(images.items.iter());
        found.extend(both.map(|(node, images)| Place {
            node: node.to_row(&mut names),
            labels: names.pairs(&node.metadata.labels),
            images: images.to_images(),
        }));
        Ok(page.token())
    })
    .await?;
    Ok(found)
}

/// All pods.
pub async fn pods(api: &ApiServer) -> Known<Vec<Pod>> {
    let mut names = Interner::default();
    let mut found = Vec::new();
    list(api, "pods", "/api/v1/pods", &ListParams::default(), |reply| {
        let page = decode::<lean::pod::Pod<'_>>(reply, "PodList")?;
        found.extend(page.items.iter().map(|pod| pod.to_row(&mut names)));
        Ok(page.token())
    })
    .await?;
    Ok(found)
}

/// Where the pods of the node may run, by UID.
pub async fn wishes(api: &ApiServer, node: &str) -> Known<BTreeMap<Name, Wishes>> {
    let mut found = BTreeMap::new();
    let params = ListParams::default().fields(&format!("spec.nodeName={node}"));
    let what = format!("pods of node {node}");
    list(api, &what, "/api/v1/pods", &params, |reply| {
        let page = decode::<core::Pod>(reply, "PodList")?;
        for pod in &*page.items {
            let uid = pod.metadata.uid.as_deref().unwrap_or_default();
            found.insert(Name::from(uid), wire::wishes(pod));
        }
        Ok(page.token())
    })
    .await?;
    Ok(found)
}

/// All disruption budgets.
pub async fn budgets(api: &ApiServer) -> Known<Vec<DisruptionBudget>> {
    const PATH: &str = "/apis/policy/v1/poddisruptionbudgets";
    let mut names = Interner::default();
    let mut found = Vec::new();
    list(
        api,
        "poddisruptionbudgets",
        PATH,
        &ListParams::default(),
        |reply| {
            let page = decode::<lean::budget::DisruptionBudget<'_>>(reply, "PodDisruptionBudgetList")?;
            found.extend(page.items.iter().map(|budget| budget.to_row(&mut names)));
            Ok(page.token())
        },
    )
    .await?;
    Ok(found)
}

/// All `RuntimeClass`es.
pub async fn runtime_classes(api: &ApiServer) -> Known<BTreeMap<Name, RuntimeClass>> {
    const PATH: &str = "/apis/node.k8s.io/v1/runtimeclasses";
    let mut found = BTreeMap::new();
    list(api, "runtimeclasses", PATH, &ListParams::default(), |reply| {
        let page = decode::<node::RuntimeClass>(reply, "RuntimeClassList")?;
        for class in &*page.items {
            let name = class.metadata.name.as_deref().unwrap_or_default();
            found.insert(Name::from(name), wire::runtime_class(class));
        }
        Ok(page.token())
    })
    .await?;
    Ok(found)
}

/// Services with ports on the nodes.
pub async fn node_ports(api: &ApiServer) -> Known<Vec<NodePort>> {
    let mut found = Vec::new();
    list(
        api,
        "services",
        "/api/v1/services",
        &ListParams::default(),
        |reply| {
            let page = decode::<core::Service>(reply, "ServiceList")?;
            found.extend(page.items.iter().filter_map(wire::node_port));
            Ok(page.token())
        },
    )
    .await?;
    Ok(found)
}
