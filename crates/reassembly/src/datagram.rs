//! A datagram of which pieces are missing.
//!
//! ```text
//!  0        1480      2960                4440      ∞
//!  │ hole   │ piece   │       hole        │ piece … │ hole until the last piece came
//! ```
//! RFC 815: a piece must lie in a hole, which it fills or splits. RFC 5722: one that lies in none
//! repeats what came, byte by byte, or the datagram is worth nothing.

use crate::piece::Piece;
use std::collections::BTreeMap;
use std::ops::Range;

/// What a piece and a datagram are said to take beside their bytes: their places in maps and
/// allocations.
const PIECE_BYTES: usize = 64;
pub(crate) const DATAGRAM_BYTES: usize = 512;

/// The hole that there is before anything came.
const ALL: Range<usize> = 0..usize::MAX;

/// See the module.
pub(crate) struct Datagram {
    holes: Vec<Range<usize>>,
    pieces: BTreeMap<usize, Box<[u8]>>,
    /// What stands before the payload of the first piece, when that came.
    head: Option<Head>,
    /// Nothing is held any more: what comes is dropped until its time is over.
    dead: bool,
}

struct Head {
    bytes: Box<[u8]>,
    named_at: usize,
    /// The interface it came by.
    rx: u16,
}

/// What a piece did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// Some of a hole.
    Some,
    /// The last hole.
    All,
    /// It had come before.
    Duplicate,
    /// It contradicts another, or its datagram was given up.
    Overlap,
}

impl Datagram {
    pub(crate) fn new() -> Self {
        Self { holes: vec![ALL], pieces: BTreeMap::new(), head: None, dead: false }
    }

    /// Takes a piece that came by the interface `rx`.
    pub(crate) fn fill(&mut self, piece: &Piece<'_>, rx: u16) -> Filled {
        let range = piece.offset..piece.offset + piece.payload.len();
        if self.dead {
            return Filled::Overlap;
        }
        let around = |hole: &Range<usize>| hole.start <= range.start && range.end <= hole.end;
        let Some(index) = self.holes.iter().position(around) else {
            return if self.has(&range, piece.payload) {
                Filled::Duplicate
            } else {
                Filled::Overlap
            };
        };
        let hole = self.holes.remove(index);
        if !piece.more && hole.end != ALL.end {
            // Another piece is said to be the last, or stands behind this one.
            return Filled::Overlap;
        }
        let after = if piece.more { range.end..hole.end } else { 0..0 };
        let left = [hole.start..range.start, after];
        self.holes.splice(index..index, left.into_iter().filter(|hole| !hole.is_empty()));
        self.pieces.insert(range.start, piece.payload.into());
        if piece.offset == 0 {
            self.head = Some(Head { bytes: piece.head.into(), named_at: piece.named_at, rx });
        }
        if self.holes.is_empty() { Filled::All } else { Filled::Some }
    }

    /// Whether all of the range came, and is the same.
    fn has(&self, range: &Range<usize>, bytes: &[u8]) -> bool {
        let mut at = range.start;
        let from = self.pieces.range(..=at).next_back().map_or(at, |(&start, _)| start);
        for (&start, piece) in self.pieces.range(from..range.end) {
            let end = range.end.min(start + piece.len());
            if start > at
                || end <= at
                || piece[at - start..end - start] != bytes[at - range.start..end - range.start]
            {
                return false;
            }
            at = end;
        }
        at == range.end
    }

    /// Lets go of all that is held, and takes no more.
    pub(crate) fn give_up(&mut self) {
        *self = Self { dead: true, ..Self::new() };
    }

    /// What it is counted as taking.
    pub(crate) fn bytes(&self) -> usize {
        let pieces: usize = self.pieces.values().map(|piece| piece.len() + PIECE_BYTES).sum();
        DATAGRAM_BYTES + pieces + self.head.as_ref().map_or(0, |head| head.bytes.len())
    }

    pub(crate) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// The first piece as it came, and the interface that it came by.
    pub(crate) fn first(&self) -> Option<(u16, Vec<u8>)> {
        let head = self.head.as_ref()?;
        Some((head.rx, [&head.bytes[..], self.pieces.get(&0)?].concat()))
    }

    /// The packet, all pieces of which came. None if it is longer than packets are.
    pub(crate) fn whole(&self) -> Option<Vec<u8>> {
        let head = self.head.as_ref()?;
        let payload = self.pieces.values().flat_map(|piece| piece.iter().copied());
        crate::cut::join(&head.bytes, head.named_at, payload)
    }
}
