//! One full list: decoded item by item while it arrives. Where the server answers in pages, the next page is
//! asked for as soon as its token is known, so that it travels while this one is decoded.

use super::failure::Failure;
use super::http::{Answer, ApiServer};
use super::intern::Interner;
use super::resource::{Resource, Target};
use super::split::Splitter;
use super::wire::Envelope;
use crate::domain::object::Change;
use crate::sources::context::EventSink;
use http::Request;
use kube::api::{ListParams, VersionMatch};
use tokio_util::task::AbortOnDropHandle;

/// How a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// All at once from the server's cache: the fastest, and what informers do.
    Whole,
    /// In pages of 500: for when the whole list was cut off on its way.
    Paged,
}

const PAGE: u32 = 500;
/// Rows per message.
const BATCH: usize = 500;

type NextPage = AbortOnDropHandle<Result<Answer, Failure>>;

/// Lists a resource, sends its rows between `Restart` and `Synced`, and returns the resource version from which
/// a watch goes on.
pub async fn run<R: Resource>(
    api: &ApiServer,
    target: &Target,
    style: Style,
    sink: &EventSink,
    names: &mut Interner,
) -> Result<String, Failure> {
    let mut answer = api.open(request::<R>(target, style, None)?).await?;
    let mut batch = vec![Change::Restart];
    loop {
        let mut splitter = Splitter::default();
        let mut next_page: Option<NextPage> = None;
        let mut head_seen = false;
        while let Some(piece) = answer.piece(api.timeout).await? {
            splitter.push(piece.as_ref(), |item| {
                let wire =
                    serde_json::from_slice::<R::Wire<'_>>(item).map_err(|error| Failure::of_json(&error))?;
                batch.push(Change::Upsert(R::row(&wire, names)));
                Ok(())
            })?;
            if !splitter.looks_like_json() {
                return Err(Failure::NotJson("text"));
            }
            if !head_seen && let Some(token) = splitter.head().and_then(|head| next_token(&head)) {
                next_page = Some(fetch::<R>(api, target, token)?);
            }
            head_seen = splitter.head().is_some();
            if batch.len() >= BATCH {
                sink.send(R::payload(std::mem::take(&mut batch))).await;
            }
        }
        if !splitter.is_complete() {
            return Err(Failure::Truncated);
        }
        let envelope: Envelope<'_> =
            serde_json::from_slice(splitter.envelope()).map_err(|error| Failure::of_json(&error))?;
        if next_page.is_none()
            && let Some(token) = envelope.metadata.next_page.present()
        {
            next_page = Some(fetch::<R>(api, target, token.to_owned())?);
        }
        let Some(next) = next_page else {
            let Some(version) = envelope.metadata.resource_version.present() else {
                return Err(Failure::Malformed(format!(
                    "it is no list of {} (no resource version)",
                    R::WATCHED.plural()
                )));
            };
            batch.push(Change::Synced);
            sink.send(R::payload(batch)).await;
            return Ok(version.to_owned());
        };
        answer = next
            .await
            .map_err(|error| Failure::Malformed(format!("the next page was not asked for: {error}")))??;
    }
}

fn request<R: Resource>(
    target: &Target,
    style: Style,
    token: Option<String>,
) -> Result<Request<Vec<u8>>, Failure> {
    let whole = style == Style::Whole;
    let params = ListParams {
        label_selector: target.selector.clone(),
        limit: (!whole).then_some(PAGE),
        continue_token: token,
        version_match: whole.then_some(VersionMatch::NotOlderThan),
        resource_version: whole.then(|| "0".to_owned()),
        ..ListParams::default()
    };
    kube::core::Request::new(target.path::<R>())
        .list(&params)
        .map_err(|error| Failure::Malformed(error.to_string()))
}

fn fetch<R: Resource>(api: &ApiServer, target: &Target, token: String) -> Result<NextPage, Failure> {
    let request = request::<R>(target, Style::Paged, Some(token))?;
    let api = api.clone();
    Ok(AbortOnDropHandle::new(tokio::spawn(async move {
        api.open(request).await
    })))
}

/// The token of the next page, from what stands before the items.
fn next_token(head: &[u8]) -> Option<String> {
    serde_json::from_slice::<Envelope<'_>>(head)
        .ok()?
        .metadata
        .next_page
        .present()
        .map(str::to_owned)
}
