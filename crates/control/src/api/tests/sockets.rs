//! The Unix socket: rights, the dead and the living.

use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::{fresh_router, on_one_thread};
use crate::api::{ListenError, UnixSocket};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("volley-socket-{name}-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_socket_is_for_owner_and_group_alone_and_goes_with_the_router() {
    let folder = folder("rights");
    let path = folder.join("sub/api.sock");
    on_one_thread(async {
        let socket = UnixSocket::bind(&path, Some("root")).unwrap();
        let metadata = std::fs::metadata(&path).unwrap();
        assert!(metadata.file_type().is_socket());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o660);
        assert_eq!(metadata.gid(), 0);
        drop(socket);
        assert!(!path.exists());
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_dead_routers_socket_is_replaced_and_a_live_ones_is_not() {
    let folder = folder("dead");
    let path = folder.join("api.sock");
    on_one_thread(async {
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let living = UnixSocket::bind(&path, None).unwrap();
        let second = UnixSocket::bind(&path, None);
        assert!(matches!(second, Err(ListenError::InUse(_))), "{second:?}");
        drop(living);
        std::fs::write(&path, "a letter").unwrap();
        let third = UnixSocket::bind(&path, None);
        assert!(matches!(third, Err(ListenError::NotASocket(_))), "{third:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a letter");
        let fourth = UnixSocket::bind(&folder.join("b"), Some("no-such-group"));
        assert!(matches!(fourth, Err(ListenError::NoSuchGroup(_))), "{fourth:?}");
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_refused_request_with_a_late_body_leaves_the_connection_usable() {
    let folder = folder("late");
    let path = folder.join("api.sock");
    on_one_thread(async {
        let socket = UnixSocket::bind(&path, None).unwrap();
        tokio::task::spawn_local(socket.serve(fresh_router()));
        let mut stream = UnixStream::connect(&path).await.unwrap();
        let refused = b"DELETE /v1/ports HTTP/1.1\r\nHost: v\r\nContent-Length: 4\r\n\r\n";
        stream.write_all(refused).await.unwrap();
        tokio::task::yield_now().await;
        stream.write_all(b"late").await.unwrap();
        let last = b"GET /v1/version HTTP/1.1\r\nHost: v\r\nConnection: close\r\n\r\n";
        stream.write_all(last).await.unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).await.unwrap();
        assert!(answers.starts_with("HTTP/1.1 405 "), "{answers}");
        assert!(answers.contains("HTTP/1.1 200 OK"), "{answers}");
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn noise_on_the_socket_harms_nobody_else() {
    let folder = folder("noise");
    let path = folder.join("api.sock");
    on_one_thread(async {
        let socket = UnixSocket::bind(&path, None).unwrap();
        tokio::task::spawn_local(socket.serve(fresh_router()));
        let mut noisy = UnixStream::connect(&path).await.unwrap();
        let mut idle = UnixStream::connect(&path).await.unwrap();
        idle.write_all(b"GET /v1").await.unwrap();
        noisy.write_all(&[0xff; 4096]).await.unwrap();
        let mut polite = UnixStream::connect(&path).await.unwrap();
        let request = b"GET /v1/version HTTP/1.1\r\nHost: v\r\nConnection: close\r\n\r\n";
        polite.write_all(request).await.unwrap();
        let mut answer = String::new();
        polite.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    });
    std::fs::remove_dir_all(folder).unwrap();
}
