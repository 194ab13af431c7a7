//! What lines of the node plugin (csi-driver-smb 1.16 to 1.20, HostProcess and csi-proxy) and error texts of the kubelet
//! tell about mappings. Line numbers of the plugin's source differ from version to version, so only texts are matched.

use super::failure::Failure;
use super::handle::{Handle, hash_in, staging_hash};
use super::remote::RemotePath;
use crate::domain::{Name, Timestamp};

/// Something that was told, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// When the line was written.
    pub at: Timestamp,
    /// What it tells.
    pub event: SmbEvent,
    /// How many times in a row, the last of them at `at`.
    pub times: u32,
}

/// What a line tells.
#[derive(Clone, Debug, PartialEq)]
pub struct SmbEvent {
    /// Which volume or mapping.
    pub about: About,
    /// What happened.
    pub what: What,
}

/// Which volume or mapping a line is about, as far as it says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Share with directory.
    pub remote: Option<RemotePath>,
    /// Volume handle.
    pub handle: Option<Name>,
    /// SHA-256 of the volume handle: from a path below which the volume is staged, else computed.
    pub hash: Option<Name>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A volume is to be staged, with this account.
    Staging {
        /// `DOMAIN\user`; `None` where the line does not say it.
        account: Option<Name>,
    },
    /// The line only joins a share with the directory of a volume.
    Joined,
    /// New-SmbGlobalMapping is run.
    Mapping {
        /// `DOMAIN\user`; `None` where the line does not say it (csi-proxy).
        account: Option<Name>,
        /// Whether encryption is demanded.
        privacy: Privacy,
    },
    /// The volume is staged, so its share is mapped.
    Staged,
    /// The volume is there for a pod.
    Published {
        /// UID of the pod.
        pod: Option<Name>,
        /// Name of the `PersistentVolume`.
        volume: Option<Name>,
    },
    /// The volume is gone from a pod.
    Unpublished {
        /// UID of the pod.
        pod: Option<Name>,
    },
    /// Remove-SmbGlobalMapping is run.
    Removing,
    /// It failed.
    RemovalFailed(Failure),
    /// The mapping stays: another volume has it too.
    Kept,
    /// The volume is no longer staged.
    Unstaged,
    /// The mapping is there but cannot be used (`Disconnected`): the plugin makes it anew.
    Invalid,
    /// Mapping or mounting failed.
    Failed(Failure),
}

/// Whether encryption of a mapping is demanded (`-RequirePrivacy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Privacy {
    /// Demanded.
    On,
    /// Not demanded: the server decides.
    Off,
    /// The line does not say it.
    Untold,
}

impl Privacy {
    /// The word on the screens and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Untold => "unknown",
        }
    }
}

impl About {
    fn remote(text: &str) -> Self {
        Self {
            remote: RemotePath::parse(text),
            ..Self::default()
        }
    }

    fn handle(handle: &str) -> Self {
        Self {
            handle: Some(handle.into()),
            hash: Some(staging_hash(handle).into()),
            ..Self::default()
        }
    }

    fn staged_at(mut self, path: &str) -> Self {
        self.hash = hash_in(path).map(Name::from).or(self.hash);
        self
    }

    /// The share, told or contained in the handle.
    pub fn any_remote(&self) -> Option<RemotePath> {
        let contained = || Handle::parse(self.handle.as_deref()?)?.remote();
        self.remote.clone().or_else(contained)
    }
}

/// Reads a line of the plugin's log.
pub fn read(at: Timestamp, line: &str) -> Option<Seen> {
    event(text_of(line)).map(|event| Seen { at, event, times: 1 })
}

/// Reads an error text of the kubelet (message of an event `FailedMount`).
pub fn failure_in(message: &str) -> Option<SmbEvent> {
    volume_failed(message).or_else(|| publish_failed(message))
}

/// The text behind klog's head: `I1107 12:50:41.289414    3084 smb.go:108] text`.
fn text_of(line: &str) -> &str {
    let line = line.trim_end();
    let mut head = line.chars();
    let level = head
        .next()
        .is_some_and(|level| matches!(level, 'I' | 'W' | 'E' | 'F'));
    let date = head.by_ref().take(4).all(|digit| digit.is_ascii_digit());
    match line.split_once("] ") {
        Some((_, text)) if level && date => text,
        _ => line,
    }
}

