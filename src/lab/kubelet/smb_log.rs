//! What the SMB node plugin of a Windows node logs about the volumes of its pods, as csi-driver-smb 1.20 words it.

use super::logs::klog;
use crate::domain::Timestamp;
use crate::domain::smb::handle::global_mount;
use crate::domain::smb::remote::RemotePath;
use crate::lab::article::storage::{DIRECTORY, VOLUME, volume_handle};
use crate::lab::article::windows_demo::REPORTS_CLAIM;
use crate::lab::world::Mount;
use chrono::TimeDelta;

/// The lines about these mounts that a plugin has written that was started then.
pub fn lines(mounts: &[Mount], started: Timestamp) -> Vec<(Timestamp, String)> {
    let of_article = mounts
        .iter()
        .filter(|mount| (&*mount.claim.0, &*mount.claim.1) == ("win-demo", REPORTS_CLAIM));
    let mut lines = Vec::new();
    // Until when the volume is staged for somebody; `Some(None)` while it still is.
    let mut staged: Option<Option<Timestamp>> = None;
    for mount in of_article {
        // What a plugin before this one did is not in this log, unless the mount outlived it.
        if mount.until.is_some_and(|until| until < started) {
            continue;
        }
        let begin = started.max(mount.from - TimeDelta::seconds(2));
        if let Some(Some(end)) = staged.filter(|end| end.is_some_and(|end| end <= begin)) {
            lines.extend(unstage(end));
            staged = None;
        }
        let until = match staged {
            None => {
                lines.extend(stage(begin));
                mount.until
            }
            Some(until) => until.and_then(|until| Some(until.max(mount.until?))),
        };
        lines.push(publish(begin + TimeDelta::milliseconds(975), mount));
        lines.extend(mount.until.map(|until| unpublish(until, mount)));
        staged = Some(until);
    }
    lines.extend(staged.flatten().map(unstage).into_iter().flatten());
    lines
}

fn remote() -> String {
    RemotePath::of_volume("//files.example.com/k8s", Some(DIRECTORY))
        .map(|remote| remote.to_string())
        .unwrap_or_default()
}

/// As the plugin is asked: without the drive.
fn staging() -> String {
    global_mount(&volume_handle()).trim_start_matches("C:").to_owned()
}

fn target(mount: &Mount) -> String {
    format!(
        r"c:\var\lib\kubelet\pods\{}\volumes\kubernetes.io~csi\{VOLUME}\mount",
        mount.pod
    )
}

fn line(at: Timestamp, place: &str, text: &str) -> (Timestamp, String) {
    (at, klog(at, place, text))
}

fn stage(at: Timestamp) -> [(Timestamp, String); 4] {
    let (remote, staging) = (remote(), staging());
    let done = at + TimeDelta::milliseconds(960);
    [
        line(at, "utils.go:107", "GRPC call: /csi.v1.Node/NodeStageVolume"),
        line(
            at,
            "safe_mounter_host_process_windows.go:48",
            &format!("SMBMount: remote path: {remote} local path: {staging}"),
        ),
        line(
            at,
            "smb.go:108",
            &format!(
                r"begin to run NewSmbGlobalMapping with {remote}, AZURE\svc-k8s-smb, requirePrivacy=true"
            ),
        ),
        line(
            done,
            "safe_mounter_host_process_windows.go:109",
            &format!("mount {remote} on c:{staging} successfully"),
        ),
    ]
}

fn publish(at: Timestamp, mount: &Mount) -> (Timestamp, String) {
    line(
        at,
        "nodeserver.go:133",
        &format!(
            "NodePublishVolume: mount {} at {} volumeID({}) successfully",
            staging(),
            target(mount),
            volume_handle()
        ),
    )
}

fn unpublish(stopped: Timestamp, mount: &Mount) -> (Timestamp, String) {
    line(
        stopped + TimeDelta::milliseconds(400),
        "nodeserver.go:156",
        &format!(
            "NodeUnpublishVolume: unmount volume {} on {} successfully",
            volume_handle(),
            target(mount)
        ),
    )
}

fn unstage(stopped: Timestamp) -> [(Timestamp, String); 2] {
    let at = stopped + TimeDelta::milliseconds(800);
    [
        line(
            at,
            "smb.go:120",
            &format!("begin to run RemoveSmbGlobalMapping with {}", remote()),
        ),
        line(
            at + TimeDelta::milliseconds(600),
            "nodeserver.go:404",
            &format!(
                "NodeUnstageVolume: unmount volume {} on {} successfully",
                volume_handle(),
                staging()
            ),
        ),
    ]
}
