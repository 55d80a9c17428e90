//! Ports on Linux devices, each test in a network namespace of its own.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

mod rig;

use dpdk::kinds::{AfPacket, AfXdp, Ring, Tap};
use dpdk::{DpdkPool, LinkEvent, LinkWatch, Port, PortOptions, PortSpec};
use packet::{Burst, Pool, RxQueue, TxQueue};
use rig::network::{PacketSocket, own_namespace, run, shown, veth};
use rig::{Opened, Rig, frame, frames, rig, wait_until};
use std::fs;
use std::process::Command;

#[test]
fn tags_are_received_as_they_were_sent() {
    if !own_namespace() {
        return;
    }
    for queues in [1, 2] {
        let mut rig = rig();
        veth("v0", "v1");
        let options = PortOptions { rx_queues: queues, ..rig.options() };
        let spec = PortSpec::AfPacket(AfPacket::usual("v0".into()));
        let mut port = Port::open(&rig.eal, &spec, options).unwrap();
        port.start().unwrap();
        let mut queues: Vec<_> = (0..queues).map(|queue| port.rx(queue).unwrap()).collect();
        let far = PacketSocket::bound_to("v1");
        // More than one round of what is looked at in one go, of more than one flow.
        let tags: [&[u8]; 5] = [
            &[0x88, 0xa8, 0x60, 5, 0x81, 0, 0, 7],
            &[0x81, 0, 0, 5, 0x88, 0xa8, 0, 7],
            &[0x88, 0xa8, 0, 5],
            &[0x81, 0, 0, 5],
            &[],
        ];
        let tagged = |(number, frame): (usize, Vec<u8>)| {
            let mut frame = frame[..frame.len().min(1500)].to_vec();
            frame[11] = number as u8;
            frame.splice(12..12, tags[number % tags.len()].iter().copied());
            frame
        };
        let mut sent: Vec<_> = frames(200).into_iter().enumerate().map(tagged).collect();
        sent.iter().for_each(|frame| far.send(frame));
        let (mut packets, mut got) = (Vec::new(), Vec::new());
        wait_until("all frames come", || {
            for queue in &mut queues {
                queue.receive(&mut *rig.cache, 150, &mut packets);
            }
            got.extend(packets.iter().map(|packet| packet.bytes().to_vec()));
            rig.cache.release(Burst::of(&mut packets));
            got.len() >= sent.len()
        });
        sent.sort();
        got.sort();
        assert_eq!(got, sent);
        drop((queues, port));
        run("ip link del v0");
    }
}

#[test]
fn af_packet_sends_and_receives_over_a_veth_byte_for_byte() {
    over_a_veth(PortSpec::AfPacket(AfPacket::usual("v0".into())));
}

#[test]
fn af_xdp_sends_and_receives_over_a_veth_byte_for_byte() {
    over_a_veth(PortSpec::AfXdp(AfXdp { device: "v0".into(), first_queue: 0, force_copy: false }));
}

fn over_a_veth(spec: PortSpec) {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    for round in 0..3 {
        let mut port = rig.open(&spec);
        wait_until("the link is up", || port.port.link().unwrap().up);
        let peer = PacketSocket::bound_to("v1");
        let sent = frames(32 + round);
        rig.send(&mut port, &sent);
        assert_eq!(peer.expect(sent.len()), sent);
        for frame in &sent {
            peer.send(frame);
        }
        assert_eq!(rig.expect(&mut port, sent.len()), sent);
        drop(port);
        assert!(rig.nothing_leaked());
    }
}

/// The kernel lets go of a queue in a thread of its own, after its socket was closed: whoever opens
/// it at once finds it free all the same.
#[test]
fn a_queue_that_was_closed_is_free_at_once() {
    let rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    let spec = PortSpec::AfXdp(AfXdp { device: "v0".into(), first_queue: 0, force_copy: false });
    for _ in 0..20 {
        drop(rig.open(&spec));
    }
    assert!(rig.nothing_leaked());
}

