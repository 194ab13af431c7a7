//! Flags that say how Loki is reached, where it is not found among the cluster's services by itself, and which
//! labels it uses, where they are not recognised.

use super::address::AddressFlags;
use super::exit::CliError;
use crate::sources::loki::Options;
use crate::sources::loki::labels::{LabelChoice, LabelRole};
use clap::Args;
use std::path::PathBuf;

/// How to reach Loki. Secrets come from files, where `ps` does not show them.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct LokiArgs {
    /// URL of Loki; without it, Loki is searched among the cluster's services
    #[arg(long, global = true, value_name = "URL", help_heading = "Loki")]
    pub loki: Option<String>,
    /// Tenant whose logs are read (X-Scope-OrgID), where Loki keeps tenants apart
    #[arg(long, global = true, value_name = "NAME", help_heading = "Loki")]
    pub loki_tenant: Option<String>,
    /// User for basic authentication; the password comes from --loki-password-file
    #[arg(long, global = true, value_name = "USER", help_heading = "Loki")]
    pub loki_user: Option<String>,
    /// File with the password for basic authentication
    #[arg(long, global = true, value_name = "FILE", help_heading = "Loki")]
    pub loki_password_file: Option<PathBuf>,
    /// File with a bearer token
    #[arg(long, global = true, value_name = "FILE", help_heading = "Loki")]
    pub loki_token_file: Option<PathBuf>,
    /// Header for each request, `Name: value`; may be repeated; `Name: @FILE` reads the value from a file
    #[arg(long, global = true, value_name = "HEADER", help_heading = "Loki")]
    pub loki_header: Vec<String>,
    /// File with the certificates (PEM) that the server's is checked against
    #[arg(long, global = true, value_name = "FILE", help_heading = "Loki")]
    pub loki_ca: Option<PathBuf>,
    /// File with the client certificate (PEM)
    #[arg(long, global = true, value_name = "FILE", help_heading = "Loki")]
    pub loki_cert: Option<PathBuf>,
    /// File with the key (PEM) of the client certificate
    #[arg(long, global = true, value_name = "FILE", help_heading = "Loki")]
    pub loki_key: Option<PathBuf>,
    /// Name of a label, `namespace|pod|container|node=LABEL`, where it is not recognised; may be repeated
    #[arg(long, global = true, value_name = "ROLE=LABEL", help_heading = "Loki")]
    pub loki_label: Vec<String>,
    /// Label and value of the Windows event logs, for example job=windows-events
    #[arg(long, global = true, value_name = "LABEL=VALUE", help_heading = "Loki")]
    pub loki_events: Option<String>,
}

impl LokiArgs {
    fn address(&self) -> AddressFlags<'_> {
        AddressFlags {
            name: "loki",
            url: self.loki.as_deref(),
            user: self.loki_user.as_deref(),
            password_file: self.loki_password_file.as_deref(),
            token_file: self.loki_token_file.as_deref(),
            headers: &self.loki_header,
            ca: self.loki_ca.as_deref(),
            cert: self.loki_cert.as_deref(),
            key: self.loki_key.as_deref(),
        }
    }

    /// Flags that make no sense alone. clap cannot check this for flags that stand before the command.
    pub fn check(&self) -> Result<(), CliError> {
        self.address().check()
    }

    /// What the source of Loki wants to know; reads the files with secrets.
    ///
    /// # Errors
    /// A file cannot be read; the URL, a header or a label is none.
    pub fn options(&self) -> Result<Options, CliError> {
        let names = self.loki_label.iter().map(|text| label(text));
        Ok(Options {
            url: self.loki.clone(),
            credentials: self.address().credentials()?,
            tenant: self.loki_tenant.clone().map(Into::into),
            labels: LabelChoice {
                names: names.collect::<Result<_, _>>()?,
                events: self.loki_events.as_deref().map(events).transpose()?,
            },
        })
    }
}

/// `node=node_name`.
fn label(text: &str) -> Result<(LabelRole, String), CliError> {
    let parts = text.split_once('=').and_then(|(role, name)| {
        let role = LabelRole::ALL.into_iter().find(|one| one.word() == role.trim())?;
        is_label(name.trim()).then(|| (role, name.trim().to_owned()))
    });
    parts.ok_or_else(|| {
        CliError::Usage(format!(
            "--loki-label {text}: expected namespace=LABEL, pod=LABEL, container=LABEL or node=LABEL"
        ))
    })
}

/// `job=windows-events`.
fn events(text: &str) -> Result<(String, String), CliError> {
    let parts = text
        .split_once('=')
        .filter(|(name, value)| is_label(name.trim()) && !value.is_empty());
    let (name, value) = parts.ok_or_else(|| {
        CliError::Usage(format!(
            "--loki-events {text}: expected LABEL=VALUE, for example job=windows-events"
        ))
    })?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// Loki takes what Prometheus takes.
fn is_label(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(allowed) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_named_by_their_role() {
        let args = LokiArgs {
            loki_label: vec!["node=node_name".to_owned(), "pod = pod_name".to_owned()],
            loki_events: Some("source=event log".to_owned()),
            ..LokiArgs::default()
        };
        let labels = args.options().unwrap().labels;
        assert_eq!(
            labels.names,
            [
                (LabelRole::Node, "node_name".to_owned()),
                (LabelRole::Pod, "pod_name".to_owned())
            ]
        );
        assert_eq!(labels.events, Some(("source".to_owned(), "event log".to_owned())));
    }

    #[test]
    fn what_cannot_be_a_label_is_refused() {
        for wrong in ["node", "nodes=node", "node=", "node=a-b", "node=1a", "node=a\"}"] {
            let args = LokiArgs {
                loki_label: vec![wrong.to_owned()],
                ..LokiArgs::default()
            };
            let error = args.options().unwrap_err();
            assert!(error.to_string().contains("--loki-label"), "{error}");
        }
        let args = LokiArgs {
            loki_events: Some("windows-events".to_owned()),
            ..LokiArgs::default()
        };
        assert!(args.options().unwrap_err().to_string().contains("LABEL=VALUE"));
    }

    #[test]
    fn credentials_need_an_address_and_a_tenant_does_not() {
        let args = LokiArgs {
            loki_tenant: Some("team-a".to_owned()),
            ..LokiArgs::default()
        };
        args.check().unwrap();
        let args = LokiArgs {
            loki_ca: Some("ca.pem".into()),
            ..args
        };
        let error = args.check().unwrap_err().to_string();
        assert!(error.contains("--loki-ca needs --loki"), "{error}");
    }
}