fn event(text: &str) -> Option<SmbEvent> {
    mapping(text)
        .or_else(|| node_stage(text))
        .or_else(|| node_publish(text))
        .or_else(|| removal(text))
        .or_else(|| mounting(text))
        .or_else(|| failed(text))
}

fn told(about: About, what: What) -> Option<SmbEvent> {
    let known = about != About::default();
    known.then_some(SmbEvent { about, what })
}

fn mapping(text: &str) -> Option<SmbEvent> {
    if let Some(rest) = text.strip_prefix("begin to run NewSmbGlobalMapping with ") {
        // Neither a share nor an account can hold these words.
        let (both, options) = match rest.split_once(", requirePrivacy=") {
            Some((both, options)) => (both, Some(options)),
            None => (rest, None),
        };
        let (remote, account) = both.rsplit_once(", ").unwrap_or((both, ""));
        let what = What::Mapping {
            account: (!account.is_empty()).then(|| account.into()),
            privacy: options.map_or(Privacy::On, privacy),
        };
        return told(About::remote(remote), what);
    }
    // csi-proxy
    let rest = text.strip_prefix("begin to NewSmbGlobalMapping ")?;
    let (remote, local) = rest.rsplit_once(" on ")?;
    let what = What::Mapping {
        account: None,
        privacy: Privacy::Untold,
    };
    told(About::remote(remote).staged_at(local), what)
}

/// What stands behind `requirePrivacy=`. Up to 1.20.3 the words are missing, and encryption is always demanded;
/// additional parameters, where there are any, take the place of the flag.
fn privacy(options: &str) -> Privacy {
    let (flag, additional) = options
        .split_once(", globalMappingAdditionalParams=")
        .unwrap_or((options, ""));
    let additional = additional.trim_matches('"').to_ascii_lowercase();
    let demanded = if additional.is_empty() {
        flag.trim().eq_ignore_ascii_case("true")
    } else {
        additional.split(',').any(|pair| {
            matches!(
                pair.trim(),
                "requireprivacy=true" | "requireprivacy=1" | "requireprivacy=t"
            )
        })
    };
    if demanded { Privacy::On } else { Privacy::Off }
}

fn node_stage(text: &str) -> Option<SmbEvent> {
    if let Some(rest) = text.strip_prefix("NodeStageVolume: targetPath(") {
        let (target, rest) = rest.split_once(") volumeID(")?;
        let (handle, rest) = rest.split_once(") context(")?;
        let account = rest
            .rsplit_once(" mountOptions([")
            .and_then(|(_, account)| account.strip_suffix("])"))
            .filter(|account| account.contains('\\'))
            .map(Name::from);
        return told(About::handle(handle).staged_at(target), What::Staging { account });
    }
    if let Some(rest) = text.strip_prefix("NodeStageVolume: already mounted volume ") {
        let (handle, target) = rest.rsplit_once(" on target ")?;
        return told(About::handle(handle).staged_at(target), What::Staged);
    }
    if let Some(rest) = text.strip_prefix("NodeUnstageVolume: unmount volume ") {
        let (handle, target) = rest.strip_suffix(" successfully")?.rsplit_once(" on ")?;
        return told(About::handle(handle).staged_at(target), What::Unstaged);
    }
    let (handle, rest) = text.strip_prefix("volume(")?.split_once(") mount \"")?;
    let (source, target) = rest.strip_suffix("\" succeeded")?.split_once("\" on \"")?;
    let mut about = About::handle(handle).staged_at(target);
    about.remote = RemotePath::parse(&unquoted(source));
    told(about, What::Staged)
}

fn node_publish(text: &str) -> Option<SmbEvent> {
    if let Some(rest) = text.strip_prefix("NodePublishVolume: mount ") {
        let (paths, handle) = rest.strip_suffix(") successfully")?.rsplit_once(" volumeID(")?;
        let (staging, target) = paths.split_once(" at ")?;
        let (pod, volume) = pod_and_volume(target);
        return told(
            About::handle(handle).staged_at(staging),
            What::Published { pod, volume },
        );
    }
    let rest = text.strip_prefix("NodeUnpublishVolume: unmount volume ")?;
    let (handle, target) = rest.strip_suffix(" successfully")?.rsplit_once(" on ")?;
    let (pod, _) = pod_and_volume(target);
    told(About::handle(handle), What::Unpublished { pod })
}

