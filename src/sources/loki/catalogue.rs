//! Every query that is put to a Loki server.

use super::labels::{LabelRole, Labels};
use super::logql::{LogQl, filtered};
use crate::domain::log::{LogFilter, LogQuery, LogScope};
use crate::sources::transport::failure::{Failure, FailureKind};

/// What csi-driver-smb writes of a mapping, from 1.16 to 1.20: made, refused, published, removed. Line numbers
/// differ from version to version, the words do not.
const SMB_LINES: &str = "SmbGlobalMapping|NodePublishVolume: |NodeUnpublishVolume: |NodeUnstageVolume: \
                         |skip unmount as there are other SMB mounts|GRPC error: ";

/// Pods of the node plugin on Windows, whatever the release is called.
const SMB_PODS: &str = ".*csi-smb-node-win.*";

/// The container of the plugin itself, beside its registrar and probe.
const SMB_CONTAINER: &str = "smb";

/// What is written where something waits for the network of a node.
const NETWORK_LINES: &str = "(?i)network is not ready|cni plugin not initialized|waiting for (the )?network\
                             |waiting for (the )?hns|hnsCall failed|failed to set up sandbox|no such network";

/// The text of a query.
///
/// # Errors
/// This Loki does not have what is asked for: no Windows event log.
pub fn logql(query: &LogQuery, labels: &Labels) -> Result<String, Failure> {
    let text = match &query.scope {
        LogScope::Pod {
            namespace,
            pod,
            container,
        } => {
            let mut selection = Selection::default();
            selection.add(labels, LabelRole::Namespace, namespace);
            selection.add(labels, LabelRole::Pod, pod);
            if let Some(container) = container {
                selection.add(labels, LabelRole::Container, container);
            }
            selection.text(labels)
        }
        LogScope::Node(node) => {
            let mut selection = Selection::default();
            selection.add(labels, LabelRole::Node, node);
            let with_pod = labels.of(LabelRole::Pod);
            // Without event logs, which carry the node's label, too.
            if with_pod.of_stream {
                selection.query = selection.query.matching(&with_pod.name, ".+");
                selection.selects = true;
            }
            selection.text(labels)
        }
        LogScope::Events(node) => {
            let Some((label, value)) = &labels.events else {
                return Err(no_events());
            };
            let mut selection = Selection {
                query: LogQl::new().equal(label, value),
                selects: true,
            };
            selection.add(labels, LabelRole::Node, node);
            selection.text(labels)
        }
        LogScope::SmbMappings(node) => {
            let mut selection = Selection::default();
            let pod = labels.of(LabelRole::Pod);
            if pod.of_stream {
                selection.query = selection.query.matching(&pod.name, SMB_PODS);
                selection.selects = true;
            }
            selection.add(labels, LabelRole::Container, SMB_CONTAINER);
            if let Some(node) = node {
                selection.add(labels, LabelRole::Node, node);
            }
            filtered(&selection.text(labels), SMB_LINES, false)
        }
        LogScope::NetworkWaits(node) => {
            let mut selection = Selection::default();
            selection.add(labels, LabelRole::Node, node);
            filtered(&selection.text(labels), NETWORK_LINES, false)
        }
        LogScope::Raw(text) => text.to_string(),
    };
    Ok(match &query.filter {
        Some(LogFilter { pattern, inverse }) => filtered(&text, pattern, *inverse),
        None => text,
    })
}

/// A selector that needs at least one label of a stream.
#[derive(Default)]
struct Selection {
    query: LogQl,
    selects: bool,
}

impl Selection {
    fn add(&mut self, labels: &Labels, role: LabelRole, value: &str) {
        let label = labels.of(role);
        let query = std::mem::take(&mut self.query);
        self.query = if label.of_stream {
            self.selects = true;
            query.equal(&label.name, value)
        } else {
            query.with_metadata(&label.name, value)
        };
    }

    fn text(mut self, labels: &Labels) -> String {
        if !self.selects {
            // Loki refuses a selector that any stream would meet.
            let namespace = &labels.of(LabelRole::Namespace).name;
            self.query = self.query.matching(namespace, ".+");
        }
        self.query.text()
    }
}

fn no_events() -> Failure {
    Failure::new(
        FailureKind::NotInstalled,
        "this Loki holds no Windows event log: no value of its label job names one",
        "collect the System channel with Alloy (loki.source.windowsevent), or name its streams with --loki-events \
         LABEL=VALUE",
    )
}

#[cfg(test)]
mod tests {
    use super::super::labels::LabelChoice;
    use super::*;
    use std::sync::Arc;

    fn labels(known: &[&str]) -> Labels {
        let known: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
        Labels::detect(&known, &["windows-events".to_owned()], &LabelChoice::default())
    }

    fn article() -> Labels {
        labels(&["container", "job", "namespace", "node", "pod"])
    }

    fn text(scope: LogScope, labels: &Labels) -> String {
        logql(&LogQuery { scope, filter: None }, labels).unwrap()
    }

    fn hello(container: Option<&str>) -> LogScope {
        LogScope::Pod {
            namespace: "win-demo".into(),
            pod: "hello-win-1".into(),
            container: container.map(Into::into),
        }
    }

    #[test]
    fn the_catalogue_asks_with_the_articles_labels() {
        let labels = article();
        assert_eq!(
            text(hello(Some("hello")), &labels),
            r#"{namespace="win-demo", pod="hello-win-1", container="hello"}"#
        );
        let node = || Name::from("k8s-lab-win-1");
        assert_eq!(
            text(LogScope::Node(node()), &labels),
            r#"{node="k8s-lab-win-1", pod=~".+"}"#
        );
        assert_eq!(
            text(LogScope::Events(node()), &labels),
            r#"{job="windows-events", node="k8s-lab-win-1"}"#
        );
        assert!(text(LogScope::SmbMappings(Some(node())), &labels).starts_with(
            r#"{pod=~".*csi-smb-node-win.*", container="smb", node="k8s-lab-win-1"} |~ "SmbGlobal"#
        ));
        assert!(
            text(LogScope::NetworkWaits(node()), &labels).starts_with(r#"{node="k8s-lab-win-1"} |~ "(?i)"#)
        );
    }

    #[test]
    fn opentelemetrys_metadata_stands_behind_a_selector_that_loki_accepts() {
        let labels = labels(&["k8s_namespace_name", "k8s_container_name"]);
        assert_eq!(
            text(hello(None), &labels),
            r#"{k8s_namespace_name="win-demo"} | k8s_pod_name="hello-win-1""#
        );
        assert_eq!(
            text(LogScope::Node("win".into()), &labels),
            r#"{k8s_namespace_name=~".+"} | k8s_node_name="win""#
        );
    }

    #[test]
    fn a_filter_is_the_servers_work_and_a_missing_event_log_is_said() {
        let filter = Some(LogFilter {
            pattern: Arc::from("err|\"x\""),
            inverse: true,
        });
        let query = LogQuery {
            scope: hello(None),
            filter,
        };
        assert!(logql(&query, &article()).unwrap().ends_with(r#"!~ "err|\"x\"""#));

        let bare = Labels::detect(&[], &[], &LabelChoice::default());
        let query = LogQuery {
            scope: LogScope::Events("win".into()),
            filter: None,
        };
        let failure = logql(&query, &bare).unwrap_err();
        assert!(
            failure.problem.next_step.contains("--loki-events"),
            "{}",
            failure.problem
        );
    }

    use crate::domain::Name;
}
