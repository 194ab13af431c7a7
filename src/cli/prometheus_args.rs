//! Flags that say how Prometheus is reached, where it is not found among the cluster's services by itself.

use super::exit::CliError;
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
}
