//! Volume handles of csi-driver-smb, and the directory in which a node stages a volume.

use super::DRIVER;
use super::remote::RemotePath;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Parts of `server/share#subDir#uuid[#onDelete]`, as the driver's controller puts a handle together. A static volume
/// may have any handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle<'a> {
    /// `server/share`.
    pub source: &'a str,
    /// Directory on the share; empty for the share itself.
    pub sub_dir: &'a str,
    /// Name of the volume; empty without a directory.
    pub volume: &'a str,
    /// `retain` or `archive`; `None` for `delete`.
    pub on_delete: Option<&'a str>,
}

impl<'a> Handle<'a> {
    /// The parts; `None` for a handle that the controller has not made.
    pub fn parse(handle: &'a str) -> Option<Self> {
        let mut parts = handle.split('#');
        let (source, sub_dir, volume) = (parts.next()?, parts.next()?, parts.next()?);
        let on_delete = parts.next();
        let (server, share) = source.trim_matches('/').split_once('/')?;
        (!server.is_empty() && !share.is_empty() && parts.next().is_none()).then_some(Self {
            source,
            sub_dir,
            volume,
            on_delete,
        })
    }

    /// What is mapped.
    pub fn remote(self) -> Option<RemotePath> {
        RemotePath::of_volume(self.source, Some(self.sub_dir))
    }
}

/// SHA-256 of the handle in hexadecimal: the kubelet's name of the directory in which a volume is staged.
pub fn staging_hash(handle: &str) -> String {
    let digest = Sha256::digest(handle.as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The link on the node that stands for the staged volume.
pub fn global_mount(handle: &str) -> String {
    format!(
        r"C:\var\lib\kubelet\plugins\kubernetes.io\csi\{DRIVER}\{}\globalmount",
        staging_hash(handle)
    )
}

/// The hash in a path that ends with `<hash>\globalmount`, whatever its slashes.
pub fn hash_in(path: &str) -> Option<&str> {
    let rest = path.trim_end_matches(['\\', '/']).strip_suffix("globalmount")?;
    let rest = rest.strip_suffix(['\\', '/'])?.trim_end_matches(['\\', '/']);
    let hash = rest.rsplit(['\\', '/']).next()?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDLE: &str = "files.example.com/k8s#win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2#pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2#archive";
    const HASH: &str = "baecf4ef08a658e21cb8545a32bc8fa6d0e686b7609dd86a15c949060a26e442";

    #[test]
    fn the_articles_volume_is_staged_where_the_article_saw_it() {
        assert_eq!(staging_hash(HANDLE), HASH);
        assert_eq!(
            global_mount(HANDLE),
            format!(r"C:\var\lib\kubelet\plugins\kubernetes.io\csi\smb.csi.k8s.io\{HASH}\globalmount")
        );
        assert_eq!(hash_in(&global_mount(HANDLE)), Some(HASH));
        let doubled = global_mount(HANDLE).replace('\\', r"\\");
        assert_eq!(hash_in(&doubled), Some(HASH));
    }

    #[test]
    fn a_handle_of_the_controller_says_what_is_mapped() {
        let handle = Handle::parse(HANDLE).unwrap();
        assert_eq!(handle.volume, "pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2");
        assert_eq!(handle.on_delete, Some("archive"));
        assert_eq!(
            handle.remote().unwrap().as_str(),
            r"\\files.example.com\k8s\win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2"
        );
        let share = Handle::parse("files.example.com/k8s##").unwrap();
        assert_eq!(share.remote().unwrap().as_str(), r"\\files.example.com\k8s");
    }

    #[test]
    fn a_handle_that_somebody_made_up_says_nothing() {
        for handle in ["", "reports", "a#b", "server#dir#share#x#y", "nohost#dir#share"] {
            assert_eq!(Handle::parse(handle), None, "{handle}");
        }
        for path in ["", "globalmount", r"C:\x\globalmount", r"\zz\globalmount"] {
            assert_eq!(hash_in(path), None, "{path}");
        }
    }
}
