//! Each form of line of csi-driver-smb 1.16 to 1.20 on Windows, and what it tells.

use super::*;
use crate::domain::smb::failure::Cause;
use crate::domain::smb::ledger::{LastHappened, Ledger};
use proptest::prelude::*;

const REMOTE: &str = r"\\files.example.com\k8s\win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";
const HANDLE: &str = "files.example.com/k8s#win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2#pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2#archive";
const HASH: &str = "baecf4ef08a658e21cb8545a32bc8fa6d0e686b7609dd86a15c949060a26e442";
const POD: &str = "5530838f-65a3-41a2-a236-3c88c4634121";
const VOLUME: &str = "pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";

fn at(second: i64) -> Timestamp {
    Timestamp::from_timestamp(1_794_055_841 + second, 0).unwrap()
}

fn staging() -> String {
    format!(r"\var\lib\kubelet\plugins\kubernetes.io\csi\smb.csi.k8s.io\{HASH}\globalmount")
}

fn target() -> String {
    format!(r"c:\var\lib\kubelet\pods\{POD}\volumes\kubernetes.io~csi\{VOLUME}\mount")
}

/// What a line tells, with klog's head before it, whatever its line number.
#[track_caller]
fn tells(text: &str) -> SmbEvent {
    let line = format!("I1107 12:50:41.289414    3084 smb.go:108] {text}");
    let with_head = read(at(0), &line).unwrap_or_else(|| panic!("nothing was read in: {text}"));
    assert_eq!(read(at(0), text).unwrap(), with_head, "the head changes nothing");
    with_head.event
}

#[track_caller]
fn tells_nothing(text: &str) {
    assert_eq!(read(at(0), text), None, "{text}");
}

fn remote() -> Option<RemotePath> {
    RemotePath::parse(REMOTE)
}

#[test]
fn a_mapping_begins_with_its_account_and_with_or_without_the_word_of_privacy() {
    let account = Some(Name::from(r"AZURE\svc-k8s-smb"));
    for (ending, privacy) in [
        // Up to 1.20.3: encryption is always demanded.
        ("", Privacy::On),
        (", requirePrivacy=true", Privacy::On),
        (", requirePrivacy=false", Privacy::Off),
        (
            r#", requirePrivacy=true, globalMappingAdditionalParams="""#,
            Privacy::On,
        ),
        (
            r#", requirePrivacy=true, globalMappingAdditionalParams="Persistent=false""#,
            Privacy::Off,
        ),
        (
            r#", requirePrivacy=false, globalMappingAdditionalParams="Persistent=false, RequirePrivacy=true""#,
            Privacy::On,
        ),
    ] {
        let event = tells(&format!(
            r"begin to run NewSmbGlobalMapping with {REMOTE}, AZURE\svc-k8s-smb{ending}"
        ));
        assert_eq!(event.about.remote, remote());
        let account = account.clone();
        assert_eq!(event.what, What::Mapping { account, privacy }, "{ending}");
    }
}

#[test]
fn a_share_whose_name_has_spaces_and_commas_is_read_whole() {
    let event = tells(
        r"begin to run NewSmbGlobalMapping with \\nas\Q3, final on disk, EXAMPLE\svc, requirePrivacy=true",
    );
    assert_eq!(event.about.remote.unwrap().as_str(), r"\\nas\Q3, final on disk");
    let event = tells(&format!(r"mount \\nas\on call on c:{} successfully", staging()));
    assert_eq!(event.about.remote.unwrap().as_str(), r"\\nas\on call");
}

#[test]
fn csi_proxy_maps_without_saying_account_or_privacy() {
    let event = tells(&format!(
        r"begin to NewSmbGlobalMapping {REMOTE} on c:{}",
        staging()
    ));
    assert_eq!(event.about.remote, remote());
    let what = What::Mapping {
        account: None,
        privacy: Privacy::Untold,
    };
    assert_eq!(event.what, what);
    let event = tells(&format!(
        r"NewSmbGlobalMapping({REMOTE}, c:{}) failed with error: rpc error: code = Unknown desc = NewSmbGlobalMapping failed. output: New-SmbGlobalMapping : The network path was not found.",
        staging()
    ));
    assert_eq!(event.about.remote, remote());
    assert!(matches!(event.what, What::Failed(failure) if failure.cause == Cause::Win32(53)));
}

