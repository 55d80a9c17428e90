//! What is said on control connections of FTP and TFTP: who is expected then, and, where addresses
//! are translated, those that are said.
//!
//! ```text
//!  PORT 10,0,0,1,4,210 ─▶ expected: the server, to that port ─▶ PORT 192,0,2,7,4,210
//! ```
//! An address that gets longer or shorter moves all that is said later: sequence numbers of the one
//! who said it, and what the other acknowledges.

use super::Tracker;
use conntrack::ftp::{self, Said};
use conntrack::{Direction, Family, Found, Helper, Tuple};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use wire::checksum::{Sum, update_u16};
use wire::ip::protocol;
use wire::tcp::{self, flag};
use wire::{ipv4, ipv6};

/// Octets of a header of UDP.
const UDP: usize = 8;
/// TFTP: somebody wants to read, or to write (RFC 1350 section 5).
const REQUESTS: [u8; 2] = [1, 2];

/// What is said otherwise than it was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Speech {
    sequence: i32,
    acknowledged: i32,
    /// Octets of the packet in place of which others come.
    edit: Option<(Range<usize>, String)>,
}

/// A segment, or datagram: where it begins in a packet, and where that ends.
struct Upper {
    at: usize,
    end: usize,
}

fn upper(packet: &[u8], wanted: u8) -> Option<Upper> {
    let (protocol, at, end) = match packet.first()? >> 4 {
        4 => {
            let header = ipv4::Header::new(packet)?;
            (header.protocol(), header.header_len(), usize::from(header.total_len()))
        }
        _ => {
            let header = ipv6::Header::new(packet)?;
            let end = ipv6::Header::LEN + usize::from(header.payload_len());
            let payload = packet.get(ipv6::Header::LEN..end)?;
            let upper = ipv6::extension::walk(header.next_header(), payload).ok()?;
            (upper.protocol, ipv6::Header::LEN + upper.offset, end)
        }
    };
    (protocol == wanted && at <= end && end <= packet.len()).then_some(Upper { at, end })
}

/// Whether it was understood.
pub(super) enum Heard {
    /// Perhaps it is to be said otherwise.
    Well(Option<Box<Speech>>),
    /// It says what cannot be.
    Badly,
}

impl Tracker<'_> {
    /// Hears what a packet of a control connection says.
    #[cold]
    pub(super) fn hear(&self, helper: Helper, found: &Found) -> Heard {
        let heard = match helper {
            Helper::Tftp => {
                self.hear_request(found);
                None
            }
            Helper::Ftp => self.hear_segment(found),
        };
        heard.unwrap_or(Heard::Well(None))
    }

    /// Who asks for a file by TFTP is sent it from another port.
    fn hear_request(&self, found: &Found) -> Option<()> {
        let Upper { at, end } = upper(self.packet, protocol::UDP)?;
        let data = self.packet.get(at + UDP..end)?;
        let asks = matches!(data, [0, what, ..] if REQUESTS.contains(what));
        if asks && found.direction == Direction::Original {
            let port = self.table().translation(found)?.source_port();
            self.table().expect(found, port, self.now.second);
        }
        Some(())
    }

    fn hear_segment(&self, found: &Found) -> Option<Heard> {
        let Upper { at, end } = upper(self.packet, protocol::TCP)?;
        let segment = self.packet.get(at..end)?;
        let header = tcp::Header::new(segment)?;
        let data_at = at + header.header_len();
        let data = self.packet.get(data_at..end)?;
        let own = self.table().translation(&found.reversed())?.inverse();
        let seen = self.table().translation(found)?;
        let is_client = found.direction == Direction::Original;
        let mut edit = None;
        match ftp::read(data, is_client, own.family() == Family::Ip6) {
            Said::Other => {}
            Said::Broken => return Some(Heard::Badly),
            Said::Waits(told) => {
                let (own, seen) = (source(&own), source(&seen));
                if let Some((address, place)) = told.address {
                    // Nobody is asked to connect to somebody else (RFC 2577 section 3).
                    if address != own && address != seen {
                        return Some(Heard::Badly);
                    }
                    if address != seen {
                        let place = data_at + place.start..data_at + place.end;
                        edit = Some((place, ftp::written(seen)));
                    }
                }
                self.table().expect(found, told.port, self.now.second);
            }
        }
        // What was translated already was said otherwise then.
        let is_asked = self.step.nat.is_some() && self.was == 0;
        if !is_asked || !found.status.is_translated() {
            return None;
        }
        let skews = self.table().skews(found).map(i32::from);
        let (mine, others) = if is_client { (skews[0], skews[1]) } else { (skews[1], skews[0]) };
        let mut speech = Speech { sequence: mine, acknowledged: -others, edit };
        if let Some((place, text)) = &speech.edit {
            let more = text.len() as i32 - place.len() as i32;
            let sequence = header.sequence();
            // What is said again has moved what comes later already.
            if self.table().was_edited(found, sequence) {
                speech.sequence -= more;
            } else if !self.table().edited(found, sequence, more as i16) {
                return Some(Heard::Badly);
            }
        }
        let is_same = speech.sequence == 0 && speech.acknowledged == 0 && speech.edit.is_none();
        (!is_same).then(|| Heard::Well(Some(Box::new(speech))))
    }
}

