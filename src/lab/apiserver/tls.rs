//! TLS on loopback. `kubectl` sends a token only over TLS (client-go leaves the user out of a plain HTTP
//! connection), so the server makes itself a certificate authority for as long as it runs.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, crypto::aws_lc_rs};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

/// A fresh authority and a server certificate signed by it.
pub struct Identity {
    /// The authority's certificate, as a kubeconfig carries it.
    pub authority_pem: String,
    config: Arc<ServerConfig>,
}

impl Identity {
    /// Makes both; the certificate is for these host names and addresses.
    ///
    /// # Errors
    /// When the keys or certificates cannot be made.
    pub fn generate(names: &[&str]) -> io::Result<Self> {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        authority
            .distinguished_name
            .push(DnType::CommonName, "drainboard lab");
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let authority = CertifiedIssuer::self_signed(authority, key).map_err(io::Error::other)?;

        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut server = CertificateParams::new(names).map_err(io::Error::other)?;
        server
            .distinguished_name
            .push(DnType::CommonName, "kube-apiserver");
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = server.signed_by(&key, &authority).map_err(io::Error::other)?;
        let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            authority_pem: authority.pem(),
            config: Arc::new(config),
        })
    }
}

/// A listening port whose connections are served by `app`. It ends, with every open connection, when it is dropped.
pub struct Endpoint {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Endpoint {
    /// Listens there; port 0 takes a free one.
    ///
    /// # Errors
    /// When the port cannot be opened.
    pub async fn open(address: SocketAddr, identity: &Identity, app: Router) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let acceptor = TlsAcceptor::from(Arc::clone(&identity.config));
        Ok(Self {
            address,
            accepting: tokio::spawn(accept(listener, acceptor, app)),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the port and every connection.
    pub async fn close(mut self) {
        self.accepting.abort();
        // Being aborted is the only way in which the task ends.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Serves each connection in a task of its own, so that a client that is silent in its handshake holds up nobody.
/// The tasks end with this one.
async fn accept(listener: TcpListener, acceptor: TlsAcceptor, app: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, acceptor.clone(), app.clone()));
                }
                // One client's trouble (it hung up already) or a full file table: give the others time to end.
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, acceptor: TlsAcceptor, app: Router) {
    let served = async {
        let stream = acceptor.accept(stream).await.map_err(|error| error.to_string())?;
        let service = TowerToHyperService::new(app);
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        connection.await.map_err(|error| error.to_string())
    };
    if let Err(error) = served.await {
        tracing::debug!(error, "a connection of the lab's API server ended early");
    }
}
