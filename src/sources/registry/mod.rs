//! Image registries: the variants in the index of an image. Asked once, by `drainboard image`; it is no source of the store.

mod credentials;
mod failure;

use crate::domain::image::Platform;
use crate::domain::text::sanitise;
use crate::sources::event::Problem;
use futures::{StreamExt, TryStreamExt};
use oci_client::client::{ClientConfig, ClientProtocol};
use oci_client::manifest::{ImageIndexEntry, OciDescriptor, OciImageManifest, OciManifest};
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};
use serde::Deserialize;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// More variants than any image has.
const MOST_VARIANTS: usize = 256;

/// Longest config that is read: those of real images have some 10 KB.
const LONGEST_CONFIG: usize = 4 * 1024 * 1024;

/// Requests at a time.
const PARALLEL: usize = 4;

/// An image in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The reference in full, with registry and tag.
    pub reference: String,
    /// Digest of what the reference names: an index, or a single manifest.
    pub digest: String,
    /// Whether it is an index.
    pub is_index: bool,
    /// The variants in the order of the index. Texts come from the registry: sanitise before showing.
    pub variants: Vec<Variant>,
    /// Entries of the index that are no images: attestations of the build.
    pub attestations: usize,
}

/// A variant of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// For which platform.
    pub platform: Platform,
    /// Digest of its manifest.
    pub digest: String,
    /// Bytes of config and layers, compressed: what a node that has none of it downloads.
    pub size_bytes: u64,
}

/// The reference of an image is no reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no image: {cause}; expected [REGISTRY/]REPOSITORY[:TAG][@DIGEST]")]
pub struct NoReference {
    text: String,
    cause: String,
}

/// The reference of an image as it stands in a pod spec; a short one is completed as containerd does
/// (`docker.io/library/`).
#[derive(Clone, Debug)]
pub struct ImageReference(Reference);

impl FromStr for ImageReference {
    type Err = NoReference;

    fn from_str(text: &str) -> Result<Self, NoReference> {
        text.parse()
            .map(Self)
            .map_err(|cause: oci_client::ParseError| NoReference {
                text: sanitise(text).into_owned(),
                cause: cause.to_string(),
            })
    }
}

/// Reads the variants of an image, with the credentials of the Docker configuration. A registry on the loopback device
/// is spoken to without TLS, as Docker and containerd do. `timeout` is the longest wait for one answer.
///
/// # Errors
/// The registry cannot be reached, wants other credentials, does not have the image, or answers what is none.
pub async fn read(image: &ImageReference, timeout: Duration) -> Result<Image, Problem> {
    let reference = &image.0;
    let auth = credentials::of(reference.registry()).await?;
    let registry = Registry::new(reference, auth, timeout);
    let (manifest, digest) = registry.manifest(reference).await?;
    let described = |is_index, variants, attestations| Image {
        reference: reference.whole(),
        digest: digest.clone(),
        is_index,
        variants,
        attestations,
    };
    match manifest {
        OciManifest::Image(manifest) => {
            let variant = Variant {
                platform: registry.platform_of(&manifest).await?,
                size_bytes: size(&manifest),
                digest: digest.clone(),
            };
            Ok(described(false, vec![variant], 0))
        }
        OciManifest::ImageIndex(index) => {
            let all = index.manifests.len();
            let entries: Vec<ImageIndexEntry> = index
                .manifests
                .into_iter()
                .filter(|entry| !is_attestation(entry))
                .collect();
            if entries.len() > MOST_VARIANTS {
                return Err(registry.strange(&format!("its index has {} variants", entries.len())));
            }
            let attestations = all - entries.len();
            let variants = futures::stream::iter(entries)
                .map(|entry| registry.variant(entry))
                .buffered(PARALLEL)
                .try_collect()
                .await?;
            Ok(described(true, variants, attestations))
        }
    }
}

/// A registry, for one image.
struct Registry<'a> {
    client: Client,
    reference: &'a Reference,
    auth: RegistryAuth,
    timeout: Duration,
}

