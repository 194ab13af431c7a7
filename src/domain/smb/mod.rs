//! SMB volumes on Windows nodes: how csi-driver-smb names and maps them, what its node plugin logs about that, and
//! what its failures mean. Facts are those of csi-driver-smb 1.16 to 1.20.

pub mod failure;
pub mod handle;
pub mod ledger;
pub mod log;
pub mod options;
pub mod remote;
pub mod warning;

/// The CSI driver.
pub const DRIVER: &str = "smb.csi.k8s.io";

/// The domain that the Windows plugin fills in where neither the Secret nor the user name has one.
pub const DEFAULT_DOMAIN: &str = "AZURE";

/// Whether an image is csi-driver-smb's plugin.
pub fn is_plugin_image(image: &str) -> bool {
    image
        .rsplit('/')
        .next()
        .is_some_and(|name| name.starts_with("smbplugin"))
}
