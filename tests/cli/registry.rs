//! A real registry (distribution v3) on the loopback device, and images in it.

use crate::part::part;
use oci_client::client::{ClientConfig, ClientProtocol, ImageLayer};
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference, RegistryOperation};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// User and password of a registry that wants them.
pub const LOGIN: (&str, &str) = ("puller", "puller-secret");
/// The same for the registry: bcrypt.
const HTPASSWD: &str = "puller:$2a$05$dKNI6/MorVpMYNtsVnfvxeFBLz2x6H3LMKNW7LJxLH6.R0YeRY172\n";

/// A running registry; ends with its value.
pub struct Registry {
    process: Child,
    /// `127.0.0.1:PORT`.
    pub address: String,
    client: Client,
    auth: RegistryAuth,
    _home: TempDir,
}

/// A variant to push.
pub struct Pushed {
    pub platform: Value,
    /// Bytes that the manifest claims for its layer: the registry does not compare them.
    pub layer_bytes: u64,
}

impl Registry {
    /// Nothing on a machine without the program.
    pub fn start(wants_login: bool) -> Option<Self> {
        let program = part("registry")?;
        let home = TempDir::new().unwrap();
        let folder = home.path().display().to_string();
        std::fs::write(home.path().join("htpasswd"), HTPASSWD).unwrap();
        let auth = if wants_login {
            format!("auth: {{htpasswd: {{realm: test, path: '{folder}/htpasswd'}}}}\n")
        } else {
            String::new()
        };
        let config = home.path().join("config.yml");
        std::fs::write(
            &config,
            format!(
                "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: '{folder}/data'}}}}\n\
                 http: {{addr: '127.0.0.1:0'}}\n{auth}"
            ),
        )
        .unwrap();
        let mut process = Command::new(program)
            .arg("serve")
            .arg(&config)
            .env("OTEL_TRACES_EXPORTER", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let address = listening(&mut process);
        // The client wants one, though nothing here speaks TLS.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let client = Client::new(ClientConfig {
            protocol: ClientProtocol::Http,
            ..ClientConfig::default()
        });
        Some(Self {
            process,
            address,
            client,
            auth: if wants_login {
                RegistryAuth::Basic(LOGIN.0.to_owned(), LOGIN.1.to_owned())
            } else {
                RegistryAuth::Anonymous
            },
            _home: home,
        })
    }

    fn reference(&self, image: &str) -> Reference {
        format!("{}/{image}", self.address).parse().unwrap()
    }

    async fn blob(&self, image: &Reference, media_type: &str, data: Vec<u8>) -> Value {
        let digest = ImageLayer::oci_v1(data.clone(), None).sha256_digest();
        let size = data.len();
        self.client.push_blob(image, data, &digest).await.unwrap();
        json!({"mediaType": media_type, "digest": digest, "size": size})
    }

    async fn manifest(&self, image: &Reference, media_type: &str, manifest: &Value) -> Value {
        let body = serde_json::to_vec(manifest).unwrap();
        let digest = ImageLayer::oci_v1(body.clone(), None).sha256_digest();
        let size = body.len();
        self.client
            .push_manifest_raw(image, body, media_type.parse().unwrap())
            .await
            .unwrap();
        json!({"mediaType": media_type, "digest": digest, "size": size})
    }

    /// Pushes one variant and answers its descriptor.
    async fn variant(&self, image: &Reference, config: &Value, layer_bytes: u64) -> Value {
        let config = self
            .blob(image, CONFIG, serde_json::to_vec(config).unwrap())
            .await;
        let mut layer = self.blob(image, LAYER, b"a layer".to_vec()).await;
        layer["size"] = layer_bytes.into();
        let manifest =
            json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer]});
        self.manifest(image, MANIFEST, &manifest).await
    }

    /// Pushes an image with an index, as `BuildKit` does: an attestation for each variant.
    pub async fn push_index(&self, name: &str, variants: &[Pushed]) {
        let image = self.reference(name);
        self.client
            .auth(&image, &self.auth, RegistryOperation::Push)
            .await
            .unwrap();
        let mut entries = Vec::new();
        for variant in variants {
            let config =
                json!({"os": variant.platform["os"], "architecture": variant.platform["architecture"]});
            let mut entry = self
                .variant(&untagged(&image), &config, variant.layer_bytes)
                .await;
            entry["platform"] = variant.platform.clone();
            entries.push(entry);
        }
        let attestation = json!({"os": "unknown", "architecture": "unknown"});
        let mut entry = self.variant(&untagged(&image), &attestation, 1).await;
        entry["platform"] = attestation;
        entries.extend(vec![entry; variants.len()]);
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries});
        self.manifest(&image, INDEX, &index).await;
    }

    /// Pushes an image without an index.
    pub async fn push_single(&self, name: &str, config: &Value) {
        let image = self.reference(name);
        self.client
            .auth(&image, &self.auth, RegistryOperation::Push)
            .await
            .unwrap();
        self.variant(&image, config, 7).await;
    }
}

/// The manifests of an index have no tag of their own; a throwaway one is the simplest way to push them.
fn untagged(image: &Reference) -> Reference {
    Reference::with_tag(
        image.registry().to_owned(),
        image.repository().to_owned(),
        "variant".to_owned(),
    )
}

/// Waits until the registry says where it listens.
fn listening(process: &mut Child) -> String {
    let mut log = BufReader::new(process.stderr.take().unwrap());
    let mut line = String::new();
    while log.read_line(&mut line).unwrap() > 0 {
        if let Some((_, rest)) = line.split_once("listening on ") {
            let address = rest.split('"').next().unwrap().to_owned();
            // Somebody has to read on, or the registry blocks.
            std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
            return address;
        }
        line.clear();
    }
    panic!("the registry ended before it listened");
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
