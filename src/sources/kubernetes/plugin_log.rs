//! Logs of the SMB node plugins on Windows nodes, read through the API server while somebody looks at the mappings.
//! They are asked for in rounds: a followed log would hold a connection for each node.

use super::detail::segment;
use super::failure::{Asked, Failure};
use super::http::ApiServer;
use crate::domain::smb::{is_plugin_image, log};
use crate::domain::{Name, Timestamp};
use crate::sources::context::SourceContext;
use crate::sources::event::{Demand, LogPart, Payload, PluginLog, PluginLogs, Problem};
use crate::sources::pace::Pace;
use chrono::{SecondsFormat, Utc};
use futures::{StreamExt, stream};
use k8s_openapi::List;
use k8s_openapi::api::core::v1::Pod;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// Pause between two rounds.
const INTERVAL: Duration = Duration::from_secs(5);
/// The plugins are looked for anew so often, and whenever the operator asks.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Logs that are read at the same time.
const AT_ONCE: usize = 4;
/// Lines read at once, the newest of them. Most of the plugin's lines tell nothing.
const LINES: u32 = 5000;
/// Labels by which the plugins are found: those of the chart and of the plain manifests, then any of the chart under
/// another name.
const SELECTORS: [&str; 2] = [
    "app%3Dcsi-smb-node-win",
    "app.kubernetes.io%2Fname%3Dcsi-driver-smb",
];

/// Reads until the task is dropped.
pub async fn run(api: ApiServer, context: SourceContext) {
    let mut pace = Pace::new(&context, |demand| Demand {
        smb: demand.smb,
        ..Demand::default()
    });
    let mut plugins: Vec<Plugin> = Vec::new();
    let mut looked: Option<Instant> = None;
    let mut rest = Duration::ZERO;
    loop {
        let round = pace.next(rest).await;
        rest = INTERVAL;
        let mut outcome = Ok(());
        if round.refreshed || looked.is_none_or(|at| at.elapsed() >= LOOK_AGAIN) {
            outcome = look(&api).await.map(|found| {
                plugins = merged(found, std::mem::take(&mut plugins));
                looked = Some(Instant::now());
            });
        }
        let read_at = Utc::now();
        let logs = match outcome {
            Err(problem) => {
                rest = LOOK_AGAIN;
                Err(problem)
            }
            Ok(()) => Ok(read_all(&api, &mut plugins).await),
        };
        if let Ok(logs) = &logs
            && logs.iter().any(|log| log.outcome.is_err())
        {
            // Its pod may be another one by now.
            looked = None;
        }
        let logs = PluginLogs {
            read_at,
            plugins: logs,
        };
        context.sink.send(Payload::PluginLogs(logs)).await;
    }
}

/// A plugin, and how far its log was read.
#[derive(Clone, Debug)]
struct Plugin {
    node: Name,
    pod: (Name, Name),
    uid: String,
    container: String,
    /// Time of the newest line.
    newest: Option<Timestamp>,
    /// Time of the oldest line.
    begins: Option<Timestamp>,
}

async fn look(api: &ApiServer) -> Result<Vec<Plugin>, Problem> {
    let mut plugins = Vec::new();
    for selector in SELECTORS {
        let path = format!("/api/v1/pods?labelSelector={selector}&resourceVersion=0");
        let outcome = api.get(&path).await;
        let list: List<Pod> = outcome
            .and_then(|body| serde_json::from_slice(&body).map_err(|error| Failure::of_json(&error)))
            .map_err(|failure| {
                let asked = Asked {
                    verb: "list",
                    object: "pods of the SMB node plugin".to_owned(),
                    all_namespaces: true,
                };
                failure.problem(&asked, &api.scope)
            })?;
        plugins = list.items.iter().filter_map(Plugin::of).collect();
        if !plugins.is_empty() {
            break;
        }
    }
    Ok(plugins)
}

/// What was found now, each log going on from where it was read to.
fn merged(found: Vec<Plugin>, known: Vec<Plugin>) -> Vec<Plugin> {
    let mut known: HashMap<String, Plugin> = known
        .into_iter()
        .map(|plugin| (plugin.uid.clone(), plugin))
        .collect();
    found
        .into_iter()
        .map(|plugin| known.remove(&plugin.uid).unwrap_or(plugin))
        .collect()
}

