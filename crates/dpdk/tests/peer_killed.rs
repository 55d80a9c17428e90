//! The other end of a memif dies while we poll: the link is down, we live, and it comes back.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

mod rig;

use dpdk::kinds::Memif;
use dpdk::{LinkEvent, LinkWatch, MemifRole, PortSpec};
use packet::{Burst, Pool, RxQueue, TxQueue};
use rig::{Opened, frame, rig, wait_until};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Set in the child process: it is the peer, of that role, at that socket.
const ROLE: &str = "VOLLEY_TEST_MEMIF_ROLE";
const SOCKET: &str = "VOLLEY_TEST_MEMIF_SOCKET";

fn memif(role: MemifRole, socket: PathBuf) -> PortSpec {
    Memif::usual(role, socket, 0).into()
}

/// Not a test by itself: what the child process runs until it is killed.
#[test]
fn peer_process() {
    let Some(socket) = std::env::var_os(SOCKET) else { return };
    let server = std::env::var(ROLE).unwrap() == "server";
    let role = if server { MemifRole::Server } else { MemifRole::Client };
    let mut rig = rig();
    let mut port = rig.open(&memif(role, socket.into()));
    let sent = frame(1, 200);
    let parent = parent_id();
    // Should the test fail, it does not go on for ever.
    while parent_id() == parent {
        rig.receive(&mut port);
        let mut packets: Vec<_> = (0..64).map_while(|_| rig.cache.copy_of(&sent)).collect();
        port.tx.send(&mut *rig.cache, &mut packets);
        rig.cache.release(Burst::of(&mut packets));
    }
}

fn start_peer(role: &str, socket: &PathBuf) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "peer_process"]).env(ROLE, role).env(SOCKET, socket);
    command.stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_killed_peer_is_a_link_that_goes_down_and_comes_back() {
    let rounds = std::env::var("ROUNDS").map_or(8, |text| text.parse().unwrap());
    let rig = rig();
    let socket = std::env::temp_dir().join(format!("dpdk-killed-{}.sock", std::process::id()));
    let mut opened = rig.open(&memif(MemifRole::Server, socket.clone()));
    let (stop, received) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (rx, tx) = (&mut opened.rx, &mut opened.tx);
        let worker = scope.spawn(|| {
            let mut cache = rig.pool.cache();
            let mut packets = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                rx.receive(&mut *cache, 256, &mut packets);
                received.fetch_add(packets.len() as u64, Ordering::Relaxed);
                tx.send(&mut *cache, &mut packets);
                cache.release(Burst::of(&mut packets));
            }
        });
        let up = || opened.port.link().unwrap().up;
        for _ in 0..rounds {
            let mut peer = start_peer("client", &socket);
            let before = received.load(Ordering::Relaxed);
            wait_until("packets come", || received.load(Ordering::Relaxed) > before + 10_000);
            assert!(up());
            peer.kill().unwrap();
            peer.wait().unwrap();
            wait_until("the link is seen down", || !up());
        }
        stop.store(true, Ordering::Relaxed);
        worker.join().unwrap();
    });
    drop(opened);
    assert!(rig.nothing_leaked());
}

#[test]
fn a_client_waits_for_its_server_and_finds_the_next_one() {
    let mut rig = rig();
    let socket = std::env::temp_dir().join(format!("dpdk-waits-{}.sock", std::process::id()));
    let mut client = rig.open(&memif(MemifRole::Client, socket.clone()));
    let mut watch = LinkWatch::default();
    for _ in 0..2 {
        let mut server = start_peer("server", &socket);
        let mut wait_for = |client: &mut Opened, event| {
            wait_until("the link changes", || watch.look(&client.port).unwrap() == Some(event));
        };
        wait_for(&mut client, LinkEvent::Up);
        rig.expect(&mut client, 100);
        // The socket stays behind: the next server must get over that.
        server.kill().unwrap();
        server.wait().unwrap();
        wait_for(&mut client, LinkEvent::Down);
    }
    drop(client);
    assert!(rig.nothing_leaked());
    std::fs::remove_file(&socket).unwrap();
}
