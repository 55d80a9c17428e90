//! Ports whose other end is a program: memif and vhost, both ends in this process.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

mod rig;

use dpdk::kinds::{Memif, Vhost, VirtioUser};
use dpdk::{MemifRole, Port, PortSpec};
use rig::{Opened, Rig, frames, rig, wait_until};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

fn memif(role: MemifRole, socket: &Path) -> PortSpec {
    PortSpec::Memif(Memif { role, socket: socket.into(), id: 3, ring_log2: 10, buffer_bytes: 2048 })
}

fn socket(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("dpdk-{name}-{}.sock", std::process::id()))
}

fn wait_for_link(one: &Opened, other: &Opened) {
    let up = |opened: &Opened| opened.port.link().unwrap().up;
    wait_until("both ends see the link", || up(one) && up(other));
}

fn pass_both_ways(rig: &mut Rig, one: &mut Opened, other: &mut Opened) {
    // A memif client hands out its receive buffers when it polls.
    assert!(rig.receive(one).is_empty() && rig.receive(other).is_empty());
    let sent = frames(40);
    rig.send(one, &sent);
    assert_eq!(rig.expect(other, 40), sent);
    rig.send(other, &sent);
    assert_eq!(rig.expect(one, 40), sent);
}

#[test]
fn memif_carries_packets_both_ways() {
    let mut rig = rig();
    let socket = socket("memif");
    let mut server = rig.open(&memif(MemifRole::Server, &socket));
    let mut client = rig.open(&memif(MemifRole::Client, &socket));
    wait_for_link(&server, &client);
    pass_both_ways(&mut rig, &mut server, &mut client);
    drop(client);
    wait_until("the server sees the link down", || !server.port.link().unwrap().up);
    let mut client = rig.open(&memif(MemifRole::Client, &socket));
    wait_for_link(&server, &client);
    pass_both_ways(&mut rig, &mut server, &mut client);
    drop((server, client));
    assert!(rig.nothing_leaked());
    assert!(!socket.exists());
}

/// A host and a machine, one of which listens.
fn vhost_and_virtio_user(name: &str, machine_listens: bool) {
    let mut rig = rig();
    let socket = socket(name);
    let host = PortSpec::Vhost(Vhost { socket: socket.clone(), client: machine_listens });
    let machine =
        PortSpec::VirtioUser(VirtioUser { path: socket.clone(), server: machine_listens });
    let (mut host, mut machine) = (rig.open(&host), rig.open(&machine));
    wait_for_link(&host, &machine);
    pass_both_ways(&mut rig, &mut host, &mut machine);
    drop((machine, host));
    assert!(rig.nothing_leaked());
    assert!(!socket.exists());
}

#[test]
fn vhost_and_virtio_user_carry_packets_both_ways() {
    vhost_and_virtio_user("vhost", false);
}

#[test]
fn a_virtio_user_that_listens_waits_for_its_host() {
    vhost_and_virtio_user("listens", true);
}

#[test]
fn a_host_that_connects_tells_who_is_missing_and_finds_the_next_machine() {
    let mut rig = rig();
    let socket = socket("next");
    let spec = PortSpec::Vhost(Vhost { socket: socket.clone(), client: true });
    let mut host = rig.open(&spec);
    let tells = |host: &Opened, what: &str| {
        let told = || host.port.problem().unwrap_or_default();
        wait_until("it tells who is missing", || told().contains(what));
        assert!(told().contains(socket.to_str().unwrap()), "{}", told());
    };
    tells(&host, "No such file");
    for _ in 0..2 {
        let spec = PortSpec::VirtioUser(VirtioUser { path: socket.clone(), server: true });
        let mut machine = rig.open(&spec);
        wait_for_link(&host, &machine);
        assert_eq!(host.port.problem(), None);
        pass_both_ways(&mut rig, &mut host, &mut machine);
        drop(machine);
        wait_until("the host sees the link down", || !host.port.link().unwrap().up);
        tells(&host, "No such file");
    }
    // Somebody who listens and says nothing.
    let listener = UnixListener::bind(&socket).unwrap();
    let _silent = listener.accept().unwrap();
    tells(&host, "has begun no rings");
    drop(host);
    assert!(rig.nothing_leaked() && socket.exists());
    std::fs::remove_file(&socket).unwrap();
}

#[test]
fn a_socket_that_a_killed_process_left_is_no_obstacle() {
    let rig = rig();
    let socket = socket("left");
    for spec in [
        memif(MemifRole::Server, &socket),
        PortSpec::Vhost(Vhost { socket: socket.clone(), client: false }),
    ] {
        drop(UnixListener::bind(&socket).unwrap());
        drop(rig.open(&spec));
        assert!(!socket.exists());
    }
}

#[test]
fn a_socket_of_somebody_who_lives_is_left_alone() {
    let rig = rig();
    let socket = socket("taken");
    let listener = UnixListener::bind(&socket).unwrap();
    let spec = PortSpec::Vhost(Vhost { socket: socket.clone(), client: false });
    let error = Port::open(&rig.eal, &spec, rig.options()).err().unwrap().to_string();
    assert!(error.contains(socket.to_str().unwrap()) && socket.exists(), "{error}");
    drop(listener);
    std::fs::remove_file(&socket).unwrap();
}
