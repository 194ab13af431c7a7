//! Requests to the API server: one place where an answer becomes a body or a [`Failure`].

use super::failure::{Failure, is_html};
use super::protobuf;
use super::wire::Status;
use crate::sources::event::Scope;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// The API server as the watches, the probe and the details see it. Cheap to clone.
#[derive(Clone)]
pub struct ApiServer {
    client: kube::Client,
    /// Longest wait for an answer, and between two pieces of one.
    pub timeout: Duration,
    /// Which server this is, for error texts.
    pub scope: Arc<Scope>,
}

/// Longest body of an error, of a single object, and of a page of a list.
const LONGEST_ERROR: usize = 64 * 1024;
const LONGEST_OBJECT: usize = 8 * 1024 * 1024;
const LONGEST_PAGE: usize = 64 * 1024 * 1024;

impl ApiServer {
    /// The API server behind this client.
    pub fn new(client: kube::Client, timeout: Duration, scope: Arc<Scope>) -> Self {
        Self {
            client,
            timeout,
            scope,
        }
    }

    /// Sends a request that is answered with a list: in protobuf, if the request accepts that and the server can.
    pub async fn open(&self, request: Request<Vec<u8>>) -> Result<Answer, Failure> {
        self.send(request).await
    }

    /// Sends a watch request: its answer is not compressed, because Kubernetes 1.37 compresses each event on its
    /// own, which HTTP clients do not expect.
    pub async fn open_watch(&self, mut request: Request<Vec<u8>>) -> Result<Answer, Failure> {
        request
            .headers_mut()
            .insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        self.send(request).await
    }

    /// Fetches one object, bounded in size.
    pub async fn get(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let request = Request::get(path)
            .body(Vec::new())
            .map_err(|error| Failure::Malformed(error.to_string()))?;
        let whole = self.send(request).await?.read_to_end(LONGEST_OBJECT).await?;
        if is_html(&whole) {
            return Err(Failure::NotJson("a web page (HTML)"));
        }
        Ok(whole)
    }

    /// Sends a request whose refusals have meanings of their own: whatever status it is answered with, that is the
    /// reply. The content type belongs to the body.
    ///
    /// # Errors
    /// There was no whole reply.
    pub async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<(&'static str, Vec<u8>)>,
    ) -> Result<Reply, Failure> {
        let mut request = Request::builder().method(method).uri(path);
        let mut content = Vec::new();
        if let Some((content_type, bytes)) = body {
            request = request.header(CONTENT_TYPE, content_type);
            content = bytes;
        }
        let request = request
            .body(content)
            .map_err(|error| Failure::Malformed(error.to_string()))?;
        let response = self.respond(request).await?;
        let (code, retry_after) = (response.status().as_u16(), retry_after(&response));
        let mut answer = Answer {
            protobuf: false,
            body: response.into_body(),
            timeout: self.timeout,
        };
        Ok(Reply {
            code,
            retry_after,
            body: answer.read_to_end(LONGEST_PAGE).await?,
        })
    }

    async fn respond(&self, mut request: Request<Vec<u8>>) -> Result<Response<Body>, Failure> {
        request
            .headers_mut()
            .entry(ACCEPT)
            .or_insert(HeaderValue::from_static("application/json"));
        tokio::time::timeout(self.timeout, self.client.send(request.map(Body::from)))
            .await
            .map_err(|_| Failure::Timeout(self.timeout))?
            .map_err(|error| Failure::of_client(&error))
    }

    async fn send(&self, request: Request<Vec<u8>>) -> Result<Answer, Failure> {
        let response = self.respond(request).await?;
        let status = response.status();
        let retry_after = retry_after(&response);
        let html = is_of_type(&response, "text/html");
        let mut answer = Answer {
            protobuf: is_of_type(&response, protobuf::CONTENT_TYPE),
            body: response.into_body(),
            timeout: self.timeout,
        };
        if !status.is_success() {
            let text = answer.read_to_end(LONGEST_ERROR).await.unwrap_or_default();
            return Err(Failure::of_status(status.as_u16(), &text, retry_after));
        }
        if html {
            return Err(Failure::NotJson("a web page (HTML)"));
        }
        Ok(answer)
    }
}

/// A whole answer, with any status.
#[derive(Debug)]
pub struct Reply {
    /// HTTP status code.
    pub code: u16,
    /// Header `Retry-After`.
    pub retry_after: Option<Duration>,
    body: Vec<u8>,
}

impl Reply {
    #[cfg(test)]
    pub(super) fn new(code: u16, retry_after: Option<Duration>, body: &serde_json::Value) -> Self {
        Self {
            code,
            retry_after,
            body: body.to_string().into_bytes(),
        }
    }

    /// The object or list of a success.
    ///
    /// # Errors
    /// The status is none of success, or the body is something else.
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Failure> {
        if !matches!(self.code, 200..=299) {
            return Err(self.failure());
        }
        if is_html(&self.body) {
            return Err(Failure::NotJson("a web page (HTML)"));
        }
        serde_json::from_slice(&self.body).map_err(|error| Failure::of_json(&error))
    }

    /// The text of a success: a log, which may hold anything.
    ///
    /// # Errors
    /// The status is none of success.
    pub fn text(&self) -> Result<String, Failure> {
        if !matches!(self.code, 200..=299) {
            return Err(self.failure());
        }
        Ok(String::from_utf8_lossy(&self.body).into_owned())
    }

    /// The `Status` object, if the body is one.
    pub fn status(&self) -> Option<Status<'_>> {
        serde_json::from_slice::<Status<'_>>(&self.body)
            .ok()
            .filter(|status| &*status.kind == "Status")
    }

    /// The failure that an error status is.
    pub fn failure(&self) -> Failure {
        Failure::of_status(self.code, &self.body, self.retry_after)
    }
}

/// The body of a successful answer.
pub struct Answer {
    /// Whether it is in protobuf: JSON otherwise.
    pub protobuf: bool,
    body: Body,
    timeout: Duration,
}

impl Answer {
    /// The next piece; `None` at the end. Waits at most `patience` for it.
    pub async fn piece(&mut self, patience: Duration) -> Result<Option<impl AsRef<[u8]> + use<>>, Failure> {
        loop {
            let frame = tokio::time::timeout(patience, self.body.frame())
                .await
                .map_err(|_| Failure::Timeout(patience))?;
            match frame {
                None => return Ok(None),
                Some(Err(error)) => {
                    tracing::debug!(%error, "an answer broke off");
                    return Err(Failure::Truncated);
                }
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    async fn read_to_end(&mut self, longest: usize) -> Result<Vec<u8>, Failure> {
        let mut whole = Vec::new();
        while let Some(piece) = self.piece(self.timeout).await? {
            whole.extend_from_slice(piece.as_ref());
            if whole.len() > longest {
                return Err(Failure::Malformed(format!("it is longer than {longest} bytes")));
            }
        }
        Ok(whole)
    }
}

fn is_of_type(response: &Response<Body>, wanted: &str) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.starts_with(wanted))
}

/// `Retry-After` in seconds; the date form is not used by the API server.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}
