//! A rule as packets are compared with it: one cache line for IPv4, two for IPv6.
//!
//! ```text
//!  ┌───────────────┬───────────────┬─────────────┬─────────────┬─────────┐
//!  │ value, N cells│ mask, N cells │ first ports │ spans       │ verdict │
//!  └───────────────┴───────────────┴─────────────┴─────────────┴─────────┘
//!  fits: (key ^ value) & mask == 0 in every cell, and each port at most `span` above its first
//! ```
//! A range's common leading bits stand in value and mask, too: a tree goes by these alone.

#![allow(unsafe_code)] // Compares many cells at once where the processor can.

use crate::cell::{are_within, halves, pair};
use crate::key::{CELLS6, Family, ICMP, PORTS, TCP, is_wide, kind_cell, ports_cell, widen};
use crate::{Key, Ports, Rule, Verdict};

/// A rule as a list keeps it.
pub(crate) trait Stored<const N: usize>: Copy + Send + Sync {
    /// Of a record, if there is room for what it asks.
    fn of(record: &Record<N>) -> Option<Self>;

    /// The record that it is of.
    fn record(&self) -> Record<N>;

    /// Whether a packet fits.
    fn matches(&self, key: &Key<N>) -> bool;

    /// The same with the instructions that there are.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn matches_avx2(&self, key: &Key<N>) -> bool {
        self.matches(key)
    }

    /// What becomes of packets that fit.
    fn verdict(&self) -> Verdict;
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Record<const N: usize> {
    value: [u32; N],
    mask: [u32; N],
    first: u32,
    spans: u32,
    verdict: Verdict,
}

impl<const N: usize> Record<N> {
    pub(crate) fn new<A: Family<N>>(rule: &Rule<A>, verdict: Verdict) -> Self {
        let mut has = 0;
        let mut ranges = [rule.source_ports, rule.destination_ports];
        if ranges.iter().any(Option::is_some) {
            has |= PORTS;
        }
        if let Some(icmp) = rule.icmp {
            has |= ICMP;
            ranges =
                [Some(Ports::one(icmp.kind.into())), icmp.code.map(|code| Ports::one(code.into()))];
        }
        if rule.tcp_flags.is_some() {
            has |= TCP;
        }
        let [source, destination] = ranges.map(|ports| ports.unwrap_or(Ports::ALL));
        let flags = rule.tcp_flags.map_or((0, 0), |flags| (flags.value, flags.mask));
        let mac = |mac: Option<[u8; 6]>| mac.map_or((0, 0), halves);
        let (value_mac, mask_mac) = (mac(rule.source_mac), mac(rule.source_mac.map(|_| [0xff; 6])));
        let first = pair(source.first(), destination.first());
        let spans = pair(source.last(), destination.last()) - first;
        let mut mask: [u32; N] = A::laid_out(
            A::mask(rule.source.length()),
            A::mask(rule.destination.length()),
            [
                kind_cell(if rule.protocol.is_some() { 0xff } else { 0 }, has, flags.1),
                common_of(first, spans),
                pair(if rule.vlan.is_some() { u16::MAX } else { 0 }, mask_mac.0),
                mask_mac.1,
            ],
        );
        let mut value: [u32; N] = A::laid_out(
            rule.source.address(),
            rule.destination.address(),
            [
                kind_cell(rule.protocol.unwrap_or(0), has, flags.0),
                first,
                pair(rule.vlan.unwrap_or(0), value_mac.0),
                value_mac.1,
            ],
        );
        if is_wide(N) {
            let (more, more_mask) = rule.more.cells();
            widen(&mut value, more);
            widen(&mut mask, more_mask);
        }
        Self {
            value: std::array::from_fn(|cell| value[cell] & mask[cell]),
            mask,
            first,
            spans,
            verdict,
        }
    }

    /// Of its parts: value and mask, first ports and spans.
    pub(crate) fn with_cells(
        (value, mask): ([u32; N], [u32; N]),
        (first, spans): (u32, u32),
        verdict: Verdict,
    ) -> Self {
        Self { value, mask, first, spans, verdict }
    }

