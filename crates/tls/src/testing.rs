//! Authorities and those whom they sign, made on the spot.

use crate::Keys;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// One of its own, with its files in a folder that goes with it.
pub(crate) struct Authority {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("volley-keys-{process}-{number}-{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(folder.join("authority.pem"), certificate.pem()).unwrap();
        Self { folder, issuer: Issuer::new(params, key) }
    }

    /// The files of somebody whom it has signed, by a name that nobody looks at.
    pub(crate) fn keys(&self, name: &str) -> Keys {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        let write = |what: &str, text: String| {
            let path = self.folder.join(format!("{name}-{what}.pem"));
            std::fs::write(&path, text).unwrap();
            path
        };
        Keys {
            key: write("key", key.serialize_pem()),
            certificate: write("certificate", signed.pem()),
            authority: self.folder.join("authority.pem"),
        }
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.folder);
    }
}