#[test]
fn a_tap_is_a_device_of_the_kernel_and_goes_with_its_port() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    let mut port = rig.open(&PortSpec::Tap(Tap { name: "vt0".into() }));
    run("sysctl -q net.ipv6.conf.vt0.disable_ipv6=1");
    run("ip link set vt0 up");
    let kernel = PacketSocket::bound_to("vt0");
    let sent = frames(32);
    rig.send(&mut port, &sent);
    assert_eq!(kernel.expect(32), sent);
    for frame in &sent {
        kernel.send(frame);
    }
    assert_eq!(rig.expect(&mut port, 32), sent);
    drop(port);
    let devices = || fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    wait_until("the tap is gone", || !devices().contains("vt0"));
    assert!(rig.nothing_leaked());
}

#[test]
fn a_veth_deleted_under_af_packet_is_gone_and_can_come_back() {
    deleted_veth(PortSpec::AfPacket(AfPacket::usual("v0".into())));
}

#[test]
fn a_veth_deleted_under_af_xdp_is_gone_and_can_come_back() {
    deleted_veth(PortSpec::AfXdp(AfXdp { device: "v0".into(), first_queue: 0, force_copy: false }));
}

fn deleted_veth(spec: PortSpec) {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    let mut port = rig.open(&spec);
    let mut watch = LinkWatch::default();
    let mut next_event = |port: &mut Port| {
        let mut event = None;
        wait_until("something happens to the link", || {
            event = watch.look(port).unwrap();
            event.is_some()
        });
        event.unwrap()
    };
    assert_eq!(next_event(&mut port.port), LinkEvent::Up);
    run("ip link set v1 down");
    assert_eq!(next_event(&mut port.port), LinkEvent::Down);
    run("ip link set v1 up");
    assert_eq!(next_event(&mut port.port), LinkEvent::Up);
    run("ip link del v0");
    assert_eq!(next_event(&mut port.port), LinkEvent::Gone);
    poll_hard(&mut rig, &mut port);
    veth("v0", "v1");
    assert_eq!(next_event(&mut port.port), LinkEvent::Returned);
    drop(port);
    let mut port = rig.open(&spec);
    assert_eq!(next_event(&mut port.port), LinkEvent::Up);
    let peer = PacketSocket::bound_to("v1");
    rig.send(&mut port, &frames(3));
    assert_eq!(peer.expect(3), frames(3));
    drop(port);
    assert!(rig.nothing_leaked());
}

/// More packets than the driver has room for, sent and received on whatever is left of the port.
fn poll_hard(rig: &mut Rig, port: &mut Opened) {
    for _ in 0..2000 {
        let mut packets: Vec<_> = (0..8).map_while(|_| rig.cache.copy_of(&frame(1, 60))).collect();
        port.tx.send(&mut *rig.cache, &mut packets);
        rig.cache.release(Burst::of(&mut packets));
        rig.receive(port);
    }
}

#[test]
fn a_tap_that_is_deleted_under_a_port_is_gone_and_can_come_back() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    let spec = PortSpec::Tap(Tap { name: "vt0".into() });
    let mut port = rig.open(&spec);
    wait_until("the link is up", || port.port.link().unwrap().up);
    run("ip link del vt0");
    wait_until("the device is gone", || port.port.link().unwrap().gone);
    poll_hard(&mut rig, &mut port);
    drop(port);
    let port = rig.open(&spec);
    wait_until("the link is up", || port.port.link().unwrap().up);
    drop(port);
    assert!(rig.nothing_leaked());
}

