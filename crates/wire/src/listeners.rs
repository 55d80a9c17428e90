//! What is said of groups, by IGMP and MLD alike: which of them hosts listen to, and who asks. What
//! a switch that listens to both finds in a frame (RFC 4541).
//!
//! ```text
//!  frame to a group ─▶ look ┬▶ Data          to a group of hosts
//!                           ├▶ Said          crate::igmp, crate::mld: a question, or records of a host
//!                           ├▶ Malformed     a message of either that is wrong
//!                           └▶ Nothing       no IP, or not to a group
//! ```

use crate::{ethernet, igmp, ip::protocol, ipv4, ipv6, mld};
use std::net::IpAddr;

/// A message of IGMP or MLD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message<'a> {
    /// Who listens?
    Question(Question),
    /// A host says what it listens to.
    Records(Records<'a>),
    /// A router is here (RFC 4286), or one that forwards groups says so by PIM.
    Router,
    /// Something else: not for switches to understand.
    Other,
}

/// A question for listeners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// Of which group; none: of all.
    pub group: Option<IpAddr>,
    /// The protocol's version that it is of.
    pub version: u8,
    /// How long hosts may take to answer.
    pub within_ms: u32,
    /// Routers are not to take it as a reason to forget (RFC 3376 section 4.1.5).
    pub suppress: bool,
}

/// What one host says of one group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// The group.
    pub group: IpAddr,
    /// It listens to it, to some senders at least; else it does not, or no longer.
    pub listens: bool,
}

/// What one host says of groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Records<'a> {
    /// The protocol's version that it is said in.
    pub version: u8,
    pub(crate) said: Told<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Told<'a> {
    /// Of one group.
    One(Record),
    /// Records of the latest version, looked through: octets of an address, and the bytes.
    Many(usize, &'a [u8]),
}

/// A message that is not as its protocol has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

/// What a frame is to a switch that listens to IGMP and MLD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen<'a> {
    /// For who listens to a group.
    Data(IpAddr),
    /// A message, its sender, and the group that it is sent to.
    Said {
        /// Who says so.
        source: IpAddr,
        /// To which group.
        to: IpAddr,
        /// What.
        message: Message<'a>,
    },
    /// A message that is wrong.
    Malformed,
    /// Nothing that is told by groups of IP.
    Nothing,
}

/// Octets of a record's head, behind which its sources and more stand (RFC 3376 section 4.2).
const RECORD_HEAD: usize = 4;

/// Kinds of records (RFC 3376 section 4.2.12).
mod kind {
    pub(super) const IS_INCLUDE: u8 = 1;
    pub(super) const IS_EXCLUDE: u8 = 2;
    pub(super) const TO_INCLUDE: u8 = 3;
    pub(super) const TO_EXCLUDE: u8 = 4;
    pub(super) const ALLOW: u8 = 5;
}

impl<'a> Records<'a> {
    /// Looks `count` records through: all must be whole, and of groups.
    pub(crate) fn many(
        version: u8,
        octets: usize,
        count: u16,
        bytes: &'a [u8],
    ) -> Result<Self, Malformed> {
        let mut rest = bytes;
        for _ in 0..count {
            let (record, after) = split(octets, rest).ok_or(Malformed)?;
            if !group_of(octets, record).is_some_and(|group| group.is_multicast()) {
                return Err(Malformed);
            }
            rest = after;
        }
        let bytes = &bytes[..bytes.len() - rest.len()];
        Ok(Self { version, said: Told::Many(octets, bytes) })
    }

