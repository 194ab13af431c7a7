//! A server that is asked at its own address, with credentials of its own.

use super::failure::{Failure, FailureKind, innermost};
use super::route::{Backend, Route};
use super::{Answer, append};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, ClientBuilder, Identity, RequestBuilder, StatusCode, Upgraded, Url};
use secrecy::{ExposeSecret, SecretString};
use std::path::{Path, PathBuf};

/// How to reach the server and what to show it.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// `user:password`.
    pub basic: Option<SecretString>,
    /// Token of `Authorization: Bearer`.
    pub bearer: Option<SecretString>,
    /// Further headers: name, value.
    pub headers: Vec<(String, SecretString)>,
    /// PEM file with the authorities that are trusted besides the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the client certificate.
    pub client_cert: Option<PathBuf>,
    /// PEM file with its key.
    pub client_key: Option<PathBuf>,
}

/// A client for one server.
#[derive(Clone, Debug)]
pub struct Direct {
    client: Client,
    backend: Backend,
    base: Url,
    basic: Option<(String, SecretString)>,
}

impl Direct {
    /// Builds the client.
    ///
    /// # Errors
    /// An address that is no `http(s)` URL, a file that cannot be read or holds no PEM, a header that HTTP does
    /// not allow.
    pub fn new(url: &str, credentials: &Credentials, backend: Backend) -> Result<Self, Failure> {
        Self::build(Client::builder(), url, credentials, backend)
    }

    /// A client for [`Self::upgrade`]: a connection of HTTP/2 cannot become another one.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn for_upgrades(url: &str, credentials: &Credentials, backend: Backend) -> Result<Self, Failure> {
        Self::build(Client::builder().http1_only(), url, credentials, backend)
    }

    fn build(
        builder: ClientBuilder,
        url: &str,
        credentials: &Credentials,
        backend: Backend,
    ) -> Result<Self, Failure> {
        let (base, in_url) = base_url(url, backend)?;
        let basic = match &credentials.basic {
            Some(pair) => Some(split_basic(pair, backend)?),
            None => in_url,
        };
        let mut builder = builder.default_headers(headers(credentials)?);
        if let Some(path) = &credentials.ca_file {
            let certificates = Certificate::from_pem_bundle(&read(path, "CA file")?)
                .map_err(|_| not_pem(path, "CA file"))?;
            if certificates.is_empty() {
                return Err(not_pem(path, "CA file"));
            }
            builder = builder.tls_certs_merge(certificates);
        }
        match (&credentials.client_cert, &credentials.client_key) {
            (Some(certificate), Some(key)) => {
                let mut pem = read(certificate, "client certificate")?;
                pem.push(b'\n');
                pem.extend(read(key, "client key")?);
                let identity = Identity::from_pem(&pem)
                    .map_err(|_| not_pem(certificate, "client certificate or its key"))?;
                builder = builder.identity(identity);
            }
            (None, None) => {}
            _ => {
                return Err(options(
                    "a client certificate needs both its file and its key's file".to_owned(),
                    "give both",
                ));
            }
        }
        let client = builder.build().map_err(|error| {
            options(
                format!("cannot set up the connection to {base}: {}", innermost(&error)),
                "check CA file, client certificate and key",
            )
        })?;
        Ok(Self {
            client,
            backend,
            base,
            basic,
        })
    }

    /// The address without user, password and query.
    fn shown_url(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    pub(super) async fn get(
        &self,
        route: &Route,
        path: &str,
        parameters: &[(&str, &str)],
        headers: &HeaderMap,
    ) -> Result<Answer, Failure> {
        let request = self
            .client
            .get(self.at(path))
            .query(parameters)
            .headers(headers.clone());
        self.send(route, path, request).await
    }

    pub(super) async fn post_form(
        &self,
        route: &Route,
        path: &str,
        parameters: &[(&str, &str)],
        headers: &HeaderMap,
    ) -> Result<Answer, Failure> {
        let request = self
            .client
            .post(self.at(path))
            .form(parameters)
            .headers(headers.clone());
        self.send(route, path, request).await
    }

    /// Turns a connection into another one (`Upgrade`); `accepted` looks at the headers of the answer.
    ///
    /// # Errors
    /// No connection, an error answer, or an answer that does not go over to the other protocol.
    pub async fn upgrade(
        &self,
        path: &str,
        parameters: &[(&str, &str)],
        headers: HeaderMap,
        accepted: impl Fn(&HeaderMap) -> bool,
    ) -> Result<Upgraded, Failure> {
        let route = self.route();
        let request = self.client.get(self.at(path)).query(parameters).headers(headers);
        let broken = |error: reqwest::Error| broken(&route, path, error);
        let response = self.with_basic(request).send().await.map_err(broken)?;
        match response.status() {
            StatusCode::SWITCHING_PROTOCOLS if accepted(response.headers()) => {
                response.upgrade().await.map_err(broken)
            }
            status if status.is_client_error() || status.is_server_error() => {
                let body = response.bytes().await.map_err(broken)?;
                Err(route.refusal(path, status.as_u16(), &body))
            }
            status => Err(Failure::new(
                FailureKind::Garbage,
                format!("{route} answered {status} for {path} instead of opening a websocket"),
                "let what stands in between pass upgrades of the connection on",
            )),
        }
    }

    /// The way to it.
    pub fn route(&self) -> Route {
        Route::Direct {
            url: self.shown_url(),
            backend: self.backend,
        }
    }

    fn with_basic(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.basic {
            Some((user, password)) => request.basic_auth(user, Some(password.expose_secret())),
            None => request,
        }
    }

    fn at(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url
    }

    async fn send(&self, route: &Route, path: &str, request: RequestBuilder) -> Result<Answer, Failure> {
        let broken = |error: reqwest::Error| broken(route, path, error);
        let mut response = self.with_basic(request).send().await.map_err(broken)?;
        let status = response.status();
        let html = response
            .headers()
            .get(reqwest::header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(broken)? {
            append(&mut body, &piece, route, path)?;
        }
        if status.is_success() {
            Ok(Answer::new(route, path, html, body))
        } else {
            Err(route.refusal(path, status.as_u16(), &body))
        }
    }
}

fn broken(route: &Route, path: &str, error: reqwest::Error) -> Failure {
    Failure::new(
        FailureKind::Unreachable,
        format!(
            "cannot ask {route} for {path}: {}",
            innermost(&error.without_url())
        ),
        route.unreachable_advice(),
    )
}

/// The address without user and password, and these.
fn base_url(text: &str, backend: Backend) -> Result<(Url, Option<(String, SecretString)>), Failure> {
    let mut url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            options(
                format!("the address of {backend} is no http or https URL"),
                &format!(
                    "write it like {}, with its path prefix if it has one",
                    backend.example()
                ),
            )
        })?;
    let user = decoded(url.username());
    let basic = url
        .password()
        .map(decoded)
        .map(|password| (user, SecretString::from(password)));
    url.set_query(None);
    url.set_fragment(None);
    // Both can only fail for addresses without a host, which were refused above.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Ok((url, basic))
}

