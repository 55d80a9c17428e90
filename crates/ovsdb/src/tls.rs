//! The way to a server over TLS, as Open vSwitch's programs go it: each end shows a certificate
//! that one authority has signed. Names in certificates are not looked at: the authority is one
//! that signs for switches alone.

use crate::fault::Fault;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A connection over it.
pub(crate) type Tls = StreamOwned<ClientConnection, TcpStream>;

/// Files of what is shown, and of who has signed what the other end shows. They are read whenever a
/// connection is made: what was renewed counts from the next one on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keys {
    /// Our private key.
    pub key: PathBuf,
    /// Our certificate, and those above it.
    pub certificate: PathBuf,
    /// The authority's certificate.
    pub authority: PathBuf,
}

impl Keys {
    /// Speaks TLS over a connection.
    pub(crate) fn begin(&self, mut tcp: TcpStream, to: SocketAddr) -> Result<Tls, Fault> {
        let config = Arc::new(self.config()?);
        let name = ServerName::from(to.ip());
        let mut connection = ClientConnection::new(config, name).map_err(io::Error::other)?;
        // All that both say before what is meant: who they are.
        while connection.is_handshaking() {
            connection.complete_io(&mut tcp)?;
        }
        Ok(StreamOwned::new(connection, tcp))
    }

    fn config(&self) -> Result<ClientConfig, Fault> {
        let chain = certificates(&self.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|it| wrong(&self.key, &it))?;
        let mut roots = RootCertStore::empty();
        for authority in certificates(&self.authority)? {
            roots.add(authority).map_err(|it| wrong(&self.authority, &it))?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let signed =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let signed = signed.build().map_err(|it| wrong(&self.authority, &it))?;
        ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Signed(signed)))
            .with_client_auth_cert(chain, key)
            .map_err(|it| wrong(&self.key, &it))
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let read = CertificateDer::pem_file_iter(file).map_err(|it| wrong(file, &it))?;
    let all: Result<Vec<_>, pem::Error> = read.collect();
    let all = all.map_err(|it| wrong(file, &it))?;
    if all.is_empty() {
        return Err(wrong(file, &"it holds no certificate"));
    }
    Ok(all)
}

fn wrong(file: &Path, why: &dyn std::fmt::Display) -> Fault {
    Fault::Keys { file: file.to_owned(), why: why.to_string() }
}

/// One whose certificate was signed by the authority, whatever name is in it.
#[derive(Debug)]
struct Signed(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for Signed {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        above: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // The name is looked at last, when all else was right.
        match self.0.verify_server_cert(own, above, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            told => told,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, own, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, own, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_holds_none_is_told() {
        let folder = std::env::temp_dir().join(format!("volley-keys-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("none.pem");
        std::fs::write(&file, "nothing\n").unwrap();
        let told = certificates(&file).unwrap_err().to_string();
        assert_eq!(told, format!("{}: it holds no certificate", file.display()));
        let missing = folder.join("missing.pem");
        let keys =
            Keys { key: missing.clone(), certificate: missing.clone(), authority: file.clone() };
        let told = keys.config().unwrap_err().to_string();
        assert!(told.starts_with(&format!("{}: ", missing.display())), "{told}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
