//! The packets that meet each reason for a drop in the nodes that translate.

use crate::drops::Play;
use crate::nat64::{behind, crossing};
use crate::rig::*;
use conntrack::{Pool, Table, Timeouts};
use nodes::nat::{Forward, Nat44, Nat44Input, Nat44Output, Translated};
use std::net::Ipv6Addr;
use std::sync::Arc;
use wire::craft::{self, Craft, Ipv4, Ipv6};
use wire::ip::protocol;
use wire::tcp::flag;

/// Reasons that a test on one thread cannot meet, and those that one of the two nodes never has.
pub(crate) const OUT_OF_REACH: [&str; 6] = [
    // Another worker is at the same place of the table at that moment.
    "nat44-input/busy",
    "nat44-output/busy",
    "nat64-input/busy",
    // What cannot be read, or is a piece of nobody knows what, is for nobody inside.
    "nat44-input/unreadable",
    "nat44-input/piece-unknown",
    // Who sends from inside begins a connection.
    "nat44-output/no-connection",
];

/// An outer address that is not ours.
const POOLED: [u8; 4] = [198, 51, 100, 99];

/// Interface 0 is inside and 1 outside; TCP to port 80 of an outer address is the host's.
fn translate(rig: &mut Rig, entries: usize) {
    let pooled = u32::from_be_bytes(POOLED);
    let nat = Translated(Arc::new(Nat44 {
        name: "home".to_owned(),
        table: Arc::new(Table::new(entries, 7)),
        timeouts: Timeouts::default(),
        zone: 1,
        inside: vec![0],
        pool: Pool { addresses: vec![pooled..=pooled], ports: 7000..=7000, reserved: Vec::new() },
        forwards: vec![Forward {
            address: pooled,
            protocol: protocol::TCP,
            ports: 80..=80,
            to: (u32::from_be_bytes(HOST), 80),
        }],
        own: Vec::new(),
        open: false,
        nat64: None,
    }));
    for id in [0, 1] {
        rig.change_interface(id, |row| row.set::<Nat44Input>(Some(nat.clone())));
    }
    rig.change_interface(1, |row| row.set::<Nat44Output>(Some(nat)));
}

fn sent() -> Craft<Ipv4> {
    craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR)
}

fn called() -> Craft<Ipv4> {
    craft::ethernet(GATEWAY_MAC, our_mac(1)).ipv4(FAR, POOLED)
}

pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("nat44-input/no-connection", |rig| {
            translate(rig, 1024);
            rig.receive(1, called().udp(1, 2).build());
        }),
        ("nat44-input/invalid", |rig| {
            translate(rig, 1024);
            rig.receive(1, called().tcp(5000, 80).flags(flag::SYN | flag::ACK).build());
        }),
        ("nat44-input/full", |rig| {
            translate(rig, 0);
            rig.receive(1, called().tcp(5000, 80).flags(flag::SYN).build());
        }),
        ("nat44-input/no-port", |rig| {
            translate(rig, 1024);
            // The only port of the pool is taken when another host inside calls by the outer
            // address.
            rig.receive(0, sent().tcp(1, 2).flags(flag::SYN).build());
            rig.run();
            let neighbour = craft::ethernet(HOST_MAC, our_mac(0)).ipv4([192, 0, 2, 77], POOLED);
            rig.receive(0, neighbour.tcp(5000, 80).flags(flag::SYN).build());
        }),
        ("nat44-output/invalid", |rig| {
            translate(rig, 1024);
            rig.receive(0, sent().tcp(1, 2).flags(flag::SYN | flag::ACK).build());
        }),
        ("nat44-output/full", |rig| {
            translate(rig, 0);
            rig.receive(0, sent().udp(1, 2).build());
        }),
        ("nat44-output/no-port", |rig| {
            translate(rig, 1024);
            rig.receive(0, sent().udp(1, 2).build());
            rig.receive(0, sent().udp(3, 2).build());
        }),
        ("nat44-output/piece-unknown", |rig| {
            translate(rig, 1024);
            let piece = sent().identification(9).fragment(32, false).protocol(protocol::UDP);
            rig.receive(0, piece.payload(&[0; 8]).build());
        }),
        ("nat44-output/unreadable", |rig| {
            translate(rig, 1024);
            rig.receive(0, sent().protocol(protocol::TCP).payload(&[0; 12]).build());
        }),
    ]
}

