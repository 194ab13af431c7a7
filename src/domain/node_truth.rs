//! What a Windows node itself answers when it is asked: the truth to set beside what was inferred from the API, from
//! logs and from metrics. Everything here was true at one moment, [`NodeTruth::read_at`].

use super::{Name, Timestamp};

/// A part of the truth, or why the node could not tell it (a cmdlet or a program is missing, or failed).
pub type Told<T> = Result<T, String>;

/// What the node answered. Texts are made fit for a terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeTruth {
    /// The node.
    pub node: Name,
    /// When it answered, by our clock.
    pub read_at: Timestamp,
    /// Whether installed updates wait for a restart (the registry key `RebootRequired` of Windows Update).
    pub reboot_required: Told<bool>,
    /// SMB mappings, which every process of the node sees (`Get-SmbGlobalMapping`).
    pub smb_mappings: Told<Vec<SmbMapping>>,
    /// SMB connections (`Get-SmbConnection`).
    pub smb_connections: Told<Vec<SmbConnection>>,
    /// Links from the staging directories of csi-driver-smb to what is mapped.
    pub smb_stagings: Told<Vec<SmbStaging>>,
    /// Sandboxes that containerd still has and that are not ready: what a crash or a forced deletion left.
    pub dead_sandboxes: Told<Vec<Sandbox>>,
    /// HNS namespaces: one of the node itself, and one per pod with a network of its own.
    pub hns_namespaces: Told<u64>,
    /// Running containers with the limits that containerd handed to runhcs for their job object.
    pub limits: Told<Vec<JobLimits>>,
    /// Images in containerd's store, with the variant that the node took.
    pub images: Told<Vec<ImageVariant>>,
}

/// A mapping of a remote path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SmbMapping {
    /// `\\server\share\directory`.
    pub remote_path: String,
    /// `OK`, `Disconnected`, … as Windows words it.
    pub status: String,
    /// Whether it insists on encryption; `None` on versions of Windows that do not tell.
    pub require_privacy: Option<bool>,
}

/// A connection to a share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SmbConnection {
    /// Server.
    pub server: String,
    /// Share.
    pub share: String,
    /// The account on the node that opened it, in general the machine's own: not the one of the Secret, which only the
    /// server knows.
    pub opened_by: String,
    /// `3.1.1`.
    pub dialect: String,
    /// Whether messages are encrypted.
    pub encrypted: Option<bool>,
    /// Whether messages are signed beside that.
    pub signed: Option<bool>,
}

/// A staging directory of the SMB driver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SmbStaging {
    /// `C:\var\lib\kubelet\plugins\kubernetes.io\csi\smb.csi.k8s.io\<SHA-256 of the volume handle>\globalmount`.
    pub path: String,
    /// What it links to, as `\\server\share\directory`; `None` where it is no link.
    pub target: Option<String>,
}

/// A sandbox of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sandbox {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub pod: String,
    /// Id in containerd.
    pub id: String,
}

/// What a container's job object was given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobLimits {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub pod: String,
    /// Name of the container.
    pub container: String,
    /// `CpuMaximum`, in ten-thousandths of the node; `None` without a limit.
    pub cpu_maximum: Option<u32>,
    /// Limit of committed memory in bytes; `None` without a limit.
    pub memory_bytes: Option<u64>,
}

/// A variant of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImageVariant {
    /// Its names, with tag or digest.
    pub names: Vec<String>,
    /// `10.0.26100.33674`; `None` for one that names no version, as those of HostProcess containers.
    pub os_version: Option<String>,
    /// Bytes.
    pub bytes: u64,
}

/// How well a connection is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Encrypted, which signs too: that `Signed` is false then is no fault.
    Encrypted,
    /// Signed only: whoever listens can read along.
    Signed,
    /// Neither.
    None,
}

impl SmbConnection {
    /// How well it is protected; `None` where Windows did not tell.
    pub fn protection(&self) -> Option<Protection> {
        match (self.encrypted?, self.signed) {
            (true, _) => Some(Protection::Encrypted),
            (false, Some(true)) => Some(Protection::Signed),
            (false, Some(false)) => Some(Protection::None),
            (false, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(encrypted: Option<bool>, signed: Option<bool>) -> SmbConnection {
        SmbConnection {
            server: "files.example.com".to_owned(),
            share: "k8s".to_owned(),
            opened_by: r"WIN\K8S-LAB-WIN-1$".to_owned(),
            dialect: "3.1.1".to_owned(),
            encrypted,
            signed,
        }
    }

    #[test]
    fn an_encrypted_connection_that_is_not_signed_has_no_fault() {
        let protection = |encrypted, signed| connection(encrypted, signed).protection();
        assert_eq!(protection(Some(true), Some(false)), Some(Protection::Encrypted));
        assert_eq!(protection(Some(false), Some(true)), Some(Protection::Signed));
        assert_eq!(protection(Some(false), Some(false)), Some(Protection::None));
        assert_eq!(
            protection(None, Some(false)),
            None,
            "what was not told is not a fault either"
        );
    }
}
