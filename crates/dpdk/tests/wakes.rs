//! How a worker that rests learns of packets: each kind's queues tell of their own, for as long as
//! there are some.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]
#![allow(unsafe_code, reason = "poll")]

mod rig;

use dpdk::kinds::{AfPacket, AfXdp, Ring, Tap};
use dpdk::{Port, PortOptions, PortSpec, RxHandle};
use packet::{Burst, RxQueue, Wakes};
use rig::network::{PacketSocket, own_namespace, run, veth};
use rig::{Rig, frames, is_ours, rig, wait_until};

/// Whether a rest would end now.
fn tells(queue: &mut RxHandle) -> bool {
    let wakes = queue.before_rest();
    let Wakes::Readable(fd) = wakes else { unreachable!("it must be looked at") };
    let mut list = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry of ours.
    let told = unsafe { libc::poll(&mut list, 1, 0) == 1 };
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
        let spec = PortSpec::AfPacket(AfPacket { device: "v0".into() });
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

#[test]
fn a_queue_of_which_nobody_tells_says_so() {
    let rig = rig();
    let mut port = rig.open(&PortSpec::Ring(Ring));
    assert_eq!(port.rx.before_rest(), Wakes::Unseen);
}