/// From a host of IPv6 to one of IPv4.
fn sent6(to: [u8; 4]) -> Craft<Ipv6> {
    craft::ethernet(HOST_MAC, our_mac(0)).ipv6(HOST6, behind(to))
}

/// What answers it.
fn answered() -> Craft<Ipv4> {
    craft::ethernet(GATEWAY_MAC, our_mac(1)).ipv4(FAR, US_OUTSIDE)
}

/// One has left, and may be answered.
fn speak(rig: &mut Rig) {
    crossing(rig, |_| ());
    rig.receive(0, sent6(FAR).udp(4000, 53).build());
    rig.run();
}

pub(crate) fn plays64() -> Vec<(&'static str, Play)> {
    vec![
        ("nat64-input/no-connection", |rig| {
            crossing(rig, |_| ());
            let about = craft::ipv6(behind(FAR), HOST6).udp(53, 4000).build();
            rig.receive(0, sent6(FAR).icmp6(1, 4, [0; 4]).payload(&about).build());
        }),
        ("nat64-input/invalid", |rig| {
            crossing(rig, |_| ());
            rig.receive(0, sent6(FAR).tcp(1, 2).flags(flag::SYN | flag::ACK).build());
        }),
        ("nat64-input/full", |rig| {
            crossing(rig, |nat| nat.table = Arc::new(Table::new(0, 7)));
            rig.receive(0, sent6(FAR).udp(1, 2).build());
        }),
        ("nat64-input/no-port", |rig| {
            crossing(rig, |nat| nat.pool.ports = 7000..=7000);
            rig.receive(0, sent6(FAR).udp(1, 2).build());
            rig.receive(0, sent6(FAR).udp(3, 2).build());
        }),
        ("nat64-input/piece-unknown", |rig| {
            crossing(rig, |_| ());
            rig.receive(0, sent6(FAR).fragment_header(32, false, 9).payload(&[0; 8]).build());
        }),
        ("nat64-input/piece-unsummed", |rig| {
            crossing(rig, |_| ());
            let piece = sent6(FAR).fragment_header(0, true, 9).icmp6(128, 0, [0; 4]);
            rig.receive(0, piece.payload(&[0; 16]).build());
        }),
        ("nat64-input/unreadable", |rig| {
            crossing(rig, |_| ());
            rig.receive(0, sent6(FAR).udp(1, 2).checksum(0).build());
        }),
        ("nat64-input/unsupported", |rig| {
            crossing(rig, |_| ());
            rig.receive(0, sent6(FAR).next_header(protocol::GRE).payload(&[0; 8]).build());
        }),
        ("nat64-input/not-a-host", |rig| {
            crossing(rig, |_| ());
            rig.receive(0, sent6([224, 0, 0, 5]).udp(1, 2).build());
        }),
        ("nat64-input/hairpin", |rig| {
            crossing(rig, |_| ());
            rig.receive(0, sent6(US_OUTSIDE).udp(1, 2).build());
        }),
        ("nat64-input/no-headroom", |rig| {
            speak(rig);
            let bytes = answered().udp(53, 4000).build();
            rig.receive_as(1, Incoming { bytes, segments: 1, headroom: 19 });
        }),
        ("nat64-error/untellable", |rig| {
            crossing(rig, |_| ());
            // There is no way back to this one; of the second piece nobody could be told.
            let lost: Ipv6Addr = "2001:db8:a:2::5".parse().unwrap();
            let sent = craft::ethernet(HOST_MAC, our_mac(0)).ipv6(lost, behind(FAR));
            rig.receive(0, sent.udp(4000, 53).build());
            rig.run();
            let piece = |offset, more| answered().identification(7).fragment(offset, more);
            rig.receive(1, piece(0, true).udp(53, 4000).payload(&[0; 24]).build());
            let later = piece(32, false).protocol(protocol::UDP);
            rig.receive(1, later.payload(&[0; 8]).build());
        }),
    ]
}

/// Where there is one buffer, nothing is cut.
pub(crate) fn no_buffer() -> (Rig, &'static str) {
    let mut rig = Rig::with_settings(1, |_| ());
    speak(&mut rig);
    rig.receive(1, answered().udp(53, 4000).payload_len(1400).build());
    (rig, "nat64-cut/no-buffer")
}
