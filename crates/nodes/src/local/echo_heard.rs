//! What is said of echo requests of our own: answers to us, errors that quote them, and requests
//! that did not even leave.
//!
//! ```text
//!  icmp4_input, icmp6_input ─ an answer, an error ──────────┬▶ about a request of ours ─▶ (control thread)
//!  icmp4_error, icmp6_error ─ a packet of ours goes nowhere ┘
//! ```
//! The identifier says whose it is ([`EchoIds`]); whether source, destination and number are those
//! of a request that was sent, the control thread looks. RFC 792, RFC 4443.

use crate::tables::{EchoHeard, EchoIds, EchoSaid, Punt, Setup, SlowPath};
use std::net::IpAddr;
use std::sync::Arc;
use wire::ip::protocol;
use wire::ipv6::extension;
use wire::{icmp4, icmp6, ipv4, ipv6};

use super::icmp_cause;

/// Errors that end a request. Redirects do not, and nobody sends source quenches any more.
const ERRORS4: [u8; 3] =
    [icmp4::message::UNREACHABLE, icmp4::message::TIME_EXCEEDED, icmp4::message::PARAMETER_PROBLEM];
const ERRORS6: [u8; 4] = [
    icmp6::message::UNREACHABLE,
    icmp6::message::PACKET_TOO_BIG,
    icmp6::message::TIME_EXCEEDED,
    icmp6::message::PARAMETER_PROBLEM,
];

/// A node's ear for them.
pub struct EchoEar {
    ids: Arc<EchoIds>,
    slow_path: SlowPath,
}

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heard {
    /// It is not about a request of ours.
    Other,
    /// The control thread has it.
    Told,
    /// The control thread has too much to do.
    Lost,
}

impl EchoEar {
    /// As all workers hear.
    pub fn new(setup: &Setup) -> Self {
        let shared = &setup.shared;
        Self { ids: Arc::clone(&shared.echo_ids), slow_path: shared.slow_path.clone() }
    }

    /// Tells the control thread, if anybody asks and what is read is about it.
    #[inline]
    pub fn hear(&self, interface: u16, heard_tsc: u64, read: impl FnOnce() -> Read) -> Heard {
        if !self.ids.are_any() {
            return Heard::Other;
        }
        self.tell(interface, heard_tsc, read())
    }

    #[cold]
    fn tell(&self, interface: u16, heard_tsc: u64, read: Read) -> Heard {
        let Some(heard) = read.filter(|heard| self.ids.has(heard.identifier)) else {
            return Heard::Other;
        };
        match self.slow_path.tell(Punt::Echo(EchoHeard { interface, heard_tsc, ..heard })) {
            Ok(()) => Heard::Told,
            Err(_) => Heard::Lost,
        }
    }
}

/// What a packet says of an echo request; interface and time are the caller's to fill in.
pub(super) type Read = Option<EchoHeard>;

/// Which request it is.
struct Request {
    source: IpAddr,
    target: IpAddr,
    identifier: u16,
    sequence: u16,
}

impl Request {
    fn heard(self, from: IpAddr, ttl: u8, said: EchoSaid) -> EchoHeard {
        let Self { source, target, identifier, sequence } = self;
        let (interface, heard_tsc) = (0, 0);
        EchoHeard { interface, source, target, identifier, sequence, from, ttl, said, heard_tsc }
    }
}

/// Of a sound ICMP message, its IPv4 header included.
pub fn read_echo4(packet: &[u8]) -> Read {
    let header = ipv4::Header::new(packet)?;
    let bytes = packet.get(header.header_len()..)?;
    let message = icmp4::Header::new(bytes)?;
    let (from, to) = (header.source_addr().into(), header.destination_addr().into());
    if message.message_type() == icmp4::message::ECHO_REPLY {
        let (identifier, sequence) = (message.identifier(), message.sequence());
        let request = Request { source: to, target: from, identifier, sequence };
        let said = EchoSaid::Reply { bytes: bytes.len() as u16 };
        return Some(request.heard(from, header.ttl(), said));
    }
    let tells = ERRORS4.contains(&message.message_type());
    let quoted = bytes.get(icmp4::Header::LEN..).filter(|_| tells)?;
    let cause = icmp_cause(message.message_type(), message.code());
    let said = EchoSaid::Error { cause, rest: message.rest() };
    Some(request4(quoted)?.heard(from, header.ttl(), said))
}

