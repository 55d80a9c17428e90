//! What a router writes into IPv4 options that pass through it (RFC 791 section 3.1, RFC 1812
//! section 5.2.4): its address into record route, its address and time into timestamps.
//!
//! ```text
//!  record route  | 7 | length | pointer | address | address | ...
//!  timestamp     | 68| length | pointer | overflow 4, flag 4 | (address) time | ...
//!                                 pointer: the next free octet, counted from 1 at the kind
//! ```
//! Where the RFCs leave a choice, the answer is Linux's, so that the two can stand for each other.

use wire::ipv4::{self, option};
use wire::options::{END, NOP};

/// What there is to be written.
pub struct Stamp<F> {
    /// The address to record; none leaves the options as they are.
    pub address: Option<u32>,
    /// Milliseconds since midnight, universal time.
    pub time_ms: u32,
    /// Tells whether an address is ours: timestamps may be asked of named routers.
    pub is_own: F,
    /// A full timestamp option counts us. Not where we have been counted already.
    pub counts_overflow: bool,
}

/// What was found in the options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionsFound {
    /// Nothing that stops the packet.
    Good,
    /// A source route.
    SourceRoute,
    /// The octet of the header, counted from 0, that is wrong.
    Bad(usize),
}

/// Flags of a timestamp option.
mod timestamp_flag {
    pub(super) const TIME_ONLY: u8 = 0;
    pub(super) const WITH_ADDRESS: u8 = 1;
    pub(super) const NAMED: u8 = 3;
}

/// Octets of an address, and of a time.
const WORD: usize = 4;

/// Checks the options of `header` and writes into those that ask for it. The checksum is the
/// caller's to renew.
pub fn stamp_options<F: Fn(u32) -> bool>(header: &mut [u8], stamp: &Stamp<F>) -> OptionsFound {
    let mut found = OptionsFound::Good;
    let mut once = 0u8;
    let mut at = ipv4::Header::LEN;
    while at < header.len() {
        let kind = header[at];
        match kind {
            END => {
                // Nothing behind the end is anybody's: it leaves as zeros.
                header[at..].fill(END);
                break;
            }
            NOP => {
                at += 1;
                continue;
            }
            _ => {}
        }
        let length = header.get(at + 1).map_or(0, |&length| usize::from(length));
        if length < 2 || length > header.len() - at {
            return OptionsFound::Bad(at);
        }
        // RFC 1812 section 5.2.4.1: neither of these may stand twice.
        let bit = match kind {
            option::LOOSE_SOURCE_ROUTE | option::STRICT_SOURCE_ROUTE => 1,
            option::RECORD_ROUTE => 2,
            option::TIMESTAMP => 4,
            _ => 0,
        };
        if once & bit != 0 {
            return OptionsFound::Bad(at);
        }
        once |= bit;
        let octets = &mut header[at..at + length];
        let written = match kind {
            option::LOOSE_SOURCE_ROUTE | option::STRICT_SOURCE_ROUTE => {
                found = OptionsFound::SourceRoute;
                pointer_of(octets, 3, 4).map(drop)
            }
            option::RECORD_ROUTE => record_address(octets, stamp),
            option::TIMESTAMP => record_time(octets, stamp),
            option::ROUTER_ALERT if length < 4 => Err(1),
            _ => Ok(()),
        };
        if let Err(offset) = written {
            return OptionsFound::Bad(at + offset);
        }
        at += length;
    }
    found
}

/// Overwrites every option that `keep` refuses by fillers; the header keeps its length.
pub fn blank_options(header: &mut [u8], keep: impl Fn(u8) -> bool) {
    let mut at = ipv4::Header::LEN;
    while at < header.len() && header[at] != END {
        let length = match (header[at], header.get(at + 1)) {
            (NOP, _) => 1,
            (_, Some(&length)) if length >= 2 => usize::from(length),
            _ => return,
        };
        let end = (at + length).min(header.len());
        if !keep(header[at]) {
            header[at..end].fill(NOP);
        }
        at = end;
    }
}

/// The pointer of an option that is at least so long and points at least there; else which octet
/// of it is wrong.
fn pointer_of(octets: &[u8], shortest: usize, lowest: usize) -> Result<usize, usize> {
    if octets.len() < shortest {
        return Err(1);
    }
    let pointer = usize::from(octets[2]);
    if pointer < lowest { Err(2) } else { Ok(pointer) }
}

fn record_address<F>(octets: &mut [u8], stamp: &Stamp<F>) -> Result<(), usize> {
    let pointer = pointer_of(octets, 3, 4)?;
    if pointer > octets.len() {
        return Ok(());
    }
    let room = octets.get_mut(pointer - 1..pointer - 1 + WORD).ok_or(2usize)?;
    if let Some(address) = stamp.address {
        room.copy_from_slice(&address.to_be_bytes());
        octets[2] += WORD as u8;
    }
    Ok(())
}