#[test]
fn a_port_switches_its_device_on_and_leaves_no_promiscuous_mode_behind() {
    let rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    run("ip link set v0 down");
    let promiscuous = || {
        let output = Command::new("ip").args(["-d", "link", "show", "v0"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().contains("promiscuity 1")
    };
    let port = rig.open(&PortSpec::AfPacket(AfPacket::usual("v0".into())));
    wait_until("the link is up", || port.port.link().unwrap().up);
    assert!(promiscuous());
    drop(port);
    assert!(!promiscuous());
}

#[test]
fn a_frame_larger_than_the_link_does_not_stop_those_behind_it() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    let mut port = rig.open(&PortSpec::AfPacket(AfPacket::usual("v0".into())));
    let peer = PacketSocket::bound_to("v1");
    let giant = frame(0, 1900);
    for fill in 0..200 {
        rig.send(&mut port, &[giant.clone(), frame(fill, 100)]);
        assert_eq!(peer.expect(1), [frame(fill, 100)]);
    }
    let tagged = [&frame(0, 60)[..12], &[0x81, 0, 0x20, 7], &frame(0, 60)[12..]].concat();
    peer.send(&tagged);
    let mut seen = Vec::new();
    wait_until("the tagged frame comes whole", || {
        seen.extend(rig.receive(&mut port));
        seen.contains(&tagged)
    });
}

#[test]
fn ports_come_and_go_while_another_forwards() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    let mut ring = rig.open(&PortSpec::Ring(Ring));
    for round in 0..30 {
        let mut port = rig.open(&PortSpec::AfPacket(AfPacket::usual("v0".into())));
        rig.send(&mut port, &frames(3));
        rig.send(&mut ring, &frames(8));
        drop(port.port);
        let mut packets = vec![rig.cache.copy_of(&frame(1, 60)).unwrap()];
        assert_eq!(port.tx.send(&mut *rig.cache, &mut packets), 0, "round {round}");
        rig.cache.release(Burst::of(&mut packets));
        port.rx.receive(&mut *rig.cache, 8, &mut packets);
        assert!(packets.is_empty());
        assert_eq!(rig.expect(&mut ring, 8), frames(8));
    }
}

#[test]
fn a_jumbo_frame_passes_a_port_that_was_opened_for_it() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    run("ip link set v1 mtu 9000");
    let pool = DpdkPool::new(&rig.eal, 2048, 9216).unwrap();
    let options = PortOptions { mtu: Some(9000), ..PortOptions::new(pool.clone()) };
    let mut port =
        Port::open(&rig.eal, &PortSpec::AfPacket(AfPacket::usual("v0".into())), options).unwrap();
    port.start().unwrap();
    assert_eq!(port.mtu().unwrap(), 9000);
    let mut port = Opened { rx: port.rx(0).unwrap(), tx: port.tx(0).unwrap(), port };
    let peer = PacketSocket::bound_to("v1");
    rig.cache = pool.cache();
    let giant = frame(3, 9014);
    rig.send(&mut port, std::slice::from_ref(&giant));
    assert_eq!(peer.expect(1), std::slice::from_ref(&giant));
    peer.send(&giant);
    assert_eq!(rig.expect(&mut port, 1), [giant]);
}

#[test]
fn linux_sees_a_carrier_at_a_tap_while_its_port_runs() {
    let rig = rig();
    if !own_namespace() {
        return;
    }
    let options = PortOptions { rx_queues: 1, tx_queues: 1, ..rig.options() };
    let spec = PortSpec::Tap(Tap { name: "vt0".into() });
    let mut port = Port::open(&rig.eal, &spec, options).unwrap();
    run("ip link set vt0 up");
    let carries = || shown("ip link show vt0").contains("LOWER_UP");
    assert!(!carries());
    port.start().unwrap();
    wait_until("there is a carrier", carries);
    port.stop().unwrap();
    wait_until("there is none any more", || !carries());
}

#[test]
fn linux_sees_the_address_and_the_mtu_of_a_tap() {
    let rig = rig();
    if !own_namespace() {
        return;
    }
    let mut tap = rig.open(&PortSpec::Tap(Tap { name: "vt0".into() }));
    tap.port.set_mac([2, 0, 0, 0, 0, 9]).unwrap();
    tap.port.set_mtu(1400).unwrap();
    assert_eq!(tap.port.mac().unwrap(), [2, 0, 0, 0, 0, 9]);
    let output = Command::new("ip").args(["link", "show", "vt0"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("02:00:00:00:00:09") && text.contains("mtu 1400"), "{text}");
}

#[test]
fn a_device_that_is_not_there_is_an_error_that_names_it() {
    let rig = rig();
    let spec = PortSpec::AfPacket(AfPacket::usual("no-such-dev".into()));
    let error = Port::open(&rig.eal, &spec, rig.options()).err().unwrap().to_string();
    assert!(error.contains("no-such-dev"), "{error}");
}

#[test]
fn packet_sockets_share_by_a_group_only_where_there_are_several() {
    let rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    let spec = PortSpec::AfPacket(AfPacket::usual("v0".into()));
    for (queues, groups) in [(1, 0), (2, 2)] {
        let options = PortOptions { rx_queues: queues, tx_queues: queues, ..rig.options() };
        let port = Port::open(&rig.eal, &spec, options).unwrap();
        let sockets = shown("ss --packet --extended");
        assert_eq!(sockets.matches("fanout(").count(), groups, "{sockets}");
        drop(port);
    }
}

#[test]
fn what_a_packet_socket_had_no_room_for_is_counted_as_missed() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    let spec = PortSpec::AfPacket(AfPacket::usual("v0".into()));
    let options = PortOptions { rx_descriptors: Some(16), ..rig.options() };
    let mut port = Port::open(&rig.eal, &spec, options).unwrap();
    port.start().unwrap();
    let mut port = Opened { rx: port.rx(0).unwrap(), tx: port.tx(0).unwrap(), port };
    let peer = PacketSocket::bound_to("v1");
    for frame in &frames(100) {
        peer.send(frame);
    }
    let mut came = 0;
    wait_until("all are accounted for", || {
        came += rig.receive(&mut port).len() as u64;
        came + port.port.stats().unwrap().rx_missed >= 100
    });
    let missed = port.port.stats().unwrap().rx_missed;
    assert!(missed > 0 && came + missed == 100, "{came} came, {missed} were missed");
    port.port.stop().unwrap();
    assert_eq!(port.port.stats().unwrap().rx_missed, missed);
}

