//! How a tree divides rules: by a few bits of one cell, chosen by how well they tell the rules
//! apart.
//!
//! ```text
//!  a cell of the key   ████████████████████████████████
//!                            └─ bits ─┘└─── shift ────┘     child = those bits
//! ```
//! A rule that asks for none of them goes to every child; one that goes to too many is left aside,
//! for a tree of its own kind.

use crate::Key;
use crate::record::Record;

/// Some bits of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) cell: u8,
    pub(crate) shift: u8,
    pub(crate) bits: u8,
}

/// The children that a rule goes to: those that have its bits.
#[derive(Clone, Copy)]
pub(crate) struct Reach {
    value: u32,
    free: u32,
}

impl Cut {
    pub(crate) fn children(self) -> usize {
        1 << self.bits
    }

    fn ones(self) -> u32 {
        (1 << self.bits) - 1
    }

    /// The cell's bits that it looks at.
    pub(crate) fn mask(self) -> u32 {
        self.ones() << self.shift
    }

    /// A packet's child.
    #[inline(always)]
    pub(crate) fn child<const N: usize>(self, key: &Key<N>) -> u32 {
        (self.cell(key) >> (self.shift & 31)) & !(u32::MAX << (self.bits & 31))
    }

    /// The cell of a packet that it looks at.
    #[inline(always)]
    pub(crate) fn cell<const N: usize>(self, key: &Key<N>) -> u32 {
        key.0.get(usize::from(self.cell)).copied().unwrap_or_default()
    }

    pub(crate) fn reach<const N: usize>(self, rule: &Record<N>) -> Reach {
        let (value, mask) = rule.cell(usize::from(self.cell));
        Reach {
            value: value >> self.shift & self.ones(),
            free: !(mask >> self.shift) & self.ones(),
        }
    }
}

impl Reach {
    pub(crate) fn count(self) -> usize {
        1 << self.free.count_ones()
    }

    /// Whether the rule goes to this child.
    pub(crate) fn has(self, child: usize) -> bool {
        child as u32 & !self.free == self.value & !self.free
    }

    /// Every child: counts through the free bits by letting the carry run over the others.
    pub(crate) fn children(self) -> impl Iterator<Item = usize> {
        let mut next = Some(0u32);
        std::iter::from_fn(move || {
            let free = next?;
            next = Some(free.wrapping_sub(self.free) & self.free).filter(|&free| free != 0);
            Some((self.value | free) as usize)
        })
    }
}

/// What may be done with rules that go to many children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wide {
    /// They are left aside.
    Aside,
    /// Each child has them.
    Repeated,
}

/// A rule that goes to more children than these is wide.
pub(crate) const WIDE: usize = 4;
/// Rules that a cut is judged by, at most.
const SAMPLE: usize = 2048;
/// Bits that a cut may have.
const BITS: [u8; 10] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14];
/// Children that a cut may make, for each rule.
const CHILDREN: usize = 4;
/// Times that each rule may stand in children, on average.
const COPIES: usize = 3;
/// What a cut must save, in halvings of the rules left to look at.
const LEAST: f64 = 0.4;

/// The cut that leaves the least to do, if any is worth it.
pub(crate) fn choose<const N: usize>(all: &[Record<N>], rules: &[u32], wide: Wide) -> Option<Cut> {
    let step = rules.len().div_ceil(SAMPLE);
    let sample: Vec<&Record<N>> =
        rules.iter().step_by(step).map(|&rule| &all[rule as usize]).collect();
    let mut counts = Vec::new();
    let mut best = (f64::from(rules.len() as u32).log2() - LEAST, None);
    for cell in 0..N {
        let (mut ones, mut zeros) = (0, 0);
        for (value, mask) in sample.iter().map(|rule| rule.cell(cell)) {
            ones |= value & mask;
            zeros |= !value & mask;
        }
        for byte in [0xff00_0000, 0x00ff_0000, 0x0000_ff00, 0x0000_00ff] {
            // The highest bit of the byte that tells some rules from others.
            let Some(top) = (ones & zeros & byte).checked_ilog2() else { continue };
            for bits in BITS.into_iter().filter(|&bits| u32::from(bits) <= top + 1) {
                let cut = Cut { cell: cell as u8, shift: top as u8 + 1 - bits, bits };
                if cut.children() > (rules.len() * CHILDREN).max(2) {
                    break;
                }
                let left = work_left(cut, &sample, step, wide, &mut counts);
                if left.is_some_and(|left| left < best.0) {
                    best = (left.unwrap_or(f64::INFINITY), Some(cut));
                }
            }
        }
    }
    best.1
}

/// How many halvings are left to do behind the cut, for the rules of a sample; none if it repeats
/// them too often.
fn work_left<const N: usize>(
    cut: Cut,
    sample: &[&Record<N>],
    step: usize,
    wide: Wide,
    counts: &mut Vec<u32>,
) -> Option<f64> {
    counts.clear();
    counts.resize(cut.children(), 0);
    let (mut placed, mut aside) = (0, 0);
    for reach in sample.iter().map(|rule| cut.reach(rule)) {
        if wide == Wide::Aside && reach.count() > WIDE {
            aside += 1;
            continue;
        }
        placed += reach.count();
        if placed > sample.len() * COPIES + WIDE {
            return None;
        }
        reach.children().for_each(|child| counts[child] += 1);
    }
    if placed == 0 {
        return None;
    }
    let float = |count: usize| count as f64;
    let total = float(sample.len());
    let kept = total - float(aside);
    let pairs: f64 =
        counts.iter().map(|&count| f64::from(count) * f64::from(count.max(1) - 1)).sum();
    // The rules that one meets in its child, itself included.
    let met = 1.0 + pairs / float(placed) * float(step);
    let searched = kept / total * met.log2();
    let elsewhere = float(aside) / total * (total * float(step)).log2();
    Some(searched + elsewhere + 0.5 * (float(placed) / kept).log2())
}
