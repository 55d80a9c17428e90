//! Packets of few addresses and ports, so that flows and what is remembered meet them again; whole
//! ones, pieces, and such as end too early.

use super::chance::Chance;
use wire::craft::{self, Craft};

pub(crate) const MACS: [[u8; 6]; 4] =
    [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [0x33, 0x33, 0, 0, 0, 1], [0xff; 6]];
pub(crate) const ADDRESSES: [[u8; 4]; 4] =
    [[10, 0, 0, 1], [10, 0, 0, 2], [10, 1, 0, 1], [192, 168, 1, 9]];
pub(crate) const ADDRESSES6: [u128; 4] = [
    0x2001_0db8_0000_0000_0000_0000_0000_0001,
    0x2001_0db8_0000_0000_0000_0000_0000_0002,
    0x2001_0db8_0001_0000_0000_0000_0000_0001,
    0xfe80_0000_0000_0000_0000_0000_0000_0009,
];
pub(crate) const PORTS: [u16; 4] = [53, 80, 1000, 7];
pub(crate) const VLANS: [u16; 4] = [0, 5, 6, 0xfff];

/// One of many kinds, with a number at its very end by which it is known again.
pub(crate) fn packet(chance: &mut Chance, number: u16) -> Vec<u8> {
    let mut frame = frame(chance);
    // Some end too early, some say a wrong length or version, as a hostile host has them.
    if chance.of_hundred(4) {
        frame.truncate(14 + chance.below(frame.len() - 13));
    }
    if chance.of_hundred(4) {
        let at = 12 + chance.below((frame.len() - 12).min(30));
        frame[at] = chance.next() as u8;
    }
    frame.resize(frame.len().max(58), 0);
    frame.extend(number.to_be_bytes());
    frame
}

fn frame(chance: &mut Chance) -> Vec<u8> {
    let link = craft::ethernet(chance.of(&MACS), chance.of(&MACS));
    match chance.below(23) {
        0..=12 => network(chance, link),
        13..=16 => {
            let (vid, pcp) = (chance.of(&VLANS), chance.of(&[0, 0, 3, 7]));
            let tagged = match chance.below(8) {
                0 => link.service_vlan(vid),
                _ => link.vlan(vid),
            };
            network(chance, tagged.pcp(pcp))
        }
        17 => {
            let (outer, inner) = (chance.of(&VLANS), chance.of(&VLANS));
            let outer =
                if chance.of_hundred(50) { link.service_vlan(outer) } else { link.vlan(outer) };
            network(chance, outer.vlan(inner))
        }
        18 | 19 => {
            let (kind, bytes) = labelled(chance);
            link.ethertype(kind).payload(&bytes).build()
        }
        20 | 21 => {
            let (vid, pcp) = (chance.of(&VLANS), chance.of(&[0, 3]));
            let (kind, bytes) = labelled(chance);
            link.vlan(vid).pcp(pcp).ethertype(kind).payload(&bytes).build()
        }
        _ => {
            let kind = chance.of(&[0x88b5, 0x0026, 0x0600, 0x8035, 0x88cc]);
            link.ethertype(kind).payload(&[chance.of(&[0u8, 0xaa, 0x42]); 46]).build()
        }
    }
}

/// Up to four labels, of which one is the last, mostly, in front of a packet.
fn labelled(chance: &mut Chance) -> (u16, Vec<u8>) {
    let inside = network(chance, craft::ethernet(MACS[0], MACS[1]));
    let count = chance.of(&[1, 1, 2, 2, 3, 4]);
    let last = if chance.of_hundred(90) { count } else { 0 };
    let labels = (1..=count).flat_map(|number| {
        let bits = if number == last { 1 } else { 0 };
        // One of zeros, which says nothing, the daemon does not count, and ends by an assertion.
        let class = chance.of(&[0x10u8, 0x16, if bits == 0 { 0x10 } else { 0 }]);
        [0, chance.of(&[0u8, 1]), class | bits, chance.of(&[0u8, 1, 2, 64])]
    });
    let labels: Vec<u8> = labels.collect();
    (chance.of(&[0x8847, 0x8847, 0x8848]), [&labels[..], &inside[14..]].concat())
}

/// Whether a frame has more labels than can be told, or none that is the last.
pub(crate) fn is_deep(frame: &[u8]) -> bool {
    let at = if frame[12..14] == [0x81, 0] { 16 } else { 12 };
    let labels = frame[at + 2..].chunks(4).take(3);
    matches!(frame[at..at + 2], [0x88, 0x47 | 0x48])
        && labels.map(|label| label.get(2).map_or(0, |it| it & 1)).all(|last| last == 0)
}

