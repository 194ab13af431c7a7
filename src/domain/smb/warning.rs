//! What is wrong, or worth knowing, about SMB (and NFS) on Windows nodes. Each warning names its evidence.

use super::DEFAULT_DOMAIN;
use super::failure::Cause;
use super::remote::RemotePath;
use crate::domain::Name;
use crate::domain::node::{Taint, Toleration};
use crate::domain::severity::Severity;

/// What a warning is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A mapping of a node.
    Mapping {
        /// Node.
        node: Name,
        /// Share with directory.
        remote: RemotePath,
    },
    /// A node.
    Node(Name),
    /// A pod: namespace, name.
    Pod(Name, Name),
}

/// A warning with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Warned {
    /// What it is about.
    pub about: Subject,
    /// What it says.
    pub warning: SmbWarning,
    /// What it is concluded from: values, lines, events. As told: sanitise before showing.
    pub evidence: Vec<String>,
}

/// A warning.
#[derive(Clone, Debug, PartialEq)]
pub enum SmbWarning {
    /// The share is not mapped: attempts fail.
    NotMapped(Cause),
    /// The mapping was found unusable and made anew.
    Disconnected,
    /// The mapping is still there after its last pod.
    LeftBehind,
    /// The plugin filled in the domain because the Secret has none.
    DomainFilledIn {
        /// `AZURE\user`.
        account: Name,
        /// The server refused that account.
        refused: bool,
        /// The Secret: namespace/name; `None` where its volume does not say it.
        secret: Option<Name>,
    },
    /// Mount options that Windows has none of.
    IgnoredMountOptions(Vec<Name>),
    /// Pods on both systems use the share, and those on Linux keep their locks to themselves.
    LocksNotShared,
    /// Every process of the node reaches the share.
    VisibleOnNode,
    /// The node plugin does not run on a Windows node.
    PluginMissing(WhyMissing),
    /// The driver is not registered with the kubelet of a node on which its plugin runs.
    NotRegistered,
    /// The registrar of the node plugin restarted once at its start: harmless.
    RegistrarRestarted,
    /// A Windows pod wants an NFS volume.
    NfsOnWindows {
        /// Name of the volume.
        volume: Name,
        /// The kubelet or the controller has said already that it cannot be mounted.
        refused: bool,
    },
}

/// Why the node plugin is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyMissing {
    /// No DaemonSet of the plugin is for Windows.
    NoDaemonSet,
    /// The DaemonSet does not put up with a taint of the node.
    Taint {
        /// DaemonSet: namespace/name.
        daemon_set: Name,
        /// The taint.
        taint: Taint,
        /// Key of a toleration that may have been meant for it.
        tolerated_key: Option<Name>,
    },
    /// Nothing explains it.
    Unexplained {
        /// DaemonSet: namespace/name.
        daemon_set: Name,
    },
}

impl WhyMissing {
    /// What keeps the pods of a DaemonSet with these tolerations away from a node with these taints.
    pub fn of(daemon_set: Name, tolerations: &[Toleration], taints: &[Taint]) -> Self {
        let hard = |taint: &&Taint| matches!(&*taint.effect, "NoSchedule" | "NoExecute");
        let tolerated = |taint: &Taint| tolerations.iter().any(|one| one.tolerates(taint));
        // A cordon and the marks of the node's conditions are tolerated by every DaemonSet.
        let of_the_cluster =
            |taint: &Taint| taint.key.starts_with("node.kubernetes.io/") && &*taint.key != OS_LABEL;
        let obstacle = taints
            .iter()
            .filter(hard)
            .find(|taint| !of_the_cluster(taint) && !tolerated(taint));
        match obstacle {
            None => Self::Unexplained { daemon_set },
            Some(taint) => Self::Taint {
                daemon_set,
                taint: taint.clone(),
                tolerated_key: tolerations
                    .iter()
                    .filter_map(|toleration| toleration.key.clone())
                    .find(|key| key.rsplit('/').next() == taint.key.rsplit('/').next()),
            },
        }
    }
}

