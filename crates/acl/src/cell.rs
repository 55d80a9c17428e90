//! What fills one cell of a key, or the halves of it.

/// Two halves of a cell.
#[inline]
pub(crate) fn pair(high: u16, low: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

/// A MAC address as a half cell and a whole one.
#[inline]
pub(crate) fn halves([a, b, c, d, e, f]: [u8; 6]) -> (u16, u32) {
    (u16::from_be_bytes([a, b]), u32::from_be_bytes([c, d, e, f]))
}

/// Whether both ports of a pair are at most as far above the first ones as the spans say.
#[inline(always)]
pub(crate) fn are_within(ports: u32, first: u32, spans: u32) -> bool {
    let is = |shift: u32| {
        let of = |pair: u32| (pair >> shift) as u16;
        of(ports).wrapping_sub(of(first)) <= of(spans)
    };
    is(16) & is(0)
}
