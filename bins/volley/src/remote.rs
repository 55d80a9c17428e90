//! A router on another machine: TLS, a token, and the certificate that it is known by.
//!
//! ```text
//!  https://HOST:PORT ─▶ TCP ─▶ TLS: its certificate is the one in the file, or signed by one in there ─▶ requests with the token
//! ```
//! Nobody else's word is taken for who it is: no list of the system's is asked. A certificate that
//! is in the file itself is believed whatever name it has, as a host's key is by ssh.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper::header::HeaderValue;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::error::CliError;

/// What an address of another machine's begins with.
pub(crate) const SCHEME: &str = "https://";

/// A connection to a router, whatever it goes over.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// See the module.
#[derive(Clone)]
pub(crate) struct Remote {
    host: String,
    port: u16,
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
    token: HeaderValue,
}

impl Remote {
    /// A router at `https://HOST:PORT`, with the file of the token, and the file of its certificate
    /// or of who signed that.
    pub(crate) fn new(address: &str, token: &Path, certificate: &Path) -> Result<Self, CliError> {
        let wrong = |what: &str| {
            CliError::Usage(format!("error: `{address}`: {what}; expected https://HOST:PORT\n"))
        };
        let place = address.strip_prefix(SCHEME).unwrap_or(address).trim_end_matches('/');
        let (host, port) = place.rsplit_once(':').ok_or_else(|| wrong("it names no port"))?;
        let host = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
        let port = port.parse().map_err(|_| wrong(&format!("`{port}` is no port")))?;
        let name = match host.parse::<IpAddr>() {
            Ok(address) => ServerName::from(address),
            Err(_) => {
                ServerName::try_from(host.to_owned()).map_err(|_| wrong("that is no host"))?
            }
        };
        let config = Arc::new(config(certificate)?);
        Ok(Self { host: host.to_owned(), port, name, config, token: bearer(token)? })
    }

    /// What every request says.
    pub(crate) fn token(&self) -> &HeaderValue {
        &self.token
    }

    /// A connection to it.
    pub(crate) async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        let tcp = TcpStream::connect((&self.host[..], self.port)).await?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        Ok(Box::new(connector.connect(self.name.clone(), tcp).await?))
    }
}

fn bearer(file: &Path) -> Result<HeaderValue, CliError> {
    let fault = |error| CliError::File { path: file.to_owned(), error };
    let text = std::fs::read_to_string(file).map_err(fault)?;
    let wrong = |_| fault(io::Error::other("holds no token: one word of letters and digits"));
    let mut token = HeaderValue::from_str(&format!("Bearer {}", text.trim())).map_err(wrong)?;
    token.set_sensitive(true);
    Ok(token)
}

fn config(file: &Path) -> Result<ClientConfig, CliError> {
    let fault = |reason: String| CliError::File {
        path: file.to_owned(),
        error: io::Error::new(io::ErrorKind::InvalidData, reason),
    };
    let all: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(file).map_err(|error| fault(error.to_string()))?.collect();
    let all = all.map_err(|error| fault(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(all.clone());
    if roots.is_empty() {
        return Err(fault("holds no certificate".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let signed =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let signed = signed.build().map_err(|error| fault(error.to_string()))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| fault(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Known { all, signed }))
        .with_no_client_auth();
    Ok(config)
}

/// Who is the router: one whose certificate is known, or was signed by one that is.
#[derive(Debug)]
struct Known {
    all: Vec<CertificateDer<'static>>,
    signed: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        above: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        // That it has the key, too, is what its signature shows.
        if self.all.iter().any(|known| known == own) {
            return Ok(ServerCertVerified::assertion());
        }
        self.signed.verify_server_cert(own, above, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls12_signature(message, own, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls13_signature(message, own, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

/// The files that go with such an address, or what is missing.
pub(crate) fn files(
    address: &str,
    token: Option<&PathBuf>,
    certificate: Option<&PathBuf>,
) -> Result<(PathBuf, PathBuf), CliError> {
    let missing = |flag: &str, what: &str| {
        CliError::Usage(format!("error: {address} takes {flag} FILE as well: {what}\n"))
    };
    let token = token.ok_or_else(|| missing("--token-file", "what the router knows you by"))?;
    let certificate =
        certificate.ok_or_else(|| missing("--certificate", "what the router is known by"))?;
    Ok((token.clone(), certificate.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_wrong_is_told() {
        let nowhere = Path::new("/nowhere");
        let said = |address: &str| match Remote::new(address, nowhere, nowhere) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        };
        assert!(said("https://router").contains("it names no port"));
        assert!(said("https://router:x").contains("`x` is no port"));
        assert!(said("https://[::1]:1").contains("/nowhere"));
        let file = nowhere.to_path_buf();
        let files = |token, certificate| files("https://r:1", token, certificate);
        assert!(files(None, Some(&file)).unwrap_err().to_string().contains("--token-file"));
        assert!(files(Some(&file), None).unwrap_err().to_string().contains("--certificate"));
    }
}
