//! The Internet checksum: computing, checking (RFC 1071), updating in place (RFC 1624).
//!
//! ```text
//! bytes ─▶ 32-bit words of the machine's own order ─▶ u64 sum ─▶ fold 64→32→16 ─▶ to network order ─▶ !
//! ```
//! The sum does not care about byte order as long as one order is kept (RFC 1071, 2.B), and a u64
//! takes 2^32 words before it can overflow, so the loop carries nothing.

/// A sum under way; several pieces may be added, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(u64);

impl Sum {
    /// The sum of nothing.
    pub const ZERO: Self = Self(0);

    /// Adds octets; the piece counts as if it began at an even offset, and is padded with a zero if
    /// odd.
    #[inline]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let (blocks, rest) = bytes.as_chunks::<32>();
        let mut lanes = [0u64; 8];
        for block in blocks {
            let (words, _) = block.as_chunks::<4>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane += u64::from(u32::from_ne_bytes(*word));
            }
        }
        let mut sum = self.0 + lanes.iter().sum::<u64>();
        let (words, rest) = rest.as_chunks::<4>();
        for word in words {
            sum += u64::from(u32::from_ne_bytes(*word));
        }
        let (pairs, rest) = rest.as_chunks::<2>();
        for pair in pairs {
            sum += u64::from(u16::from_ne_bytes(*pair));
        }
        if let [last] = rest {
            sum += u64::from(u16::from_ne_bytes([*last, 0]));
        }
        Self(sum)
    }

    /// Adds one 16-bit field, in host order.
    #[inline]
    pub const fn u16(self, value: u16) -> Self {
        Self(self.0 + value.to_be() as u64)
    }

    /// Adds one 32-bit field, in host order.
    #[inline]
    pub const fn u32(self, value: u32) -> Self {
        Self(self.0 + value.to_be() as u64)
    }

    /// Adds one 128-bit field, in host order.
    #[inline]
    pub const fn u128(self, value: u128) -> Self {
        self.u32((value >> 96) as u32)
            .u32((value >> 64) as u32)
            .u32((value >> 32) as u32)
            .u32(value as u32)
    }

    /// The checksum field's value, in host order.
    #[inline]
    pub const fn checksum(self) -> u16 {
        !u16::from_be(fold(self.0))
    }

    /// The checksum field's value for UDP, where 0 would say "none" and 0xffff stands for it (RFC
    /// 768).
    #[inline]
    pub const fn udp_checksum(self) -> u16 {
        match self.checksum() {
            0 => 0xffff,
            checksum => checksum,
        }
    }

    /// Whether a sum over octets that hold their checksum comes out right.
    #[inline]
    pub const fn is_valid(self) -> bool {
        fold(self.0) == 0xffff
    }
}

/// Adds the carries back until 16 bits are left.
#[inline]
const fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// The checksum of `bytes`, in which the checksum field must be zero.
#[inline]
pub fn of(bytes: &[u8]) -> u16 {
    Sum::ZERO.bytes(bytes).checksum()
}

/// Whether `bytes`, which hold their checksum, are whole.
#[inline]
pub fn is_valid(bytes: &[u8]) -> bool {
    Sum::ZERO.bytes(bytes).is_valid()
}

/// The pseudo header of TCP and UDP over IPv4 (RFC 9293, 3.1); addresses in host order.
#[inline]
pub const fn pseudo4(source: u32, destination: u32, protocol: u8, len: u16) -> Sum {
    Sum::ZERO.u32(source).u32(destination).u16(protocol as u16).u16(len)
}

/// The pseudo header of upper layers over IPv6 (RFC 8200, 8.1); addresses in host order.
#[inline]
pub const fn pseudo6(source: u128, destination: u128, protocol: u8, len: u32) -> Sum {
    Sum::ZERO.u128(source).u128(destination).u32(len).u32(protocol as u32)
}

/// The checksum after one aligned 16-bit field went from `old` to `new` (RFC 1624, equation 3).
#[inline]
pub const fn update_u16(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(!checksum as u64 + !old as u64 + new as u64)
}

/// The checksum after one aligned 32-bit field went from `old` to `new`.
#[inline]
pub const fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    !fold(!checksum as u64 + !old as u64 + new as u64)
}