fn source(tuple: &Tuple) -> IpAddr {
    match tuple.family() {
        Family::Ip6 => Ipv6Addr::from(tuple.source6()).into(),
        _ => Ipv4Addr::from(tuple.source4()).into(),
    }
}

impl Speech {
    /// Octets that a packet gets longer by; less than none where it gets shorter.
    pub(super) fn growth(&self) -> isize {
        self.edit.as_ref().map_or(0, |(place, text)| text.len() as isize - place.len() as isize)
    }

    /// Says it so; at the end of the packet there is as much room more as it grows by.
    pub(super) fn apply(&self, packet: &mut [u8]) -> Option<()> {
        let Upper { at, end } = upper(packet, protocol::TCP)?;
        let was_right = sum(packet, at, end).is_valid();
        let mut end = end;
        if let Some((place, text)) = &self.edit {
            let (to, growth) = (place.start + text.len(), self.growth());
            let last = packet.len().checked_sub(growth.max(0) as usize)?;
            if place.end > last {
                return None;
            }
            packet.copy_within(place.end..last, to);
            packet.get_mut(place.start..to)?.copy_from_slice(text.as_bytes());
            end = end.checked_add_signed(growth)?;
            set_length(packet, end)?;
        }
        let segment = packet.get_mut(at..end)?;
        let add = |segment: &mut [u8], place: usize, more: i32| {
            let number: &mut [u8; 4] = segment.get_mut(place..)?.first_chunk_mut()?;
            *number = u32::from_be_bytes(*number).wrapping_add_signed(more).to_be_bytes();
            Some(())
        };
        add(segment, 4, self.sequence)?;
        if tcp::Header::new(segment)?.flags() & flag::ACK != 0 {
            add(segment, 8, self.acknowledged)?;
        }
        segment.get_mut(16..18)?.fill(0);
        let new = sum(packet, at, end).checksum();
        // One that was wrong stays wrong.
        let new = if was_right { new } else { !new };
        packet.get_mut(at + 16..at + 18)?.copy_from_slice(&new.to_be_bytes());
        Some(())
    }
}

/// The sum that is over a segment.
fn sum(packet: &[u8], at: usize, end: usize) -> Sum {
    let addresses = if packet[0] >> 4 == 4 { 12..20 } else { 8..40 };
    let sum = Sum::ZERO.bytes(&packet[addresses]).u16(protocol::TCP.into());
    sum.u32((end - at) as u32).bytes(&packet[at..end])
}

/// Writes how long a packet is.
fn set_length(packet: &mut [u8], end: usize) -> Option<()> {
    if packet[0] >> 4 != 4 {
        let length = u16::try_from(end - ipv6::Header::LEN).ok()?;
        packet[4..6].copy_from_slice(&length.to_be_bytes());
        return Some(());
    }
    let length = u16::try_from(end).ok()?;
    let word = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let sum = update_u16(word(10), word(2), length);
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    #[test]
    fn what_is_said_otherwise_is_as_if_it_had_been_sent_so() {
        let sent = |said: &str, sequence, acknowledgement| {
            let ip = craft::ipv4([10, 0, 0, 1], [10, 0, 0, 2]).tcp(1000, 21).flags(flag::ACK);
            let tcp = ip.sequence(sequence).acknowledgement(acknowledgement);
            tcp.payload(said.as_bytes()).build()
        };
        for (from, to) in [("10,0,0,1", "192,0,2,7"), ("192,0,2,7", "1,1,1,1"), ("1,2", "3,4")] {
            let line = |address: &str| format!("PORT {address},4,210\r\n");
            let edit = Some((45..45 + from.len(), to.to_owned()));
            let speech = Speech { sequence: 3, acknowledged: -2, edit };
            let mut packet = sent(&line(from), 100, 200);
            let growth = speech.growth();
            // Padding behind it moves, too.
            packet.resize(packet.len() + growth.max(0) as usize, 0);
            speech.apply(&mut packet).unwrap();
            packet.truncate(packet.len() - (-growth).max(0) as usize);
            assert_eq!(packet, sent(&line(to), 103, 198), "{from}");
        }
    }

    #[test]
    fn a_checksum_that_was_wrong_stays_wrong() {
        let mut packet =
            craft::ipv6([1; 16], [2; 16]).tcp(1000, 21).flags(flag::ACK).payload(b"x").build();
        packet[56] ^= 1;
        let speech = Speech { sequence: 1, acknowledged: 0, edit: None };
        speech.apply(&mut packet).unwrap();
        let end = packet.len();
        assert!(!sum(&packet, 40, end).is_valid());
    }
}
