//! What controllers over TLS are shown, and who of them is believed: files of the configuration,
//! which are read anew for each connection.

use super::stream::Stream;
use control::config::objects::bridge_controller::Controller;
use rights::Folders;
use std::io::{self, Read};
use std::net::{IpAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tls::Link;

/// The most of a file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// See the module.
#[derive(Clone)]
pub(super) struct Keys {
    files: tls::Keys,
    /// Below which nothing is opened by way of a link.
    folders: Folders,
}

impl Keys {
    /// Those of a controller over TLS.
    pub(super) fn of(config: &Controller, folders: &Folders) -> Option<Self> {
        let files = tls::Keys {
            key: config.private_key.clone()?,
            certificate: config.certificate.clone()?,
            authority: config.ca_cert.clone()?,
        };
        Some(Self { files, folders: folders.clone() })
    }

    /// Over a connection that we made. Nothing is said yet.
    pub(super) fn client(&self, tcp: TcpStream, to: IpAddr) -> io::Result<Stream> {
        let end = self.files.client(to, &|file| self.read(file)).map_err(io::Error::other)?;
        Ok(Stream::Tls(Box::new(Link::new(tcp, end))))
    }

    /// Over a connection that somebody else made.
    pub(super) fn server(&self, tcp: TcpStream) -> io::Result<Stream> {
        let end = self.files.server(&|file| self.read(file)).map_err(io::Error::other)?;
        Ok(Stream::Tls(Box::new(Link::new(tcp, end))))
    }

    /// A private key that everybody can read is none.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.folders.read(path)?;
        let mode = file.metadata()?.permissions().mode() & 0o777;
        if path == self.files.key && mode & 0o007 != 0 {
            let why = format!("everybody can read it (mode {mode:04o}): expected 0640 or less");
            return Err(io::Error::other(why));
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
