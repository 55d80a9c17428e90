//! Packets of the usual form, whose connections are looked for some tens at a time.
//!
//! ```text
//!  IPv4 of 20 octets, in one piece, TCP or UDP
//!  ask: its hash, the bucket ─▶ ask_on: the entry that may be it ─▶ find_asked: proved
//! ```
//! Each step names the cache line that the next one reads: asked for while those of other packets
//! are looked at, it is there by then. What was asked is a hint: a packet before may begin or end
//! the connection meanwhile, so that the last step looks for itself where the hint is none.

use crate::index::Place;
use crate::packet::Seen;
use crate::table::{Found, Table};
use crate::tuple::Tuple;
use wire::ip::protocol;

/// Octets that are read of each: IPv4, and the ports, with the checksum of UDP.
const READ: usize = 28;
/// Where TCP has its flags, and its checksum.
const FLAGS: usize = 33;
const TCP_SUM: usize = 36;

/// A packet whose connection is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Who speaks with whom.
    pub tuple: Tuple,
    /// What of it counts.
    pub seen: Seen,
    hash: u64,
    place: Option<Place>,
}

/// Reads a packet from its IPv4 header on; none where it has another form. One that is read here is
/// the flow that [`read4`](crate::read4) tells of.
#[inline(always)]
pub fn usual4(packet: &[u8], zone: u16) -> Option<(Tuple, Seen)> {
    let header = packet.first_chunk::<READ>()?;
    let first = u64::from_be_bytes(*header.first_chunk()?);
    let total = usize::from((first >> 32) as u16);
    // Version 4 and five words; neither a later piece nor one with more to come.
    if first >> 56 != 0x45 || first & 0x3fff != 0 || total > packet.len() {
        return None;
    }
    let protocol = header[9];
    let seen = match protocol {
        protocol::UDP if total >= READ => Seen::Other,
        protocol::TCP if total >= 40 => Seen::Tcp(*packet.get(FLAGS)?),
        _ => return None,
    };
    let addresses = u64::from_be_bytes(*header[12..].first_chunk()?);
    let ports = u32::from_be_bytes(*header[20..].first_chunk()?);
    Some((Tuple::whole4(addresses, ports, protocol, zone), seen))
}

/// Makes a packet of the usual form, which is one of `from`, the one of `to`: what
/// [`translate4`](crate::translate4) makes of it.
#[inline(always)]
pub fn translate_usual4(packet: &mut [u8], from: &Tuple, to: &Tuple) {
    let addresses =
        change(from.source4(), to.source4()) + change(from.destination4(), to.destination4());
    let ports = change(from.ports(), to.ports());
    let Some(header) = packet.first_chunk_mut::<READ>() else { return };
    add(header, 10, addresses);
    header[12..20].copy_from_slice(&to.addresses4().to_be_bytes());
    header[20..24].copy_from_slice(&to.ports().to_be_bytes());
    match from.protocol() {
        protocol::TCP => add(packet, TCP_SUM, addresses + ports),
        // RFC 768: none was computed, and none is.
        protocol::UDP if header[26..] != [0, 0] => {
            add(header, 26, addresses + ports);
            if header[26..] == [0, 0] {
                header[26..].fill(0xff);
            }
        }
        _ => {}
    }
}

/// What a word that becomes another adds to the sum of all (RFC 1624, equation 3).
#[inline(always)]
fn change(old: u32, new: u32) -> u64 {
    u64::from(!old) + u64::from(new)
}

/// Changes the checksum at a place by what words have changed: all at once, since carries may be
/// added back at the end.
#[inline(always)]
fn add(bytes: &mut [u8], at: usize, change: u64) {
    let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) else { return };
    let mut sum = u64::from(!u16::from_be_bytes(*place)) + change;
    sum = (sum & 0xffff_ffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    *place = (!(sum as u16)).to_be_bytes();
}

impl Table {
    /// Begins to look for a packet's connection, and says what is read next.
    #[inline(always)]
    pub fn ask(&self, tuple: Tuple, seen: Seen) -> (Asked, *const u8) {
        let hash = self.hash(&tuple);
        (Asked { tuple, seen, hash, place: None }, self.index().address(hash))
    }

    /// Goes on, and says what is read then.
    #[inline(always)]
    pub fn ask_on(&self, asked: &mut Asked) -> *const u8 {
        asked.place = self.index().first(asked.hash);
        match asked.place {
            Some(place) => self.entries().address(place.slot),
            None => self.index().other_address(asked.hash),
        }
    }

    /// The connection of a packet that was asked for.
    #[inline(always)]
    pub fn find_asked(&self, asked: &Asked, now_s: u32) -> Option<Found> {
        let hinted = asked.place.and_then(|place| self.is_at(place, &asked.tuple, now_s));
        hinted.or_else(|| self.find_at(asked.hash, &asked.tuple, now_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Read, read4};
    use crate::rewrite::translate4;
    use proptest::prelude::*;
    use wire::craft;

    const A: [u8; 4] = [10, 0, 0, 1];
    const B: [u8; 4] = [192, 0, 2, 7];

    fn packets() -> [Vec<u8>; 3] {
        [
            craft::ipv4(A, B).udp(1000, 53).payload(b"question").build(),
            craft::ipv4(A, B).tcp(1000, 80).flags(0x12).payload(b"data").build(),
            craft::ipv4(A, B).icmp_echo(7, 1).payload(b"ping").build(),
        ]
    }

    #[test]
    fn segments_and_datagrams_are_of_the_usual_form_and_echoes_are_not() {
        let is_usual = packets().map(|packet| usual4(&packet, 5).is_some());
        assert_eq!(is_usual, [true, true, false]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn what_is_usual_is_read_and_translated_as_any_packet(
            base in 0..3usize,
            changes in proptest::collection::vec((0..44usize, any::<u8>()), 0..4),
            no_sum in any::<bool>(),
            cut in 18..60usize,
            to in any::<(u32, u32, u16, u16)>(),
            same in any::<bool>(),
        ) {
            let mut packet = packets()[base].clone();
            for (at, value) in changes {
                if let Some(it) = packet.get_mut(at) { *it = value }
            }
            if no_sum && base == 0 {
                packet[26..28].fill(0);
            }
            packet.resize(cut, 7);
            let Some((tuple, seen)) = usual4(&packet, 5) else { return Ok(()) };
            prop_assert_eq!(read4(&packet, 5), Read::Flow { tuple, seen, pieces: None });
            let to = match same {
                true => tuple,
                false => Tuple::ip4((to.0, to.2), (to.1, to.3), tuple.protocol(), 5),
            };
            let mut other = packet.clone();
            translate_usual4(&mut packet, &tuple, &to);
            translate4(&mut other, &to);
            prop_assert_eq!(packet, other);
        }
    }
}