/// Key of the taint that the chart's default toleration is meant for.
const OS_LABEL: &str = "node.kubernetes.io/os";

impl SmbWarning {
    /// Its name in JSON, stable.
    pub const fn id(&self) -> &'static str {
        match self {
            Self::NotMapped(_) => "smb-not-mapped",
            Self::Disconnected => "smb-disconnected",
            Self::LeftBehind => "smb-left-behind",
            Self::DomainFilledIn { .. } => "smb-domain-filled-in",
            Self::IgnoredMountOptions(_) => "smb-mount-options-ignored",
            Self::LocksNotShared => "smb-locks-not-shared",
            Self::VisibleOnNode => "smb-visible-on-node",
            Self::PluginMissing(_) => "smb-plugin-missing",
            Self::NotRegistered => "smb-driver-not-registered",
            Self::RegistrarRestarted => "smb-registrar-restarted",
            Self::NfsOnWindows { .. } => "nfs-on-windows",
        }
    }

    /// How much it matters. A standing condition that harms nothing now is [`Severity::Fine`].
    pub const fn severity(&self) -> Severity {
        match self {
            Self::NotMapped(cause) => cause.severity(),
            Self::NfsOnWindows { .. } | Self::DomainFilledIn { refused: true, .. } => Severity::Critical,
            Self::Disconnected
            | Self::LeftBehind
            | Self::LocksNotShared
            | Self::PluginMissing(_)
            | Self::NotRegistered => Severity::Warning,
            Self::DomainFilledIn { refused: false, .. }
            | Self::IgnoredMountOptions(_)
            | Self::VisibleOnNode
            | Self::RegistrarRestarted => Severity::Fine,
        }
    }

    /// What is so, on one line. As told by the cluster: sanitise before showing.
    pub fn title(&self) -> String {
        match self {
            Self::NotMapped(cause) => format!("not mapped: {}", cause.words()),
            Self::Disconnected => "the mapping had lost its server, and was made anew".to_owned(),
            Self::LeftBehind => "the mapping is still there after its last pod".to_owned(),
            Self::DomainFilledIn {
                account,
                refused,
                secret,
            } => {
                let consequence = if *refused {
                    "and the server refuses the account"
                } else {
                    "a server in a domain would refuse it"
                };
                let secret = secret_named(secret.as_ref());
                format!(
                    "domain {DEFAULT_DOMAIN} was filled in ({account}): {secret} has no domain field; {consequence}"
                )
            }
            Self::IgnoredMountOptions(options) => {
                format!("mountOptions have no effect on Windows: {}", options.join(", "))
            }
            Self::LocksNotShared => {
                "pods on Windows and on Linux use this share, and nobrl keeps the locks of those on Linux local: their \
                 locks do not exclude each other"
                    .to_owned()
            }
            Self::VisibleOnNode => "every process on the node can reach this mapping".to_owned(),
            Self::PluginMissing(why) => match why {
                WhyMissing::NoDaemonSet => {
                    "the SMB node plugin does not run here: no DaemonSet of it is for Windows".to_owned()
                }
                WhyMissing::Taint {
                    taint, tolerated_key, ..
                } => {
                    let instead = tolerated_key
                        .as_ref()
                        .map(|key| format!(" (it tolerates `{key}`)"))
                        .unwrap_or_default();
                    format!(
                        "the SMB node plugin does not run here: its DaemonSet does not tolerate the taint `{}`{instead}",
                        taint.key
                    )
                }
                WhyMissing::Unexplained { .. } => "the SMB node plugin does not run here".to_owned(),
            },
            Self::NotRegistered => "the SMB driver is not registered with the kubelet (CSINode)".to_owned(),
            Self::RegistrarRestarted => {
                "the driver registrar restarted once: it asked before the driver answered; harmless".to_owned()
            }
            Self::NfsOnWindows { volume, refused } => {
                let consequence = if *refused {
                    "the pod stays in ContainerCreating"
                } else {
                    "it will not start"
                };
                format!("wants the NFS volume {volume}, which no Windows node can mount: {consequence}")
            }
        }
    }

    /// What to do; `None` where nothing has to be done.
    pub fn remedy(&self, about: &Subject) -> Option<String> {
        let (node, server) = match about {
            Subject::Mapping { node, remote } => (&**node, remote.server()),
            Subject::Node(node) => (&**node, ""),
            Subject::Pod(..) => ("", ""),
        };
        Some(match self {
            Self::NotMapped(cause) => cause.remedy(node, server),
            Self::Disconnected => {
                format!("on {node}: Test-NetConnection {server} -Port 445, if it happens again")
            }
            Self::LeftBehind => format!(
                "on {node}: Remove-SmbGlobalMapping for this path; the chart's windows.removeSMBMappingDuringUnmount \
                 does that at each unmount"
            ),
            Self::DomainFilledIn { secret, .. } => {
                format!("add the field `domain` to {}", secret_named(secret.as_ref()))
            }
            Self::LocksNotShared => {
                "let pods of one system write, or take nobrl out of the class and its volumes".to_owned()
            }
            Self::PluginMissing(WhyMissing::NoDaemonSet) => {
                "install the chart with windows.enabled=true".to_owned()
            }
            Self::PluginMissing(WhyMissing::Taint { taint, .. }) => format!(
                "set windows.tolerations of the chart: key {}, effect {}",
                taint.key, taint.effect
            ),
            Self::PluginMissing(WhyMissing::Unexplained { daemon_set }) => {
                format!("describe DaemonSet {daemon_set} and its events")
            }
            Self::NotRegistered => format!(
                "read the log of node-driver-registrar of the node plugin on {node}; delete that pod, so that it registers \
                 anew"
            ),
            Self::NfsOnWindows { .. } => "put the data on an SMB share, or run the pod on Linux".to_owned(),
            Self::IgnoredMountOptions(_) | Self::VisibleOnNode | Self::RegistrarRestarted => return None,
        })
    }
}

