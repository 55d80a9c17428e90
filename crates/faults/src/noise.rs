//! What hostile and careless neighbours send, on the links of ports that come and go: anything.

use crate::chance::Chance;
use crate::hosts::Host;
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::{craft, ethernet, nd};

/// One piece of it.
pub(crate) struct Noise {
    /// What it is, in words.
    pub(crate) what: &'static str,
    /// Its frames, of one link.
    pub(crate) frames: Vec<Vec<u8>>,
}

/// Something from a host; `router` is the station that its link has of us.
pub(crate) fn noise(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Noise {
    let kind = chance.below(KINDS.len());
    let (what, make) = KINDS[kind];
    let count = 1 + chance.below(4);
    let mut frames: Vec<_> = (0..count).flat_map(|_| make(chance, host, router)).collect();
    if chance.one_in(6) {
        for frame in &mut frames {
            for _ in 0..1 + chance.below(3) {
                let at = chance.below(frame.len());
                frame[at] = chance.byte();
            }
        }
    }
    if chance.one_in(12) {
        for frame in &mut frames {
            frame.truncate(1 + chance.below(frame.len()));
        }
    }
    Noise { what, frames }
}

type Make = fn(&mut Chance, &Host, [u8; 6]) -> Vec<Vec<u8>>;

const KINDS: &[(&str, Make)] = &[
    ("bytes of any kind", any_bytes),
    ("UDP over IPv4", udp4),
    ("UDP over IPv6", udp6),
    ("TCP", tcp),
    ("echo requests to the router", echoes),
    ("pieces of a packet", pieces),
    ("ARP of anybody", arp),
    ("neighbour discovery of anybody", discovery),
    ("frames in VLANs", tagged),
    ("packets of tunnels", tunnelled),
    ("frames of stations", stations),
    ("a scan", scan),
    ("IPv6 with options", options6),
    ("IPv6 to hosts of IPv4", to_plain),
    ("IPv4 to an outer address", to_outer),
    ("messages of a spanning tree", bpdus),
];

const TTLS: [u8; 5] = [64, 64, 0, 1, 2];

fn target4(chance: &mut Chance) -> Ipv4Addr {
    let last = chance.byte();
    match chance.below(8) {
        0 => [10, 1, 0, 2].into(),
        1 => [10, 2, 0, 2].into(),
        2 => [10, 12 + chance.below(5) as u8, 0, 9].into(),
        3 => [10, 12 + chance.below(5) as u8, 0, last].into(),
        4 | 5 => [100, 64 + chance.below(4) as u8, chance.below(4) as u8, last].into(),
        6 => [10, 77 + chance.below(16) as u8, 0, last].into(),
        _ => [chance.byte(), chance.byte(), chance.byte(), last].into(),
    }
}

fn target6(chance: &mut Chance) -> Ipv6Addr {
    let last = u16::from(chance.byte());
    let third = *chance.pick(&[1, 2, 0x12, 0x13, 0x14, 0xf, 0x77, 0xffff]);
    match chance.below(6) {
        0 => Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, last),
        1 => Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, last),
        _ => Ipv6Addr::new(0x2001, 0xdb8, third, 0, 0, 0, 0, last),
    }
}

fn any_bytes(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let mut frame: Vec<u8> = [router, host.mac].concat();
    frame.extend((0..chance.below(80)).map(|_| chance.byte()));
    vec![frame]
}

fn udp4(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let (to, ttl) = (target4(chance), *chance.pick(&TTLS));
    let length = *chance.pick(&[10, 100, 560, 1300, 1472]);
    let packet = craft::ethernet(host.mac, router).ipv4(host.ip4, to).ttl(ttl);
    let packet = if chance.one_in(3) { packet.dont_fragment() } else { packet };
    let port = *chance.pick(&[53, 67, 4341, 4789, 7777]);
    vec![packet.udp(4000, port).payload_len(length).build()]
}

fn udp6(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let (to, ttl) = (target6(chance), *chance.pick(&TTLS));
    let packet = craft::ethernet(host.mac, router).ipv6(host.ip6, to).hop_limit(ttl);
    vec![packet.udp(4000, 53).payload_len(*chance.pick(&[10, 1240, 1400])).build()]
}

fn tcp(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let (to, flags) = (target4(chance), chance.byte());
    let packet = craft::ethernet(host.mac, router).ipv4(host.ip4, to);
    vec![packet.tcp(4000, *chance.pick(&[80, 179, 5000])).flags(flags).payload_len(64).build()]
}

fn echoes(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let ours = Ipv4Addr::from(u32::from(host.ip4) & !0xff | 1);
    let number = chance.byte().into();
    let packet = craft::ethernet(host.mac, router).ipv4(host.ip4, ours);
    vec![packet.icmp_echo(7, number).payload_len(*chance.pick(&[0, 56, 1400])).build()]
}