/// The IPv4 header checksum after the TTL went down by one.
///
/// The TTL is the high octet of its word, so the word loses 0x0100 whatever the protocol beside it.
/// With its octets swapped it loses 1, and the checksum gains 1, and 1 more where equation 3
/// carries: sums do not mind the order of octets (RFC 1071 section 2).
#[inline]
pub const fn after_ttl_decrement(checksum: u16) -> u16 {
    let swapped = checksum.swap_bytes();
    swapped.wrapping_add(1 + (swapped >= 0xfffe) as u16).swap_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// RFC 1071 as it reads: big-endian 16-bit words, carries added back at once.
    fn naive(bytes: &[u8]) -> u16 {
        let mut sum = 0u32;
        for pair in bytes.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            sum += u32::from(u16::from_be_bytes([pair[0], low]));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    #[test]
    fn the_example_of_rfc_1071_sums_to_ddf2() {
        assert_eq!(of(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn a_known_ipv4_header_has_its_known_checksum() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert!(is_valid(&header));
        let mut cleared = header;
        cleared[10..12].fill(0);
        assert_eq!(of(&cleared), 0xb861);
    }

    #[test]
    fn the_example_of_rfc_1624_gives_zero_and_not_minus_zero() {
        assert_eq!(update_u16(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn a_udp_checksum_of_zero_is_sent_as_all_ones() {
        assert_eq!(Sum::ZERO.u16(0xffff).checksum(), 0);
        assert_eq!(Sum::ZERO.u16(0xffff).udp_checksum(), 0xffff);
    }

    #[test]
    fn a_great_block_of_ones_does_not_overflow() {
        let bytes = vec![0xff; 1 << 20];
        assert_eq!(of(&bytes), naive(&bytes));
    }

    proptest! {
        #[test]
        fn the_fast_sum_is_the_naive_sum(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            prop_assert_eq!(of(&bytes), naive(&bytes));
        }

        #[test]
        fn fields_sum_as_their_octets_do(a: u16, b: u32, c: u128) {
            let mut bytes = a.to_be_bytes().to_vec();
            bytes.extend(b.to_be_bytes());
            bytes.extend(c.to_be_bytes());
            prop_assert_eq!(Sum::ZERO.u16(a).u32(b).u128(c).checksum(), naive(&bytes));
        }

        #[test]
        fn pseudo_headers_sum_as_their_octets_do(s: u32, d: u32, s6: u128, d6: u128, p: u8, n: u16) {
            let mut four = [s.to_be_bytes(), d.to_be_bytes(), [0, p, 0, 0]].concat();
            four[10..].copy_from_slice(&n.to_be_bytes());
            prop_assert_eq!(pseudo4(s, d, p, n).checksum(), naive(&four));
            let mut six = [s6.to_be_bytes(), d6.to_be_bytes()].concat();
            six.extend(u32::from(n).to_be_bytes());
            six.extend([0, 0, 0, p]);
            prop_assert_eq!(pseudo6(s6, d6, p, n.into()).checksum(), naive(&six));
        }

        #[test]
        fn an_update_equals_a_recomputation(
            (mut bytes, new, wide) in any::<([u8; 20], u16, u32)>(),
            word in 0usize..10,
            half in 0usize..5,
        ) {
            bytes[0] |= 0x40; // all-zero data is the one case where the two zeros differ
            let before = naive(&bytes);
            let at = word * 2;
            let old = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
            let new = if word == 0 { new | 0x4000 } else { new };
            bytes[at..at + 2].copy_from_slice(&new.to_be_bytes());
            let after = naive(&bytes);
            prop_assert_eq!(update_u16(before, old, new), after);

            let at = half * 4;
            let old = u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            let wide = wide | 0x4000_0000;
            bytes[at..at + 4].copy_from_slice(&wide.to_be_bytes());
            prop_assert_eq!(update_u32(after, old, wide), naive(&bytes));
        }

        #[test]
        fn a_ttl_decrement_equals_a_recomputation(mut bytes: [u8; 20], ttl in 1u8..) {
            bytes[0] = 0x45;
            bytes[8] = ttl;
            let before = naive(&bytes);
            bytes[8] -= 1;
            prop_assert_eq!(after_ttl_decrement(before), naive(&bytes));
        }
    }

    #[test]
    fn a_ttl_decrement_is_equation_3_for_every_checksum() {
        for checksum in 0..=u16::MAX {
            assert_eq!(after_ttl_decrement(checksum), update_u16(checksum, 0x4011, 0x3f11));
        }
    }
}
