//! One full list: decoded item by item while it arrives. Where the server answers in pages, the next page is
//! asked for as soon as its token is known, so that it travels while this one is decoded.

use super::failure::Failure;
use super::http::{Answer, ApiServer};
use super::intern::Interner;
use super::protobuf;
use super::resource::{Resource, Target};
use super::split::Splitter;
use super::wire::Envelope;
use crate::domain::object::Change;
use crate::sources::context::EventSink;
use http::header::ACCEPT;
use http::{HeaderValue, Request};
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
        let mut items = Items::of(&answer);
        let mut next_page: Option<NextPage> = None;
        while let Some(piece) = answer.piece(api.timeout).await? {
            items.push::<R>(piece.as_ref(), names, &mut batch)?;
            if next_page.is_none()
                && let Some(token) = items.early_token()
            {
                next_page = Some(fetch::<R>(api, target, token)?);
            }
            if batch.len() >= BATCH {
                sink.send(R::payload(std::mem::take(&mut batch))).await;
            }
        }
        let end = items.end()?;
        if next_page.is_none() && !end.next_page.is_empty() {
            next_page = Some(fetch::<R>(api, target, end.next_page)?);
        }
        let Some(next) = next_page else {
            if end.resource_version.is_empty() {
                return Err(Failure::Malformed(format!(
                    "it is no list of {} (no resource version)",
                    R::WATCHED.plural()
                )));
            }
            batch.push(Change::Synced);
            sink.send(R::payload(batch)).await;
            return Ok(end.resource_version);
        };
        answer = next
            .await
            .map_err(|error| Failure::Malformed(format!("the next page was not asked for: {error}")))??;
    }
}

/// The items of one answer, in whichever form it came.
enum Items {
    Json { splitter: Splitter, head_seen: bool },
    Protobuf(protobuf::list::Splitter),
}

impl Items {
    fn of(answer: &Answer) -> Self {
        if answer.protobuf {
            Self::Protobuf(protobuf::list::Splitter::default())
        } else {
            Self::Json {
                splitter: Splitter::default(),
                head_seen: false,
            }
        }
    }

    /// Takes the next piece of the answer and adds the rows of the items that it completes.
    fn push<R: Resource>(
        &mut self,
        piece: &[u8],
        names: &mut Interner,
        batch: &mut Vec<Change<R::Row>>,
    ) -> Result<(), Failure> {
        match (self, R::PROTOBUF) {
            (Self::Protobuf(splitter), Some(row)) => splitter.push(piece, |item| {
                batch.push(Change::Upsert(row(item, names)?));
                Ok(())
            }),
            (Self::Protobuf(_), None) => Err(Failure::NotJson("protobuf")),
            (Self::Json { splitter, .. }, _) => {
                splitter.push(piece, |item| {
                    let wire = serde_json::from_slice::<R::Wire<'_>>(item)
                        .map_err(|error| Failure::of_json(&error))?;
                    batch.push(Change::Upsert(R::row(&wire, names)));
                    Ok(())
                })?;
                if splitter.looks_like_json() {
                    Ok(())
                } else {
                    Err(Failure::NotJson("text"))
                }
            }
        }
    }

    /// The token of the next page, if what stands before the items told it.
    fn early_token(&mut self) -> Option<String> {
        match self {
            Self::Protobuf(splitter) => splitter
                .metadata()
                .map(|metadata| metadata.next_page.clone())
                .filter(|token| !token.is_empty()),
            Self::Json { splitter, head_seen } => {
                if *head_seen {
                    return None;
                }
                let head = splitter.head()?;
                *head_seen = true;
                let envelope = serde_json::from_slice::<Envelope<'_>>(&head).ok()?;
                envelope.metadata.next_page.present().map(str::to_owned)
            }
        }
    }

    /// What the list says about itself, once its answer has ended.
    fn end(self) -> Result<End, Failure> {
        match self {
            Self::Protobuf(splitter) => {
                if !splitter.is_complete() {
                    return Err(Failure::Truncated);
                }
                let metadata = splitter.metadata().cloned().unwrap_or_default();
                Ok(End {
                    resource_version: metadata.resource_version,
                    next_page: metadata.next_page,
                })
            }
            Self::Json { splitter, .. } => {
                if !splitter.is_complete() {
                    return Err(Failure::Truncated);
                }
                let envelope: Envelope<'_> =
                    serde_json::from_slice(splitter.envelope()).map_err(|error| Failure::of_json(&error))?;
                Ok(End {
                    resource_version: envelope.metadata.resource_version.to_string(),
                    next_page: envelope.metadata.next_page.to_string(),
                })
            }
        }
    }
}

/// What a list says about itself; empty where it says nothing.
struct End {
    resource_version: String,
    next_page: String,
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
    let mut request = kube::core::Request::new(target.path::<R>())
        .list(&params)
        .map_err(|error| Failure::Malformed(error.to_string()))?;
    if R::PROTOBUF.is_some() {
        request
            .headers_mut()
            .insert(ACCEPT, HeaderValue::from_static(protobuf::ACCEPT));
    }
    Ok(request)
}

fn fetch<R: Resource>(api: &ApiServer, target: &Target, token: String) -> Result<NextPage, Failure> {
    let request = request::<R>(target, Style::Paged, Some(token))?;
    let api = api.clone();
    Ok(AbortOnDropHandle::new(tokio::spawn(async move {
        api.open(request).await
    })))
}