fn network<K>(chance: &mut Chance, link: Craft<K>) -> Vec<u8> {
    match chance.below(10) {
        0..=4 => {
            let ip = link.ipv4(chance.of(&ADDRESSES), chance.of(&ADDRESSES));
            let ip = ip.ttl(chance.of(&[0, 1, 2, 64, 255])).tos(chance.of(&[0, 0xb8, 0x03, 0xff]));
            let ip = if chance.of_hundred(8) { ip.option(7, &[4, 0, 0, 0, 0, 0]) } else { ip };
            let ip = match chance.below(12) {
                0 => ip.fragment(0, true),
                1 => ip.fragment(16, true),
                2 => ip.fragment(24, false),
                _ => ip,
            };
            let ports = (chance.of(&PORTS), chance.of(&PORTS));
            match chance.below(10) {
                0..=3 => {
                    let udp = ip.udp(ports.0, ports.1);
                    let udp = if chance.of_hundred(20) { udp.checksum(0) } else { udp };
                    udp.payload(&[7; 12]).build()
                }
                4..=6 => ip
                    .tcp(ports.0, ports.1)
                    .flags(chance.next() as u8 & 0x1f)
                    .payload(&[8; 5])
                    .build(),
                7 => ip
                    .icmp4(chance.of(&[0, 3, 8]), chance.of(&[0, 1]), [0, 1, 0, 2])
                    .payload(&[9; 9])
                    .build(),
                8 => ip.protocol(132).payload(&sctp(ports)).build(),
                _ => ip.protocol(chance.of(&[2, 47, 6, 17])).payload(&[3; 11]).build(),
            }
        }
        5..=7 => {
            let ip = link
                .ipv6(chance.of(&ADDRESSES6).to_be_bytes(), chance.of(&ADDRESSES6).to_be_bytes());
            let ip = ip
                .hop_limit(chance.of(&[0, 1, 2, 64, 255]))
                .traffic_class(chance.of(&[0, 0xb8, 3]));
            let ip = ip.flow_label(chance.of(&[0, 0x12345, 0xfffff]));
            match chance.below(9) {
                0 | 1 => {
                    let target = chance.of(&ADDRESSES6);
                    if chance.of_hundred(30) {
                        return ip.neighbor_solicitation(target, chance.of(&MACS)).build();
                    }
                    let it = ip.neighbor(chance.of(&[135, 136]), target, 0xe0);
                    let it = it.nd_option(chance.of(&[1, 2, 14]), &chance.of(&MACS));
                    it.nd_option(2, &chance.of(&MACS)).build()
                }
                2 => transport6(chance, ip.hop_by_hop(&[1, 4, 0, 0, 0, 0])),
                3 => transport6(chance, ip.destination_options(&[1, 4, 0, 0, 0, 0])),
                4 => {
                    let place = chance.of(&[(0, true), (16, true), (24, false), (0, false)]);
                    transport6(chance, ip.fragment_header(place.0, place.1, 7))
                }
                5 => transport6(chance, ip.extension(51, &[0; 10])),
                _ => transport6(chance, ip),
            }
        }
        _ => {
            let (a, b) = (chance.of(&ADDRESSES), chance.of(&ADDRESSES));
            let arp = match chance.below(2) {
                0 => link.arp_request(chance.of(&MACS), a, b),
                _ => link.arp_reply(chance.of(&MACS), a, MACS[1], b),
            };
            let arp = arp.operation(chance.of(&[1, 2, 3, 0x101]));
            arp.target_mac(chance.of(&MACS)).build()
        }
    }
}

fn transport6<K>(chance: &mut Chance, ip: Craft<K>) -> Vec<u8> {
    let ports = (chance.of(&PORTS), chance.of(&PORTS));
    match chance.below(6) {
        0 | 1 => ip.udp(ports.0, ports.1).payload(&[7; 12]).build(),
        2 | 3 => {
            ip.tcp(ports.0, ports.1).flags(chance.next() as u8 & 0x1f).payload(&[8; 5]).build()
        }
        4 => {
            ip.icmp6(chance.of(&[1, 128, 133]), chance.of(&[0, 1]), [0; 4]).payload(&[9; 9]).build()
        }
        _ => ip.extension(59, &[1; 6]).payload(&[3; 11]).build(),
    }
}

/// A header of SCTP with a chunk, whose checksum is left to be zero: what changes ports makes it
/// anew.
fn sctp(ports: (u16, u16)) -> Vec<u8> {
    let [a, b] = [ports.0, ports.1].map(u16::to_be_bytes);
    [&a[..], &b, &[0, 0, 0, 1], &[0; 4], &[3, 0, 0, 8, 1, 2, 3, 4]].concat()
}
