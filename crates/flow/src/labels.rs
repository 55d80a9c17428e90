//! Labels of MPLS in a key: as many as flows can know of a packet.
//!
//! ```text
//!  label 20 │ traffic class 3 │ last 1 │ time to live 8      RFC 3032 section 2.1, RFC 5462
//! ```
//! The outermost has a place of its own, since flows match it. Those behind it lie where addresses
//! of IPv4 do, which a packet with labels has not.

use crate::key::Key;

/// Labels that can be told of a packet: as many as in Open vSwitch.
pub(crate) const MOST: usize = 3;
/// The bit of the last one.
pub(crate) const LAST: u32 = 0x100;

/// Word and lowest bit of each.
const PLACES: [(usize, u32); MOST] = [(24, 0), (25, 32), (25, 0)];

/// Whether frames of this type have labels.
pub(crate) fn is_labelled(kind: u128) -> bool {
    matches!(kind, 0x8847 | 0x8848)
}

/// The one of this number from outside; zero where there is none.
pub(crate) fn get(key: &Key, number: usize) -> u32 {
    let (word, shift) = PLACES[number];
    (key.words[word] >> shift) as u32
}

/// Puts one there.
pub(crate) fn set(key: &mut Key, number: usize, label: u32) {
    let (word, shift) = PLACES[number];
    let place = &mut key.words[word];
    *place = *place & !(0xffff_ffff << shift) | u64::from(label) << shift;
}

/// Reads those that are behind a frame's type, up to the last.
pub(crate) fn extract(mut bytes: &[u8], words: &mut [u64]) {
    for (word, shift) in PLACES {
        let Some((label, behind)) = bytes.split_first_chunk() else { return };
        let label = u32::from_be_bytes(*label);
        words[word] |= u64::from(label) << shift;
        if label & LAST != 0 {
            return;
        }
        bytes = behind;
    }
}