/// Percent-decoding, as a query value: `+` is written `%2B` there first, so that it stays a plus.
fn decoded(text: &str) -> String {
    let query = format!(
        "http://localhost/?v={}",
        text.replace('+', "%2B").replace('&', "%26")
    );
    Url::parse(&query)
        .ok()
        .and_then(|url| url.query_pairs().next().map(|(_, value)| value.into_owned()))
        .unwrap_or_default()
}

fn split_basic(pair: &SecretString, backend: Backend) -> Result<(String, SecretString), Failure> {
    match pair.expose_secret().split_once(':') {
        Some((user, password)) => Ok((user.to_owned(), SecretString::from(password))),
        None => Err(options(
            format!("the credentials for {backend} have no colon"),
            "write them as user:password",
        )),
    }
}

fn headers(credentials: &Credentials) -> Result<HeaderMap, Failure> {
    let mut map = HeaderMap::new();
    if let Some(token) = &credentials.bearer {
        let value = format!("Bearer {}", token.expose_secret().trim());
        map.insert(AUTHORIZATION, secret_value(&value, "the bearer token")?);
    }
    for (name, value) in &credentials.headers {
        let name: HeaderName = name.parse().map_err(|_| {
            options(
                format!("'{name}' is no name of an HTTP header"),
                "write it like X-Scope-OrgID",
            )
        })?;
        let value = secret_value(value.expose_secret(), "the value of a header")?;
        map.append(name, value);
    }
    Ok(map)
}

fn secret_value(text: &str, what: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        options(
            format!("{what} has characters that HTTP does not allow"),
            "look for a line end or another control character in it",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn read(path: &Path, what: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        options(
            format!("cannot read the {what} {}: {error}", path.display()),
            "check path and permissions",
        )
    })
}

fn not_pem(path: &Path, what: &str) -> Failure {
    options(
        format!(
            "the {what} {} does not hold what it should in PEM form",
            path.display()
        ),
        "look for a BEGIN CERTIFICATE or BEGIN PRIVATE KEY line in it",
    )
}

fn options(what: String, next_step: &str) -> Failure {
    Failure::new(FailureKind::Options, what, next_step)
}
