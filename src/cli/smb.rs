//! `drainboard smb`: the SMB mappings of the Windows nodes, once.

use super::args::OutputFormat;
use super::exit::{CliError, Outcome};
use super::json::{self, Document, Known, Measured};
use super::{collect, output};
use crate::domain::Timestamp;
use crate::domain::smb::log::Privacy;
use crate::domain::smb::warning::{Subject, Warned};
use crate::sources::SourcesOptions;
use crate::sources::event::{Demand, Watched};
use crate::store::smb::{MappedPod, MappedVolume, MappingState, SmbMapping};
use crate::store::view::TableKind;
use chrono::Utc;
use serde::Serialize;

/// Prints the mappings.
///
/// # Errors
/// No usable kubeconfig, context or credentials; the nodes cannot be read; or the output is gone.
pub async fn run(options: SourcesOptions, format: OutputFormat) -> Result<Outcome, CliError> {
    let demand = Demand {
        smb: true,
        ..Demand::default()
    };
    let mut collected = collect::about(Watched::Nodes, options, demand).await?;
    let now = Utc::now();
    if format == OutputFormat::Json {
        output::print_json(&document(collected.store.smb_mappings(), now))?;
    } else {
        output::print_table(
            &mut collected.store,
            TableKind::Smb,
            format == OutputFormat::Wide,
            now,
        )?;
    }
    Ok(Outcome::Fine)
}

/// The mappings as JSON.
pub fn document(mappings: &[SmbMapping], now: Timestamp) -> Document<Item> {
    Document {
        items: mappings.iter().map(|mapping| Item::of(mapping, now)).collect(),
    }
}

/// A mapping as JSON.
#[derive(Debug, Serialize)]
pub struct Item {
    node: String,
    /// `\\server\share\directory`.
    remote_path: String,
    volumes: Known<Vec<Volume>>,
    pods: Known<Vec<Pod>>,
    /// `DOMAIN\user`.
    account: Measured<String>,
    /// `on`, `off` or `unknown`.
    privacy: Measured<&'static str>,
    /// RFC 3339.
    staged_at: Measured<String>,
    /// `wanted`, `mapping`, `mapped`, `failed`, `removed` or `left behind`.
    state: &'static str,
    /// When that was told, RFC 3339; null where nobody told it.
    state_at: Option<Timestamp>,
    /// `log`, `pod`, `event` or `nobody`.
    state_source: &'static str,
    /// Null unless the last attempt failed.
    failure: Option<FailureItem>,
    warnings: Vec<WarningItem>,
}

/// A volume as JSON.
#[derive(Debug, Serialize)]
pub struct Volume {
    name: String,
    /// `namespace/name`; null without a claim.
    claim: Option<String>,
    /// `status.phase` of the claim; null while it is not known.
    claim_phase: Option<String>,
    /// `status.phase`.
    phase: String,
    storage_class: Option<String>,
    /// SHA-256 of the volume handle.
    staging_hash: String,
}

/// A pod as JSON.
#[derive(Debug, Serialize)]
pub struct Pod {
    namespace: String,
    name: String,
    /// Whether a container of it runs.
    running: bool,
}

/// A failure as JSON.
#[derive(Debug, Serialize)]
pub struct FailureItem {
    /// Null where it is none of Windows.
    win32_code: Option<u32>,
    words: String,
    /// How many times in a row.
    times: u32,
    remedy: String,
}

/// A warning as JSON.
#[derive(Debug, Serialize)]
pub struct WarningItem {
    id: &'static str,
    /// `info`, `warning` or `critical`.
    severity: &'static str,
    title: String,
    evidence: Vec<String>,
    /// Null where nothing has to be done.
    remedy: Option<String>,
}

impl Item {
    fn of(mapping: &SmbMapping, now: Timestamp) -> Self {
        let failure = match &mapping.state {
            MappingState::Failed(failure, times) => Some(FailureItem {
                win32_code: failure.cause.win32_code(),
                words: failure.cause.words().into_owned(),
                times: *times,
                remedy: failure.cause.remedy(&mapping.node, mapping.remote.server()),
            }),
            _ => None,
        };
        Self {
            node: mapping.node.to_string(),
            remote_path: mapping.remote.to_string(),
            volumes: json::known(&mapping.volumes, |volumes| {
                volumes.iter().map(Volume::of).collect()
            }),
            pods: json::known(&mapping.pods, |pods| pods.iter().map(Pod::of).collect()),
            account: json::text(&mapping.account, now, ToString::to_string),
            privacy: json::state(&mapping.privacy, now, |privacy: &Privacy| privacy.name()),
            staged_at: json::text(&mapping.staged_at, now, |at| {
                at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
            }),
            state: mapping.state.name(),
            state_at: mapping.state_at,
            state_source: mapping.told_by.name(),
            failure,
            warnings: mapping.warnings.iter().map(WarningItem::of).collect(),
        }
    }
}

impl Volume {
    fn of(volume: &MappedVolume) -> Self {
        Self {
            name: volume.name.to_string(),
            claim: volume
                .claim
                .as_ref()
                .map(|(namespace, name)| format!("{namespace}/{name}")),
            claim_phase: volume.claim_phase.as_ref().map(ToString::to_string),
            phase: volume.phase.to_string(),
            storage_class: volume.class.as_ref().map(ToString::to_string),
            staging_hash: volume.hash.to_string(),
        }
    }
}

impl Pod {
    fn of(pod: &MappedPod) -> Self {
        Self {
            namespace: pod.namespace.to_string(),
            name: pod.name.to_string(),
            running: pod.runs,
        }
    }
}

impl WarningItem {
    fn of(warned: &Warned) -> Self {
        let about: &Subject = &warned.about;
        Self {
            id: warned.warning.id(),
            severity: json::finding_severity(warned.warning.severity()),
            title: warned.warning.title(),
            evidence: warned.evidence.clone(),
            remedy: warned.warning.remedy(about),
        }
    }
}