#[test]
fn what_a_packet_socket_left_in_its_ring_is_sent_when_it_is_pushed() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    // A device slower than the port: the socket soon has as much on its way as it may.
    run("tc qdisc add dev v0 root tbf rate 20mbit burst 2k limit 10mb");
    let mut port = rig.open(&PortSpec::AfPacket(AfPacket::usual("v0".into())));
    let mut peer = rig.open(&PortSpec::AfPacket(AfPacket::usual("v1".into())));
    let sent = vec![frame(7, 60); 1_000];
    rig.send(&mut port, &sent);
    let mut came = 0;
    wait_until("all came", || {
        port.tx.push();
        came += rig.receive(&mut peer).iter().filter(|frame| **frame == sent[0]).count();
        came >= sent.len()
    });
    assert_eq!(came, sent.len());
}

/// Who has 192.0.2.1? A station of another address, which Linux at `v0` answers.
fn arp_request() -> Vec<u8> {
    let station = [2, 0, 0, 0, 0, 9];
    let ethernet = [&[0xff; 6], &station[..], &[8, 6]].concat();
    let asks = [&[0, 1, 8, 0, 6, 4, 0, 1], &station[..], &[192, 0, 2, 2], &[0; 6], &[192, 0, 2, 1]];
    let mut frame = [ethernet, asks.concat()].concat();
    frame.resize(60, 0);
    frame
}

fn linux_release() -> (u32, u32) {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = text.split(['.', '-']).map_while(|it| it.parse().ok());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn the_kernel_gets_what_a_port_receives_unless_the_port_is_to_have_it_alone() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    run("ip addr add 192.0.2.1/24 dev v0");
    let peer = PacketSocket::bound_to("v1");
    for kernel_receives in [true, false, true] {
        let spec = PortSpec::AfPacket(AfPacket { device: "v0".into(), kernel_receives });
        let opened = Port::open(&rig.eal, &spec, rig.options());
        if !kernel_receives && linux_release() < (6, 6) {
            let error = opened.err().unwrap().to_string();
            assert!(error.contains("takes Linux 6.6"), "{error}");
            eprintln!("SKIPPED: needs Linux 6.6: {error}");
            return;
        }
        let mut port = rig.started(opened.unwrap());
        peer.send(&arp_request());
        let mut got = Vec::new();
        wait_until("the request comes", || {
            got.extend(rig.receive(&mut port));
            got.contains(&arp_request())
        });
        // Linux answers before it is done with the frame.
        let last = frame(9, 60);
        rig.send(&mut port, std::slice::from_ref(&last));
        let mut seen = Vec::new();
        wait_until("the port's own frame comes", || {
            seen.extend(peer.receive());
            seen.last() == Some(&last)
        });
        let is_answer = |frame: &Vec<u8>| frame[12..14] == [8, 6] && frame[21] == 2;
        assert_eq!(seen.iter().any(is_answer), kernel_receives, "{seen:x?}");
    }
}
