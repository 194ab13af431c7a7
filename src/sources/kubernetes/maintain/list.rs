//! Fresh lists: from the server's storage, not from a watch and not from a cache.

use super::Desk;
use super::ask::{asked, words};
use super::node::{look, look_failed};
use crate::domain::pod::Pod;
use crate::maintenance::effect::Fresh;
use crate::sources::kubernetes::failure::Failure;
use crate::sources::kubernetes::http::{ApiServer, Reply};
use crate::sources::kubernetes::intern::Interner;
use crate::sources::kubernetes::wire;
use crate::sources::kubernetes::wire::ListMeta;
use crate::sources::kubernetes::wire::value::{List, Text};
use http::Method;
use kube::api::ListParams;
use serde::Deserialize;

/// Items of one answer.
const PAGE: u32 = 500;

/// A page of a list.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>, 'de: 'a"))]
pub struct Page<'a, T> {
    #[serde(borrow, default)]
    kind: Text<'a>,
    #[serde(default)]
    metadata: ListMeta<'a>,
    /// The objects.
    #[serde(default)]
    pub items: List<T>,
}

impl<T> Page<'_, T> {
    /// Token of the next page.
    pub fn token(&self) -> Option<String> {
        self.metadata.next_page.present().map(str::to_owned)
    }
}

/// Reads a page. Anything but a list of this kind is an error: an empty answer must not pass for an empty list.
///
/// # Errors
/// An error status, no JSON, or another kind.
pub fn decode<'a, T: Deserialize<'a>>(reply: &'a Reply, kind: &str) -> Result<Page<'a, T>, Failure> {
    let page: Page<'a, T> = reply.json()?;
    if &*page.kind != kind || page.metadata.resource_version.is_empty() {
        return Err(Failure::Malformed(format!("it is no {kind}")));
    }
    Ok(page)
}

/// Asks for the pages one after another; `fold` takes each and gives the token of the next. No resource version is
/// asked for, which makes the server read from its storage.
///
/// # Errors
/// A page did not come, or `fold` refused it.
pub async fn pages(
    api: &ApiServer,
    path: &str,
    params: &ListParams,
    mut fold: impl FnMut(&Reply) -> Result<Option<String>, Failure>,
) -> Result<(), Failure> {
    let mut params = params.clone();
    params.limit = Some(PAGE);
    loop {
        let request = kube::core::Request::new(path)
            .list(&params)
            .map_err(|error| Failure::Malformed(error.to_string()))?;
        let reply = api
            .exchange(Method::GET, &request.uri().to_string(), None)
            .await?;
        params.continue_token = fold(&reply)?;
        if params.continue_token.is_none() {
            return Ok(());
        }
    }
}

/// The pods of the node, then the node.
///
/// # Errors
/// In words: what could not be read.
pub(super) async fn fresh(desk: &Desk) -> Result<Box<Fresh>, String> {
    let mut names = Interner::default();
    let mut pods: Vec<Pod> = Vec::new();
    let params = ListParams::default().fields(&format!("spec.nodeName={}", desk.node));
    pages(&desk.api, "/api/v1/pods", &params, |reply| {
        let page = decode::<wire::pod::Pod<'_>>(reply, "PodList")?;
        pods.extend(page.items.iter().map(|pod| pod.to_row(&mut names)));
        Ok(page.token())
    })
    .await
    .map_err(|failure| words(&failure, &asked("list", format!("pods of node {}", desk.node))))?;
    let failed = |failure: Failure| look_failed(desk, &failure);
    let node = match look(desk).await.map_err(failed)? {
        None => None,
        Some(reply) => {
            let node: wire::node::Node<'_> = reply.json().map_err(failed)?;
            Some(node.to_row(&mut names))
        }
    };
    Ok(Box::new(Fresh { node, pods }))
}