async fn read_all(api: &ApiServer, plugins: &mut Vec<Plugin>) -> Vec<PluginLog> {
    let reads: Vec<_> = plugins
        .drain(..)
        .map(|plugin| read_one(api.clone(), plugin))
        .collect();
    let mut read: Vec<(Plugin, PluginLog)> = stream::iter(reads).buffer_unordered(AT_ONCE).collect().await;
    read.sort_unstable_by(|(a, _), (b, _)| a.node.cmp(&b.node));
    let (known, logs) = read.into_iter().unzip();
    *plugins = known;
    logs
}

async fn read_one(api: ApiServer, mut plugin: Plugin) -> (Plugin, PluginLog) {
    let log = PluginLog {
        node: plugin.node.clone(),
        pod: plugin.pod.clone(),
        outcome: plugin.read(&api).await,
    };
    (plugin, log)
}

impl Plugin {
    /// The plugin that this pod is: bound to a Windows node.
    fn of(pod: &Pod) -> Option<Self> {
        let spec = pod.spec.as_ref()?;
        let selects_windows = spec
            .node_selector
            .as_ref()
            .is_some_and(|selector| selector.get("kubernetes.io/os").is_some_and(|os| os == "windows"));
        let host_process = spec
            .security_context
            .as_ref()
            .and_then(|context| context.windows_options.as_ref())
            .is_some_and(|options| options.host_process == Some(true));
        let is_plugin = |image: &Option<String>| image.as_deref().is_some_and(is_plugin_image);
        let container = spec.containers.iter().find(|one| is_plugin(&one.image))?;
        (selects_windows || host_process).then_some(())?;
        Some(Self {
            node: spec.node_name.as_deref()?.into(),
            pod: (
                pod.metadata.namespace.as_deref()?.into(),
                pod.metadata.name.as_deref()?.into(),
            ),
            uid: pod.metadata.uid.clone()?,
            container: container.name.clone(),
            newest: None,
            begins: None,
        })
    }

    /// Reads on. A log that was not read before may go on from that of the container's previous run.
    async fn read(&mut self, api: &ApiServer) -> Result<LogPart, Problem> {
        let mut part = LogPart::default();
        if self.newest.is_none() {
            // Usually there is none, which is no fault.
            let previous = self.fetch(api, &format!("previous=true&tailLines={LINES}")).await;
            if let Ok(text) = previous {
                self.take(&text, &mut part);
            }
        }
        let since = self.newest.map(|newest| {
            let newest = newest.to_rfc3339_opts(SecondsFormat::Secs, true);
            format!("&sinceTime={newest}")
        });
        let from = format!("tailLines={LINES}{}", since.unwrap_or_default());
        let text = self.fetch(api, &from).await.map_err(|failure| {
            let (namespace, name) = &self.pod;
            let asked = Asked {
                verb: "get",
                object: format!("the log of pod {namespace}/{name}"),
                all_namespaces: false,
            };
            failure.problem(&asked, &api.scope)
        })?;
        self.take(&text, &mut part);
        part.begins = self.begins;
        Ok(part)
    }

    async fn fetch(&self, api: &ApiServer, from: &str) -> Result<Vec<u8>, Failure> {
        let (namespace, name) = &self.pod;
        api.get(&format!(
            "/api/v1/namespaces/{}/pods/{}/log?container={}&timestamps=true&{from}",
            segment(namespace),
            segment(name),
            segment(&self.container)
        ))
        .await
    }

    fn take(&mut self, text: &[u8], part: &mut LogPart) {
        for line in String::from_utf8_lossy(text).lines() {
            let Some((at, line)) = timed(line) else { continue };
            self.begins.get_or_insert(at);
            self.newest = self.newest.max(Some(at));
            part.seen.extend(log::read(at, line));
        }
    }
}

/// A line and the time that the kubelet puts before it.
fn timed(line: &str) -> Option<(Timestamp, &str)> {
    let (time, line) = line.split_once(' ')?;
    let time = chrono::DateTime::parse_from_rfc3339(time).ok()?;
    Some((time.with_timezone(&Utc), line))
}
