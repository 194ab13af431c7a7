//! What can go wrong between us and the API server, and what the operator can do about it. No secret gets into
//! a text: of a credential plugin only its name and the last line of its complaint are told.

use super::protobuf;
use super::wire::Status;
use crate::domain::text::{sanitise, truncate};
use crate::sources::event::{Problem, Scope};
use kube::client::AuthError;
use std::error::Error;
use std::time::Duration;
use thiserror::Error;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The API server answered with an error status.
    #[error("the API server answered {code}{}", said(message))]
    Status {
        /// HTTP status code.
        code: u16,
        /// Text of the server.
        message: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// No connection.
    #[error("the API server cannot be reached: {0}")]
    Unreachable(String),
    /// The server's certificate is not the expected one.
    #[error("the certificate of the API server is not accepted: {0}")]
    Certificate(String),
    /// There are no credentials to send.
    #[error("no credentials: {0}")]
    Credentials(String),
    /// Not an API server, or something stands in front of it.
    #[error("the answer is {0} instead of JSON")]
    NotJson(&'static str),
    /// JSON, but not the expected one.
    #[error("the answer is not understood: {0}")]
    Malformed(String),
    /// The answer ended early.
    #[error("the answer was cut off before its end")]
    Truncated,
    /// No answer in time.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
}

/// What was asked for, in words: `list pods in namespace win-demo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Verb.
    pub verb: &'static str,
    /// Object: resource with namespace or name.
    pub object: String,
    /// Whether all namespaces were asked for, so that one of them may still be allowed.
    pub all_namespaces: bool,
}

/// Longest text of a server or library that is passed on, in cells.
const LONGEST_TEXT: usize = 300;

/// Text of a server or library, made fit for a terminal and cut.
pub fn clean(text: &str) -> String {
    truncate(sanitise(text.trim()).as_ref(), LONGEST_TEXT).into_owned()
}

fn said(message: &str) -> String {
    if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    }
}

