//! Flags that say how Prometheus is reached, where it is not found among the cluster's services by itself.

use super::exit::CliError;
use crate::sources::prometheus::Options;
use crate::sources::prometheus::matcher::Matcher;
use clap::Args;
use secrecy::SecretString;
use std::path::{Path, PathBuf};

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
    /// Flags that make no sense alone. clap cannot check this for flags that stand before the command.
    pub fn check(&self) -> Result<(), CliError> {
        let needs = |there: bool, flag: &str, other: &str| {
            if there {
                Err(CliError::Usage(format!("--{flag} needs --{other}")))
            } else {
                Ok(())
            }
        };
        let (url, user) = (self.prometheus.is_some(), self.prometheus_user.is_some());
        let password = self.prometheus_password_file.is_some();
        needs(user && !password, "prometheus-user", "prometheus-password-file")?;
        needs(password && !user, "prometheus-password-file", "prometheus-user")?;
        let (cert, key) = (self.prometheus_cert.is_some(), self.prometheus_key.is_some());
        needs(cert && !key, "prometheus-cert", "prometheus-key")?;
        needs(key && !cert, "prometheus-key", "prometheus-cert")?;
        // Through the API server's proxy the server's own credentials are used; others do not get through.
        needs(!url && user, "prometheus-user", "prometheus")?;
        needs(
            !url && self.prometheus_token_file.is_some(),
            "prometheus-token-file",
            "prometheus",
        )?;
        needs(
            !url && !self.prometheus_header.is_empty(),
            "prometheus-header",
            "prometheus",
        )?;
        needs(
            !url && self.prometheus_ca.is_some(),
            "prometheus-ca",
            "prometheus",
        )?;
        needs(!url && cert, "prometheus-cert", "prometheus")?;
        if user && self.prometheus_token_file.is_some() {
            return Err(CliError::Usage(
                "--prometheus-user and --prometheus-token-file exclude each other".to_owned(),
            ));
        }
        Ok(())
    }

    /// What the source of Prometheus wants to know; reads the files with secrets.
    ///
    /// # Errors
    /// A file cannot be read, a header has no name, the URL or the matchers are none.
    pub fn options(&self) -> Result<Options, CliError> {
        if let Some(url) = &self.prometheus {
            check_url(url)?;
        }
        if let Some(matcher) = &self.prometheus_matcher {
            Matcher::parse(matcher)
                .map_err(|error| CliError::Usage(format!("--prometheus-matcher: {error}")))?;
        }
        let password = self
            .prometheus_password_file
            .as_deref()
            .map(secret_line)
            .transpose()?;
        Ok(Options {
            url: self.prometheus.clone(),
            basic: self
                .prometheus_user
                .as_ref()
                .zip(password)
                .map(|(user, password)| format!("{user}:{password}").into()),
            bearer: self
                .prometheus_token_file
                .as_deref()
                .map(secret_line)
                .transpose()?
                .map(SecretString::from),
            headers: self
                .prometheus_header
                .iter()
                .map(|text| header(text))
                .collect::<Result<_, _>>()?,
            ca_file: self.prometheus_ca.clone(),
            client_cert: self.prometheus_cert.clone(),
            client_key: self.prometheus_key.clone(),
            matcher: self.prometheus_matcher.clone(),
        })
    }
}

fn check_url(text: &str) -> Result<(), CliError> {
    let url = text.parse::<http::Uri>().ok();
    let usable = url.is_some_and(|url| {
        matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some_and(|host| !host.is_empty())
    });
    if usable {
        Ok(())
    } else {
        // The text is not repeated: it may hold a password.
        Err(CliError::Usage(
            "--prometheus is no URL: expected for example https://prometheus.example.com".to_owned(),
        ))
    }
}

/// `Name: value`, or `Name: @FILE`.
fn header(text: &str) -> Result<(String, SecretString), CliError> {
    let wrong = || CliError::Usage("--prometheus-header: expected `Name: value` or `Name: @FILE`".to_owned());
    let (name, value) = text.split_once(':').ok_or_else(wrong)?;
    let name: http::HeaderName = name.trim().parse().map_err(|_| wrong())?;
    let value = match value.trim().strip_prefix('@') {
        Some(file) => secret_line(Path::new(file))?,
        None => value.trim().to_owned(),
    };
    if http::HeaderValue::from_str(&value).is_err() {
        return Err(wrong());
    }
    Ok((name.to_string(), value.into()))
}

/// Content of a file with one secret, without the line end.
fn secret_line(path: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CliError::Usage(format!("{} cannot be read: {error}", path.display())))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
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
