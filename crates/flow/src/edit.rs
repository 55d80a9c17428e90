//! Fields written into a frame, with the checksums that they are under.
//!
//! ```text
//!  Ethernet │ tag │ label │ IPv4, IPv6 or ARP │ TCP, UDP, SCTP, ICMP
//! ```
//! A checksum changes by what changed (RFC 1624), so one that was wrong stays wrong; one of
//! UDP over IPv4 that is not there stays away.

use crate::labels;
use openflow::Field;

/// Bytes that a tag or a label makes a frame longer by.
pub const MOST_GROWTH: usize = 4;

/// Tags that IP is looked for behind.
const MOST_TAGS: usize = 4;

/// Where things are in a frame.
struct Layers {
    /// The ethertype behind tags.
    kind: u16,
    network: usize,
    /// The protocol, and where it begins; none of a later fragment, or of what is cut short.
    transport: Option<(u8, usize)>,
    /// The same, where its checksum is there at least, which addresses are in.
    summed: Option<(u8, usize)>,
    /// Where the packet ends: what is behind is padding.
    end: usize,
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]))
}

/// What a frame has behind its tags, and where.
pub fn network_of(frame: &[u8]) -> Option<(u16, usize)> {
    let (mut kind, mut network) = (word(frame, 12)?, 14);
    // Tags that came and those that were pushed.
    while matches!(kind, 0x8100 | 0x88a8) && network < 14 + 4 * MOST_TAGS {
        (kind, network) = (word(frame, network + 2)?, network + 4);
    }
    Some((kind, network))
}

fn layers(frame: &[u8]) -> Option<Layers> {
    let (kind, network) = network_of(frame)?;
    let packet = frame.get(network..)?;
    let mut end = frame.len();
    let transport = match kind {
        0x0800 => {
            let header = packet.first_chunk::<20>()?;
            let place = u16::from_be_bytes([header[6], header[7]]);
            let length = usize::from(header[0] & 0xf) * 4;
            end = network + usize::from(word(packet, 2)?);
            (place & 0x1fff == 0 && length >= 20).then_some((header[9], network + length))
        }
        0x86dd => {
            let mut next = packet.first_chunk::<40>()?[6];
            end = network + 40 + usize::from(word(packet, 4)?);
            let (mut at, mut is_later) = (40, false);
            while let (0 | 43 | 60 | 51 | 44, Some(extension)) = (next, packet.get(at..at + 8)) {
                is_later |= next == 44 && (extension[2] != 0 || extension[3] & 0xf8 != 0);
                let bytes = match next {
                    44 => 8,
                    51 => (usize::from(extension[1]) + 2) * 4,
                    _ => (usize::from(extension[1]) + 1) * 8,
                };
                (next, at) = (extension[0], at + bytes);
            }
            (!is_later).then_some((next, network + at))
        }
        _ => None,
    };
    let summed = transport.filter(|(proto, at)| {
        let least = match proto {
            6 => 20,
            132 => 12,
            _ => 8,
        };
        frame.get(*at..end).is_some_and(|bytes| bytes.len() >= least)
    });
    // A header that is not there whole is none.
    let transport = summed.filter(|(proto, at)| {
        let length = |at: usize| usize::from(frame[at + 12] >> 4) * 4;
        *proto != 6 || (20..=end - at).contains(&length(*at))
    });
    Some(Layers { kind, network, transport, summed, end })
}

/// Whether a field is one of the packet's bytes.
pub(crate) fn is_of_packet(field: Field) -> bool {
    use Field as F;
    matches!(
        field,
        F::EthDst
            | F::EthSrc
            | F::VlanTci
            | F::VlanVid
            | F::VlanPcp
            | F::MplsLabel
            | F::MplsTc
            | F::MplsTtl
            | F::IpSrc
            | F::IpDst
            | F::Ip6Src
            | F::Ip6Dst
            | F::Ip6Label
            | F::IpDscp
            | F::IpEcn
            | F::IpTtl
            | F::ArpOp
            | F::ArpSpa
            | F::ArpTpa
            | F::ArpSha
            | F::ArpTha
            | F::TcpSrc
            | F::TcpDst
            | F::UdpSrc
            | F::UdpDst
            | F::SctpSrc
            | F::SctpDst
            | F::Icmp4Type
            | F::Icmp4Code
            | F::Icmp6Type
            | F::Icmp6Code
            | F::NdTarget
            | F::NdSll
            | F::NdTll
    )
}

/// Sets bits of a field of a frame. False where the frame has no such field, or too few bytes.
pub fn write_field(frame: &mut [u8], field: Field, value: u128, mask: u128) -> bool {
    try_write(frame, field, value, mask).is_some()
}

