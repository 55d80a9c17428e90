//! A rule as packets are compared with it: one cache line for IPv4, two for IPv6.
//!
//! ```text
//!  ┌───────────────┬───────────────┬─────────────┬─────────────┬─────────┐
//!  │ value, N cells│ mask, N cells │ first ports │ spans       │ verdict │
//!  └───────────────┴───────────────┴─────────────┴─────────────┴─────────┘
//!  fits: (key ^ value) & mask == 0 in every cell, and each port at most `span` above its first
//! ```
//! A range's common leading bits stand in value and mask, too: a tree goes by these alone.

use crate::cell::{halves, pair};
use crate::key::{Family, ICMP, PORTS, TCP, is_wide, kind_cell, widen};
use crate::{Key, Ports, Rule, Verdict};

/// A rule as a list keeps it.
pub(crate) trait Stored<const N: usize>: Copy + Send + Sync {
    /// Of a record, if there is room for what it asks.
    fn of(record: &Record<N>) -> Option<Self>;

    /// The record that it is of.
    fn record(&self) -> Record<N>;

    /// Whether a packet fits.
    fn matches(&self, key: &Key<N>) -> bool;

    /// What becomes of packets that fit.
    fn verdict(&self) -> Verdict;
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Record<const N: usize> {
    value: [u32; N],
    mask: [u32; N],
    first: [u16; 2],
    span: [u16; 2],
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
        let ends = |ports: Ports| (ports.first(), ports.last());
        let mut mask: [u32; N] = A::laid_out(
            A::mask(rule.source.length()),
            A::mask(rule.destination.length()),
            [
                kind_cell(if rule.protocol.is_some() { 0xff } else { 0 }, has, flags.1),
                pair(if rule.vlan.is_some() { u16::MAX } else { 0 }, mask_mac.0),
                mask_mac.1,
                pair(common(ends(source)), common(ends(destination))),
            ],
        );
        let mut value: [u32; N] = A::laid_out(
            rule.source.address(),
            rule.destination.address(),
            [
                kind_cell(rule.protocol.unwrap_or(0), has, flags.0),
                pair(rule.vlan.unwrap_or(0), value_mac.0),
                value_mac.1,
                pair(source.first(), destination.first()),
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
            first: [source.first(), destination.first()],
            span: [source, destination].map(|ports| ports.last() - ports.first()),
            verdict,
        }
    }

    /// Of its parts: value and mask, first ports and spans.
    pub(crate) fn with_cells(
        (value, mask): ([u32; N], [u32; N]),
        (first, span): ([u16; 2], [u16; 2]),
        verdict: Verdict,
    ) -> Self {
        Self { value, mask, first, span, verdict }
    }

    pub(crate) fn value(&self) -> &[u32; N] {
        &self.value
    }

    pub(crate) fn mask(&self) -> &[u32; N] {
        &self.mask
    }

    /// First ports and spans.
    pub(crate) fn ports(&self) -> ([u16; 2], [u16; 2]) {
        (self.first, self.span)
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
        let ports = [self.mask[N - 1] >> 16, self.mask[N - 1] & 0xffff];
        asked && ports.iter().zip(self.span).all(|(mask, span)| mask | u32::from(span) == 0xffff)
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
        let ports = key.0[N - 1];
        let within = |port: u16, n: usize| port.wrapping_sub(self.first[n]) <= self.span[n];
        (differ == 0) & within((ports >> 16) as u16, 0) & within(ports as u16, 1)
    }

    #[inline(always)]
    fn verdict(&self) -> Verdict {
        self.verdict
    }
}

/// The leading bits that all ports of a range have, from the first to the last.
pub(crate) fn common((first, last): (u16, u16)) -> u16 {
    let differing = 16 - (first ^ last).leading_zeros();
    u16::MAX.checked_shl(differing).unwrap_or(0)
}
