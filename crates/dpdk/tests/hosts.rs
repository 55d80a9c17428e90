//! Two hosts with Linux's default offloads talk TCP through two of our ports.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

mod rig;

use dpdk::kinds::{AfPacket, AfXdp, Tap};
use dpdk::{Port, PortOptions, PortSpec, RxHandle, TxHandle};
use packet::{Burst, PacketCache, RxQueue, TxQueue};
use rig::network::{Host, own_namespace};
use rig::{PATIENCE, Rig, rig, wait_until};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

const MESSAGE_BYTES: usize = 4 << 20;

#[test]
fn tcp_passes_through_af_packet() {
    tcp_passes(1, true, |device| PortSpec::AfPacket(AfPacket::usual(device.into())));
}

#[test]
fn tcp_passes_through_af_packet_with_two_queues() {
    tcp_passes(2, true, |device| PortSpec::AfPacket(AfPacket::usual(device.into())));
}

#[test]
fn tcp_passes_through_af_xdp() {
    let spec = |device: &str| {
        PortSpec::AfXdp(AfXdp { device: device.into(), first_queue: 0, force_copy: false })
    };
    tcp_passes(1, true, spec);
}

#[test]
fn large_frames_are_cut_as_they_come_where_that_is_asked_for() {
    tcp_passes(1, false, |device| PortSpec::AfPacket(AfPacket::usual(device.into())));
}

#[test]
fn tcp_passes_through_taps() {
    for queues in [1, 2] {
        tcp_passes(queues, true, tap);
    }
}

#[test]
fn linux_cuts_large_frames_before_they_come_to_a_tap_where_that_is_asked_for() {
    tcp_passes(1, false, tap);
}

fn tap(device: &str) -> PortSpec {
    PortSpec::Tap(Tap { name: device.into() })
}

fn tcp_passes(queues: u16, peer_offloads: bool, spec: impl Fn(&str) -> PortSpec) {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    let (server, client) = (Host::new(), Host::new());
    let is_tap = matches!(spec("r0"), PortSpec::Tap(_));
    if !is_tap {
        server.connect("r0", "e0", "10.9.1.1/24");
        client.connect("r1", "e1", "10.9.1.2/24");
    }
    let options =
        PortOptions { rx_queues: queues, tx_queues: queues, peer_offloads, ..rig.options() };
    let mut ports = ["r0", "r1"].map(|device| open(&rig, spec(device), options.clone()));
    if is_tap {
        server.adopt("r0", "10.9.1.1/24");
        client.adopt("r1", "10.9.1.2/24");
    }
    wait_until("both links are up", || ports.iter().all(|port| port.port.link().unwrap().up));
    let sent: Vec<u8> =
        (0..MESSAGE_BYTES as u32).map(|n| (n.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    let done = AtomicBool::new(false);
    let received = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            server.enter();
            let listener = TcpListener::bind("10.9.1.1:7000").unwrap();
            let sender = scope.spawn(|| {
                client.enter();
                let mut stream =
                    TcpStream::connect_timeout(&"10.9.1.1:7000".parse().unwrap(), PATIENCE)
                        .unwrap();
                stream.set_write_timeout(Some(PATIENCE)).unwrap();
                stream.write_all(&sent).unwrap();
            });
            let mut stream = listener.accept().unwrap().0;
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut received = Vec::new();
            stream.read_to_end(&mut received).unwrap();
            sender.join().unwrap();
            done.store(true, Ordering::Relaxed);
            received
        });
        while !done.load(Ordering::Relaxed) && !receiver.is_finished() {
            forward(&mut ports, &mut *rig.cache);
        }
        receiver.join().unwrap()
    });
    assert!(received == sent, "{} bytes came, or others", received.len());
    let counted = |name: &str| {
        let stats = ports.iter().map(|port| port.port.extended_stats().unwrap());
        let named = stats.flatten().filter(|(it, _)| it == name);
        named.map(|(_, count)| count).sum::<u64>()
    };
    if matches!(ports[0].port.spec(), PortSpec::AfPacket(_) | PortSpec::Tap(_)) {
        // Of a tap Linux cuts what nobody wants whole.
        assert_eq!(counted("rx_large_frames") > 0, peer_offloads || !is_tap);
        assert_eq!(counted("tx_large_frames") > 0, peer_offloads);
        // Of four megabytes most came in large frames.
        let packets = counted("tx_good_packets");
        assert_eq!(packets < 1_500, peer_offloads, "{packets} packets");
    }
    drop(ports);
    assert!(rig.nothing_leaked());
}

struct Ends {
    rx: Vec<RxHandle>,
    tx: TxHandle,
    port: Port,
}

fn open(rig: &Rig, spec: PortSpec, options: PortOptions) -> Ends {
    let queues = options.rx_queues;
    let mut port = Port::open(&rig.eal, &spec, options).unwrap();
    assert_eq!((port.rx_queues(), port.tx_queues()), (queues, queues));
    assert_eq!(port.remarks(), [""; 0]);
    port.start().unwrap();
    let rx = (0..queues).map(|queue| port.rx(queue).unwrap()).collect();
    Ends { rx, tx: port.tx(queues - 1).unwrap(), port }
}

fn forward(ports: &mut [Ends; 2], cache: &mut dyn PacketCache) {
    let [one, other] = ports;
    for (rx, tx) in [(&mut one.rx, &mut other.tx), (&mut other.rx, &mut one.tx)] {
        for queue in rx {
            let mut packets = Vec::new();
            queue.receive(cache, 64, &mut packets);
            tx.send(cache, &mut packets);
            cache.release(Burst::of(&mut packets));
        }
    }
}