impl Failure {
    /// From an error status and the body that came with it.
    pub fn of_status(code: u16, body: &[u8], retry_after: Option<Duration>) -> Self {
        let message = match serde_json::from_slice::<Status<'_>>(body) {
            Ok(status) if &*status.kind == "Status" => clean(&status.message),
            _ if let Some(message) = protobuf::refusal(body) => clean(&message),
            _ if is_html(body) => "a web page, so something else than an API server answers there".to_owned(),
            _ => clean(&String::from_utf8_lossy(body)),
        };
        Self::Status {
            code,
            message,
            retry_after,
        }
    }

    /// From an error line of a watch.
    pub fn of_watch_error(status: &Status<'_>) -> Self {
        Self::Status {
            code: status.code.unwrap_or(500),
            message: clean(&status.message),
            retry_after: None,
        }
    }

    /// From an error of serde.
    pub fn of_json(error: &serde_json::Error) -> Self {
        if error.is_eof() {
            Self::Truncated
        } else {
            Self::Malformed(clean(&error.to_string()))
        }
    }

    /// From an error of the HTTP client, whose own texts are too technical and may hold secrets.
    pub fn of_client(error: &kube::Error) -> Self {
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        let mut deepest = String::new();
        while let Some(current) = cause {
            if let Some(auth) = current.downcast_ref::<AuthError>() {
                return Self::Credentials(of_credentials(auth));
            }
            if let Some(tls) = current.downcast_ref::<rustls::Error>() {
                return of_tls(tls);
            }
            if let kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. } =
                current.downcast_ref::<kube::Error>().unwrap_or(error)
            {
                return Self::Unreachable("the proxy's protocol is none of http, https, socks5".to_owned());
            }
            deepest = current.to_string();
            // An I/O error that wraps another one does not name it as its source.
            let wrapped = current
                .downcast_ref::<std::io::Error>()
                .and_then(std::io::Error::get_ref);
            cause = match wrapped {
                Some(inner) => Some(inner as &(dyn Error + 'static)),
                None => current.source(),
            };
        }
        Self::Unreachable(clean(&deepest))
    }

    /// 403.
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Status { code: 403, .. })
    }

    /// 410: the resource version or page token is too old, only a new list helps.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Status { code: 410, .. })
    }

    /// How long the server asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// For the operator: what failed on what, and what to do next.
    pub fn problem(&self, asked: &Asked, scope: &Scope) -> Problem {
        Problem {
            what: format!("cannot {} {}: {self}", asked.verb, asked.object),
            next_step: self.next_step(asked, scope),
        }
    }

    fn next_step(&self, asked: &Asked, scope: &Scope) -> String {
        let context = sanitise(&scope.context);
        let server = sanitise(&scope.server);
        match self {
            Self::Status { code: 401, .. } | Self::Credentials(_) => format!(
                "log in again for context `{context}` (for example with `kubectl --context {context} get nodes`), \
                 then choose the context anew: the kubeconfig is read again"
            ),
            Self::Status { code: 403, .. } if asked.all_namespaces => format!(
                "start with `-n NAMESPACE` for a namespace that you may read, or ask for a ClusterRole that may \
                 {} {}",
                asked.verb, asked.object
            ),
            Self::Status { code: 403, .. } => {
                format!("ask for a role that may {} {}", asked.verb, asked.object)
            }
            Self::Status { code: 404, .. } => {
                format!("check that {server} is the API server itself and that the object still exists")
            }
            Self::Status { code: 410, .. } => "nothing: it is listed anew".to_owned(),
            Self::Status { code: 429, .. } => "nothing: the server is busy, it is asked again later".to_owned(),
            Self::Status { code, .. } if *code >= 500 => format!(
                "look at the API server and etcd (`kubectl --context {context} get --raw '/readyz?verbose'`); it is \
                 tried again by itself"
            ),
            Self::Status { .. } => format!("check the server URL {server} of context `{context}`"),
            Self::Unreachable(_) | Self::Timeout(_) => format!(
                "check that {server} is up and reachable from here (VPN, firewall, proxy-url, HTTPS_PROXY); it is \
                 tried again by itself"
            ),
            Self::Certificate(_) => format!(
                "check certificate-authority and tls-server-name of context `{context}` in the kubeconfig, and the \
                 clock of this machine"
            ),
            Self::NotJson(_) => format!(
                "check that {server} is the API server: a proxy or login page answers instead (HTTPS_PROXY, \
                 proxy-url, server of context `{context}`)"
            ),
            Self::Malformed(_) => {
                format!("check that {server} is a Kubernetes API server and what stands in between")
            }
            Self::Truncated => {
                "check proxies and load balancers in between for size and time limits; it is tried again by itself"
                    .to_owned()
            }
        }
    }
}

/// Whether a body is a web page.
pub fn is_html(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'<')
}

fn of_tls(error: &rustls::Error) -> Failure {
    use rustls::{CertificateError, Error as Tls};
    let text = match error {
        Tls::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "it is signed by an authority that this kubeconfig does not trust".to_owned()
        }
        Tls::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "it is made out to another name".to_owned(),
        Tls::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "it has expired".to_owned()
        }
        Tls::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        ) => "it is not valid yet".to_owned(),
        Tls::InvalidCertificate(other) => clean(&other.to_string()),
        Tls::AlertReceived(alert) => {
            return Failure::Credentials(format!(
                "the API server refused the client certificate ({})",
                clean(&format!("{alert:?}"))
            ));
        }
        other => return Failure::Unreachable(clean(&other.to_string())),
    };
    Failure::Certificate(text)
}

