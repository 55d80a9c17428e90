//! The TCP listener: TLS 1.2 or 1.3, and a token with every request.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::connection::{ACCEPT_PAUSE, accept_failed, serve, turned_away};
use super::places::{Peer, Places};
use super::token::Tokens;
use crate::config::objects::api::Tcp;
use crate::view::Right;

/// Time for a handshake.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// Why there is no TCP listener.
#[derive(Debug, Error)]
pub enum TlsError {
    /// Certificate or key are not readable as such.
    #[error("{}: {reason}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Certificate and key do not go together.
    #[error("certificate and key: {0}")]
    Pair(#[from] rustls::Error),
    /// The token is not there or too short.
    #[error("{}: {error}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: io::Error,
    },
    /// Everybody can read what nobody else should know.
    #[error("{}: everybody can read it (mode {mode:04o}): expected 0640 or less", path.display())]
    NotSecret {
        /// The file.
        path: PathBuf,
        /// Its rights.
        mode: u32,
    },
    /// The address cannot be had.
    #[error("[api] tcp {address}: {error}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
}

/// A TCP listener with its certificate and token.
pub struct Tls {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    tokens: Tokens,
}

impl Tls {
    /// Listens as configured.
    pub async fn bind(tcp: &Tcp) -> Result<Self, TlsError> {
        let certificates = certificates(&tcp.tls_certificate)?;
        must_be_secret(&tcp.tls_key)?;
        let key = PrivateKeyDer::from_pem_file(&tcp.tls_key)
            .map_err(|error| pem_error(&tcp.tls_key, &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates, key)?;
        let mut tokens = Tokens::default();
        let more = [(&tcp.see_token_file, Right::See), (&tcp.files_token_file, Right::Files)];
        let more = more.into_iter().filter_map(|(path, right)| Some((path.as_ref()?, right)));
        for (path, right) in more.chain([(&tcp.token_file, Right::Change)]) {
            must_be_secret(path)?;
            tokens
                .read(path, right)
                .map_err(|error| TlsError::Token { path: path.clone(), error })?;
        }
        let listener = TcpListener::bind(tcp.listen)
            .await
            .map_err(|error| TlsError::Address { address: tcp.listen, error })?;
        Ok(Self { listener, acceptor: TlsAcceptor::from(Arc::new(config)), tokens })
    }

    /// The address listened at, its port chosen by the system if it was 0.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves every connection, for ever.
    pub async fn serve(self, router: Router) {
        let router = self.tokens.guard(router);
        let places = Places::default();
        loop {
            let (stream, peer) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    accept_failed(&error);
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let machine = Peer::machine(peer.ip());
            let place = match places.of_unknown(machine, Instant::now()) {
                Ok(place) => place,
                Err(full) => {
                    turned_away(machine, full);
                    continue;
                }
            };
            let (router, acceptor) = (router.clone(), self.acceptor.clone());
            let served = Arc::clone(&place);
            let task = tokio::spawn(async move {
                let handshake = tokio::time::timeout(HANDSHAKE_TIME, acceptor.accept(stream));
                let outcome = handshake.await.unwrap_or_else(|late| Err(io::Error::other(late)));
                match outcome {
                    Ok(stream) => serve(stream, router, served, None).await,
                    Err(error) => {
                        let fault = "tls-handshake";
                        tracing::info!(fault, %peer, %error, "a TLS handshake failed");
                    }
                }
            });
            place.is_served_by(task.abort_handle());
        }
    }
}

/// Refuses a file that others than its owner and group have rights to. One that is not there is
/// told by who reads it.
fn must_be_secret(path: &Path) -> Result<(), TlsError> {
    let mode = std::fs::metadata(path).map_or(0, |file| file.permissions().mode() & 0o777);
    if mode & 0o007 == 0 {
        return Ok(());
    }
    Err(TlsError::NotSecret { path: path.to_owned(), mode })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|error| pem_error(path, &error))?.collect();
    let chain = chain.map_err(|error| pem_error(path, &error))?;
    if chain.is_empty() {
        let reason = "holds no certificate".to_owned();
        return Err(TlsError::Pem { path: path.to_owned(), reason });
    }
    Ok(chain)
}

fn pem_error(path: &Path, error: &rustls::pki_types::pem::Error) -> TlsError {
    TlsError::Pem { path: path.to_owned(), reason: error.to_string() }
}
