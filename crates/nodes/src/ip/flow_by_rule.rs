//! The flow of a packet, where others than the usual fields tell it.
//!
//! ```text
//!  rule: fields, inner, symmetric ─▶ which packet, which fields of it, in which order ─▶ hash
//! ```
//! Slower than [`ip4_flow`](super::ip4_flow) by what it chooses: for who has chosen alone.

use super::flow::ports;
use super::inside::innermost;
use crate::tables::FlowRule;
use crate::tables::flow_field::{
    DESTINATION, DESTINATION_PORT, FLOW_LABEL, INGRESS, INNER, PROTOCOL, SOURCE, SOURCE_PORT,
    SYMMETRIC,
};
use fib::ecmp::flow_hash;
use wire::{ip, ipv4, ipv6};

/// Spreads numbers of interfaces over the bits of a seed.
const SPREAD: u32 = 0x9e37_79b1;

/// What can tell a packet's flow.
struct Fields {
    source: u128,
    destination: u128,
    protocol: u8,
    ports: u32,
    label: u32,
}

/// The flow of a packet, from its network header on, that came in by `ingress`; 0 of what is no IP
/// packet.
pub fn flow_by_rule(rule: &FlowRule, seed: u32, packet: &[u8], ingress: u16) -> u32 {
    let packet = if rule.has(INNER) { innermost(packet, rule) } else { packet };
    let Some(fields) = Fields::of(packet) else { return 0 };
    let Fields { source, destination, protocol, ports, label } = fields.chosen(rule);
    let seed = match rule.has(INGRESS) {
        true => seed ^ (u32::from(ingress) + 1).wrapping_mul(SPREAD),
        false => seed,
    };
    flow_hash(seed, source, destination, protocol, ports ^ label.rotate_left(12))
}

impl Fields {
    fn of(packet: &[u8]) -> Option<Self> {
        match ip::version(packet) {
            6 => {
                let header = ipv6::Header::new(packet)?;
                let (source, destination) = (header.source(), header.destination());
                let (protocol, label) = (header.next_header(), header.flow_label());
                let behind = packet.get(ipv6::Header::LEN..).unwrap_or_default();
                Some(Self { source, destination, protocol, ports: ports(protocol, behind), label })
            }
            _ => {
                let header = ipv4::Header::new(packet)?;
                let (source, destination) = (header.source().into(), header.destination().into());
                let protocol = header.protocol();
                let behind = packet.get(header.header_len()..).unwrap_or_default();
                let ports = if header.is_fragment() { 0 } else { ports(protocol, behind) };
                Some(Self { source, destination, protocol, ports, label: 0 })
            }
        }
    }