fn try_write(frame: &mut [u8], field: Field, value: u128, mask: u128) -> Option<()> {
    use Field as F;
    let put =
        |frame: &mut [u8], at, bytes, shift| write(frame, at, bytes, value << shift, mask << shift);
    match field {
        F::EthDst => return put(frame, 0, 6, 0).map(drop),
        F::EthSrc => return put(frame, 6, 6, 0).map(drop),
        F::VlanTci | F::VlanVid | F::VlanPcp => {
            matches!(word(frame, 12)?, 0x8100 | 0x88a8).then_some(())?;
            let shift = if field == F::VlanPcp { 13 } else { 0 };
            return write(frame, 14, 2, value << shift, (mask << shift) & 0xefff).map(drop);
        }
        _ => {}
    }
    let Layers { kind, network, transport, summed, end } = layers(frame)?;
    let is_ip4 = kind == 0x0800;
    let is = |wanted: bool| wanted.then_some(());
    match field {
        F::MplsLabel | F::MplsTc | F::MplsTtl => {
            is(labels::is_labelled(kind.into()))?;
            let shift = match field {
                F::MplsLabel => 12,
                F::MplsTc => 9,
                _ => 0,
            };
            put(frame, network, 4, shift)?;
        }
        F::IpSrc | F::IpDst => {
            is(is_ip4)?;
            let at = network + if field == F::IpSrc { 12 } else { 16 };
            let change = put(frame, at, 4, 0)?;
            mend(frame, network + 10, change)?;
            mend_transport(frame, summed, change, false);
        }
        F::Ip6Src | F::Ip6Dst => {
            is(kind == 0x86dd)?;
            let at = network + if field == F::Ip6Src { 8 } else { 24 };
            let change = put(frame, at, 16, 0)?;
            mend_transport(frame, summed, change, true);
        }
        F::Ip6Label => {
            is(kind == 0x86dd)?;
            put(frame, network, 4, 0)?;
        }
        F::IpDscp | F::IpEcn => {
            let shift = if field == F::IpDscp { 2 } else { 0 };
            if is_ip4 {
                // The word that the byte is the lower half of.
                let change = put(frame, network, 2, shift)?;
                mend(frame, network + 10, change)?;
            } else {
                is(kind == 0x86dd)?;
                put(frame, network, 2, shift + 4)?;
            }
        }
        F::IpTtl if is_ip4 => {
            let change = put(frame, network + 8, 2, 8)?;
            mend(frame, network + 10, change)?;
        }
        F::IpTtl => {
            is(kind == 0x86dd)?;
            put(frame, network + 7, 1, 0)?;
        }
        F::ArpOp | F::ArpSpa | F::ArpTpa | F::ArpSha | F::ArpTha => {
            is(matches!(kind, 0x0806 | 0x8035))?;
            let (at, bytes) = match field {
                F::ArpOp => (6, 2),
                F::ArpSha => (8, 6),
                F::ArpSpa => (14, 4),
                F::ArpTha => (18, 6),
                _ => (24, 4),
            };
            put(frame, network + at, bytes, 0)?;
        }
        _ => {
            let (proto, at) = transport?;
            write_transport(frame.get_mut(..end)?, field, (proto, at), value, mask, is_ip4)?;
        }
    }
    Some(())
}

fn write_transport(
    frame: &mut [u8],
    field: Field,
    (proto, at): (u8, usize),
    value: u128,
    mask: u128,
    is_ip4: bool,
) -> Option<()> {
    use Field as F;
    let is = |wanted: bool| wanted.then_some(());
    let (wanted, offset, bytes, shift) = match field {
        F::TcpSrc => (6, 0, 2, 0),
        F::TcpDst => (6, 2, 2, 0),
        F::UdpSrc => (17, 0, 2, 0),
        F::UdpDst => (17, 2, 2, 0),
        F::SctpSrc => (132, 0, 2, 0),
        F::SctpDst => (132, 2, 2, 0),
        F::Icmp4Type => (1, 0, 2, 8),
        F::Icmp4Code => (1, 0, 2, 0),
        F::Icmp6Type => (58, 0, 2, 8),
        F::Icmp6Code => (58, 0, 2, 0),
        F::NdTarget => (58, 8, 16, 0),
        F::NdSll | F::NdTll => {
            is(proto == 58)?;
            let kind = if field == F::NdSll { 1 } else { 2 };
            let mut option = at + 24;
            while *frame.get(option)? != kind {
                let eights = usize::from(*frame.get(option + 1)?);
                is(eights > 0)?;
                option += eights * 8;
            }
            (58, option + 2 - at, 6, 0)
        }
        _ => return None,
    };
    is(proto == wanted)?;
    let before = if proto == 132 { crc_of_sctp(frame, at) } else { None };
    let change = write(frame, at + offset, bytes, value << shift, mask << shift)?;
    match proto {
        // The checksum of SCTP is a CRC of all; one that was wrong stays as wrong.
        132 => mend_sctp(frame, at, before?),
        1 => mend(frame, at + 2, change),
        _ => {
            mend_transport(frame, Some((proto, at)), change, !is_ip4);
            Some(())
        }
    }
}

/// How sums of words change.
type Change = u32;

