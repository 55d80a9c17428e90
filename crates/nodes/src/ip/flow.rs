//! Which of a route's next hops a packet takes: its flow's, so that a flow's packets keep their
//! order.
//!
//! ```text
//!  route ─▶ kind Group, id ─▶ hash of addresses, protocol and ports ─▶ bucket ─▶ member's word
//! ```
//! Only packets whose route leads to a group come here. What the hash is of may be chosen
//! (`FlowRule`); who chose nothing has one load a vector for that.

use super::flow_by_rule::flow_by_rule;
use crate::tables::{FlowRules, Kind, Setup};
use fib::Forward;
use fib::ecmp::{EcmpTable, GroupId, flow_hash};
use packet::Frame;
use std::sync::Arc;
use wire::ip::{self, protocol};
use wire::{ipv4, ipv6};

/// Picks members of groups.
pub struct MemberPicker {
    table: Arc<EcmpTable>,
    seed: u32,
    rules: Arc<FlowRules>,
}

impl MemberPicker {
    /// As all workers pick.
    pub fn new(setup: &Setup) -> Self {
        let (table, rules) = (Arc::clone(&setup.shared.groups), Arc::clone(&setup.shared.flows));
        Self { table, seed: setup.shared.flow_seed, rules }
    }

    /// Turns groups, among what a vector's packets were found to lead to (kinds here, ids in the
    /// frame), into members. `hash` takes the seed and the packet from its network header on, which
    /// is behind so many octets of `link` header.
    #[inline]
    pub fn pick(
        &self,
        frame: &mut Frame,
        link: usize,
        kinds: &mut [u8],
        hash: impl Fn(u32, &[u8]) -> u32,
    ) {
        // No kind is higher, so that whole vectors are asked at once whether there is any.
        if kinds.iter().fold(0, |highest, kind| highest.max(*kind)) == Kind::Group as u8 {
            self.pick_some(frame, link, kinds, hash);
        }
    }

    #[inline(never)]
    fn pick_some(
        &self,
        frame: &mut Frame,
        link: usize,
        kinds: &mut [u8],
        hash: impl Fn(u32, &[u8]) -> u32,
    ) {
        let rule = self.rules.get();
        let flow_of = |packet: &[u8], ingress| match rule.is_usual() {
            true => hash(self.seed, packet),
            false => flow_by_rule(&rule, self.seed, packet, ingress),
        };
        let groups = kinds.iter_mut().enumerate().filter(|(_, kind)| **kind == Kind::Group as u8);
        for (slot, kind) in groups {
            let group = GroupId(frame.adjacencies()[slot]);
            let view = frame.view(slot);
            let packet = view.header().get(link..).unwrap_or_default();
            let member = self.table.pick(group, flow_of(packet, view.rx()));
            *kind = member.kind();
            frame.adjacencies_mut()[slot] = member.id();
        }
    }

    /// The member of a group that one packet takes, from its network header on, which came in by
    /// `ingress`.
    #[inline(never)]
    pub fn pick_one(&self, group: GroupId, packet: &[u8], ingress: u16) -> Forward {
        let rule = self.rules.get();
        let hash = match (rule.is_usual(), ip::version(packet)) {
            (false, _) => flow_by_rule(&rule, self.seed, packet, ingress),
            (true, 6) => ip6_flow(self.seed, packet),
            (true, _) => ip4_flow(self.seed, packet),
        };
        self.table.pick(group, hash)
    }

    /// The member of a group that a packet of a tunnel of ours takes: what is `inside` tells its
    /// flow, since outside all look alike. `flow` is that of what is inside by the usual fields;
    /// `inside` is the packet there, if there is one, which came in by `ingress`.
    #[inline(never)]
    pub fn pick_inside(
        &self,
        group: GroupId,
        flow: u32,
        inside: Option<&[u8]>,
        ingress: u16,
    ) -> Forward {
        let rule = self.rules.get();
        let hash = match inside {
            Some(packet) if !rule.is_usual() => flow_by_rule(&rule, self.seed, packet, ingress),
            // Another router may have chosen by the same flow already.
            _ => flow_hash(self.seed, flow.into(), 0, 0, 0),
        };
        self.table.pick(group, hash)
    }
}

/// Splits the words of a lookup into kinds and ids, each in its place.
#[inline(always)]
pub fn split_words(found: &[u32], kinds: &mut [u8], ids: &mut [u32]) {
    for ((found, kind), id) in found.iter().zip(kinds).zip(ids) {
        // A kind that nobody defined cannot be in the table: the control thread wrote it.
        *kind = ((found >> 24) as u8).min(Kind::Group as u8);
        *id = found & Forward::MAX_ID;
    }
}

/// The flow of an IPv4 packet.
#[inline]
pub fn ip4_flow(seed: u32, packet: &[u8]) -> u32 {
    let Some((header, ports)) = ip4_header_and_ports(packet) else { return 0 };
    let (source, destination) = (header.source().into(), header.destination().into());
    flow_hash(seed, source, destination, header.protocol(), ports)
}

/// What tells an IPv4 packet's flow: its header, and its ports. Of a fragment the header alone:
/// only the first one has ports, and all go one way.
#[inline(always)]
pub(crate) fn ip4_header_and_ports(packet: &[u8]) -> Option<(ipv4::Header<'_>, u32)> {
    let header = ipv4::Header::new(packet)?;
    let ports = match header.is_fragment() {
        true => 0,
        false => ports(header.protocol(), packet.get(header.header_len()..).unwrap_or_default()),
    };
    Some((header, ports))
}

/// The flow of an IPv6 packet, of which its label tells (RFC 6438), and its ports where no other
/// header stands before them. A fragment has one.
pub fn ip6_flow(seed: u32, packet: &[u8]) -> u32 {
    let Some(header) = ipv6::Header::new(packet) else { return 0 };
    let ports = ports(header.next_header(), packet.get(ipv6::Header::LEN..).unwrap_or_default());
    let (source, destination) = (header.source(), header.destination());
    let marks = ports ^ header.flow_label().rotate_left(12);
    flow_hash(seed, source, destination, header.next_header(), marks)
}

/// Source and destination port, where the protocol has them first.
pub(super) fn ports(protocol: u8, payload: &[u8]) -> u32 {
    match (protocol, payload.first_chunk()) {
        (protocol::TCP | protocol::UDP | protocol::SCTP, Some(ports)) => u32::from_be_bytes(*ports),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    #[test]
    fn ports_tell_flows_apart_where_there_are_any() {
        let flow = |port| ip4_flow(7, &craft::ipv4(1, 2).udp(port, 53).build());
        let piece = |port| ip4_flow(7, &craft::ipv4(1, 2).fragment(0, true).udp(port, 53).build());
        assert_eq!(flow(9), flow(9));
        assert_ne!(flow(9), flow(10));
        assert_eq!(piece(9), piece(10));
    }

    #[test]
    fn what_is_cut_short_has_a_flow_too() {
        let packet = craft::ipv4(1, 2).udp(3, 4).build();
        assert_eq!(ip4_flow(7, &packet[..22]), ip4_flow(7, &packet[..20]));
        assert_eq!(ip4_flow(7, &packet[..3]), 0);
    }
}