    /// One after the other. What only blocks senders, or is of a kind that nobody knows, says
    /// nothing here.
    pub fn iter(self) -> impl Iterator<Item = Record> {
        let (mut one, octets, mut rest) = match self.said {
            Told::One(record) => (Some(record), 4, &[][..]),
            Told::Many(octets, bytes) => (None, octets, bytes),
        };
        std::iter::from_fn(move || {
            if let Some(record) = one.take() {
                return Some(record);
            }
            loop {
                let (record, after) = split(octets, rest)?;
                rest = after;
                let has_sources = record[2..4] != [0, 0];
                let listens = match record[0] {
                    kind::IS_EXCLUDE | kind::TO_EXCLUDE | kind::ALLOW => true,
                    kind::IS_INCLUDE | kind::TO_INCLUDE => has_sources,
                    _ => continue,
                };
                return Some(Record { group: group_of(octets, record)?, listens });
            }
        })
    }
}

/// The first record, and what follows it.
fn split(octets: usize, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let &[_, more, many, few] = bytes.first_chunk::<RECORD_HEAD>()?;
    let sources = usize::from(u16::from_be_bytes([many, few]));
    bytes.split_at_checked(RECORD_HEAD + octets * (1 + sources) + 4 * usize::from(more))
}

fn group_of(octets: usize, record: &[u8]) -> Option<IpAddr> {
    let address = record.get(RECORD_HEAD..RECORD_HEAD + octets)?;
    match octets {
        4 => Some(<[u8; 4]>::try_from(address).ok()?.into()),
        _ => Some(<[u8; 16]>::try_from(address).ok()?.into()),
    }
}

/// What a frame is: its Ethernet header first, without tags.
pub fn look(frame: &[u8]) -> Seen<'_> {
    let Some((header, packet)) = frame.split_at_checked(ethernet::Header::LEN) else {
        return Seen::Nothing;
    };
    match [header[12], header[13]] {
        [0x08, 0x00] => look4(packet).unwrap_or(Seen::Nothing),
        [0x86, 0xdd] => look6(packet).unwrap_or(Seen::Nothing),
        _ => Seen::Nothing,
    }
}

fn look4(packet: &[u8]) -> Option<Seen<'_>> {
    let header = ipv4::Header::new(packet).filter(|header| header.is_sound())?;
    let to = header.destination_addr();
    if !to.is_multicast() {
        return None;
    }
    let (to, source) = (to.into(), header.source_addr().into());
    let is_message = header.protocol() == protocol::IGMP && header.fragment_offset() == 0;
    if !is_message && header.protocol() != protocol::PIM {
        return Some(Seen::Data(to));
    }
    let Some(bytes) = packet.get(header.header_len()..usize::from(header.total_len())) else {
        return is_message.then_some(Seen::Malformed).or(Some(Seen::Data(to)));
    };
    if !is_message {
        return Some(pim(source, to, bytes));
    }
    if header.is_fragment() {
        return Some(Seen::Malformed);
    }
    Some(said(source, to, igmp::parse(bytes)))
}

fn look6(packet: &[u8]) -> Option<Seen<'_>> {
    let header = ipv6::Header::new(packet).filter(|header| header.version() == 6)?;
    let to = header.destination_addr();
    if !to.is_multicast() {
        return None;
    }
    let (source, group) = (header.source(), header.destination());
    let (to, from) = (to.into(), header.source_addr().into());
    let whole = packet.get(ipv6::Header::LEN..);
    let whole = whole.and_then(|rest| rest.get(..usize::from(header.payload_len())));
    let Some(bytes) = whole else { return Some(Seen::Data(to)) };
    if header.next_header() == protocol::PIM {
        return Some(pim(from, to, bytes));
    }
    // Messages of MLD have the alert for routers in front (RFC 3810 section 5).
    let &[next, eights, ..] = bytes.first_chunk::<8>().unwrap_or(&[0; 8]);
    if header.next_header() != protocol::HOP_BY_HOP || next != protocol::ICMP6 {
        return Some(Seen::Data(to));
    }
    let message = bytes.get(8 * (1 + usize::from(eights))..).unwrap_or_default();
    if !message.first().is_some_and(|kind| mld::is_of(*kind)) {
        return Some(Seen::Data(to));
    }
    if header.hop_limit() != 1 {
        return Some(Seen::Malformed);
    }
    Some(said(from, to, mld::parse(message, source, group)))
}

