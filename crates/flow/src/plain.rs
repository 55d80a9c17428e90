//! Packets of the usual form, told apart by their bytes where they lie: no key is made of them.
//!
//! ```text
//!  Ethernet, a tag or none │ IPv4 of 20 octets, no piece │ TCP or UDP
//!  two words, whole          addresses; kind, TOS, TTL     ports, flags of TCP
//! ```
//! Two that are equal have equal keys, which a test holds; what no field has (lengths, the
//! identification, checksums, sequence numbers) is not in it. Whatever else a frame carries is none
//! of these, and has a key.

use crate::key::Key;
use crate::track::Tracked;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Plain([u64; 7]);

/// IPv4, and tags, as words of little-endian machines have them.
const IP4: u16 = 0x0008;
const TAG: u16 = 0x0081;
const SERVICE_TAG: u16 = 0xa888;

fn word(bytes: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*bytes)
}

impl Plain {
    /// Of a frame that came in by a port; none where it has another form.
    #[inline(always)]
    pub fn of(frame: &[u8], in_port: u16) -> Option<Self> {
        let ethernet = frame.first_chunk::<16>()?;
        let (first, second) = (word(ethernet.first_chunk()?), word(ethernet.last_chunk()?));
        let packet = match (second >> 32) as u16 {
            IP4 => &frame[14..],
            TAG | SERVICE_TAG if frame.get(16..18)? == [8, 0] => &frame[18..],
            _ => return None,
        };
        let header = packet.first_chunk::<28>()?;
        let [a, b] = [header.first_chunk()?, header[8..].first_chunk()?].map(word);
        let (addresses, behind) = (word(header[12..].first_chunk()?), word(header.last_chunk()?));
        let total = usize::from(((a >> 16) as u16).swap_bytes());
        // Version 4 and five words; neither a later piece nor one with more to come.
        let is_usual = a as u8 == 0x45 && (a >> 48) & 0xff3f == 0;
        if !is_usual || total < 28 || total > packet.len() {
            return None;
        }
        let flags = match (b >> 8) as u8 {
            17 => 0,
            6 => {
                let &[high, low] = packet.get(32..34)?.first_chunk()?;
                if !(20..=total - 20).contains(&(usize::from(high >> 4) * 4)) {
                    return None;
                }
                u64::from(high & 0xf) << 8 | u64::from(low)
            }
            _ => return None,
        };
        let ports = behind & 0xffff_ffff | u64::from(in_port) << 32 | flags << 48;
        let kind = b & 0xffff | (a & 0xff00) << 8;
        Some(Self([first, second, addresses, ports, kind, 0, 0]))
    }

    /// The same, beginning again on a way of this number with what tracking said; none where the
    /// connection has a longer label.
    #[inline]
    pub fn again(mut self, number: u32, tracked: &Tracked) -> Option<Self> {
        let Tracked { state, zone, mark, label, .. } = *tracked;
        self.0[4] |= u64::from(state) << 24 | u64::from(zone) << 32;
        self.0[5] = u64::from(number) | u64::from(mark) << 32;
        self.0[6] = u64::try_from(label).ok()?;
        Some(self)
    }

    /// The bits of these that decide what keys have under a mask: of two on the same way that are
    /// alike there, the keys are alike under it. None where who began the connection decides.
    pub(crate) fn mask(mask: &Key) -> Option<[u64; 7]> {
        if mask.has_origin() {
            return None;
        }
        let word = &mask.words;
        let any = |bits: u64, all: u64| if bits == 0 { 0 } else { all };
        let port = |bits: u64| u64::from((bits as u16).swap_bytes());
        let (to, from, tag) = (word[22] >> 16, word[23] >> 16, word[23] & 0xffff);
        let octet = |word: u64, shift: u32| word >> shift & 0xff;
        Some([
            any(to, 0xffff_ffff_ffff) | any(from, 0xffff << 48),
            // With a tag, or without: that is always told apart.
            any(from, 0xffff_ffff) | 0xffff << 32 | any(tag, 0xffff << 48),
            word[25].swap_bytes(),
            port(word[35])
                | port(word[35] >> 16) << 16
                | (word[21] & 0xffff) << 32
                | (word[35] >> 32 & 0xfff) << 48,
            octet(word[30], 16)
                | octet(word[30], 0) << 8
                | octet(word[30], 8) << 16
                | octet(word[18], 0) << 24
                | word[18] & 0xffff << 32,
            0xffff_ffff | word[17] & 0xffff_ffff << 32,
            word[20],
        ])
    }