    pub(crate) fn value(&self) -> &[u32; N] {
        &self.value
    }

    pub(crate) fn mask(&self) -> &[u32; N] {
        &self.mask
    }

    /// First ports and spans.
    pub(crate) fn ports(&self) -> (u32, u32) {
        (self.first, self.spans)
    }

    #[inline(always)]
    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The same with another verdict.
    pub(crate) fn with(&self, verdict: Verdict) -> Self {
        Self { verdict, ..*self }
    }

    /// The cell as a tree sees it: the bits that packets must have, and which.
    pub(crate) fn cell(&self, cell: usize) -> (u32, u32) {
        (self.value[cell], self.mask[cell])
    }

    /// Whether every packet fits that has the bits of `known` where the rule asks for bits.
    pub(crate) fn takes_all(&self, known: &[u32; N]) -> bool {
        let asked = self.mask.iter().zip(known).all(|(mask, known)| mask & !known == 0);
        asked && self.mask[ports_cell(N)] | self.spans == u32::MAX
    }
}

impl<const N: usize> Stored<N> for Record<N> {
    fn of(record: &Record<N>) -> Option<Self> {
        Some(*record)
    }

    fn record(&self) -> Record<N> {
        *self
    }

    #[inline(always)]
    fn matches(&self, key: &Key<N>) -> bool {
        let mut differ = 0;
        for ((key, value), mask) in key.0.iter().zip(&self.value).zip(&self.mask) {
            differ |= (key ^ value) & mask;
        }
        (differ == 0) & are_within(key.0[ports_cell(N)], self.first, self.spans)
    }

    #[cfg(target_arch = "x86_64")]
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn matches_avx2(&self, key: &Key<N>) -> bool {
        match N {
            // SAFETY: the caller's.
            CELLS6 => unsafe { x86::fits(self, key) },
            _ => self.matches(key),
        }
    }

    #[inline(always)]
    fn verdict(&self) -> Verdict {
        self.verdict
    }
}

/// The leading bits that all ports of the two ranges have, from the first to the last.
pub(crate) fn common_of(first: u32, spans: u32) -> u32 {
    let common = |first: u16, span: u16| {
        let differing = 16 - (first ^ (first + span)).leading_zeros();
        u16::MAX.checked_shl(differing).unwrap_or(0)
    };
    let halves = |pair: u32| ((pair >> 16) as u16, pair as u16);
    let ((source, destination), (more, further)) = (halves(first), halves(spans));
    pair(common(source, more), common(destination, further))
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{CELLS6, Record, ports_cell};
    use crate::Key;
    use std::arch::x86_64::*;

    #[inline]
    /// Whether nothing differs of what is asked, twelve cells and the ports at once.
    ///
    /// # Safety
    /// The processor has AVX2, and there are so many cells.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn fits<const N: usize>(record: &Record<N>, key: &Key<N>) -> bool {
        const FIRST: usize = 8;
        debug_assert_eq!(N, CELLS6);
        // SAFETY: each has twelve cells, read as eight and four.
        let differ = unsafe {
            let eight = |cells: &[u32; N]| _mm256_loadu_si256(cells.as_ptr().cast());
            let four = |cells: &[u32; N]| _mm_loadu_si128(cells.as_ptr().add(FIRST).cast());
            let last = _mm_xor_si128(four(&key.0), four(&record.value));
            let last = _mm_and_si128(last, four(&record.mask));
            let differ = _mm256_xor_si256(eight(&key.0), eight(&record.value));
            let differ = _mm256_and_si256(differ, eight(&record.mask));
            _mm256_or_si256(differ, _mm256_zextsi128_si256(last))
        };
        let pair = |ports: u32| _mm_cvtsi32_si128(ports as i32);
        let above = _mm_sub_epi16(pair(key.0[ports_cell(N)]), pair(record.first));
        let beyond = _mm_subs_epu16(above, pair(record.spans));
        let wrong = _mm256_or_si256(differ, _mm256_zextsi128_si256(beyond));
        _mm256_testz_si256(wrong, wrong) != 0
    }
}