fn pieces(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let ours = Ipv4Addr::from(u32::from(host.ip4) & !0xff | 1);
    let to = if chance.one_in(2) { ours } else { target4(chance) };
    let number = chance.byte().into();
    let piece = |at: usize, more| {
        let packet = craft::ethernet(host.mac, router).ipv4(host.ip4, to).identification(number);
        packet.fragment(at, more).payload_len(64).build()
    };
    let mut all = vec![piece(0, true), piece(64, true), piece(128, false)];
    if chance.one_in(2) {
        all.remove(chance.below(3));
    }
    if chance.one_in(2) {
        all.reverse();
    }
    all
}

fn arp(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let claimed = match chance.below(4) {
        0 => host.ip4,
        1 => Ipv4Addr::from(u32::from(host.ip4) & !0xff | 1),
        _ => target4(chance),
    };
    let mac = if chance.one_in(2) { host.mac } else { [0x0e, 0, 0, 0, 0, chance.byte()] };
    let asked = Ipv4Addr::from(u32::from(host.ip4) & !0xff | u32::from(chance.byte()));
    let frame = match chance.below(3) {
        0 => craft::ethernet(mac, [0xff; 6]).arp_request(mac, claimed, asked),
        1 => craft::ethernet(mac, [0xff; 6]).arp_request(mac, claimed, claimed),
        _ => craft::ethernet(mac, router).arp_reply(mac, claimed, router, asked),
    };
    vec![frame.pad_to(ethernet::MIN_FRAME_LEN).build()]
}

fn discovery(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let (claimed, target) = (target6(chance), target6(chance));
    let mac = if chance.one_in(2) { host.mac } else { [0x0e, 0, 0, 0, 1, chance.byte()] };
    let link = craft::ethernet(mac, router);
    let packet = match chance.below(4) {
        0 => link.ipv6(claimed, target).neighbor_solicitation(target.into(), mac),
        1 => link.ipv6(claimed, target).router_solicitation(),
        2 => link.ipv6(claimed, target).router_advertisement(1800),
        _ => {
            let flags = nd::flag::SOLICITED | nd::flag::OVERRIDE;
            link.ipv6(claimed, target).neighbor_advertisement(claimed.into(), mac, flags)
        }
    };
    vec![packet.build()]
}

fn tagged(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let (vid, to) = (*chance.pick(&[0, 7, 8, 9, 4095]), target4(chance));
    let link = craft::ethernet(host.mac, router).vlan(vid);
    let link = if chance.one_in(3) { link.vlan(9) } else { link };
    vec![link.ipv4([10, 77, 0, 9], to).udp(1, 2).payload_len(20).build()]
}

fn tunnelled(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let (ours, number, to) = ([10, 12, 0, 1], chance.byte(), target4(chance));
    let far = *chance.pick(&[[10, 12, 0, 7], [10, 12, 0, 9], [172, 16, 0, number]]);
    let link = craft::ethernet(host.mac, router).ipv4(far, ours);
    let frame = match chance.below(4) {
        0 => {
            let inside = link.udp(5000, 4789).vxlan(*chance.pick(&[5, 6]));
            let station = [0x0e, 0, 0, 0, 2, number];
            inside.ethernet(station, [0xff; 6]).ipv4(host.ip4, to).udp(1, 2).build()
        }
        1 => link.gre().ipv4([10, 78, 0, 2], to).udp(1, 2).payload_len(9).build(),
        2 => link.ipv4([10, 79, 0, 2], to).udp(1, 2).payload_len(9).build(),
        _ => link.udp(5000, 4341).lisp(0).ipv4([10, 92, 0, 2], to).udp(1, 2).build(),
    };
    vec![frame]
}

fn stations(chance: &mut Chance, _: &Host, _: [u8; 6]) -> Vec<Vec<u8>> {
    let station = |chance: &mut Chance| [6, 0, 0, 0, 0, chance.below(40) as u8];
    let (from, to) = (station(chance), station(chance));
    let to = if chance.one_in(3) { [0xff; 6] } else { to };
    vec![craft::ethernet(from, to).ipv4([192, 0, 2, 1], [192, 0, 2, 2]).udp(1, 2).build()]
}

fn scan(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let network = 12 + chance.below(5) as u8;
    let first = chance.byte();
    let one = |more: u8| {
        let to = [10, network, 0, first.wrapping_add(more)];
        craft::ethernet(host.mac, router).ipv4(host.ip4, to).udp(1, 2).build()
    };
    (0..32).map(one).collect()
}

fn options6(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let to = target6(chance);
    let options: Vec<u8> = (0..6).map(|_| chance.byte()).collect();
    let link = craft::ethernet(host.mac, router).ipv6(host.ip6, to);
    vec![link.hop_by_hop(&options).udp(1, 2).payload_len(8).build()]
}

/// What stands for hosts of IPv4.
fn behind(chance: &mut Chance) -> Ipv6Addr {
    let [a, b, c, d] = match chance.below(4) {
        0 | 1 => [10, 2, 0, 2],
        2 => [10, 13, 0, 9],
        _ => target4(chance).octets(),
    };
    let pair = |a, b| u16::from_be_bytes([a, b]);
    match chance.below(6) {
        // An own prefix of 48 bits, around the octet that is 0.
        0 => Ipv6Addr::new(0x2001, 0xdb8, 0x64, pair(a, b), pair(0, c), pair(d, 0), 0, 0),
        _ => Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, pair(a, b), pair(c, d)),
    }
}

