//! HTTP to the backends: straight to an address, or through the API server to a service or a pod.

pub mod direct;
pub mod failure;
pub mod route;

use direct::Direct;
use failure::{Failure, FailureKind, innermost, is_html};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use route::Route;
use serde::de::Deserialize;
use std::borrow::Cow;
use std::future::Future;
use std::time::Duration;

/// Longest body that is read: an answer of Prometheus for 5,000 nodes is about 15 MB.
const LONGEST_BODY: usize = 128 * 1024 * 1024;

/// A way to one backend. Cheap to clone.
#[derive(Clone)]
pub struct HttpTransport {
    route: Route,
    timeout: Duration,
    way: Way,
    /// Sent with every request, besides the credentials of an address.
    headers: HeaderMap,
}

#[derive(Clone)]
enum Way {
    Direct(Direct),
    Kube(kube::Client),
}

/// A successful answer.
#[derive(Debug)]
pub struct Answer {
    body: Vec<u8>,
    html: bool,
    what: String,
}

impl HttpTransport {
    /// To a server at an address of its own.
    pub fn direct(direct: Direct, timeout: Duration) -> Self {
        Self {
            route: direct.route(),
            timeout,
            way: Way::Direct(direct),
            headers: HeaderMap::new(),
        }
    }

    /// To the API server, or through it to what `route` names.
    pub fn through(client: kube::Client, route: Route, timeout: Duration) -> Self {
        Self {
            route,
            timeout,
            way: Way::Kube(client),
            headers: HeaderMap::new(),
        }
    }

    /// The same way, with this header on each request.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Who answers.
    pub fn route(&self) -> &Route {
        &self.route
    }

    /// Reads `path` with these parameters.
    pub async fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Answer, Failure> {
        self.in_time(path, async {
            match &self.way {
                Way::Direct(direct) => direct.get(&self.route, path, parameters, &self.headers).await,
                Way::Kube(client) => self.get_through(client, path, parameters).await,
            }
        })
        .await
    }

    /// Puts a question whose parameters may be long: as a form where the server is asked directly. Through the
    /// API server they travel in the address, because a form would need the right to `create` on the proxy.
    pub async fn ask(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Answer, Failure> {
        match &self.way {
            Way::Kube(_) => self.get(path, parameters).await,
            Way::Direct(direct) => {
                self.in_time(
                    path,
                    direct.post_form(&self.route, path, parameters, &self.headers),
                )
                .await
            }
        }
    }

    async fn in_time(
        &self,
        path: &str,
        request: impl Future<Output = Result<Answer, Failure>>,
    ) -> Result<Answer, Failure> {
        match tokio::time::timeout(self.timeout, request).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::new(
                FailureKind::Timeout,
                format!(
                    "no answer from {} for {path} within {} s",
                    self.route,
                    self.timeout.as_secs_f32()
                ),
                format!(
                    "{}; or give more time with --request-timeout",
                    self.route.unreachable_advice()
                ),
            )),
        }
    }

    async fn get_through(
        &self,
        client: &kube::Client,
        path: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Answer, Failure> {
        let address = format!("{}{path}{}", self.route.prefix(), query_text(parameters));
        let mut request = Request::get(address)
            .header(
                ACCEPT,
                HeaderValue::from_static("application/json, text/plain;q=0.5"),
            )
            .body(Body::empty())
            .map_err(|error| {
                Failure::new(
                    FailureKind::Options,
                    format!("cannot ask {} for {path}: {error}", self.route),
                    "check its name and port",
                )
            })?;
        request.headers_mut().extend(self.headers.clone());
        let response = client
            .send(request)
            .await
            .map_err(|error| self.broken(path, &error))?;
        let status = response.status();
        let html = is_html_type(&response);
        let body = self.read(path, response.into_body()).await?;
        if status.is_success() {
            Ok(Answer::new(&self.route, path, html, body))
        } else {
            Err(self.route.refusal(path, status.as_u16(), &body))
        }
    }

    async fn read(&self, path: &str, mut body: Body) -> Result<Vec<u8>, Failure> {
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| self.broken(path, &error))?;
            if let Ok(data) = frame.into_data() {
                append(&mut whole, &data, &self.route, path)?;
            }
        }
        Ok(whole)
    }

    /// Texts of credential plugins may hold secrets: of them only the fact is told.
    fn broken(&self, path: &str, error: &kube::Error) -> Failure {
        if matches!(error, kube::Error::Auth(_)) {
            return Failure::new(
                FailureKind::Unauthorized,
                format!(
                    "no credentials of the kubeconfig to ask {} for {path}",
                    self.route
                ),
                "log in again",
            );
        }
        Failure::new(
            FailureKind::Unreachable,
            format!("cannot ask {} for {path}: {}", self.route, innermost(error)),
            self.route.unreachable_advice(),
        )
    }
}

/// Adds a piece of a body and refuses what is longer than [`LONGEST_BODY`].
fn append(whole: &mut Vec<u8>, piece: &[u8], route: &Route, path: &str) -> Result<(), Failure> {
    whole.extend_from_slice(piece);
    if whole.len() > LONGEST_BODY {
        return Err(Failure::new(
            FailureKind::Garbage,
            format!("the answer of {route} for {path} is longer than {LONGEST_BODY} bytes"),
            "narrow it with a label matcher for this cluster",
        ));
    }
    Ok(())
}

/// `?a=b&c=d`, percent-encoded; nothing without parameters.
fn query_text(parameters: &[(&str, &str)]) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    // Any address does: only the encoding of its query is wanted.
    reqwest::Url::parse_with_params("http://localhost/", parameters)
        .ok()
        .and_then(|url| url.query().map(|query| format!("?{query}")))
        .unwrap_or_default()
}

fn is_html_type(response: &Response<Body>) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

impl Answer {
    fn new(route: &Route, path: &str, html: bool, body: Vec<u8>) -> Self {
        Self {
            html: html || is_html(&body),
            body,
            what: format!("the answer of {route} for {path}"),
        }
    }

    /// The body as JSON of this shape; a web page and a body that was cut off are told apart.
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Failure> {
        self.refuse_html("JSON")?;
        serde_json::from_slice(&self.body).map_err(|error| {
            if error.is_eof() {
                self.cut_off()
            } else {
                Failure::new(
                    FailureKind::Garbage,
                    format!("{} is not the JSON that was expected: {error}", self.what),
                    "check that the right server answers there",
                )
            }
        })
    }

    /// The failure of an answer that ends in the middle.
    pub fn cut_off(&self) -> Failure {
        Failure::new(
            FailureKind::Garbage,
            format!("{} was cut off after {} bytes", self.what, self.body.len()),
            "check proxies and load balancers in between for size and time limits; it is tried again by itself",
        )
    }

    /// The body as text, with replacement characters for what is none: logs may hold anything.
    pub fn lossy_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// The body as text.
    pub fn text(&self) -> Result<&str, Failure> {
        self.refuse_html("text")?;
        std::str::from_utf8(&self.body).map_err(|error| {
            Failure::new(
                FailureKind::Garbage,
                format!("{} is not text: {error}", self.what),
                "check that the right server answers there",
            )
        })
    }

    fn refuse_html(&self, wanted: &str) -> Result<(), Failure> {
        if !self.html {
            return Ok(());
        }
        Err(Failure::new(
            FailureKind::Garbage,
            format!("{} is a web page (HTML) instead of {wanted}", self.what),
            "a login page or a proxy answers in its place: check the address, and whether it wants credentials",
        ))
    }
}