impl<'a> Registry<'a> {
    fn new(reference: &'a Reference, auth: RegistryAuth, timeout: Duration) -> Self {
        let host = reference.resolve_registry();
        let protocol = if is_loopback(host) {
            ClientProtocol::HttpsExcept(vec![host.to_owned()])
        } else {
            ClientProtocol::Https
        };
        let client = Client::new(ClientConfig {
            protocol,
            connect_timeout: Some(timeout),
            user_agent: concat!("drainboard/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        });
        Self {
            client,
            reference,
            auth,
            timeout,
        }
    }

    async fn manifest(&self, reference: &Reference) -> Result<(OciManifest, String), Problem> {
        self.within(self.client.pull_manifest(reference, &self.auth))
            .await
    }

    async fn variant(&self, entry: ImageIndexEntry) -> Result<Variant, Problem> {
        let reference = self.reference.clone_with_digest(entry.digest.clone());
        let (OciManifest::Image(manifest), digest) = self.manifest(&reference).await? else {
            return Err(self.strange(&format!("{} in its index is an index itself", entry.digest)));
        };
        let platform = match entry.platform {
            Some(platform) => Platform {
                os: platform.os.to_string().into(),
                architecture: platform.architecture.to_string().into(),
                variant: platform.variant.unwrap_or_default().into(),
                os_version: platform.os_version.unwrap_or_default().into(),
            },
            None => self.platform_of(&manifest).await?,
        };
        Ok(Variant {
            platform,
            size_bytes: size(&manifest),
            digest,
        })
    }

    /// The platform in the image's config, which counts where the index says none.
    async fn platform_of(&self, manifest: &OciImageManifest) -> Result<Platform, Problem> {
        #[derive(Deserialize)]
        #[serde(default)]
        #[derive(Default)]
        struct Config {
            os: String,
            architecture: String,
            variant: String,
            #[serde(rename = "os.version")]
            os_version: String,
        }
        let body = self.config(&manifest.config).await?;
        let config: Config = serde_json::from_slice(&body)
            .map_err(|error| self.strange(&format!("its config is no image config: {error}")))?;
        Ok(Platform {
            os: config.os.into(),
            architecture: config.architecture.into(),
            variant: config.variant.into(),
            os_version: config.os_version.into(),
        })
    }

    async fn config(&self, descriptor: &OciDescriptor) -> Result<Vec<u8>, Problem> {
        let reading = async {
            let mut stream = self.client.pull_blob_stream(self.reference, descriptor).await?;
            let mut body = Vec::new();
            while let Some(piece) = stream.stream.try_next().await? {
                body.extend_from_slice(&piece);
                if body.len() > LONGEST_CONFIG {
                    break;
                }
            }
            Ok(body)
        };
        let body = self.within(reading).await?;
        if body.len() > LONGEST_CONFIG {
            return Err(self.strange("its config is longer than 4 MiB"));
        }
        Ok(body)
    }

    async fn within<T>(
        &self,
        asking: impl Future<Output = Result<T, oci_client::errors::OciDistributionError>>,
    ) -> Result<T, Problem> {
        match tokio::time::timeout(self.timeout, asking).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(failure::problem(self.reference, &error)),
            Err(_) => Err(failure::silent(self.reference, self.timeout)),
        }
    }

    fn strange(&self, what: &str) -> Problem {
        failure::strange(self.reference, what)
    }
}

/// Bytes that a node downloads.
fn size(manifest: &OciImageManifest) -> u64 {
    let parts = std::iter::once(&manifest.config).chain(&manifest.layers);
    parts
        .map(|part| u64::try_from(part.size).unwrap_or(0))
        .fold(0, u64::saturating_add)
}

/// `BuildKit` puts attestations beside the variants, for the platform `unknown/unknown`.
fn is_attestation(entry: &ImageIndexEntry) -> bool {
    entry
        .platform
        .as_ref()
        .is_some_and(|platform| platform.os.to_string() == "unknown")
}

fn is_loopback(registry: &str) -> bool {
    let host = registry
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(registry, |(host, _)| host);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_loopback_device_is_spoken_to_without_tls() {
        for host in [
            "localhost",
            "localhost:5000",
            "127.0.0.1:5000",
            "127.1.2.3",
            "[::1]:5000",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "ghcr.io",
            "localhost.example.com",
            "10.0.0.1:5000",
            "registry:443",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_short_name_is_completed_as_containerd_does() {
        for (short, whole) in [
            ("busybox:1.37", "docker.io/library/busybox:1.37"),
            ("ghcr.io/example/hello", "ghcr.io/example/hello:latest"),
        ] {
            assert_eq!(short.parse::<ImageReference>().unwrap().0.whole(), whole);
        }
        let error = "ghcr.io/Example:1.3:4"
            .parse::<ImageReference>()
            .unwrap_err()
            .to_string();
        assert!(error.contains("`ghcr.io/Example:1.3:4`"), "{error}");
    }
}
