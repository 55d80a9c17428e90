//! Ports on Linux devices, each test in a network namespace of its own.

mod rig;

use dpdk::PortSpec;
use rig::network::{PacketSocket, own_namespace, run, veth};
use rig::{frames, rig, wait_until};
use std::fs;

#[test]
fn af_packet_sends_and_receives_over_a_veth_byte_for_byte() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    veth("v0", "v1");
    let mut port = rig.open(&PortSpec::AfPacket { device: "v0".into() });
    let peer = PacketSocket::bound_to("v1");
    let sent = frames(32);
    rig.send(&mut port, &sent);
    assert_eq!(peer.expect(32), sent);
    for frame in &sent {
        peer.send(frame);
    }
    assert_eq!(rig.expect(&mut port, 32), sent);
    drop(port);
    assert!(rig.nothing_leaked());
}

#[test]
fn a_tap_is_a_device_of_the_kernel_and_goes_with_its_port() {
    let mut rig = rig();
    if !own_namespace() {
        return;
    }
    let mut port = rig.open(&PortSpec::Tap { name: "vt0".into() });
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
