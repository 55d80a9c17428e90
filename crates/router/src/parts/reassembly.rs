//! Packets to ourselves that came in pieces: put together, and handed to the graph once more. Echo
//! requests longer than their link are answered here, in pieces: no buffer has room for them.
//!
//! ```text
//!  piece ─▶ Reassembly ─▶ whole ┬▶ injected: it fits its link, or a buffer
//!                               ├▶ echo request ─▶ reply ─▶ cut ─▶ injected, piece by piece
//!                               └▶ undeliverable
//!  clock ─▶ late ─▶ injected: time exceeded
//! ```

use crate::core::Core;
use crate::part::{Hears, Part};
use control::view;
use nodes::ip::OWN_TTL;
use nodes::local::{read_echo4, read_echo6};
use nodes::tables::{EchoHeard, EchoIds, EchoSaid, Injected, PieceCame, RateLimit};
use reassembly::{Limits, Piece, Reassembly, cut};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::Ordering;
use std::time::Instant;
use wire::ip::protocol;
use wire::{craft, icmp4, icmp6, ip, ipv4, ipv6};

/// What every IPv6 link takes: a node that does not look for more may send this (RFC 8200 section
/// 5).
const IP6_MTU: usize = 1280;

/// See the module.
pub(crate) struct Reassembling {
    table: Reassembly,
    echoes: RateLimit,
    /// Of the replies that are sent in pieces: begun anywhere, so that nobody guesses it (RFC
    /// 7739).
    identification: u32,
    answered: u64,
    undeliverable: u64,
}

impl Default for Reassembling {
    fn default() -> Self {
        Self {
            table: Reassembly::new(Limits::default()),
            echoes: RateLimit::new(0),
            identification: RandomState::new().hash_one(0) as u32,
            answered: 0,
            undeliverable: 0,
        }
    }
}

impl Part for Reassembling {
    /// Senders hear of what did not come in time.
    fn turn(&mut self, core: &mut Core, _: Instant) -> bool {
        for late in self.table.expire(core.now_ns()) {
            let rx = late.rx;
            core.neighborhood.inject_copy(&late.first, |packet| Injected::Late { rx, packet });
        }
        false
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.table.next_due_ns()
    }
}

/// A piece came. Its buffer goes back at once: what is held is a copy.
impl Hears<PieceCame> for Reassembling {
    fn hear(&mut self, core: &mut Core, punt: PieceCame) {
        let PieceCame { scope, packet } = punt;
        let rx = packet.rx();
        // The node that took it read its headers: what is no piece here has nothing to add.
        let piece = Piece::of(packet.bytes(), scope).ok();
        let whole = piece.and_then(|piece| self.table.accept(core.now_ns(), rx, &piece));
        core.neighborhood.release_buffer(packet);
        if let Some(whole) = whole {
            self.deliver(core, rx, &whole);
        }
    }
}

impl Reassembling {
    fn deliver(&mut self, core: &mut Core, rx: u16, whole: &[u8]) {
        if let Some(heard) = answer_to_us(whole, &core.dataplane.echo_ids) {
            let heard_tsc = core.clock.tsc();
            core.echoes_heard.push(EchoHeard { interface: rx, heard_tsc, ..heard });
            return;
        }
        let mtu = core.port_of(rx).map_or(0, |(_, port)| usize::from(port.config.mtu));
        self.identification = self.identification.wrapping_add(1);
        let identification = self.identification;
        let reply = || echo_reply(whole, identification as u16);
        let Some(reply) = (whole.len() > mtu).then(reply).flatten() else {
            if !core.neighborhood.inject_copy(whole, |packet| Injected::Whole { rx, packet }) {
                self.undeliverable += 1;
            }
            return;
        };
        let allowed = core.dataplane.icmp.echoes_per_second.load(Ordering::Relaxed);
        self.echoes.follow(allowed);
        if !self.echoes.take(core.clock.tsc()) {
            self.undeliverable += 1;
            return;
        }
        self.answered += 1;
        let most = if ip::version(&reply) == 6 { IP6_MTU } else { mtu };
        for piece in cut(&reply, most, identification) {
            core.neighborhood.inject_copy(&piece, |packet| Injected::Own { rx, packet });
        }
    }

    pub(crate) fn show(&self) -> view::Reassembly {
        let (counters, (datagrams, bytes)) = (self.table.counters, self.table.held());
        view::Reassembly {
            datagrams: datagrams as u64,
            bytes: bytes as u64,
            pieces: counters.pieces,
            whole: counters.whole,
            answered: self.answered,
            duplicates: counters.duplicates,
            overlapping: counters.overlapping,
            too_long: counters.too_long,
            too_many_pieces: counters.too_many_pieces,
            evicted: counters.evicted,
            timed_out: counters.timed_out,
            undeliverable: self.undeliverable,
        }
    }
}

/// What a sound answer to an echo request of our own says: no buffer may have room for it.
fn answer_to_us(whole: &[u8], ids: &EchoIds) -> Option<EchoHeard> {
    let read = || match ip::version(whole) {
        6 => {
            let header = ipv6::Header::new(whole)?;
            let message = whole.get(ipv6::Header::LEN..)?;
            icmp6::Header::parse(message, header.source(), header.destination()).ok()?;
            let is_icmp = header.next_header() == protocol::ICMP6;
            read_echo6(whole, ipv6::Header::LEN).filter(|_| is_icmp)
        }
        _ => {
            let header = ipv4::Header::new(whole)?;
            icmp4::Header::parse(whole.get(header.header_len()..)?).ok()?;
            read_echo4(whole).filter(|_| header.protocol() == protocol::ICMP4)
        }
    };
    let heard = if ids.are_any() { read() } else { None }?;
    let is_ours = matches!(heard.said, EchoSaid::Reply { .. }) && ids.has(heard.identifier);
    is_ours.then_some(heard)
}