fn secret_named(secret: Option<&Name>) -> String {
    secret.map_or_else(|| "the Secret".to_owned(), |secret| format!("Secret {secret}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taint(key: &str) -> Taint {
        Taint {
            key: key.into(),
            value: "windows".into(),
            effect: "NoSchedule".into(),
        }
    }

    fn exists(key: &str) -> Toleration {
        Toleration {
            key: Some(key.into()),
            value: None,
            effect: Some("NoSchedule".into()),
        }
    }

    #[test]
    fn the_charts_default_toleration_does_not_match_the_articles_taint() {
        let why = WhyMissing::of(
            "kube-system/csi-smb-node-win".into(),
            &[exists(OS_LABEL)],
            &[taint("os")],
        );
        let warning = SmbWarning::PluginMissing(why);
        let title = warning.title();
        assert!(
            title.contains("taint `os`") && title.contains("`node.kubernetes.io/os`"),
            "{title}"
        );
        let remedy = warning.remedy(&Subject::Node("k8s-lab-win-1".into())).unwrap();
        assert!(
            remedy.contains("windows.tolerations") && remedy.contains("key os"),
            "{remedy}"
        );
    }

    #[test]
    fn a_taint_that_is_tolerated_or_that_every_daemon_set_tolerates_explains_nothing() {
        let cordon = Taint {
            key: "node.kubernetes.io/unschedulable".into(),
            value: "".into(),
            effect: "NoSchedule".into(),
        };
        let why = WhyMissing::of("x/y".into(), &[exists("os")], &[taint("os"), cordon]);
        assert_eq!(
            why,
            WhyMissing::Unexplained {
                daemon_set: "x/y".into()
            }
        );
    }
}
