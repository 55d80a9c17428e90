//! Ports whose other end is a program: memif and vhost, both ends in this process.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

mod rig;

use dpdk::kinds::{Memif, Vhost, VirtioUser};
use dpdk::{MemifRole, Port, PortOptions, PortSpec};
use packet::{Burst, Large, PacketBuf, Pool, RxQueue, TxQueue};
use rig::{Opened, Rig, frames, rig, wait_until};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use wire::craft;
use wire::cut::Cut;

fn memif(role: MemifRole, socket: &Path) -> PortSpec {
    Memif::usual(role, socket.into(), 3).into()
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

fn zero_copy(socket: &Path) -> PortSpec {
    Memif { zero_copy: true, ..Memif::usual(MemifRole::Client, socket.into(), 3) }.into()
}

#[test]
fn memif_without_a_copy_carries_packets_both_ways_and_from_one_to_another() {
    let mut rig = rig();
    let sockets = [socket("zero-left"), socket("zero-right")];
    let mut servers = sockets.each_ref().map(|it| rig.open(&memif(MemifRole::Server, it)));
    let mut clients = sockets.each_ref().map(|it| rig.open(&zero_copy(it)));
    for (server, client) in servers.iter_mut().zip(&mut clients) {
        wait_for_link(server, client);
        pass_both_ways(&mut rig, server, client);
    }
    let shared = dpdk::pools_of_ports().find(|(name, _)| name.contains("memif"));
    let (_, shared) = shared.unwrap();
    assert_eq!(shared.total, rig.pool.usage().total);
    // Each receive ring has a buffer a slot.
    assert!(shared.total - shared.free >= 2 * 1024, "{shared:?}");
    assert!(shared.memory_bytes > shared.total * 2048, "{shared:?}");
    // As a router does.
    let ([left, right], [from, to]) = (&mut servers, &mut clients);
    let sent = frames(40);
    rig.send(left, &sent);
    let (mut packets, mut waiting) = (Vec::new(), 40);
    wait_until("packets pass", || {
        from.rx.receive(&mut *rig.cache, 16, &mut packets);
        waiting -= to.tx.send(&mut *rig.cache, &mut packets);
        waiting == 0
    });
    assert_eq!(rig.expect(right, 40), sent);
    let error = Memif { zero_copy: true, ..Memif::usual(MemifRole::Server, socket("no"), 0) };
    let error = Port::open(&rig.eal, &error.into(), rig.options()).err().unwrap().to_string();
    assert!(error.contains("no memory to share"), "{error}");
    drop((servers, clients));
    assert!(rig.nothing_leaked());
    let is_gone = || dpdk::pools_of_ports().all(|(name, _)| !name.contains("memif"));
    wait_until("the shared buffers go with the last who used them", is_gone);
}

/// A machine tells its host where a packet lies in its own memory, and that one does not see ours
/// that memif's peers see.
#[test]
fn what_came_without_a_copy_leaves_as_one_where_its_address_would_be_told() {
    let mut rig = rig();
    let mut server = rig.open(&memif(MemifRole::Server, &socket("told-memif")));
    let mut client = rig.open(&zero_copy(&socket("told-memif")));
    wait_for_link(&server, &client);
    let [mut host, mut machine] = host_and_machine(&rig, "told", [false, false]);
    let sent = frames(40);
    rig.send(&mut server, &sent);
    let (mut packets, mut waiting) = (Vec::new(), 40);
    wait_until("packets pass", || {
        client.rx.receive(&mut *rig.cache, 16, &mut packets);
        waiting -= machine.tx.send(&mut *rig.cache, &mut packets);
        waiting == 0
    });
    assert_eq!(rig.expect(&mut host, 40), sent);
    drop((machine, host, client, server));
    assert!(rig.nothing_leaked());
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

const SIZE: u16 = 1000;
const ACK: u8 = 0x10;

/// Frames of several packets, as Linux hands them over: without their checksum.
fn large_frames() -> [Vec<u8>; 2] {
    let link = || craft::ethernet([2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 4]);
    let payload: Vec<u8> =
        (0..20_500u32).map(|n| (n.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    let four = link().vlan(7).ipv4([10, 0, 0, 1], [10, 0, 0, 2]).tcp(1, 2).flags(ACK);
    let six = link().ipv6([1; 16], [2; 16]).tcp(1, 2).flags(ACK);
    [four.payload(&payload).build(), six.payload(&payload).build()].map(|mut frame| {
        Cut::new(&frame, None, SIZE.into()).unwrap().leave_out(&mut frame);
        frame
    })
}

/// What a frame is cut into.
fn pieces(frame: &[u8]) -> Vec<Vec<u8>> {
    let cut = Cut::new(frame, None, SIZE.into()).unwrap();
    let piece = |number| {
        let mut piece = vec![0; cut.longest()];
        let length = cut.write(frame, number, &mut piece).unwrap();
        piece.truncate(length);
        piece
    };
    (0..cut.packets()).map(piece).collect()
}

impl Rig {
    /// Sends a large frame, or one that is only long.
    fn send_long(&mut self, port: &mut Opened, frame: &[u8], is_large: bool) {
        let mut packet = self.cache.copy_of(frame).unwrap();
        if is_large {
            let cut = Cut::new(frame, None, SIZE.into()).unwrap();
            let (transport, payload) = (cut.transport_at() as u16, cut.payload_at() as u16);
            assert!(packet.set_large(Some(Large { transport, payload, size: SIZE })));
        }
        let mut packets = vec![packet];
        wait_until("a frame is sent", || {
            port.tx.send(&mut *self.cache, &mut packets);
            packets.is_empty()
        });
    }

    /// So many packets that come next: their bytes, and whether they are large.
    fn told(&mut self, port: &mut Opened, count: usize) -> Vec<(Vec<u8>, bool)> {
        let mut packets = Vec::new();
        wait_until("packets come", || {
            // Few a call, so that what is cut is cut in several.
            port.rx.receive(&mut *self.cache, 7, &mut packets);
            packets.len() >= count
        });
        let told = |packet: &PacketBuf| (packet.bytes().to_vec(), packet.large().is_some());
        let all = packets.iter().map(told).collect();
        self.cache.release(Burst::of(&mut packets));
        all
    }
}

fn counted(port: &Opened, name: &str) -> u64 {
    let all = port.port.extended_stats().unwrap();
    all.into_iter().find(|(it, _)| it == name).map_or(0, |(_, count)| count)
}

/// A host and a machine, of whom one may not have large frames.
fn host_and_machine(rig: &Rig, name: &str, has_large: [bool; 2]) -> [Opened; 2] {
    let path = socket(name);
    let host = PortSpec::Vhost(Vhost { socket: path.clone(), client: false });
    let machine = PortSpec::VirtioUser(VirtioUser { path, server: false });
    let mut both = [(host, has_large[0]), (machine, has_large[1])].map(|(spec, peer_offloads)| {
        rig.open_with(&spec, PortOptions { peer_offloads, ..rig.options() })
    });
    let [host, machine] = &mut both;
    wait_for_link(host, machine);
    // A ring is there before it carries.
    assert!(rig.receive_nothing(host) && rig.receive_nothing(machine));
    both
}

#[test]
fn large_frames_pass_between_a_host_and_a_machine_whole() {
    let mut rig = rig();
    let [mut host, mut machine] = host_and_machine(&rig, "large", [true, true]);
    for frame in large_frames() {
        let whole = vec![(frame.clone(), true)];
        rig.send_long(&mut machine, &frame, true);
        assert!(rig.told(&mut host, 1) == whole);
        rig.send_long(&mut host, &frame, true);
        assert!(rig.told(&mut machine, 1) == whole);
    }
    for port in [&host, &machine] {
        let counts = ["rx_large_frames", "tx_large_frames", "tx_large_cut"];
        assert_eq!(counts.map(|name| counted(port, name)), [2, 2, 0]);
    }
    // A frame that is only long, and others around large ones, in their order.
    let [large, _] = large_frames();
    let (short, long) = (rig::frame(1, 60), rig::frame(2, 9000));
    for frame in [&short, &large, &long, &short] {
        rig.send_long(&mut machine, frame, frame == &large);
    }
    let expected = [(short.clone(), false), (large, true), (long, false), (short, false)];
    assert!(rig.told(&mut host, 4) == expected);
    drop((machine, host));
    assert!(rig.nothing_leaked());
}

#[test]
fn large_frames_are_cut_as_they_come_where_nobody_wants_them_whole() {
    let mut rig = rig();
    let [mut host, mut machine] = host_and_machine(&rig, "cut", [true, true]);
    host.port.keep_whole(false);
    let short = rig::frame(1, 60);
    for frame in large_frames() {
        rig.send_long(&mut machine, &frame, true);
        rig.send_long(&mut machine, &short, false);
        let mut expected: Vec<_> = pieces(&frame).into_iter().map(|it| (it, false)).collect();
        assert_eq!(expected.len(), 21);
        expected.push((short.clone(), false));
        assert!(rig.told(&mut host, 22) == expected);
    }
    drop((machine, host));
    assert!(rig.nothing_leaked());
}

#[test]
fn packets_of_a_stream_in_a_row_leave_as_one_where_that_is_taken() {
    let mut rig = rig();
    for (name, has_large) in [("merged", [true, true]), ("unmerged", [true, false])] {
        let [mut host, mut machine] = host_and_machine(&rig, name, has_large);
        host.port.keep_whole(true);
        let short = rig::frame(1, 600);
        for frame in large_frames() {
            let pieces = pieces(&frame);
            let others = [short.clone(), short.clone()];
            let mut expected: Vec<_> = others.iter().map(|it| (it.clone(), false)).collect();
            match has_large[1] {
                true => expected.insert(1, (frame, true)),
                false => {
                    expected.splice(1..1, pieces.iter().map(|it| (it.clone(), false)));
                }
            }
            let [first, last] = others;
            rig.send(&mut host, &[vec![first], pieces, vec![last]].concat());
            assert!(rig.told(&mut machine, expected.len()) == expected, "{name}");
        }
        assert_eq!(counted(&host, "tx_merged"), if has_large[1] { 42 } else { 0 });
        drop((machine, host));
    }
    assert!(rig.nothing_leaked());
}

#[test]
fn large_frames_are_cut_for_who_does_not_take_them_or_is_not_told() {
    let mut rig = rig();
    for (name, has_large) in [("deaf", [true, false]), ("mute", [false, true])] {
        let [mut host, mut machine] = host_and_machine(&rig, name, has_large);
        let [frame, _] = large_frames();
        rig.send_long(&mut host, &frame, true);
        let expected: Vec<_> = pieces(&frame).into_iter().map(|it| (it, false)).collect();
        assert!(rig.told(&mut machine, 21) == expected, "{name}");
        assert_eq!((counted(&host, "tx_large_frames"), counted(&host, "tx_large_cut")), (0, 1));
        rig.send_long(&mut machine, &frame, true);
        assert!(rig.told(&mut host, 21) == expected, "{name}");
        drop((machine, host));
    }
    assert!(rig.nothing_leaked());
}

#[test]
fn a_host_forgets_what_the_machine_took_when_the_next_one_comes() {
    let mut rig = rig();
    let [mut host, machine] = host_and_machine(&rig, "next-large", [true, true]);
    drop(machine);
    wait_until("the host sees the link down", || !host.port.link().unwrap().up);
    let spec = PortSpec::VirtioUser(VirtioUser { path: socket("next-large"), server: false });
    let options = PortOptions { peer_offloads: false, ..rig.options() };
    // Who comes while the one before is still there is turned away.
    let mut opened = None;
    wait_until("the next machine is let in", || {
        opened = Port::open(&rig.eal, &spec, options.clone()).ok();
        opened.is_some()
    });
    let mut machine = rig.started(opened.unwrap());
    wait_for_link(&host, &machine);
    assert!(rig.receive_nothing(&mut host) && rig.receive_nothing(&mut machine));
    let [frame, _] = large_frames();
    rig.send_long(&mut host, &frame, true);
    assert_eq!(rig.told(&mut machine, 21).len(), 21);
    drop((machine, host));
    assert!(rig.nothing_leaked());
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