/// UID of the pod and name of the volume in `…\pods\<uid>\volumes\kubernetes.io~csi\<volume>\mount`.
fn pod_and_volume(target: &str) -> (Option<Name>, Option<Name>) {
    let mut parts = target
        .split(['\\', '/'])
        .skip_while(|part| *part != "pods")
        .skip(1);
    let pod = parts.next().map(Name::from);
    let volume = parts
        .skip_while(|part| *part != "kubernetes.io~csi")
        .nth(1)
        .map(Name::from);
    (pod, volume)
}

fn removal(text: &str) -> Option<SmbEvent> {
    if let Some(remote) = text.strip_prefix("begin to run RemoveSmbGlobalMapping with ") {
        return told(About::remote(remote), What::Removing);
    }
    if let Some(rest) = text.strip_prefix("RemoveSmbGlobalMapping(") {
        let (path, error) = rest.split_once(") failed with ")?;
        // The path is the share, or the link of the volume.
        let about = About::remote(path).staged_at(path);
        return told(about, What::RemovalFailed(Failure::read(error)));
    }
    let kept = "skip unmount as there are other SMB mounts on the same remote server ";
    if let Some(remote) = text.strip_prefix(kept) {
        return told(About::remote(remote), What::Kept);
    }
    if let Some(rest) = text.strip_prefix("remote server path: ") {
        let (remote, local) = rest.split_once(", local path: ")?;
        return told(About::remote(remote).staged_at(local), What::Joined);
    }
    let remote = text.strip_prefix("RemotePath ")?;
    let remote = remote.strip_suffix(" is not valid, removing now")?;
    told(About::remote(remote), What::Invalid)
}

fn mounting(text: &str) -> Option<SmbEvent> {
    if let Some(rest) = text.strip_prefix("SMBMount: remote path: ") {
        let (remote, local) = rest.split_once(" local path: ")?;
        return told(About::remote(remote).staged_at(local), What::Joined);
    }
    let rest = text.strip_prefix("mount ")?.strip_suffix(" successfully")?;
    let (remote, local) = rest.rsplit_once(" on ")?;
    told(About::remote(remote).staged_at(local), What::Staged)
}

fn failed(text: &str) -> Option<SmbEvent> {
    if let Some(rest) = text.strip_prefix("NewSmbGlobalMapping(") {
        let (paths, error) = rest
            .split_once(") failed with error: ")
            .or_else(|| rest.split_once(") failed with "))?;
        // csi-proxy tells the local path too.
        let (remote, local) = paths.rsplit_once(", ").unwrap_or((paths, ""));
        let about = About::remote(remote).staged_at(local);
        return told(about, What::Failed(Failure::read(error)));
    }
    failure_in(text)
}

/// `volume(handle) mount "source" on "target" failed with …`, wherever it stands in an error.
fn volume_failed(text: &str) -> Option<SmbEvent> {
    let (_, rest) = text.split_once("volume(")?;
    let (handle, rest) = rest.split_once(") mount \"")?;
    let (source, rest) = rest.split_once("\" on \"")?;
    let (target, error) = rest.split_once('"')?;
    let error = error.trim_start();
    let ends = ["failed with", "timeout after", "canceled:", "failed after"];
    if !ends.iter().any(|end| error.starts_with(end)) {
        return None;
    }
    let mut about = About::handle(handle).staged_at(target);
    about.remote = RemotePath::parse(&unquoted(source));
    told(about, What::Failed(Failure::read(error)))
}

/// `Could not mount "globalmount" at "target": …`.
fn publish_failed(text: &str) -> Option<SmbEvent> {
    let (_, rest) = text.split_once("Could not mount \"")?;
    let (staging, rest) = rest.split_once("\" at \"")?;
    let (_, error) = rest.split_once("\": ")?;
    told(
        About::default().staged_at(staging),
        What::Failed(Failure::read(error)),
    )
}

/// A text as Go's `%q` quotes it, without the doubled backslashes.
fn unquoted(text: &str) -> String {
    text.replace("\\\\", "\\")
}

#[cfg(test)]
mod tests;