#[test]
fn staging_tells_the_account_and_joins_volume_and_directory() {
    let event = tells(&format!(
        r"NodeStageVolume: targetPath({}) volumeID({HANDLE}) context(map[source://files.example.com/k8s subdir:x]) mountflags([dir_mode=0770 vers=3.1.1]) mountOptions([AZURE\svc-k8s-smb])",
        staging()
    ));
    let account = Some(Name::from(r"AZURE\svc-k8s-smb"));
    assert_eq!(event.what, What::Staging { account });
    assert_eq!(event.about.handle.as_deref(), Some(HANDLE));
    assert_eq!(event.about.hash.as_deref(), Some(HASH));
    assert_eq!(event.about.any_remote(), remote());
    // The Linux plugin puts mount options there.
    let event = tells(
        "NodeStageVolume: targetPath(/var/x) volumeID(a#b#c) context(map[]) mountflags([vers=3.1.1]) mountOptions([vers=3.1.1])",
    );
    assert_eq!(event.what, What::Staging { account: None });
    for text in [
        format!("SMBMount: remote path: {REMOTE} local path: {}", staging()),
        format!("remote server path: {REMOTE}, local path: c:{}", staging()),
    ] {
        let event = tells(&text);
        assert_eq!(event.what, What::Joined);
        assert_eq!(
            (event.about.remote, event.about.hash.as_deref()),
            (remote(), Some(HASH))
        );
    }
}

