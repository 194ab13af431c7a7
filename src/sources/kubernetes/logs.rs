//! Logs as the kubelets keep them: the current run of each container and the one before it, through the API server.

use crate::domain::Name;
use crate::domain::log::{LogEntry, LogStream, UnixNanos};
use crate::domain::reading::Source;
use crate::sources::transport::HttpTransport;
use crate::sources::transport::failure::{Failure, FailureKind};
use chrono::DateTime;
use serde::Deserialize;
use std::sync::Arc;

/// A container whose log can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerLog {
    /// Namespace of the pod.
    pub namespace: Name,
    /// Pod.
    pub pod: Name,
    /// Container.
    pub container: Name,
    /// Node.
    pub node: Option<Name>,
    /// Whether there was a run before this one.
    pub restarted: bool,
}

/// How much of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// From when on.
    pub since_ns: UnixNanos,
    /// At most this many of the newest lines of each run.
    pub lines: usize,
}

#[derive(Deserialize)]
struct PodList {
    #[serde(default)]
    items: Vec<Pod>,
}

#[derive(Deserialize)]
struct Pod {
    metadata: Meta,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Meta {
    namespace: Name,
    name: Name,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    node_name: Option<Name>,
    init_containers: Vec<Container>,
    containers: Vec<Container>,
    ephemeral_containers: Vec<Container>,
}

#[derive(Deserialize)]
struct Container {
    name: Name,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    init_container_statuses: Vec<ContainerStatus>,
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerStatus {
    name: Name,
    #[serde(default)]
    restart_count: u32,
}

/// The containers of a pod.
///
/// # Errors
/// The pod cannot be read.
pub async fn of_pod(api: &HttpTransport, namespace: &str, pod: &str) -> Result<Vec<ContainerLog>, Failure> {
    let answer = api
        .get(&format!("/api/v1/namespaces/{namespace}/pods/{pod}"), &[])
        .await?;
    Ok(answer.json::<Pod>()?.containers())
}

/// The containers of all pods of a node.
///
/// # Errors
/// There is no such node, or pods cannot be listed.
pub async fn of_node(api: &HttpTransport, node: &str) -> Result<Vec<ContainerLog>, Failure> {
    api.get(&format!("/api/v1/nodes/{node}"), &[]).await?;
    let selector = format!("spec.nodeName={node}");
    let answer = api
        .get("/api/v1/pods", &[("fieldSelector", selector.as_str())])
        .await?;
    let pods = answer.json::<PodList>()?.items;
    Ok(pods.into_iter().flat_map(Pod::containers).collect())
}

impl Pod {
    fn containers(self) -> Vec<ContainerLog> {
        let statuses = || {
            let status = &self.status;
            status
                .init_container_statuses
                .iter()
                .chain(&status.container_statuses)
        };
        let spec = &self.spec;
        spec.init_containers
            .iter()
            .chain(&spec.containers)
            .chain(&spec.ephemeral_containers)
            .map(|container| ContainerLog {
                namespace: self.metadata.namespace.clone(),
                pod: self.metadata.name.clone(),
                container: container.name.clone(),
                node: spec.node_name.clone(),
                restarted: statuses().any(|status| status.name == container.name && status.restart_count > 0),
            })
            .collect()
    }
}

impl ContainerLog {
    /// Its lines: those of the run before this one first.
    ///
    /// # Errors
    /// The current run's log cannot be read. That of the run before may be gone; then it is left out.
    pub async fn read(&self, api: &HttpTransport, portion: Portion) -> Result<Vec<LogEntry>, Failure> {
        let mut entries = Vec::new();
        if self.restarted {
            match self.run(api, portion, "true").await {
                Ok(previous) => entries = previous,
                Err(failure) if matches!(failure.kind, FailureKind::Status(400) | FailureKind::NotFound) => {}
                Err(failure) => return Err(failure),
            }
        }
        entries.extend(self.run(api, portion, "false").await?);
        Ok(entries)
    }

    async fn run(
        &self,
        api: &HttpTransport,
        portion: Portion,
        previous: &str,
    ) -> Result<Vec<LogEntry>, Failure> {
        let path = format!("/api/v1/namespaces/{}/pods/{}/log", self.namespace, self.pod);
        let since = DateTime::from_timestamp_nanos(portion.since_ns).to_rfc3339();
        let parameters = [
            ("container", &*self.container),
            ("timestamps", "true"),
            ("sinceTime", &since),
            ("tailLines", &portion.lines.to_string()),
            ("previous", previous),
        ];
        let answer = api.get(&path, &parameters).await?;
        Ok(self.entries(&answer.lossy_text(), portion.since_ns))
    }

    /// Lines as the kubelet gives them, each behind its time.
    fn entries(&self, text: &str, since_ns: UnixNanos) -> Vec<LogEntry> {
        let stream = Arc::new(LogStream {
            namespace: Some(self.namespace.clone()),
            pod: Some(self.pod.clone()),
            container: Some(self.container.clone()),
            node: self.node.clone(),
            ..LogStream::default()
        });
        let mut last = since_ns;
        text.lines()
            .map(|line| {
                let timed = line.split_once(' ').and_then(|(time, rest)| {
                    let time = DateTime::parse_from_rfc3339(time).ok()?;
                    Some((time.timestamp_nanos_opt()?, rest))
                });
                // A line without a time (the kubelet's own words) stands where it came.
                let (at_ns, line) = timed.unwrap_or((last, line));
                last = at_ns;
                LogEntry {
                    at_ns,
                    line: line.into(),
                    stream: Arc::clone(&stream),
                    metadata: Arc::default(),
                    parsed: Arc::default(),
                    source: Source::Kubernetes,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_has_init_containers_and_containers_and_those_that_restarted_had_a_run_before() {
        let pod: Pod = serde_json::from_value(serde_json::json!({
            "metadata": {"namespace": "monitoring", "name": "exporter"},
            "spec": {
                "nodeName": "win", "initContainers": [{"name": "firewall"}],
                "containers": [{"name": "exporter"}, {"name": "side"}],
            },
            "status": {"containerStatuses": [{"name": "exporter", "restartCount": 3}, {"name": "side"}]},
        }))
        .unwrap();
        let found: Vec<_> = pod
            .containers()
            .into_iter()
            .map(|log| (log.container.to_string(), log.restarted))
            .collect();
        let expected = [("firewall", false), ("exporter", true), ("side", false)];
        assert_eq!(
            found,
            expected.map(|(name, restarted)| (name.to_owned(), restarted))
        );
    }

    #[test]
    fn lines_stand_behind_their_time_and_the_kubelets_own_words_where_they_came() {
        let log = ContainerLog {
            namespace: "a".into(),
            pod: "b".into(),
            container: "c".into(),
            node: None,
            restarted: false,
        };
        let text = "2026-11-07T12:50:41.289414123Z first\n2026-11-07T12:50:42Z \nfailed to watch file\n";
        let entries = log.entries(text, 5);
        let lines: Vec<(i64, &str)> = entries
            .iter()
            .map(|entry| (entry.at_ns % 10_000_000_000, &*entry.line))
            .collect();
        assert_eq!(
            lines,
            [
                (1_289_414_123, "first"),
                (2_000_000_000, ""),
                (2_000_000_000, "failed to watch file")
            ]
        );
    }
}
