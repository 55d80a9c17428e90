//! How a worker that rests learns of packets: each kind's queues tell of their own, for as long as
//! there are some.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]
#![allow(unsafe_code, reason = "poll")]

mod rig;

use dpdk::kinds::{AfPacket, AfXdp, Memif, Ring, Tap, Vhost, VirtioUser};
use dpdk::{MemifRole, Port, PortOptions, PortSpec, RxHandle};
use packet::{Burst, RxQueue, Wakes};
use rig::network::{PacketSocket, own_namespace, run, veth};
use rig::{Opened, Rig, frames, is_ours, rig, wait_until};

/// Whether a rest would end that waits for this.
fn ends(wakes: Wakes) -> bool {
    let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut list = match wakes {
        Wakes::Readable(fd) => vec![entry(fd)],
        Wakes::Either(one, other) => vec![entry(one), entry(other)],
        Wakes::Unseen => unreachable!("it must be looked at"),
    };
    // SAFETY: entries of ours.
    unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, 0) > 0 }
}

/// Whether a rest would end now.
fn tells(queue: &mut RxHandle) -> bool {
    let told = ends(queue.before_rest());
    queue.after_rest();
    told
}

/// Empties a queue; says how many frames of ours there were.
fn drain(rig: &mut Rig, queue: &mut RxHandle) -> usize {
    let mut packets = Vec::new();
    queue.receive(&mut *rig.cache, 256, &mut packets);
    let ours = packets.iter().filter(|packet| is_ours(packet.bytes())).count();
    rig.cache.release(Burst::of(&mut packets));
    ours
}

fn tells_of_its_own(mut rig: Rig, spec: &PortSpec, queues: u16, far: &str) {
    let options = PortOptions { rx_queues: queues, tx_queues: queues, ..rig.options() };
    let mut port = Port::open(&rig.eal, spec, options).unwrap();
    port.start().unwrap();
    let mut queues: Vec<_> = (0..queues).map(|queue| port.rx(queue).unwrap()).collect();
    run(&format!("sysctl -q net.ipv6.conf.{far}.disable_ipv6=1"));
    run(&format!("ip link set {far} up"));
    wait_until("the link is up", || port.link().unwrap().up);
    let far = PacketSocket::bound_to(far);
    wait_until("it is silent", || {
        queues.iter_mut().for_each(|queue| _ = drain(&mut rig, queue));
        !queues.iter_mut().any(tells)
    });
    // Of many flows, so that each queue gets some at one time or another.
    for (number, mut sent) in frames(64).into_iter().enumerate() {
        sent[11] = number as u8;
        far.send(&sent);
        wait_until("it is told", || queues.iter_mut().any(tells));
        for queue in &mut queues {
            let told = tells(queue);
            let mut came = 0;
            wait_until("what was told comes, and no more is told", || {
                came += drain(&mut rig, queue);
                !tells(queue)
            });
            assert_eq!(came, usize::from(told), "frame {number}");
        }
    }
    port.stop().unwrap();
    assert!(queues.iter_mut().all(|queue| queue.before_rest() == Wakes::Unseen));
}

#[test]
fn an_af_packet_queue_tells_of_its_own_packets() {
    for queues in [1, 2] {
        let rig = rig();
        if !own_namespace() {
            return;
        }
        veth("v0", "v1");
        let spec = PortSpec::AfPacket(AfPacket::usual("v0".into()));
        tells_of_its_own(rig, &spec, queues, "v1");
    }
}

#[test]
fn an_af_xdp_queue_tells_of_its_own_packets() {
    let rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    tells_of_its_own(rig, &PortSpec::AfXdp(AfXdp::usual("v0".into())), 1, "v1");
}

#[test]
fn a_tap_queue_tells_of_its_own_packets() {
    for queues in [1, 2] {
        let rig = rig();
        if !own_namespace() {
            return;
        }
        tells_of_its_own(rig, &PortSpec::Tap(Tap { name: "vt0".into() }), queues, "vt0");
    }
}

/// Rests at a port where nothing comes: what that waits for.
fn rest(rig: &mut Rig, at: &mut Opened) -> Wakes {
    let mut wakes = Wakes::Unseen;
    wait_until("a rest is not disturbed", || {
        at.rx.after_rest();
        wakes = at.rx.before_rest();
        rig.receive(at).is_empty() && wakes != Wakes::Unseen && !ends(wakes)
    });
    wakes
}

/// Each frame ends a rest of the far end's, and is there then.
fn frames_end_rests(rig: &mut Rig, from: &mut Opened, at: &mut Opened) {
    for sent in frames(8) {
        let wakes = rest(rig, at);
        rig.send(from, std::slice::from_ref(&sent));
        wait_until("a frame ends the rest", || ends(wakes));
        at.rx.after_rest();
        assert_eq!(rig.receive(at), [sent]);
    }
}

#[test]
fn a_memif_queue_is_woken_by_packets_and_by_peers_that_come_and_go() {
    let mut rig = rig();
    let socket = std::env::temp_dir().join(format!("dpdk-wakes-{}.sock", std::process::id()));
    let spec = |role| PortSpec::Memif(Memif::usual(role, socket.clone(), 0));
    let mut server = rig.open(&spec(MemifRole::Server));
    for _ in 0..2 {
        let wakes = rest(&mut rig, &mut server);
        let mut client = rig.open(&spec(MemifRole::Client));
        wait_until("a peer that comes ends the rest", || ends(wakes));
        wait_until("the link is up", || {
            server.port.link().unwrap().up && client.port.link().unwrap().up
        });
        frames_end_rests(&mut rig, &mut client, &mut server);
        frames_end_rests(&mut rig, &mut server, &mut client);
        let wakes = rest(&mut rig, &mut server);
        drop(client);
        wait_until("a peer that goes ends the rest", || ends(wakes));
        server.rx.after_rest();
    }
}

#[test]
fn a_vhost_queue_is_woken_by_packets_and_by_machines_that_come_and_go() {
    let mut rig = rig();
    let socket = std::env::temp_dir().join(format!("dpdk-kicks-{}.sock", std::process::id()));
    let mut host = rig.open(&PortSpec::Vhost(Vhost { socket: socket.clone(), client: false }));
    let machine = PortSpec::VirtioUser(VirtioUser { path: socket, server: false });
    for _ in 0..3 {
        let wakes = rest(&mut rig, &mut host);
        let mut opened = None;
        // Who comes while the one before is still there is turned away.
        wait_until("a machine is let in", || {
            opened = Port::open(&rig.eal, &machine, rig.options()).ok();
            opened.is_some()
        });
        let mut machine = rig.started(opened.unwrap());
        wait_until("a machine that comes ends the rest", || ends(wakes));
        wait_until("the link is up", || host.port.link().unwrap().up);
        frames_end_rests(&mut rig, &mut machine, &mut host);
        let wakes = rest(&mut rig, &mut host);
        drop(machine);
        wait_until("a machine that goes ends the rest", || ends(wakes));
        host.rx.after_rest();
    }
    // A queue that outlives its port is silent.
    let Opened { mut rx, tx, port } = host;
    drop((tx, port));
    assert_eq!(rx.before_rest(), Wakes::Unseen);
    rx.after_rest();
}

#[test]
fn a_queue_of_which_nobody_tells_says_so() {
    let rig = rig();
    let mut port = rig.open(&PortSpec::Ring(Ring));
    assert_eq!(port.rx.before_rest(), Wakes::Unseen);
}
