//! `drainboard probe`: what a Windows node says of itself, asked by a short-lived HostProcess pod on it.

use super::args::{ProbeArgs, ProbeFormat};
use super::exit::{CliError, Outcome};
use super::{output, signals};
use crate::domain::Name;
use crate::domain::node_truth::{JobLimits, NodeTruth, Protection, SmbConnection, Told};
use crate::sources::SourcesOptions;
use crate::sources::event::Problem;
use crate::sources::kubernetes::config::{self, Choice};
use crate::sources::kubernetes::host_process::probe;
use serde_json::{Value, json};
use std::fmt::Write as _;
use tokio_util::task::TaskTracker;

/// Runs the command.
///
/// # Errors
/// No usable kubeconfig; what [`probe`] says.
pub async fn run(args: &ProbeArgs, options: SourcesOptions, read_only: bool) -> Result<Outcome, CliError> {
    if read_only {
        output::say(
            "drainboard: started with --read-only: a probe makes a pod on the node, so it is not done",
        );
        return Ok(Outcome::Refused);
    }
    let session = config::open(Choice {
        kubeconfig: options.kubeconfig,
        context: options.context,
        connect_timeout: options.request_timeout,
        interactive: options.interactive,
    })
    .await?;
    let cancel = signals::cancelled_by_signals()?;
    let cleaners = TaskTracker::new();
    let node = Name::from(args.node.as_str());
    let place = args.host_process.place();
    let say = |line: String| output::say(&line);
    let told = tokio::select! {
        told = probe(session.client, options.request_timeout, &node, &place, &cleaners, &say) => Some(told),
        () = cancel.cancelled() => None,
    };
    // Its pod is gone before the program is.
    cleaners.close();
    let patience = options.request_timeout.saturating_mul(2);
    if tokio::time::timeout(patience, cleaners.wait()).await.is_err() {
        output::say("drainboard: the pod of the probe was not removed in time");
    }
    let Some(told) = told else {
        return Ok(Outcome::Aborted);
    };
    let truth = told.map_err(|what| Problem {
        what,
        next_step: String::new(),
    })?;
    match args.output {
        ProbeFormat::Text => output::print(&text(&truth))?,
        ProbeFormat::Json => output::print_json(&document(&truth))?,
    }
    Ok(Outcome::Fine)
}

fn text(truth: &NodeTruth) -> String {
    let mut out = format!(
        "node {} at {}\n",
        truth.node,
        truth.read_at.format("%H:%M:%S UTC")
    );
    one(&mut out, "restart due", &truth.reboot_required, |due| {
        if *due {
            "yes: RebootRequired is set"
        } else {
            "no: RebootRequired is not set"
        }
        .to_owned()
    });
    one(
        &mut out,
        "HNS namespaces",
        &truth.hns_namespaces,
        ToString::to_string,
    );
    many(
        &mut out,
        "SMB mappings, visible to every process of the node",
        &truth.smb_mappings,
        |mapping| {
            let privacy = match mapping.require_privacy {
                Some(true) => "requires encryption",
                Some(false) => "does not require encryption",
                None => "encryption not told",
            };
            format!("{}  {}, {privacy}", mapping.remote_path, mapping.status)
        },
    );
    many(&mut out, "SMB connections", &truth.smb_connections, connection);
    many(&mut out, "SMB staging links", &truth.smb_stagings, |staging| {
        let target = staging.target.as_deref().unwrap_or("no link");
        format!("{} → {target}", staging.path)
    });
    many(
        &mut out,
        "sandboxes that are not ready",
        &truth.dead_sandboxes,
        |sandbox| format!("{}/{}  {}", sandbox.namespace, sandbox.pod, sandbox.id),
    );
    many(&mut out, "limits of the job objects", &truth.limits, limits);
    many(&mut out, "images", &truth.images, |image| {
        let version = image.os_version.as_deref().unwrap_or("no os.version");
        format!("{}  {version}, {} bytes", image.names.join(" "), image.bytes)
    });
    out
}