/// Of a packet of ours that goes nowhere, and why.
pub fn unsent_echo4(packet: &[u8], cause: u16, rest: u32) -> Read {
    let request = request4(packet)?;
    let from = request.source;
    Some(request.heard(from, 0, EchoSaid::Error { cause, rest }))
}

/// The echo request that `packet` begins with.
fn request4(packet: &[u8]) -> Option<Request> {
    let header = ipv4::Header::new(packet)?;
    let is_first = header.is_sound() && header.fragment_offset() == 0;
    let bytes = packet.get(header.header_len()..)?;
    let message = icmp4::Header::new(bytes).filter(|_| header.protocol() == protocol::ICMP4)?;
    let is_request = message.message_type() == icmp4::message::ECHO_REQUEST;
    (is_first && is_request).then(|| Request {
        source: header.source_addr().into(),
        target: header.destination_addr().into(),
        identifier: message.identifier(),
        sequence: message.sequence(),
    })
}

/// Of a sound ICMPv6 message, which begins `upper` octets behind the start of its IPv6 header.
pub fn read_echo6(packet: &[u8], upper: usize) -> Read {
    let header = ipv6::Header::new(packet)?;
    let bytes = packet.get(upper..)?;
    let message = icmp6::Header::new(bytes)?;
    let (from, to) = (header.source_addr().into(), header.destination_addr().into());
    if message.message_type() == icmp6::message::ECHO_REPLY {
        let (identifier, sequence) = (message.identifier(), message.sequence());
        let request = Request { source: to, target: from, identifier, sequence };
        let said = EchoSaid::Reply { bytes: bytes.len() as u16 };
        return Some(request.heard(from, header.hop_limit(), said));
    }
    let tells = ERRORS6.contains(&message.message_type());
    let quoted = bytes.get(icmp6::Header::LEN..).filter(|_| tells)?;
    let cause = icmp_cause(message.message_type(), message.code());
    let said = EchoSaid::Error { cause, rest: message.rest() };
    Some(request6(quoted)?.heard(from, header.hop_limit(), said))
}

/// Of a packet of ours that goes nowhere, and why.
pub fn unsent_echo6(packet: &[u8], cause: u16, rest: u32) -> Read {
    let request = request6(packet)?;
    let from = request.source;
    Some(request.heard(from, 0, EchoSaid::Error { cause, rest }))
}