    /// Those that the rule names, the others 0; of two directions in one order.
    fn chosen(mut self, rule: &FlowRule) -> Self {
        let keep = |field, value| if rule.has(field) { value } else { 0 };
        let (source_port, port) = (self.ports >> 16, self.ports & 0xffff);
        let mut from =
            (if rule.has(SOURCE) { self.source } else { 0 }, keep(SOURCE_PORT, source_port));
        let mut to = (
            if rule.has(DESTINATION) { self.destination } else { 0 },
            keep(DESTINATION_PORT, port),
        );
        self.label = keep(FLOW_LABEL, self.label);
        if rule.has(SYMMETRIC) {
            // Each direction has a label of its own.
            self.label = 0;
            if from > to {
                std::mem::swap(&mut from, &mut to);
            }
        }
        let protocol = if rule.has(PROTOCOL) { self.protocol } else { 0 };
        let ports = from.1 << 16 | to.1;
        Self { source: from.0, destination: to.0, protocol, ports, label: self.label }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::flow_field::USUAL;
    use wire::craft::{self, Craft, Udp};
    use wire::udp;

    fn rule(bits: u32) -> FlowRule {
        FlowRule { bits, ..FlowRule::USUAL }
    }

    fn flow(bits: u32, packet: &[u8]) -> u32 {
        flow_by_rule(&rule(bits), 7, packet, 0)
    }

    /// Packets of which each but the first differs in one field: that one.
    fn ones() -> Vec<(u32, Vec<u8>)> {
        let four = |from: u32, to: u32, a, b| craft::ipv4(from, to).udp(a, b).build();
        vec![
            (0, four(1, 2, 3, 4)),
            (SOURCE, four(9, 2, 3, 4)),
            (DESTINATION, four(1, 9, 3, 4)),
            (SOURCE_PORT, four(1, 2, 9, 4)),
            (DESTINATION_PORT, four(1, 2, 3, 9)),
            (PROTOCOL, craft::ipv4(1, 2).tcp(3, 4).build()),
        ]
    }

    #[test]
    fn the_chosen_fields_and_no_others_tell_flows_apart() {
        let fields = [SOURCE, DESTINATION, PROTOCOL, SOURCE_PORT, DESTINATION_PORT];
        for set in 0..1_u32 << fields.len() {
            let chosen = (0..).zip(fields).filter(|(at, _)| set >> at & 1 == 1);
            let bits = chosen.fold(0, |bits, (_, field)| bits | field);
            let [(_, first), others @ ..] = &ones()[..] else { unreachable!() };
            for (field, packet) in others {
                let differs = flow(bits, first) != flow(bits, packet);
                assert_eq!(differs, bits & field != 0, "{field:b} of {bits:b}");
            }
        }
    }

    #[test]
    fn labels_and_interfaces_tell_flows_apart_where_they_are_chosen() {
        let six = |label| craft::ipv6(1, 2).flow_label(label).udp(3, 4).build();
        assert_ne!(flow(USUAL, &six(1)), flow(USUAL, &six(2)));
        assert_eq!(flow(USUAL & !FLOW_LABEL, &six(1)), flow(USUAL & !FLOW_LABEL, &six(2)));
        let by = |bits, ingress| flow_by_rule(&rule(bits), 7, &six(1), ingress);
        assert_eq!(by(USUAL, 1), by(USUAL, 2));
        assert_ne!(by(USUAL | INGRESS, 1), by(USUAL | INGRESS, 2));
    }

    #[test]
    fn both_directions_are_one_flow_where_they_shall_be() {
        let [there, back] =
            [(1, 2, 3, 4), (2, 1, 4, 3)].map(|(from, to, a, b): (u32, u32, _, _)| {
                [craft::ipv4(from, to).udp(a, b).build(), craft::ipv4(from, to).tcp(a, b).build()]
            });
        let six = |from: u128, to, label| craft::ipv6(from, to).flow_label(label).udp(5, 5).build();
        for (there, back) in there.into_iter().zip(back).chain([(six(1, 2, 8), six(2, 1, 9))]) {
            assert_ne!(flow(USUAL, &there), flow(USUAL, &back));
            assert_eq!(flow(USUAL | SYMMETRIC, &there), flow(USUAL | SYMMETRIC, &back));
        }
        let crossed = craft::ipv4(1, 2).udp(4, 3).build();
        let straight = craft::ipv4(1, 2).udp(3, 4).build();
        assert_ne!(flow(USUAL | SYMMETRIC, &crossed), flow(USUAL | SYMMETRIC, &straight));
    }

    /// A VXLAN packet between two hosts that carries a flow of its own, or a piece of one.
    fn vxlan(outer: Craft<Udp>, port: u16, piece: bool) -> Vec<u8> {
        let inner = outer.vxlan(5).ethernet([2; 6], [4; 6]).ipv4(11, 12);
        if piece {
            inner.fragment(0, true).udp(port, 9).build()
        } else {
            inner.udp(port, 9).build()
        }
    }

    #[test]
    fn what_a_tunnel_carries_tells_its_flows_if_that_is_chosen() {
        let outer = || craft::ipv4(1, 2).udp(50_000, udp::port::VXLAN);
        let of = |bits, port, piece| flow(bits, &vxlan(outer(), port, piece));
        assert_eq!(of(USUAL, 1, false), of(USUAL, 2, false));
        assert_ne!(of(USUAL | INNER, 1, false), of(USUAL | INNER, 2, false));
        assert_eq!(of(USUAL | INNER, 1, true), of(USUAL | INNER, 2, true));
        // The outer header then tells nothing, and another port is no tunnel.
        let other = |port| craft::ipv4(7, 8).udp(port, udp::port::VXLAN);
        assert_eq!(of(USUAL | INNER, 1, false), flow(USUAL | INNER, &vxlan(other(9), 1, false)));
        let strange =
            |port| flow(USUAL | INNER, &vxlan(craft::ipv4(1, 2).udp(50_000, 8472), port, false));
        assert_eq!(strange(1), strange(2));
    }

    #[test]
    fn what_is_cut_short_has_a_flow_too() {
        let packet = vxlan(craft::ipv4(1, 2).udp(3, udp::port::VXLAN), 1, false);
        (0..packet.len()).for_each(|length| {
            flow(USUAL | INNER | SYMMETRIC | INGRESS, &packet[..length]);
        });
        assert_eq!(flow(USUAL, &packet[..3]), 0);
    }
}