fn connection(connection: &SmbConnection) -> String {
    let protection = match connection.protection() {
        Some(Protection::Encrypted) => "encrypted",
        Some(Protection::Signed) => "signed, not encrypted",
        Some(Protection::None) => "neither encrypted nor signed",
        None => "protection not told",
    };
    format!(
        r"\\{}\{}  {}, {protection}, opened by {} (not the account of the Secret)",
        connection.server, connection.share, connection.dialect, connection.opened_by
    )
}

fn limits(limits: &JobLimits) -> String {
    let cpu = limits.cpu_maximum.map_or_else(
        || "no CPU limit".to_owned(),
        |maximum| {
            format!(
                "CpuMaximum {maximum} ({} % of the node)",
                f64::from(maximum) / 100.0
            )
        },
    );
    let memory = limits.memory_bytes.map_or_else(
        || "no memory limit".to_owned(),
        |bytes| format!("commit limit {bytes} bytes"),
    );
    format!(
        "{}/{} {}  {cpu}, {memory}",
        limits.namespace, limits.pod, limits.container
    )
}

fn one<T>(out: &mut String, name: &str, told: &Told<T>, words: impl Fn(&T) -> String) {
    // Writing to a string cannot fail.
    let _ = match told {
        Ok(value) => writeln!(out, "{name}: {}", words(value)),
        Err(why) => writeln!(out, "{name}: not known: {why}"),
    };
}

fn many<T>(out: &mut String, name: &str, told: &Told<Vec<T>>, words: impl Fn(&T) -> String) {
    let _ = match told {
        Ok(items) if items.is_empty() => writeln!(out, "{name}: none"),
        Ok(items) => {
            let lines = items.iter().map(|item| format!("\n  {}", words(item)));
            writeln!(out, "{name}:{}", lines.collect::<String>())
        }
        Err(why) => writeln!(out, "{name}: not known: {why}"),
    };
}

/// The stable JSON: each part is `{"value":…}`, or `{"absent":"reason"}`.
fn document(truth: &NodeTruth) -> Value {
    json!({
        "node": &*truth.node,
        "read_at": truth.read_at,
        "reboot_required": part(&truth.reboot_required, |due| json!(due)),
        "hns_namespaces": part(&truth.hns_namespaces, |count| json!(count)),
        "smb_mappings": items(&truth.smb_mappings, |mapping| json!({
            "remote_path": mapping.remote_path, "status": mapping.status, "require_privacy": mapping.require_privacy,
        })),
        "smb_connections": items(&truth.smb_connections, |connection| json!({
            "server": connection.server, "share": connection.share, "opened_by": connection.opened_by,
            "dialect": connection.dialect, "encrypted": connection.encrypted, "signed": connection.signed,
        })),
        "smb_stagings": items(&truth.smb_stagings, |staging| json!({"path": staging.path, "target": staging.target})),
        "dead_sandboxes": items(&truth.dead_sandboxes, |sandbox| json!({
            "namespace": sandbox.namespace, "pod": sandbox.pod, "id": sandbox.id,
        })),
        "limits": items(&truth.limits, |limits| json!({
            "namespace": limits.namespace, "pod": limits.pod, "container": limits.container,
            "cpu_maximum": limits.cpu_maximum, "memory_limit_bytes": limits.memory_bytes,
        })),
        "images": items(&truth.images, |image| json!({
            "names": image.names, "os_version": image.os_version, "bytes": image.bytes,
        })),
    })
}

fn part<T>(told: &Told<T>, value: impl Fn(&T) -> Value) -> Value {
    match told {
        Ok(told) => json!({"value": value(told)}),
        Err(why) => json!({"absent": why}),
    }
}

fn items<T>(told: &Told<Vec<T>>, value: impl Fn(&T) -> Value) -> Value {
    part(told, |items| items.iter().map(&value).collect())
}