/// A credential plugin's arguments, environment and output may hold secrets; its last line on stderr is what it
/// wants to be read.
fn of_credentials(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { out, .. } => {
            let complaint = String::from_utf8_lossy(&out.stderr);
            let last_line = complaint.lines().rfind(|line| !line.trim().is_empty());
            format!(
                "the credential plugin of the kubeconfig failed ({}){}",
                out.status,
                said(&clean(last_line.unwrap_or_default()))
            )
        }
        AuthError::AuthExecStart(cause) => {
            format!(
                "the credential plugin of the kubeconfig cannot be started: {}",
                clean(&cause.to_string())
            )
        }
        AuthError::AuthExecParse(_) | AuthError::ParseTokenKey(_) => {
            "the credential plugin of the kubeconfig answered something else than an ExecCredential"
                .to_owned()
        }
        AuthError::ExecPluginFailed => {
            "the credential plugin of the kubeconfig answered without a status".to_owned()
        }
        AuthError::ReadTokenFile(cause, path) => clean(&format!(
            "the token file {} cannot be read: {cause}",
            path.display()
        )),
        AuthError::InvalidBasicAuth(_) => {
            "user name or password has characters that HTTP does not allow".to_owned()
        }
        AuthError::InvalidBearerToken(_) => "the token has characters that HTTP does not allow".to_owned(),
        AuthError::MissingCommand => "the credential plugin of the kubeconfig has no command".to_owned(),
        AuthError::AuthExec(_) => {
            "the kubeconfig uses an auth-provider that is not supported: use an exec plugin".to_owned()
        }
        other => clean(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Asked {
        Asked {
            verb: "list",
            object: "pods".to_owned(),
            all_namespaces: true,
        }
    }

    #[test]
    fn whoever_may_not_list_all_namespaces_is_told_to_name_one() {
        let body = br#"{"kind":"Status","code":403,"reason":"Forbidden","message":"pods is forbidden: User \"eve\" cannot list"}"#;
        let problem = Failure::of_status(403, body, None).problem(&asked(), &Scope::default());
        assert_eq!(
            problem.what,
            r#"cannot list pods: the API server answered 403: pods is forbidden: User "eve" cannot list"#
        );
        assert!(
            problem.next_step.contains("-n NAMESPACE"),
            "{}",
            problem.next_step
        );
    }

    #[test]
    fn a_hostile_error_text_cannot_steer_the_terminal() {
        let failure = Failure::of_status(500, b"\x1b[2Jboom\x07", None);
        assert_eq!(failure.to_string(), "the API server answered 500: boom");
    }

    #[test]
    fn a_wrong_authority_is_told_from_a_server_that_is_away() {
        let of = |cause: rustls::Error| {
            // As hyper hands it up: wrapped in I/O errors.
            let wrapped = std::io::Error::other(std::io::Error::new(std::io::ErrorKind::InvalidData, cause));
            Failure::of_client(&kube::Error::Service(Box::new(wrapped)))
        };
        let scope = Scope {
            context: "lab".into(),
            ..Scope::default()
        };
        let wrong = of(rustls::Error::InvalidCertificate(
            rustls::CertificateError::UnknownIssuer,
        ));
        let problem = wrong.problem(&asked(), &scope);
        assert!(
            problem
                .what
                .contains("signed by an authority that this kubeconfig does not trust"),
            "{problem:?}"
        );
        assert!(problem.next_step.contains("certificate-authority"), "{problem:?}");
        let refused = of(rustls::Error::AlertReceived(
            rustls::AlertDescription::CertificateExpired,
        ));
        assert!(matches!(refused, Failure::Credentials(_)), "{refused:?}");
        let away = std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "refused");
        let away = Failure::of_client(&kube::Error::Service(Box::new(away)));
        assert_eq!(away, Failure::Unreachable("refused".to_owned()));
    }

    #[test]
    fn a_plugin_that_fails_is_quoted_without_its_environment() {
        let out = std::process::Command::new("sh")
            .args([
                "-c",
                "echo s3cret; echo 'session expired, log in again' >&2; exit 3",
            ])
            .output()
            .unwrap();
        let error = kube::Error::Auth(AuthError::AuthExecRun {
            cmd: "TOKEN=s3cret sh".to_owned(),
            out: Box::new(out),
        });
        let text = Failure::of_client(&error).to_string();
        assert!(text.contains("session expired, log in again"), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
    }
}
