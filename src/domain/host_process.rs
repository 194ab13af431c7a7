//! Short-lived HostProcess pods: what they are made from, and which namespaces admit them.

use super::Name;
use std::fmt;

/// The smallest image that a HostProcess container can have: nothing of it is used, the programs are the node's.
/// It has no `os.version`, so that it fits nodes of every build.
pub const DEFAULT_IMAGE: &str =
    "mcr.microsoft.com/oss/kubernetes/windows-host-process-containers-base-image:v1.0.0";

/// A namespace that admits privileged pods nearly everywhere.
pub const DEFAULT_NAMESPACE: &str = "kube-system";

/// Label of a namespace with the level of Pod Security that its pods must keep to.
pub const ENFORCE_LABEL: &str = "pod-security.kubernetes.io/enforce";

/// From what image and in which namespace such a pod is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPod {
    /// Any Windows image.
    pub image: String,
    /// Its namespace.
    pub namespace: Name,
}

impl Default for HostPod {
    fn default() -> Self {
        Self {
            image: DEFAULT_IMAGE.to_owned(),
            namespace: DEFAULT_NAMESPACE.into(),
        }
    }
}

impl fmt::Display for HostPod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a HostProcess pod in namespace {}", self.namespace)
    }
}

/// What a namespace says of Pod Security.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodSecurity {
    /// There is no such namespace.
    NoNamespace,
    /// The level of [`ENFORCE_LABEL`]. Without the label the API server's own default counts, which is `privileged`
    /// unless somebody configured another.
    Enforced(Option<String>),
}

impl PodSecurity {
    /// Why HostProcess pods cannot be made in this namespace, and what to do about it; `None` if they can.
    pub fn objection(&self, namespace: &str) -> Option<(String, String)> {
        match self {
            Self::NoNamespace => Some((
                format!("there is no namespace {namespace} for the HostProcess pod"),
                "name another with --host-process-namespace".to_owned(),
            )),
            Self::Enforced(Some(level)) if level != "privileged" => Some((
                format!("namespace {namespace} does not admit HostProcess pods ({ENFORCE_LABEL}={level})"),
                admission_remedy(namespace),
            )),
            Self::Enforced(_) => None,
        }
    }
}

/// What to do where a namespace does not admit HostProcess pods.
pub fn admission_remedy(namespace: &str) -> String {
    format!(
        "name another namespace with --host-process-namespace, or `kubectl label namespace {namespace} \
         {ENFORCE_LABEL}=privileged --overwrite`"
    )
}
