//! The TCP listener: TLS and token.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{fresh_router, on_one_thread};
use crate::api::{Tls, TlsError};
use crate::config::objects::api::Tcp;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Certificate, key and token in a fresh folder.
fn files(name: &str) -> (PathBuf, Tcp) {
    let folder = std::env::temp_dir().join(format!("volley-tls-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        write_secret(&path, text);
        path
    };
    let tcp = Tcp {
        listen: "127.0.0.1:0".parse().unwrap(),
        tls_certificate: write("cert.pem", &pair.cert.pem()),
        tls_key: write("key.pem", &pair.signing_key.serialize_pem()),
        token_file: write("token", &format!("{TOKEN}\n")),
        see_token_file: None,
        files_token_file: None,
    };
    (folder, tcp)
}

fn write_secret(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// Asks over TLS; returns the status line.
async fn ask(address: std::net::SocketAddr, certificate: &Path, token: Option<&str>) -> String {
    ask_for("GET /v1/version", address, certificate, token).await
}

async fn ask_for(
    what: &str,
    address: std::net::SocketAddr,
    certificate: &Path,
    token: Option<&str>,
) -> String {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect(name, stream).await.unwrap();
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let request = format!("{what} HTTP/1.1\r\nHost: localhost\r\n{token}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // The end may come without a TLS goodbye; what was said before counts.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).lines().next().unwrap_or("").to_owned()
}

#[test]
fn over_tcp_only_tls_with_the_right_token_is_answered() {
    let (folder, tcp) = files("token");
    on_one_thread(async {
        let tls = Tls::bind(&tcp).await.unwrap();
        let address = tls.address().unwrap();
        tokio::task::spawn_local(tls.serve(fresh_router()));
        let certificate = &tcp.tls_certificate;
        assert_eq!(ask(address, certificate, Some(TOKEN)).await, "HTTP/1.1 200 OK");
        let refused = "HTTP/1.1 401 Unauthorized";
        assert_eq!(ask(address, certificate, None).await, refused);
        assert_eq!(ask(address, certificate, Some(&TOKEN[1..])).await, refused);
        assert_eq!(ask(address, certificate, Some(&format!("{TOKEN}0"))).await, refused);

        let mut plain = TcpStream::connect(address).await.unwrap();
        plain.write_all(b"GET /v1/version HTTP/1.1\r\nHost: v\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        let _ = plain.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP"));
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn each_token_has_its_right() {
    let (folder, tcp) = files("tokens");
    let tokens = ["see", "files"].map(|name| format!("{name}-{TOKEN}"));
    let paths = ["see", "files"].map(|name| folder.join(format!("{name}-token")));
    paths.iter().zip(&tokens).for_each(|(path, token)| write_secret(path, token));
    let [see, files_path] = paths;
    let tcp = Tcp { see_token_file: Some(see), files_token_file: Some(files_path), ..tcp };
    on_one_thread(async {
        let tls = Tls::bind(&tcp).await.unwrap();
        let address = tls.address().unwrap();
        tokio::task::spawn_local(tls.serve(fresh_router()));
        for (token, clears) in [(&tokens[0][..], 403), (TOKEN, 200), (&tokens[1], 200)] {
            let of = async |what| ask_for(what, address, &tcp.tls_certificate, Some(token)).await;
            assert!(of("GET /v1/version").await.contains(" 200 "), "{token}");
            let cleared = of("POST /v1/counters/clear").await;
            assert!(cleared.contains(&format!(" {clears} ")), "{token}: {cleared}");
        }
        let same = Tcp { see_token_file: Some(tcp.token_file.clone()), ..tcp.clone() };
        let error = Tls::bind(&same).await.err().unwrap().to_string();
        assert!(error.contains("the token is that of the right"), "{error}");
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn idle_and_wrong_peers_do_not_keep_out_who_has_the_token() {
    let (folder, tcp) = files("flood");
    on_one_thread(async {
        let tls = Tls::bind(&tcp).await.unwrap();
        let address = tls.address().unwrap();
        tokio::task::spawn_local(tls.serve(fresh_router()));
        let mut idle = Vec::new();
        for _ in 0..300 {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        let certificate = &tcp.tls_certificate;
        assert_eq!(ask(address, certificate, Some(TOKEN)).await, "HTTP/1.1 200 OK");
        // The oldest gave way, not the newest.
        assert_eq!(idle[0].read(&mut [0]).await.unwrap(), 0);
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn unusable_files_are_refused_with_their_names() {
    let (folder, tcp) = files("bad");
    let bind = |tcp: Tcp| on_one_thread(async move { Tls::bind(&tcp).await.err().unwrap() });
    write_secret(&folder.join("short"), "hunter2\n");
    let error = bind(Tcp { token_file: folder.join("short"), ..tcp.clone() });
    assert!(matches!(&error, TlsError::Token { .. }) && error.to_string().contains("7 characters"));
    let error = bind(Tcp { tls_key: folder.join("token"), ..tcp.clone() });
    assert!(matches!(&error, TlsError::Pem { path, .. } if path.ends_with("token")), "{error}");
    let error = bind(Tcp { tls_certificate: folder.join("none"), ..tcp.clone() });
    assert!(matches!(&error, TlsError::Pem { path, .. } if path.ends_with("none")), "{error}");
    for secret in [&tcp.tls_key, &tcp.token_file] {
        std::fs::set_permissions(secret, Permissions::from_mode(0o644)).unwrap();
        let error = bind(tcp.clone()).to_string();
        assert_eq!(
            error,
            format!(
                "{}: everybody can read it (mode 0644): expected 0640 or less",
                secret.display()
            )
        );
        std::fs::set_permissions(secret, Permissions::from_mode(0o640)).unwrap();
    }
    let (other, others) = files("other");
    let error = bind(Tcp { tls_key: others.tls_key, ..tcp });
    assert!(matches!(error, TlsError::Pair(_)), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::remove_dir_all(other).unwrap();
}
