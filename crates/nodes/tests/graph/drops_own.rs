//! Drops of what is about the router's own echo requests, and of directed broadcasts.

use crate::drops::Play;
use crate::rig::*;
use nodes::ip::DirectedBroadcasts;
use nodes::tables::Injected;
use std::net::Ipv6Addr;
use wire::craft::{self, Craft, Ipv4};

/// Somebody asks by this identifier.
const ASKS: u16 = 7;

/// A request of our own, to be routed.
fn ask(rig: &mut Rig, request: &[u8]) {
    assert!(rig.dataplane.echo_ids.take(ASKS));
    rig.inject(request, |packet| Injected::Own { rx: 0, packet });
}

/// One answer more than the control thread takes.
fn answer(rig: &mut Rig, reply: &[u8]) {
    assert!(rig.dataplane.echo_ids.take(ASKS));
    (0..=QUEUE).for_each(|_| rig.receive(0, reply.to_vec()));
}

/// A packet to all hosts behind interface 0, which lets such packets of so many octets leave.
fn to_all(rig: &mut Rig, mtu_bytes: u16, change: impl FnOnce(Craft<Ipv4>) -> Craft<Ipv4>) {
    rig.change_interface(0, |row| {
        row.put(Some(DirectedBroadcasts));
        row.mtu_bytes = mtu_bytes;
    });
    let packet = craft::ethernet(GATEWAY_MAC, our_mac(1)).ipv4(GATEWAY, [192, 0, 2, 255]);
    rig.receive(1, change(packet).udp(9, 9).payload_len(200).build());
}

pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("icmp4-error/own-echo", |rig| {
            ask(rig, &craft::ipv4(US, [172, 16, 0, 1]).icmp_echo(ASKS, 1).build());
        }),
        ("icmp6-error/own-echo", |rig| {
            let nowhere: Ipv6Addr = "3fff::1".parse().unwrap();
            ask(rig, &craft::ipv6(US6, nowhere).icmp_echo(ASKS, 1).build());
        }),
        ("icmp4-input/slow-path-full", |rig| {
            let reply = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, US);
            answer(rig, &reply.icmp_echo_reply(ASKS, 1).build());
        }),
        ("icmp6-input/slow-path-full", |rig| {
            let reply = craft::ethernet(HOST_MAC, our_mac(0)).ipv6(HOST6, US6);
            answer(rig, &reply.icmp_echo_reply(ASKS, 1).build());
        }),
        ("ip4-broadcast/ttl-expired", |rig| to_all(rig, 1500, |packet| packet.ttl(1))),
        ("ip4-broadcast/too-long", |rig| to_all(rig, 227, |packet| packet)),
    ]
}
