//! The Unix socket: rights, the dead and the living.

use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::{fresh_router, on_one_thread};
use crate::api::connection::HEADER_TIME;
use crate::api::{ListenError, UnixSocket};
use crate::config::objects::api::Api;

fn of_group(name: &str) -> Api {
    Api { group: Some(name.to_owned()), ..Api::default() }
}

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
        let socket = UnixSocket::bind(&path, &of_group("root")).unwrap();
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
        let living = UnixSocket::bind(&path, &Api::default()).unwrap();
        let second = UnixSocket::bind(&path, &Api::default());
        assert!(matches!(second, Err(ListenError::InUse(_))), "{second:?}");
        drop(living);
        std::fs::write(&path, "a letter").unwrap();
        let third = UnixSocket::bind(&path, &Api::default());
        assert!(matches!(third, Err(ListenError::NotASocket(_))), "{third:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a letter");
        let fourth = UnixSocket::bind(&folder.join("b"), &of_group("no-such-group"));
        assert!(matches!(fourth, Err(ListenError::NoSuchGroup(_))), "{fourth:?}");
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_refused_request_with_a_late_body_leaves_the_connection_usable() {
    let folder = folder("late");
    let path = folder.join("api.sock");
    on_one_thread(async {
        let socket = UnixSocket::bind(&path, &Api::default()).unwrap();
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
        let socket = UnixSocket::bind(&path, &Api::default()).unwrap();
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

/// A connection to a router whose clock goes on when nobody has anything to do.
async fn connected(path: &PathBuf) -> UnixStream {
    tokio::time::pause();
    let socket = UnixSocket::bind(path, &Api::default()).unwrap();
    tokio::task::spawn_local(socket.serve(fresh_router()));
    UnixStream::connect(path).await.unwrap()
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let folder = folder("stalled-body");
    on_one_thread(async {
        let mut stream = connected(&folder.join("api.sock")).await;
        let part =
            b"POST /v1/config/check HTTP/1.1\r\nHost: v\r\nContent-Length: 40\r\n\r\n{\"toml";
        stream.write_all(part).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.contains("less than 16384 bytes a second"), "{answer}");
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn who_does_not_read_its_answers_is_left() {
    const ASKED: usize = 100;
    let folder = folder("stalled-reader");
    on_one_thread(async {
        let mut stream = connected(&folder.join("api.sock")).await;
        let all = b"GET /openapi.json HTTP/1.1\r\nHost: v\r\n\r\n".repeat(ASKED);
        // More than the socket holds: the router ends it while it waits for room.
        let _broken = stream.write_all(&all).await;
        tokio::time::sleep(super::super::patience::WRITE_TIME * 2).await;
        let mut answers = Vec::new();
        let _broken = stream.read_to_end(&mut answers).await;
        let answered = answers.windows(15).filter(|text| text == b"HTTP/1.1 200 OK").count();
        assert!(answered > 0 && answered < ASKED, "{answered}");
    });
    std::fs::remove_dir_all(folder).unwrap();
}

/// What the router answers to one who asks for its version, which it may not read to the end.
async fn asks_version(path: &PathBuf) -> String {
    let mut stream = UnixStream::connect(path).await.unwrap();
    let request = b"GET /v1/version HTTP/1.1\r\nHost: v\r\nConnection: close\r\n\r\n";
    let _refused = stream.write_all(request).await;
    let mut answer = Vec::new();
    let _refused = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

#[test]
fn idle_connections_of_ones_own_keep_nobody_out() {
    let folder = folder("idle");
    let path = folder.join("api.sock");
    on_one_thread(async {
        let socket = UnixSocket::bind(&path, &Api::default()).unwrap();
        tokio::task::spawn_local(socket.serve(fresh_router()));
        let mut first = UnixStream::connect(&path).await.unwrap();
        let mut all = Vec::new();
        for number in 0..400 {
            let mut idle = UnixStream::connect(&path).await.unwrap();
            // Some say nothing, some half of something.
            if number % 2 == 0 {
                let _gone = idle.write_all(b"GET /v1/version HTTP/1.1\r\nHo").await;
            }
            all.push(idle);
        }
        let answer = asks_version(&path).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        // Who was silent longest gave way, long before its time for a header was over.
        let gone = tokio::time::timeout(HEADER_TIME / 2, first.read(&mut [0])).await;
        assert_eq!(gone.expect("the first is there still").unwrap_or(0), 0);
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn one_user_has_its_share_of_connections_and_is_told_so() {
    let folder = folder("share");
    let path = folder.join("api.sock");
    on_one_thread(async {
        let socket = UnixSocket::bind(&path, &Api::default()).unwrap();
        tokio::task::spawn_local(socket.serve(fresh_router()));
        let mut all = Vec::new();
        for _ in 0..256 {
            let mut follows = UnixStream::connect(&path).await.unwrap();
            let request = b"GET /v1/events?follow=true HTTP/1.1\r\nHost: v\r\n\r\n";
            follows.write_all(request).await.unwrap();
            let mut answer = [0; 12];
            follows.read_exact(&mut answer).await.unwrap();
            assert_eq!(&answer, b"HTTP/1.1 200");
            all.push(follows);
        }
        let answer = asks_version(&path).await;
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("connect"), "{answer}");
        // Who leaves makes room, as soon as the router has seen it.
        all.clear();
        while !asks_version(&path).await.starts_with("HTTP/1.1 200 ") {}
    });
    std::fs::remove_dir_all(folder).unwrap();
}