/// Writes bits of `bytes` bytes, and says how the sum of the words there changes. The place is
/// aligned to words, of the layer that the checksum is over.
fn write(frame: &mut [u8], at: usize, bytes: usize, value: u128, mask: u128) -> Option<Change> {
    let place = frame.get_mut(at..at.checked_add(bytes)?)?;
    // Of a length that the compiler knows.
    match bytes {
        1 => write_all::<1>(place, value, mask),
        2 => write_all::<2>(place, value, mask),
        4 => write_all::<4>(place, value, mask),
        6 => write_all::<6>(place, value, mask),
        16 => write_all::<16>(place, value, mask),
        _ => None,
    }
}

#[inline]
fn write_all<const BYTES: usize>(place: &mut [u8], value: u128, mask: u128) -> Option<Change> {
    let place: &mut [u8; BYTES] = place.try_into().ok()?;
    let bytes_of = |number: u128| number.to_be_bytes().last_chunk::<BYTES>().copied();
    let (value, mask) = (bytes_of(value)?, bytes_of(mask)?);
    let weight = |at: usize, byte: u8| u32::from(byte) << if at.is_multiple_of(2) { 8 } else { 0 };
    let mut change = 0;
    for (at, byte) in place.iter_mut().enumerate() {
        let old = *byte;
        *byte = old & !mask[at] | value[at] & mask[at];
        // RFC 1624: minus the old word is plus its complement.
        change += 0xffff - weight(at, old) + weight(at, *byte);
    }
    Some(change)
}

/// Changes a checksum by a change of what it is over.
pub(crate) fn mend(frame: &mut [u8], at: usize, change: Change) -> Option<()> {
    let place = frame.get_mut(at..at + 2)?;
    let old = u16::from_be_bytes([place[0], place[1]]);
    let mut sum = u32::from(!old) + change;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    place.copy_from_slice(&(!(sum as u16)).to_be_bytes());
    Some(())
}

fn mend_transport(frame: &mut [u8], transport: Option<(u8, usize)>, change: Change, is_ip6: bool) {
    let Some((proto, at)) = transport else { return };
    match proto {
        6 => _ = mend(frame, at + 16, change),
        17 if word(frame, at + 6).is_some_and(|sum| sum != 0) => {
            _ = mend(frame, at + 6, change);
            // Zero would say that there is none.
            if word(frame, at + 6) == Some(0) {
                frame[at + 6..at + 8].fill(0xff);
            }
        }
        58 if is_ip6 => _ = mend(frame, at + 2, change),
        _ => {}
    }
}

/// CRC-32C over a packet of SCTP (RFC 9260 section 6.8), its own place as zeros.
fn crc_of_sctp(frame: &[u8], at: usize) -> Option<u32> {
    let packet = frame.get(at..).filter(|packet| packet.len() >= 12)?;
    let mut crc = u32::MAX;
    for (place, byte) in packet.iter().enumerate() {
        crc ^= if (8..12).contains(&place) { 0 } else { u32::from(*byte) };
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 != 0 { 0x82f6_3b78 } else { 0 };
        }
    }
    Some(!crc)
}

/// Changes the checksum by what the right one changed by.
fn mend_sctp(frame: &mut [u8], at: usize, before: u32) -> Option<()> {
    let after = crc_of_sctp(frame, at)?;
    let place: &mut [u8; 4] = frame.get_mut(at + 8..at + 12)?.try_into().ok()?;
    *place = (u32::from_le_bytes(*place) ^ before ^ after).to_le_bytes();
    Some(())
}

/// Writes the tag into a frame whose addresses have been moved to the front of four new bytes.
pub fn push_vlan_into(frame: &mut [u8], tpid: u16, tci: u16) -> bool {
    let Some(head) = frame.get_mut(..16) else { return false };
    head.copy_within(4..16, 0);
    head[12..14].copy_from_slice(&tpid.to_be_bytes());
    head[14..16].copy_from_slice(&(tci & 0xefff).to_be_bytes());
    true
}

/// Writes a label into a frame that has four new bytes in front: behind so many tags.
pub fn push_mpls_into(frame: &mut [u8], kind: u16, label: u32, tags: u8) -> bool {
    let at = 14 + 4 * usize::from(tags);
    let Some(head) = frame.get_mut(..at + 4) else { return false };
    head.copy_within(4.., 0);
    head[at - 2..at].copy_from_slice(&kind.to_be_bytes());
    head[at..].copy_from_slice(&label.to_be_bytes());
    true
}

/// Takes the label behind so many tags out of a frame, whose first four bytes are none of it then.
/// False, and it is as it was, where there is none.
pub fn pop_mpls_from(frame: &mut [u8], kind: u16, tags: u8) -> bool {
    let at = 14 + 4 * usize::from(tags);
    let Some(head) = frame.get_mut(..at + 4) else { return false };
    head[at - 2..at].copy_from_slice(&kind.to_be_bytes());
    head.copy_within(..at, 4);
    true
}

#[cfg(test)]
pub(crate) mod tests;