/// The echo request that `packet` begins with, or its first piece.
fn request6(packet: &[u8]) -> Option<Request> {
    let header = ipv6::Header::new(packet).filter(|header| header.version() == 6)?;
    let payload = packet.get(ipv6::Header::LEN..)?;
    let upper = extension::walk(header.next_header(), payload).ok()?;
    let is_first = upper.fragment.is_none_or(|fragment| fragment.offset() == 0);
    let message = icmp6::Header::new(payload.get(upper.offset..)?)?;
    let is_request =
        upper.protocol == protocol::ICMP6 && message.message_type() == icmp6::message::ECHO_REQUEST;
    (is_first && is_request).then(|| Request {
        source: header.source_addr().into(),
        target: header.destination_addr().into(),
        identifier: message.identifier(),
        sequence: message.sequence(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR, FAR6, GATEWAY, GATEWAY6, QUEUE, US, US6, World};
    use wire::craft;

    fn said(read: Read) -> Option<(IpAddr, IpAddr, IpAddr, [u16; 2], EchoSaid)> {
        let heard = read?;
        let numbers = [heard.identifier, heard.sequence];
        Some((heard.source, heard.target, heard.from, numbers, heard.said))
    }

    #[test]
    fn answers_tell_whose_they_are() {
        let reply = craft::ipv4(FAR, US).option(148, &[0, 0]).icmp_echo_reply(7, 3).payload(b"abc");
        let (far, us) = (IpAddr::from(FAR), IpAddr::from(US));
        let expected = Some((us, far, far, [7, 3], EchoSaid::Reply { bytes: 11 }));
        assert_eq!(said(read_echo4(&reply.build())), expected);
        let reply = craft::ipv6(FAR6, US6).destination_options(&[]).icmp6(129, 0, [0, 7, 0, 3]);
        let expected = (US6.into(), FAR6.into(), FAR6.into(), [7, 3], EchoSaid::Reply { bytes: 8 });
        assert_eq!(said(read_echo6(&reply.build(), 48)), Some(expected));
    }

    #[test]
    fn errors_tell_of_the_request_that_they_quote() {
        let request = craft::ipv4(US, FAR).raw_options(&[1, 1, 1, 0]).icmp_echo(7, 3).build();
        let error = craft::ipv4(GATEWAY, US).icmp4(3, 4, [0, 0, 5, 0]).payload(&request);
        let error = said(read_echo4(&error.build()));
        let too_big = EchoSaid::Error { cause: 0x0304, rest: 0x500 };
        let (us, far) = (IpAddr::from(US), IpAddr::from(FAR));
        assert_eq!(error, Some((us, far, GATEWAY.into(), [7, 3], too_big)));
        assert_eq!(
            said(unsent_echo4(&request, 0x0304, 0x500)),
            Some((us, far, us, [7, 3], too_big))
        );
        let request =
            craft::ipv6(US6, FAR6).fragment_header(0, true, 9).icmp6(128, 0, [0, 7, 0, 3]).build();
        let error = craft::ipv6(GATEWAY6, US6).icmp6(2, 0, [0, 0, 5, 0]).payload(&request);
        let error = said(read_echo6(&error.build(), 40));
        let too_big = EchoSaid::Error { cause: 0x0200, rest: 0x500 };
        let (us, far) = (IpAddr::from(US6), IpAddr::from(FAR6));
        assert_eq!(error, Some((us, far, GATEWAY6.into(), [7, 3], too_big)));
        assert_eq!(
            said(unsent_echo6(&request, 0x0200, 0x500)),
            Some((us, far, us, [7, 3], too_big))
        );
    }

    #[test]
    fn what_is_about_something_else_is_not_read() {
        let quote4 = |kind: u8, quoted: &[u8]| {
            read_echo4(&craft::ipv4(GATEWAY, US).icmp4(kind, 1, [0; 4]).payload(quoted).build())
        };
        let request = craft::ipv4(US, FAR).icmp_echo(7, 3);
        assert!(quote4(3, &request.build()).is_some() && quote4(11, &request.build()).is_some());
        // A redirect, a later piece, an answer, another protocol, no version 4, too little of it.
        assert_eq!(quote4(5, &request.build()), None);
        assert_eq!(
            quote4(3, &craft::ipv4(US, FAR).fragment(8, false).icmp_echo(7, 3).build()),
            None
        );
        assert_eq!(quote4(3, &craft::ipv4(US, FAR).icmp_echo_reply(7, 3).build()), None);
        assert_eq!(quote4(3, &craft::ipv4(US, FAR).udp(7, 3).payload(&[8; 8]).build()), None);
        assert_eq!(quote4(3, &craft::ipv4(US, FAR).version(6).icmp_echo(7, 3).build()), None);
        assert_eq!(quote4(3, &request.build()[..27]), None);
        let quote6 = |kind: u8, quoted: &[u8]| {
            let error = craft::ipv6(GATEWAY6, US6).icmp6(kind, 0, [0; 4]).payload(quoted);
            read_echo6(&error.build(), 40)
        };
        let request = craft::ipv6(US6, FAR6).icmp_echo(7, 3).build();
        assert!(quote6(1, &request).is_some() && quote6(100, &request).is_none());
        let piece =
            craft::ipv6(US6, FAR6).fragment_header(8, false, 9).icmp6(128, 0, [0, 7, 0, 3]).build();
        assert_eq!(quote6(1, &piece), None);
        assert_eq!(quote6(1, &craft::ipv6(US6, FAR6).udp(7, 3).build()), None);
        assert_eq!(quote6(1, &request[..47]), None);
    }

    #[test]
    fn only_who_asks_is_told_and_so_many_at_most() {
        let world = World::new();
        let ear = EchoEar::new(&world.setup);
        let reply = craft::ipv4(FAR, US).icmp_echo_reply(7, 3).build();
        let hear = || ear.hear(1, 99, || read_echo4(&reply));
        assert_eq!(hear(), Heard::Other);
        let ids = &world.setup.shared.echo_ids;
        assert!(ids.take(8));
        assert_eq!(hear(), Heard::Other);
        assert!(ids.take(7));
        let told = (0..QUEUE + 1).filter(|_| hear() == Heard::Told).count();
        assert_eq!((told, hear()), (QUEUE, Heard::Lost));
        let punts = world.all_punts();
        assert!(
            matches!(&punts[..], [Punt::Echo(heard), ..]
                if (heard.interface, heard.heard_tsc, heard.sequence) == (1, 99, 3)),
            "{punts:?}"
        );
    }
}
