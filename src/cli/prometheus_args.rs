//! Flags that say how Prometheus is reached, where it is not found among the cluster's services by itself.

use super::address::AddressFlags;
use super::exit::CliError;
use crate::sources::prometheus::Options;
use crate::sources::prometheus::matcher::Matcher;
use crate::sources::transport::direct::Credentials;
use clap::Args;
use std::path::PathBuf;

/// How to reach Prometheus. Secrets come from files or the environment, where `ps` does not show them.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct PrometheusArgs {
    /// URL of Prometheus; without it, Prometheus is searched among the cluster's services
    #[arg(long, global = true, value_name = "URL", help_heading = "Prometheus")]
    pub prometheus: Option<String>,
    /// User for basic authentication; the password comes from --prometheus-password-file
    #[arg(long, global = true, value_name = "USER", help_heading = "Prometheus")]
    pub prometheus_user: Option<String>,
    /// File with the password for basic authentication
    #[arg(long, global = true, value_name = "FILE", help_heading = "Prometheus")]
    pub prometheus_password_file: Option<PathBuf>,
    /// File with a bearer token
    #[arg(long, global = true, value_name = "FILE", help_heading = "Prometheus")]
    pub prometheus_token_file: Option<PathBuf>,
    /// Header for each request, `Name: value`; may be repeated; `Name: @FILE` reads the value from a file
    #[arg(long, global = true, value_name = "HEADER", help_heading = "Prometheus")]
    pub prometheus_header: Vec<String>,
    /// File with the certificates (PEM) that the server's is checked against
    #[arg(long, global = true, value_name = "FILE", help_heading = "Prometheus")]
    pub prometheus_ca: Option<PathBuf>,
    /// File with the client certificate (PEM)
    #[arg(long, global = true, value_name = "FILE", help_heading = "Prometheus")]
    pub prometheus_cert: Option<PathBuf>,
    /// File with the key (PEM) of the client certificate
    #[arg(long, global = true, value_name = "FILE", help_heading = "Prometheus")]
    pub prometheus_key: Option<PathBuf>,
    /// Label matchers that pick this cluster's series, for example cluster="prod"
    #[arg(long, global = true, value_name = "MATCHERS", help_heading = "Prometheus")]
    pub prometheus_matcher: Option<String>,
}

impl PrometheusArgs {
    fn address(&self) -> AddressFlags<'_> {
        AddressFlags {
            name: "prometheus",
            url: self.prometheus.as_deref(),
            user: self.prometheus_user.as_deref(),
            password_file: self.prometheus_password_file.as_deref(),
            token_file: self.prometheus_token_file.as_deref(),
            headers: &self.prometheus_header,
            ca: self.prometheus_ca.as_deref(),
            cert: self.prometheus_cert.as_deref(),
            key: self.prometheus_key.as_deref(),
        }
    }

    /// Flags that make no sense alone. clap cannot check this for flags that stand before the command.
    pub fn check(&self) -> Result<(), CliError> {
        self.address().check()
    }

    /// What the source of Prometheus wants to know; reads the files with secrets.
    ///
    /// # Errors
    /// A file cannot be read, a header has no name, the URL or the matchers are none.
    pub fn options(&self) -> Result<Options, CliError> {
        if let Some(matcher) = &self.prometheus_matcher {
            Matcher::parse(matcher)
                .map_err(|error| CliError::Usage(format!("--prometheus-matcher: {error}")))?;
        }
        let Credentials {
            basic,
            bearer,
            headers,
            ca_file,
            client_cert,
            client_key,
        } = self.address().credentials()?;
        Ok(Options {
            url: self.prometheus.clone(),
            basic,
            bearer,
            headers,
            ca_file,
            client_cert,
            client_key,
            matcher: self.prometheus_matcher.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn for_url(url: &str) -> PrometheusArgs {
        PrometheusArgs {
            prometheus: Some(url.to_owned()),
            ..PrometheusArgs::default()
        }
    }

    #[test]
    fn secrets_come_from_files_without_their_line_end() {
        let (password, token) = (file("s3cret\n"), file("abc\r\n"));
        let args = PrometheusArgs {
            prometheus_user: Some("reader".to_owned()),
            prometheus_password_file: Some(password.path().to_owned()),
            prometheus_header: vec![
                "X-Scope-OrgID: lab".to_owned(),
                format!("X-Token: @{}", token.path().display()),
            ],
            ..for_url("https://prometheus.example.com/p")
        };
        let options = args.options().unwrap();
        assert_eq!(options.basic.unwrap().expose_secret(), "reader:s3cret");
        let headers: Vec<_> = options
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose_secret()))
            .collect();
        assert_eq!(headers, [("x-scope-orgid", "lab"), ("x-token", "abc")]);
    }

    #[test]
    fn what_cannot_work_is_refused_without_telling_secrets() {
        let wrong = [
            for_url("prometheus.example.com"),
            for_url("ftp://me:s3cret@prometheus.example.com"),
            for_url("https://"),
            PrometheusArgs {
                prometheus_header: vec!["s3cret".to_owned()],
                ..for_url("http://p")
            },
            PrometheusArgs {
                prometheus_matcher: Some("cluster".to_owned()),
                ..for_url("http://p")
            },
            PrometheusArgs {
                prometheus_token_file: Some("/nowhere/token".into()),
                ..for_url("http://p")
            },
        ];
        for args in wrong {
            let error = args.options().unwrap_err();
            assert!(matches!(error, CliError::Usage(_)), "{error}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
