//! A rule of IPv4 in half a cache line: what nearly all ask for, and neither VLAN nor station.
//!
//! ```text
//!  ┌─────────┬────────┬─────────────┬───────────────┬──────────────────┬─────────────┬───────┐
//!  │ verdict │ source │ destination │ kind, host    │ kind mask, host  │ first ports │ spans │
//!  │    8    │   4    │      4      │ bits of source│ bits of dest.    │      4      │   4   │
//!  └─────────┴────────┴─────────────┴───────────────┴──────────────────┴─────────────┴───────┘
//! ```
//! Lists of fifty thousand rules lie in no cache that is near: half the bytes are half the lines.

use crate::cell::pair;
use crate::key::CELLS4;
use crate::record::{Record, Stored, common};
use crate::{Key, Verdict};

#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Lean {
    verdict: Verdict,
    source: u32,
    destination: u32,
    /// The lowest byte, which no packet has, is the number of bits behind the source's prefix.
    kind: u32,
    /// Likewise of the destination's.
    kind_mask: u32,
    first: [u16; 2],
    span: [u16; 2],
}

/// Cells of the two addresses and of the kind.
const ASKED: usize = 3;
/// Bits of a kind that packets have.
const KIND: u32 = !0xff;

impl<const N: usize> Stored<N> for Lean {
    fn of(record: &Record<N>) -> Option<Self> {
        let (value, mask) = (record.value(), record.mask());
        let others = mask.get(ASKED..N - 1)?;
        if N != CELLS4 || others.iter().any(|mask| *mask != 0) {
            return None;
        }
        let (first, span) = record.ports();
        Some(Self {
            verdict: record.verdict(),
            source: value[0],
            destination: value[1],
            kind: value[2] & KIND | mask[0].count_zeros(),
            kind_mask: mask[2] & KIND | mask[1].count_zeros(),
            first,
            span,
        })
    }

    fn record(&self) -> Record<N> {
        let host = |bits: u32| (u64::MAX << (bits & 0xff)) as u32;
        let ends = |n: usize| (self.first[n], self.first[n] + self.span[n]);
        let [source, destination] = [0, 1].map(|n| common(ends(n)));
        let (mut value, mut mask) = ([0; N], [0; N]);
        for (cells, some) in [
            (&mut value, [self.source, self.destination, self.kind & KIND]),
            (&mut mask, [host(self.kind), host(self.kind_mask), self.kind_mask & KIND]),
        ] {
            cells.iter_mut().zip(some).for_each(|(cell, word)| *cell = word);
        }
        mask[N - 1] = pair(source, destination);
        value[N - 1] = pair(self.first[0], self.first[1]) & mask[N - 1];
        Record::with_cells((value, mask), (self.first, self.span), self.verdict)
    }

    #[inline(always)]
    fn matches(&self, key: &Key<N>) -> bool {
        let behind = |own: u32, key: u32, bits: u32| u64::from(own ^ key) >> (bits & 0x3f);
        let differ = behind(self.source, key.0[0], self.kind)
            | behind(self.destination, key.0[1], self.kind_mask)
            | u64::from((self.kind ^ key.0[2]) & self.kind_mask & KIND);
        let ports = key.0[N - 1];
        let within = |port: u16, n: usize| port.wrapping_sub(self.first[n]) <= self.span[n];
        (differ == 0) & within((ports >> 16) as u16, 0) & within(ports as u16, 1)
    }

    #[inline(always)]
    fn verdict(&self) -> Verdict {
        self.verdict
    }
}