fn record_time<F: Fn(u32) -> bool>(octets: &mut [u8], stamp: &Stamp<F>) -> Result<(), usize> {
    let pointer = pointer_of(octets, 4, 5)?;
    let flag = octets[3] & 0x0f;
    if pointer > octets.len() {
        return if stamp.counts_overflow { count_overflow(octets, flag) } else { Ok(()) };
    }
    let with_address = matches!(flag, timestamp_flag::WITH_ADDRESS | timestamp_flag::NAMED);
    let wanted = if with_address { 2 * WORD } else { WORD };
    let room = octets.get_mut(pointer - 1..pointer - 1 + wanted).ok_or(2usize)?;
    let (address, time) = room.split_at_mut(wanted - WORD);
    match (flag, stamp.address) {
        (timestamp_flag::TIME_ONLY, _) => {}
        (timestamp_flag::WITH_ADDRESS, Some(own)) => address.copy_from_slice(&own.to_be_bytes()),
        (timestamp_flag::NAMED, _)
            if address
                .first_chunk()
                .is_some_and(|named| (stamp.is_own)(u32::from_be_bytes(*named))) => {}
        _ => return Ok(()),
    }
    time.copy_from_slice(&stamp.time_ms.to_be_bytes());
    octets[2] += wanted as u8;
    Ok(())
}

/// A full option counts the routers that found no room, up to 15.
fn count_overflow(octets: &mut [u8], flag: u8) -> Result<(), usize> {
    match octets[3] >> 4 {
        _ if flag == timestamp_flag::NAMED => Ok(()),
        15 => Err(3),
        _ => {
            octets[3] += 0x10;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u32 = 0x0a00_0001;

    /// What becomes of these options, padded to whole words.
    fn stamped(options: &[u8]) -> (OptionsFound, Vec<u8>) {
        let mut header = vec![0; 20];
        header.extend(options);
        header.resize(header.len().next_multiple_of(4), 0);
        let is_own = |a| a == OWN;
        let own = Stamp { address: Some(OWN), time_ms: 0x0102_0304, is_own, counts_overflow: true };
        let found = stamp_options(&mut header, &own);
        (found, header[20..].to_vec())
    }

    #[test]
    fn an_address_goes_where_the_pointer_points() {
        let (found, options) = stamped(&[7, 11, 8, 9, 9, 9, 9, 0, 0, 0, 0, 0]);
        assert_eq!(found, OptionsFound::Good);
        assert_eq!(options, [7, 11, 12, 9, 9, 9, 9, 10, 0, 0, 1, 0]);
        assert_eq!(stamped(&options).1, options, "a full option is left as it is");
    }

    #[test]
    fn times_are_written_as_the_flag_asks() {
        assert_eq!(stamped(&[68, 8, 5, 0, 0, 0, 0, 0]).1, [68, 8, 9, 0, 1, 2, 3, 4]);
        let with_address = stamped(&[68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0]).1;
        assert_eq!(with_address, [68, 12, 13, 1, 10, 0, 0, 1, 1, 2, 3, 4]);
        let to_us = stamped(&[68, 12, 5, 3, 10, 0, 0, 1, 0, 0, 0, 0]).1;
        assert_eq!(to_us, [68, 12, 13, 3, 10, 0, 0, 1, 1, 2, 3, 4]);
        let to_another = [68, 12, 5, 3, 10, 0, 0, 2, 0, 0, 0, 0];
        assert_eq!(stamped(&to_another).1, to_another);
    }

    #[test]
    fn a_full_timestamp_counts_up_to_fifteen() {
        assert_eq!(stamped(&[68, 8, 9, 0xe0, 9, 9, 9, 9]).1, [68, 8, 9, 0xf0, 9, 9, 9, 9]);
        assert_eq!(stamped(&[68, 8, 9, 0xf0, 9, 9, 9, 9]).0, OptionsFound::Bad(23));
    }

    #[test]
    fn each_fault_is_found_at_its_octet() {
        for (options, octet) in [
            (&[7, 1][..], 20),
            (&[7, 9, 4, 0], 20),
            (&[1, 1, 1, 7], 23),
            (&[7, 2, 0, 0], 21),
            (&[7, 7, 3, 0, 0, 0, 0, 0], 22),
            (&[7, 7, 5, 0, 0, 0, 0, 0], 22),
            (&[7, 3, 4, 7, 3, 4], 23),
            (&[68, 3, 5, 0], 21),
            (&[68, 8, 4, 0, 0, 0, 0, 0], 22),
            (&[68, 8, 5, 1, 0, 0, 0, 0], 22),
            (&[131, 3, 3, 0], 22),
            (&[131, 3, 4, 131, 3, 4, 0, 0], 23),
            (&[148, 3, 0, 0], 21),
        ] {
            assert_eq!(stamped(options).0, OptionsFound::Bad(octet), "{options:?}");
        }
    }

    #[test]
    fn a_source_route_is_found_and_unknown_options_are_not_looked_at() {
        assert_eq!(stamped(&[137, 7, 4, 0, 0, 0, 0, 0]).0, OptionsFound::SourceRoute);
        let unknown = [200, 6, 255, 255, 255, 255, 1, 0];
        assert_eq!(stamped(&unknown), (OptionsFound::Good, unknown.to_vec()));
    }

    #[test]
    fn what_follows_the_end_leaves_as_zeros() {
        assert_eq!(stamped(&[0, 7, 9, 9]), (OptionsFound::Good, vec![0; 4]));
    }

    #[test]
    fn blanking_leaves_fillers_where_options_were() {
        let mut header = [vec![0; 20], vec![7, 3, 4, 148, 4, 0, 0, 0]].concat();
        blank_options(&mut header, |kind| kind & option::COPIED != 0);
        assert_eq!(header[20..], [1, 1, 1, 148, 4, 0, 0, 0]);
    }
}
