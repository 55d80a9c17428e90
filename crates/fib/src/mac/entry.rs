//! The two words of a learned address: which it is, and where it is.
//!
//! ```text
//!  key    63            48 47                                    0
//!        +----------------+---------------------------------------+
//!        | bridge domain  |  MAC address                          |    0: free
//!        +----------------+---------------------------------------+
//!  data   31   30     29        16 15                            0
//!        +---+------+-------------+-------------------------------+
//!        | V |static|    stamp    |  port                         |    0: not there (yet)
//!        +---+------+-------------+-------------------------------+
//! ```
//!
//! A group address is no key, so keys with the group bit mark slots that were emptied and wait for
//! readers to pass.

use std::fmt;

/// A MAC address in a bridge domain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct MacKey(u64);

/// Where a known address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacEntry {
    /// The port it was seen on, or was configured on.
    pub port: u32,
    /// Whether it was configured: it neither ages nor moves.
    pub is_static: bool,
}

/// The group bit of the first octet: broadcast and multicast.
const GROUP: u64 = 1 << 40;
const ADDRESS: u64 = (1 << 48) - 1;
/// The largest port.
pub const MAX_PORT: u32 = (1 << 16) - 1;
/// Stamps count modulo this.
pub(super) const STAMPS: u32 = 1 << 14;

const VALID: u32 = 1 << 31;
const STATIC: u32 = 1 << 30;

impl MacKey {
    /// No station's: never in a table.
    pub const NOBODY: MacKey = MacKey(0);

    /// The key of `address` in `domain`.
    #[inline(always)]
    pub fn new(domain: u16, address: [u8; 6]) -> MacKey {
        let [a, b, c, d, e, f] = address;
        let [high, low] = domain.to_be_bytes();
        MacKey(u64::from_be_bytes([high, low, a, b, c, d, e, f]))
    }

    /// The key of the address that the lowest 48 bits of `word` are.
    #[inline(always)]
    pub fn from_word(domain: u16, word: u64) -> MacKey {
        MacKey(u64::from(domain) << 48 | word & ADDRESS)
    }

    /// Its bridge domain.
    #[inline(always)]
    pub fn domain(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// Its address.
    pub fn address(self) -> [u8; 6] {
        let [_, _, a, b, c, d, e, f] = self.0.to_be_bytes();
        [a, b, c, d, e, f]
    }

    /// Whether a station may have it: neither a group address nor all zeros.
    #[inline(always)]
    pub fn is_station(self) -> bool {
        self.0 & GROUP == 0 && self.0 & ADDRESS != 0
    }

    #[inline(always)]
    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// The key that `bits` hold, unless they mark a free or emptied slot.
    pub(super) fn from_bits(bits: u64) -> Option<MacKey> {
        Some(MacKey(bits)).filter(|key| key.is_station())
    }
}

impl fmt::Display for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.address();
        write!(
            f,
            "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x} in bridge domain {}",
            self.domain()
        )
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Marks a slot that was emptied in `epoch`.
pub(super) fn emptied(epoch: u32) -> u64 {
    GROUP | u64::from(epoch)
}

/// When the slot was emptied, if `key` marks one.
pub(super) fn emptied_in(key: u64) -> Option<u32> {
    (key & GROUP != 0).then_some(key as u32)
}

/// The second word of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data(pub(super) u32);

impl Data {
    pub(super) const NONE: Data = Data(0);

    #[inline(always)]
    pub(super) fn new(port: u32, is_static: bool, stamp: u32) -> Data {
        let fixed = if is_static { STATIC } else { 0 };
        Data(VALID | fixed | (stamp % STAMPS) << 16 | port & MAX_PORT)
    }

    #[inline(always)]
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline(always)]
    pub(super) fn is_static(self) -> bool {
        self.0 & STATIC != 0
    }

    #[inline(always)]
    pub(super) fn port(self) -> u32 {
        self.0 & MAX_PORT
    }

    /// Ticks since it was last seen.
    #[inline(always)]
    pub(super) fn age(self, now: u32) -> u32 {
        now.wrapping_sub(self.0 >> 16) % STAMPS
    }

    /// Whether it is there, and not older than `max_age`. Without branches: a vector of them is
    /// looked at in registers.
    #[inline(always)]
    pub(super) fn is_live(self, now: u32, max_age: u32) -> bool {
        (self.0 & VALID != 0) & (self.is_static() | (self.age(now) <= max_age))
    }

    pub(super) fn entry(self) -> MacEntry {
        MacEntry { port: self.port(), is_static: self.is_static() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_as_they_were_made() {
        let key = MacKey::new(0x1234, [2, 0xb, 0xc, 0xd, 0xe, 0xf]);
        assert_eq!((key.domain(), key.address()), (0x1234, [2, 0xb, 0xc, 0xd, 0xe, 0xf]));
        assert_eq!(MacKey::from_bits(key.bits()), Some(key));
        assert_eq!(MacKey::from_word(0x1234, 0xffff_020b_0c0d_0e0f), key);
        assert_eq!(key.to_string(), "02:0b:0c:0d:0e:0f in bridge domain 4660");
    }

    #[test]
    fn groups_zeros_and_marks_are_no_stations() {
        assert!(!MacKey::new(7, [0xff; 6]).is_station());
        assert!(!MacKey::new(7, [1, 0, 0x5e, 0, 0, 1]).is_station());
        assert!(!MacKey::new(7, [0; 6]).is_station());
        assert_eq!(MacKey::from_bits(emptied(u32::MAX)), None);
        assert_eq!(emptied_in(emptied(5)), Some(5));
        assert_eq!(emptied_in(MacKey::new(7, [2; 6]).bits()), None);
    }

    #[test]
    fn age_counts_across_the_wrap_of_the_stamp() {
        let data = Data::new(5, false, STAMPS - 1);
        assert_eq!((data.port(), data.age(STAMPS + 2)), (5, 3));
        assert!(data.is_live(STAMPS + 2, 3) && !data.is_live(STAMPS + 2, 2));
        assert!(Data::new(5, true, 0).is_live(500, 2));
        assert!(!Data::NONE.is_live(0, 9));
    }
}
