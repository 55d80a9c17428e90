//! What is shown, and who is believed. Names in certificates are not looked at: the authority is
//! one that signs for switches, their controllers and databases alone.

use crate::signed::Signed;
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection,
};
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of what is shown, and of who has signed what the other end shows, all PEM (RFC 7468). They
/// are read whenever a connection is made: what was renewed counts from the next one on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keys {
    /// Our private key.
    pub key: PathBuf,
    /// Our certificate, and those above it.
    pub certificate: PathBuf,
    /// The authority's certificate.
    pub authority: PathBuf,
}

/// Why there can be no connection.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A file is not what it should be.
    #[error("{}: {why}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// What the files say cannot be used.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

/// How a file is read.
type Read<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// What the files hold.
struct Held {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    roots: Arc<RootCertStore>,
}

impl Keys {
    /// The end that goes to another, which has to show a certificate of the authority's. `read`
    /// opens files.
    pub fn client(&self, to: IpAddr, read: Read<'_>) -> Result<Connection, Fault> {
        let Held { chain, key, roots } = self.read(read)?;
        let signed = WebPkiServerVerifier::builder_with_provider(roots, provider()).build();
        let signed = signed.map_err(|it| wrong(&self.authority, &it))?;
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Signed(signed)))
            .with_client_auth_cert(chain, key)
            .map_err(|it| wrong(&self.key, &it))?;
        let end = ClientConnection::new(Arc::new(config), ServerName::from(to))?;
        Ok(end.into())
    }

    /// The end that others come to, who have to show a certificate of the authority's.
    pub fn server(&self, read: Read<'_>) -> Result<Connection, Fault> {
        let Held { chain, key, roots } = self.read(read)?;
        let signed = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
        let signed = signed.map_err(|it| wrong(&self.authority, &it))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(signed)
            .with_single_cert(chain, key)
            .map_err(|it| wrong(&self.key, &it))?;
        // Each connection begins anew: a certificate that is over is over at once.
        config.send_tls13_tickets = 0;
        Ok(ServerConnection::new(Arc::new(config))?.into())
    }

    fn read(&self, read: Read<'_>) -> Result<Held, Fault> {
        let chain = certificates(&self.certificate, read)?;
        let key = read(&self.key).map_err(|it| wrong(&self.key, &it))?;
        let key = PrivateKeyDer::from_pem_slice(&key).map_err(|it| wrong(&self.key, &it))?;
        let mut roots = RootCertStore::empty();
        for authority in certificates(&self.authority, read)? {
            roots.add(authority).map_err(|it| wrong(&self.authority, &it))?;
        }
        Ok(Held { chain, key, roots: Arc::new(roots) })
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn certificates(file: &Path, read: Read<'_>) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let text = read(file).map_err(|it| wrong(file, &it))?;
    let all: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&text).collect();
    let all = all.map_err(|it| wrong(file, &it))?;
    if all.is_empty() {
        return Err(wrong(file, &"it holds no certificate"));
    }
    Ok(all)
}

fn wrong(file: &Path, why: &dyn std::fmt::Display) -> Fault {
    Fault::File { file: file.to_owned(), why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Authority;

    #[test]
    fn a_file_that_is_missing_or_holds_nothing_is_told() {
        let authority = Authority::new("one");
        let mut keys = authority.keys("us");
        let told = |keys: &Keys| {
            let client = keys.client([127, 0, 0, 1].into(), &read).map(drop);
            let server = keys.server(&read).map(drop);
            let [client, server] = [client, server].map(|it| it.unwrap_err().to_string());
            assert_eq!(client, server);
            client
        };
        let read_well = keys.clone();
        assert!(read_well.server(&read).is_ok());
        let missing = keys.key.with_file_name("missing.pem");
        keys.certificate.clone_from(&missing);
        assert_eq!(
            told(&keys),
            format!("{}: No such file or directory (os error 2)", missing.display())
        );
        keys.certificate.clone_from(&keys.key);
        assert_eq!(told(&keys), format!("{}: it holds no certificate", keys.key.display()));
        keys = read_well.clone();
        keys.key.clone_from(&keys.certificate);
        assert!(told(&keys).starts_with(&format!("{}: ", keys.certificate.display())));
        // A key, but another's.
        let other = Authority::new("other");
        keys = Keys { key: other.keys("them").key, ..read_well };
        assert!(told(&keys).starts_with(&format!("{}: ", keys.key.display())));
    }

    fn read(path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}