fn to_plain(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let (to, ttl) = (behind(chance), *chance.pick(&TTLS));
    let packet = craft::ethernet(host.mac, router).ipv6(host.ip6, to).hop_limit(ttl);
    let port = 4000 + chance.below(24) as u16;
    let length = *chance.pick(&[0, 16, 1212, 1400]);
    let frame = match chance.below(8) {
        0..3 => packet.udp(port, 53).payload_len(length).build(),
        3 => packet.tcp(port, 80).flags(chance.byte()).payload_len(length).build(),
        4 => packet.icmp_echo(port, 1).payload_len(length).build(),
        // Of a packet that came from there: too big, unreachable, out of hops.
        5 => {
            let told = craft::ipv6(to, host.ip6).udp(53, port).payload_len(16).build();
            let kind = 1 + chance.below(4) as u8;
            packet.icmp6(kind, 0, [0, 0, 5, chance.byte()]).payload(&told).build()
        }
        6 => {
            let more = chance.one_in(2);
            let at = if more { 0 } else { 64 };
            packet.fragment_header(at, more, port.into()).udp(port, 53).payload_len(56).build()
        }
        _ => packet.destination_options(&[1, 2, 0, 0]).udp(port, 53).payload_len(16).build(),
    };
    vec![frame]
}

/// Answers, errors and pieces, whether or not somebody inside has spoken with the sender.
fn to_outer(chance: &mut Chance, host: &Host, router: [u8; 6]) -> Vec<Vec<u8>> {
    let network = u32::from(host.ip4) & !0xff;
    let to = match chance.below(4) {
        0 => Ipv4Addr::new(10, 2, 0, 1),
        1 => Ipv4Addr::from(network | 77),
        _ => Ipv4Addr::from(network | 1),
    };
    let (port, ttl) = (4000 + chance.below(24) as u16, *chance.pick(&TTLS));
    let packet = craft::ethernet(host.mac, router).ipv4(host.ip4, to).ttl(ttl);
    let packet = if chance.one_in(3) { packet.dont_fragment() } else { packet };
    let length = *chance.pick(&[0, 16, 1300, 1472]);
    let frame = match chance.below(7) {
        0 | 1 => packet.udp(53, port).payload_len(length).build(),
        2 => packet.tcp(80, port).flags(chance.byte()).payload_len(16).build(),
        3 => packet.icmp_echo_reply(port, 1).payload_len(length).build(),
        4 => packet.udp(53, port).checksum(0).payload_len(16).build(),
        5 => {
            let told = craft::ipv4(to, host.ip4).udp(port, 53).payload_len(16).build();
            let (kind, code) = *chance.pick(&[(3, 1), (3, 4), (11, 0), (5, 1), (12, 0)]);
            packet.icmp4(kind, code, [0, 0, 5, chance.byte()]).payload(&told).build()
        }
        _ => {
            let at = *chance.pick(&[0, 64]);
            packet.fragment(at, at == 0).udp(53, port).payload_len(56).build()
        }
    };
    vec![frame]
}

/// Of both protocols: bridges that are better and worse than the router's, lies, and what is none.
fn bpdus(chance: &mut Chance, host: &Host, _: [u8; 6]) -> Vec<Vec<u8>> {
    const GROUP: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 0];
    let bridge = |chance: &mut Chance| {
        let first = *chance.pick(&[0x00, 0x10, 0x80, 0xf0]);
        let last = *chance.pick(&[1, 2, host.mac[5], 0xff]);
        [first, 0, 2, 0, 0, 0, 1, last]
    };
    let (version, kind) =
        *chance.pick(&[(2, 2), (2, 2), (2, 2), (0, 0), (0, 0x80), (3, 2), (1, 9)]);
    let mut said = vec![0, 0, version, kind];
    if kind != 0x80 {
        said.push(chance.byte());
        said.extend(bridge(chance));
        said.extend([0, 0, *chance.pick(&[0, 78]), chance.byte()]);
        said.extend(bridge(chance));
        said.extend([0x80, chance.below(4) as u8]);
        let usual: [u8; 8] = [0, 0, 20, 0, 2, 0, 15, 0];
        said.extend(match chance.below(4) {
            0 => usual.map(|_| chance.byte()),
            _ => usual,
        });
        said.push(0);
    }
    if chance.one_in(6) {
        said.truncate(chance.below(said.len()));
    }
    let said = [&[0x42, 0x42, 3][..], &said].concat();
    let told = if chance.one_in(8) { chance.byte().into() } else { said.len() as u16 };
    let frame = craft::ethernet(host.mac, GROUP).ethertype(told).payload(&said);
    vec![frame.pad_to(ethernet::MIN_FRAME_LEN).build()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_noise_is_made() {
        let (mut chance, host) = (Chance::Seed(1), Host::new(2, 9));
        let mut met = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            let noise = noise(&mut chance, &host, [2; 6]);
            assert!(noise.frames.iter().all(|frame| !frame.is_empty() && frame.len() < 1600));
            met.insert(noise.what);
        }
        assert_eq!(met.len(), KINDS.len());
    }
}