fn said<'a>(source: IpAddr, to: IpAddr, message: Result<Message<'a>, Malformed>) -> Seen<'a> {
    match message {
        Ok(Message::Other) => Seen::Data(to),
        Ok(message) => Seen::Said { source, to, message },
        Err(Malformed) => Seen::Malformed,
    }
}

/// Routers that forward groups greet each other (RFC 7761 section 4.9.2): version 2, kind 0.
fn pim(source: IpAddr, to: IpAddr, bytes: &[u8]) -> Seen<'_> {
    const HELLO: u8 = 0x20;
    match bytes.first() {
        Some(&HELLO) => Seen::Said { source, to, message: Message::Router },
        _ => Seen::Data(to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft;

    const HOST: [u8; 4] = [10, 0, 9, 1];

    fn igmp_frame(message: &[u8]) -> Vec<u8> {
        let to = [224, 0, 0, 22];
        craft::ethernet([2; 6], [1, 0, 0x5e, 0, 0, 22])
            .ipv4(HOST, to)
            .ttl(1)
            .protocol(protocol::IGMP)
            .payload(message)
            .pad_to(60)
            .build()
    }

    #[test]
    fn data_is_told_by_its_group_and_the_rest_is_nothing() {
        let link = || craft::ethernet([2; 6], [1, 0, 0x5e, 1, 1, 1]);
        let data = link().ipv4(HOST, [239, 1, 1, 1]).udp(1, 2).build();
        assert_eq!(look(&data), Seen::Data([239, 1, 1, 1].into()));
        let pieces = link().ipv4(HOST, [239, 1, 1, 1]).protocol(2).fragment(8, false);
        assert_eq!(look(&pieces.payload(&[0; 8]).build()), Seen::Data([239, 1, 1, 1].into()));
        assert_eq!(look(&link().ipv4(HOST, [10, 0, 0, 1]).udp(1, 2).build()), Seen::Nothing);
        assert_eq!(look(&link().ethertype(0x88b5).build()), Seen::Nothing);
        assert_eq!(look(&data[..20]), Seen::Nothing);
        let six = craft::ethernet([2; 6], [0x33, 0x33, 0, 0, 0, 1]);
        let six = six.ipv6(1, 0xff0e << 112 | 1).udp(1, 2).build();
        assert_eq!(look(&six), Seen::Data(std::net::Ipv6Addr::from(0xff0e << 112 | 1).into()));
    }

    #[test]
    fn messages_are_found_behind_padding_and_wrong_ones_are_told() {
        let leave = [0x17, 0, 0xf8, 0xfb, 239, 1, 1, 2];
        let mut sound = leave;
        sound[2..4].fill(0);
        let sum = crate::checksum::of(&sound).to_be_bytes();
        sound[2..4].copy_from_slice(&sum);
        let frame = igmp_frame(&sound);
        let Seen::Said { source, message: Message::Records(records), .. } = look(&frame) else {
            panic!("{:?}", look(&frame));
        };
        assert_eq!(source, IpAddr::from(HOST));
        let all: Vec<_> = records.iter().collect();
        assert_eq!(all, [Record { group: [239, 1, 1, 2].into(), listens: false }]);
        sound[7] ^= 1;
        assert_eq!(look(&igmp_frame(&sound)), Seen::Malformed);
        assert_eq!(look(&igmp_frame(&[])), Seen::Malformed);
    }

    #[test]
    fn a_greeting_of_pim_tells_of_a_router() {
        let hello = |kind| {
            let link = craft::ethernet([2; 6], [1, 0, 0x5e, 0, 0, 13]);
            link.ipv4(HOST, [224, 0, 0, 13]).protocol(103).payload(&[kind, 0, 0, 0]).build()
        };
        assert!(matches!(look(&hello(0x20)), Seen::Said { message: Message::Router, .. }));
        assert_eq!(look(&hello(0x21)), Seen::Data([224, 0, 0, 13].into()));
    }
}