    /// A number: equal for equal ones.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        let [a, b, c, d, e, f, g] = self.0;
        let one = fold(a ^ 0x9e37_79b9_7f4a_7c15, b ^ 0xe703_7ed1_a0b4_28db);
        let two = fold(c ^ 0x8ebc_6af0_9c88_c6e3, d ^ 0x5899_65cc_7537_4cc3);
        let three = fold(e ^ 0x1d8e_4e27_c47d_124f, f ^ g.rotate_left(17) ^ 0xeb44_acca_b455_d165);
        one ^ two ^ three
    }

    /// The same with two words more, which say nothing of a packet that has not begun again.
    #[inline]
    pub(crate) fn with(mut self, more: [u64; 2]) -> Self {
        [self.0[5], self.0[6]] = more;
        self
    }

    /// The words, to be kept.
    pub(crate) fn words(&self) -> &[u64; 7] {
        &self.0
    }
}

/// Both halves of a product.
#[inline(always)]
pub(crate) fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{extract, tests::udp};
    use openflow::Field;
    use proptest::prelude::*;

    fn key(frame: &[u8], in_port: u16) -> Key {
        let mut key = Key::default();
        extract(frame, in_port, &mut key);
        key
    }

    /// A segment of TCP, with a tag or without.
    fn tcp(is_tagged: bool) -> Vec<u8> {
        let mut frame = udp(1, 80);
        frame.truncate(38);
        (frame[17], frame[23]) = (40, 6);
        frame.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x12, 1, 0, 0, 0, 0, 0]);
        if is_tagged {
            frame.splice(12..12, [0x81, 0, 0x60, 5]);
        }
        frame
    }

    #[test]
    fn segments_datagrams_and_tags_are_of_the_usual_form_and_pieces_and_options_are_not() {
        let usual = [udp(1, 1), tcp(false), tcp(true)];
        assert!(usual.iter().all(|frame| Plain::of(frame, 1).is_some()));
        // Each differs from itself with a bit more: another port, more to come, options, a length
        // beyond the frame, an offset of TCP that is too short.
        let other = |at: usize, value: u8| {
            let mut frame = tcp(false);
            frame[at] = value;
            Plain::of(&frame, 1)
        };
        assert!(
            [(20, 0x20), (21, 1), (14, 0x46), (17, 41), (46, 0x40), (23, 1), (12, 9)]
                .iter()
                .all(|&(at, value)| other(at, value).is_none())
        );
        assert!(other(20, 0x40).is_some() && other(20, 0x40) == other(19, 7));
    }

    #[test]
    fn what_tracking_said_and_the_way_tell_packets_apart() {
        let plain = Plain::of(&udp(1, 1), 1).unwrap();
        let all = [
            (1, Tracked::default()),
            (2, Tracked::default()),
            (1, Tracked { state: 0x21, ..Tracked::default() }),
            (1, Tracked { zone: 0x21, ..Tracked::default() }),
            (1, Tracked { mark: 0x21, ..Tracked::default() }),
            (1, Tracked { label: 0x21, ..Tracked::default() }),
        ]
        .map(|(number, tracked)| plain.again(number, &tracked).unwrap());
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| one != other && one.hash() != other.hash()));
        }
        let long = Tracked { label: 1 << 64, ..Tracked::default() };
        assert_eq!(plain.again(1, &long), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn those_alike_under_a_mask_have_keys_that_are(
            base in 0..3usize,
            changes in proptest::collection::vec((0..54usize, 0..8u32), 1..4),
            fields in proptest::collection::vec((0..FIELDS.len(), any::<u128>()), 0..4),
            whole in any::<bool>(),
            ports in (0..2u16, 0..2u16),
            tracked in ((0..2u8, 0..2u16), (0..2u32, 0..2u64), (0..2u8, 0..2u16), (0..2u32, 0..2u64)),
        ) {
            let frame = [udp(1, 80), tcp(false), tcp(true)][base].clone();
            let mut second = frame.clone();
            for (at, bit) in changes {
                if let Some(it) = second.get_mut(at) { *it ^= 1 << bit }
            }
            let mut mask = Key::default();
            for (field, bits) in fields {
                mask.set(FIELDS[field], bits, if whole { u128::MAX } else { bits });
            }
            let frozen = crate::track::Frozen {
                table: 0, rests: vec![], tracked: None, times: 0, words: [0; crate::track::BESIDE], stack: vec![], set: vec![], queue: None,
            };
            let one = |frame: &[u8], port: u16, (state, zone): (u8, u16), (mark, label): (u32, u64)| {
                let tracked =
                    Tracked { state, zone, mark, label: label.into(), ..Tracked::default() };
                let mut key = Key::default();
                key.begin_again(&frozen, 9, &tracked);
                extract(frame, port, &mut key);
                Some((Plain::of(frame, port)?.again(9, &tracked)?, key))
            };
            let first = one(&frame, ports.0, tracked.0, tracked.1);
            let second = one(&second, ports.1, tracked.2, tracked.3);
            let bits = Plain::mask(&mask).unwrap();
            if let (Some((plain, key)), Some((other, other_key))) = (first, second) {
                let words = plain.0.iter().zip(&other.0).zip(&bits);
                if words.map(|((a, b), bits)| (a ^ b) & bits).all(|it| it == 0) {
                    for (word, bits) in mask.words.iter().enumerate() {
                        prop_assert_eq!((key.words[word] ^ other_key.words[word]) & bits, 0, "{}", word);
                    }
                }
            }
        }
    }

    /// What a mask may have of such packets.
    const FIELDS: [Field; 19] = [
        Field::InPort,
        Field::EthDst,
        Field::EthSrc,
        Field::EthType,
        Field::VlanTci,
        Field::IpSrc,
        Field::IpDst,
        Field::IpProto,
        Field::IpDscp,
        Field::IpEcn,
        Field::IpTtl,
        Field::IpFrag,
        Field::TcpSrc,
        Field::TcpDst,
        Field::TcpFlags,
        Field::CtState,
        Field::CtZone,
        Field::CtMark,
        Field::CtLabel,
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn equal_ones_have_equal_keys(
            base in 0..3usize,
            one in proptest::collection::vec((12..64usize, any::<u8>()), 0..3),
            other in proptest::collection::vec((0..64usize, any::<u8>()), 0..3),
            ports in (0..2u16, 0..2u16),
            cut in 30..80usize,
        ) {
            let mut frame = [udp(1, 80), tcp(false), tcp(true)][base].clone();
            frame.extend([7; 6]);
            let change = |frame: &mut Vec<u8>, changes: &[(usize, u8)]| {
                changes.iter().for_each(|&(at, value)| if let Some(it) = frame.get_mut(at) { *it = value });
            };
            change(&mut frame, &one);
            let mut second = frame.clone();
            change(&mut second, &other);
            second.truncate(cut);
            let plain = (Plain::of(&frame, ports.0), Plain::of(&second, ports.1));
            if plain.0.is_some() && plain.0 == plain.1 {
                prop_assert_eq!(key(&frame, ports.0), key(&second, ports.1));
            }
        }
    }
}