/// The answer to a sound echo request to an address of one node, without options or extension
/// headers.
fn echo_reply(request: &[u8], identification: u16) -> Option<Vec<u8>> {
    if ip::version(request) == 6 {
        let header = ipv6::Header::new(request)?;
        let message = request.get(ipv6::Header::LEN..)?;
        let (asker, asked) = (header.source(), header.destination());
        let is_asked =
            header.next_header() == protocol::ICMP6 && !ipv6::is_multicast(asked) && asker != 0;
        let echo = icmp6::Header::parse(message, asker, asked).ok().filter(|_| is_asked)?;
        let is_request = (echo.message_type(), echo.code()) == (icmp6::message::ECHO_REQUEST, 0);
        let packet = craft::ipv6(header.destination_addr(), header.source_addr());
        let packet = packet.hop_limit(OWN_TTL).traffic_class(header.traffic_class());
        let reply = packet.icmp6(icmp6::message::ECHO_REPLY, 0, echo.rest().to_be_bytes());
        return is_request.then(|| reply.payload(&message[icmp6::Header::LEN..]).build());
    }
    let header = ipv4::Header::new(request)?;
    let message = request.get(header.header_len()..)?;
    let echo =
        icmp4::Header::parse(message).ok().filter(|_| header.protocol() == protocol::ICMP4)?;
    let is_request = (echo.message_type(), echo.code()) == (icmp4::message::ECHO_REQUEST, 0);
    let packet = craft::ipv4(header.destination_addr(), header.source_addr());
    let packet = packet.ttl(OWN_TTL).tos(header.tos()).identification(identification);
    let reply = packet.icmp4(icmp4::message::ECHO_REPLY, 0, echo.rest().to_be_bytes());
    is_request.then(|| reply.payload(&message[icmp4::Header::LEN..]).build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    const HOST: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
    const US: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

    #[test]
    fn a_long_request_is_turned_round() {
        let data = [7; 4000];
        let request = craft::ipv4(HOST, US).ttl(9).tos(0x28).icmp_echo(7, 3).payload(&data).build();
        let reply = craft::ipv4(US, HOST).ttl(OWN_TTL).tos(0x28).identification(5);
        assert_eq!(
            echo_reply(&request, 5),
            Some(reply.icmp_echo_reply(7, 3).payload(&data).build())
        );
        let (host, us) = (Ipv6Addr::from(2u128 << 125 | 2), Ipv6Addr::from(2u128 << 125 | 1));
        let request = craft::ipv6(host, us).traffic_class(0x28).icmp_echo(7, 3).payload(&data);
        let reply = craft::ipv6(us, host).hop_limit(OWN_TTL).traffic_class(0x28);
        let expected = reply.icmp_echo_reply(7, 3).payload(&data).build();
        assert_eq!(echo_reply(&request.build(), 5), Some(expected));
    }

    #[test]
    fn long_answers_to_our_own_requests_are_heard_and_those_to_others_not() {
        let (ids, data) = (EchoIds::default(), [7; 4000]);
        assert!(ids.take(7));
        let said = |packet: &[u8]| answer_to_us(packet, &ids).map(|heard| (heard.from, heard.said));
        let reply = |id| craft::ipv4(HOST, US).icmp_echo_reply(id, 3).payload(&data).build();
        let bytes = EchoSaid::Reply { bytes: 4008 };
        assert_eq!(said(&reply(7)), Some((HOST.into(), bytes)));
        assert_eq!(said(&reply(8)), None);
        let mut damaged = reply(7);
        damaged[2000] ^= 1;
        assert_eq!(said(&damaged), None);
        assert_eq!(said(&craft::ipv4(HOST, US).icmp_echo(7, 3).payload(&data).build()), None);
        let (host, us) = (Ipv6Addr::from(2u128 << 125 | 2), Ipv6Addr::from(2u128 << 125 | 1));
        let mut reply = craft::ipv6(host, us).icmp_echo_reply(7, 3).payload(&data).build();
        assert_eq!(said(&reply), Some((host.into(), bytes)));
        reply[2000] ^= 1;
        assert_eq!(said(&reply), None);
    }

    #[test]
    fn what_is_no_sound_request_to_one_node_is_not_answered() {
        let (host, group) = (Ipv6Addr::from(2u128 << 125 | 2), Ipv6Addr::from(ipv6::ALL_NODES));
        for packet in [
            craft::ipv4(HOST, US).icmp_echo_reply(7, 3).build(),
            craft::ipv4(HOST, US).icmp_echo(7, 3).checksum(9).build(),
            craft::ipv4(HOST, US).udp(7, 3).build(),
            craft::ipv6(host, group).icmp_echo(7, 3).build(),
            craft::ipv6(group, host).icmp_echo_reply(7, 3).build(),
        ] {
            assert_eq!(echo_reply(&packet, 5), None);
        }
    }
}