#[test]
fn each_word_of_success_is_a_staged_volume() {
    let slashed = "//files.example.com/k8s/win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";
    let quoted = staging().replace('\\', r"\\");
    for text in [
        format!("mount {REMOTE} on c:{} successfully", staging()),
        format!(r#"volume({HANDLE}) mount "{slashed}" on "{quoted}" succeeded"#),
        format!(
            "NodeStageVolume: already mounted volume {HANDLE} on target {}",
            staging()
        ),
    ] {
        let event = tells(&text);
        assert_eq!(event.what, What::Staged, "{text}");
        assert_eq!(event.about.any_remote(), remote(), "{text}");
        assert_eq!(event.about.hash.as_deref(), Some(HASH), "{text}");
    }
}

#[test]
fn publishing_names_pod_and_volume() {
    let event = tells(&format!(
        "NodePublishVolume: mount {} at {} volumeID({HANDLE}) successfully",
        staging(),
        target()
    ));
    assert_eq!(
        event.what,
        What::Published {
            pod: Some(POD.into()),
            volume: Some(VOLUME.into())
        }
    );
    assert_eq!(event.about.hash.as_deref(), Some(HASH));
    let event = tells(&format!(
        "NodeUnpublishVolume: unmount volume {HANDLE} on {} successfully",
        target()
    ));
    assert_eq!(
        event.what,
        What::Unpublished {
            pod: Some(POD.into())
        }
    );
}

#[test]
fn the_end_of_a_mapping_has_several_words() {
    let unstaged = tells(&format!(
        "NodeUnstageVolume: unmount volume {HANDLE} on {} successfully",
        staging()
    ));
    assert_eq!(unstaged.what, What::Unstaged);
    for (text, what) in [
        (
            format!("begin to run RemoveSmbGlobalMapping with {REMOTE}"),
            What::Removing,
        ),
        (
            format!("RemotePath {REMOTE} is not valid, removing now"),
            What::Invalid,
        ),
        (
            format!("skip unmount as there are other SMB mounts on the same remote server {REMOTE}"),
            What::Kept,
        ),
    ] {
        let event = tells(&text);
        assert_eq!((event.what, event.about.remote), (what, remote()), "{text}");
    }
    // The error names the share or the link.
    for path in [REMOTE.to_owned(), format!("c:{}", staging())] {
        let event = tells(&format!(
            r#"RemoveSmbGlobalMapping({path}) failed with UnmountSmbShare failed. output: "Access is denied.", err: exit status 1"#
        ));
        assert!(matches!(event.what, What::RemovalFailed(failure) if failure.cause == Cause::Win32(5)));
        assert_ne!(event.about, About::default());
    }
}

fn of_powershell(code: u32) -> String {
    format!(
        r#"NewSmbGlobalMapping failed. output: "New-SmbGlobalMapping : …\r\n    + FullyQualifiedErrorId : Windows System Error {code},New-SmbGlobalMapping\r\n", err: exit status 1"#
    )
}

#[test]
fn failures_are_read_wherever_they_stand() {
    let quoted = staging().replace('\\', r"\\");
    let slashed = REMOTE.replace('\\', "/");
    let whole = format!(
        r#"volume({HANDLE}) mount "{slashed}" on "{quoted}" failed with {}"#,
        of_powershell(1326)
    );
    for text in [
        format!(
            "NewSmbGlobalMapping({REMOTE}) failed with {}",
            of_powershell(1326)
        ),
        whole.clone(),
        format!("GRPC error: rpc error: code = Internal desc = {whole}"),
        // The kubelet, in an event FailedMount.
        format!(
            r#"MountVolume.MountDevice failed for volume "{VOLUME}" : rpc error: code = Internal desc = {whole}"#
        ),
    ] {
        let event = tells(&text);
        assert_eq!(event.about.any_remote(), remote(), "{text}");
        let What::Failed(failure) = event.what else {
            panic!("{text}")
        };
        assert_eq!(failure.cause, Cause::Win32(1326), "{text}");
    }
    for (ending, cause) in [
        ("timeout after 1m50s", Cause::Timeout),
        ("failed after 2m0s with context deadline exceeded", Cause::Other),
        ("canceled: context canceled", Cause::Other),
    ] {
        let event = tells(&format!(
            r#"volume({HANDLE}) mount "{slashed}" on "{quoted}" {ending}"#
        ));
        assert!(
            matches!(event.what, What::Failed(failure) if failure.cause == cause),
            "{ending}"
        );
    }
    let event = tells(&format!(
        r#"GRPC error: rpc error: code = Internal desc = Could not mount "{quoted}" at "c:\\x": symlink a b: Cannot create a file when that file already exists."#
    ));
    assert_eq!(event.about.hash.as_deref(), Some(HASH));
    assert!(matches!(event.what, What::Failed(failure) if failure.cause == Cause::Win32(183)));
}

#[test]
fn lines_that_tell_nothing_of_a_mapping_are_left_out() {
    for text in [
        "",
        "GRPC call: /csi.v1.Node/NodeStageVolume",
        r#"GRPC request: {"secrets":"***stripped***","volume_id":"a"}"#,
        "Parent directory c:\\x does not exists. Creating the directory",
        "Remote \\\\nas\\a not mapped. Mapping now!",
        "PathValid(\\\\nas\\a) failed with x, ignore error",
        "NodePublishVolume: mounting a at b with mountOptions: [bind] volumeID(c)",
        "NodePublishVolume: c:\\x is already mounted",
        "NodeUnstageVolume: CleanupMountPoint on a with volume b",
        "volume(a) mount goroutine finished after timeout, released lock",
        "detected corrupted mount for targetPath [x]",
        "begin to run NewSmbGlobalMapping with nowhere, a\\b",
    ] {
        tells_nothing(text);
    }
}

#[test]
fn the_two_lines_of_the_article_come_down_to_a_mapping() {
    let lines = [
        r"I1107 12:50:41.289414    3084 smb.go:108] begin to run NewSmbGlobalMapping with \\files.example.com\k8s\win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2, AZURE\svc-k8s-smb, requirePrivacy=true",
        r"I1107 12:50:42.264444    3084 nodeserver.go:133] NodePublishVolume: mount \var\lib\kubelet\plugins\kubernetes.io\csi\smb.csi.k8s.io\baecf4ef08a658e21cb8545a32bc8fa6d0e686b7609dd86a15c949060a26e442\globalmount at c:\var\lib\kubelet\pods\5530838f-65a3-41a2-a236-3c88c4634121\volumes\kubernetes.io~csi\pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2\mount volumeID(files.example.com/k8s#win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2#pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2#archive) successfully",
    ];
    let mut ledger = Ledger::default();
    let seen: Vec<Seen> = (0i64..)
        .zip(lines)
        .filter_map(|(second, line)| read(at(second), line))
        .collect();
    ledger.add(seen.clone());
    // Logs are read in overlapping pieces.
    ledger.add(seen);
    let mappings = ledger.mappings(|_| None);
    assert_eq!(mappings.len(), 1);
    let told = &mappings[&remote().unwrap()];
    assert_eq!(told.account.as_ref().unwrap().0.as_ref(), r"AZURE\svc-k8s-smb");
    assert_eq!(told.privacy, Some((Privacy::On, at(0))));
    assert_eq!(told.staged_at, Some(at(1)));
    assert_eq!(told.last, Some((LastHappened::Mapped, at(1))));
    assert_eq!(told.pods.iter().map(|pod| &**pod).collect::<Vec<_>>(), [POD]);
}

/// What lines at seconds 0, 1, 2 … come down to for the article's mapping.
fn ends(lines: &[String]) -> LastHappened {
    let mut ledger = Ledger::default();
    for (second, line) in (0i64..).zip(lines) {
        ledger.add(read(at(second), line).into_iter().collect());
    }
    let told = ledger.mappings(|_| None).remove(&remote().unwrap()).unwrap();
    told.last.unwrap().0
}

#[test]
fn a_mapping_is_removed_or_left_behind_or_fails_over_and_over() {
    let begin = format!(r"begin to run NewSmbGlobalMapping with {REMOTE}, AZURE\svc, requirePrivacy=true");
    let done = format!("mount {REMOTE} on c:{} successfully", staging());
    let removing = format!("begin to run RemoveSmbGlobalMapping with {REMOTE}");
    let unstaged = format!(
        "NodeUnstageVolume: unmount volume {HANDLE} on {} successfully",
        staging()
    );
    let failed = format!(
        "NewSmbGlobalMapping({REMOTE}) failed with {}",
        of_powershell(1219)
    );
    let story = |parts: &[&String]| ends(&parts.iter().map(|part| (*part).clone()).collect::<Vec<_>>());
    assert_eq!(story(&[&begin]), LastHappened::Begun);
    assert_eq!(story(&[&begin, &done]), LastHappened::Mapped);
    assert_eq!(
        story(&[&begin, &done, &removing, &unstaged]),
        LastHappened::Removed
    );
    // The driver was told not to remove mappings.
    assert_eq!(story(&[&begin, &done, &unstaged]), LastHappened::Left(None));
    let refused = story(&[&begin, &failed, &begin, &failed, &begin, &failed]);
    assert!(matches!(refused, LastHappened::Failed(failure, 3) if failure.cause == Cause::Win32(1219)));
    // Cured, and then another time: that is one failure again.
    let again = story(&[&begin, &failed, &begin, &done, &begin, &failed]);
    assert!(matches!(again, LastHappened::Failed(_, 1)));
}

proptest! {
    /// Whatever stands in a log, reading it ends, and never in a panic.
    #[test]
    fn any_line_is_read(line in "\\PC{0,200}") {
        let _ = read(at(0), &line);
    }

    /// Lines cut off anywhere neither.
    #[test]
    fn any_piece_of_a_line_is_read(from in 0usize..400, to in 0usize..400) {
        let whole = format!(
            r#"E1107 12:50:41.289414 3084 utils.go:111] GRPC error: rpc error: desc = volume({HANDLE}) mount "{REMOTE}" on "{}" failed with {}"#,
            staging(), of_powershell(53)
        );
        let piece: String = whole.chars().skip(from).take(to).collect();
        let _ = read(at(0), &piece);
    }
}
