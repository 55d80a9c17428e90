//! How a client lays its memory out.
//!
//! ```text
//!  0
//!  ├ rings to server ┼ rings to client ┼ buffers of the first ring ┼ … of the next ┼ …
//! ```
//! A ring's buffers are its own, one for each slot, always the same: of what the other side writes
//! into a descriptor its length alone is looked at. From one to the next is an odd number of cache
//! lines, so that their first lines spread over all sets of a cache: of those that are a power of
//! two apart a first-level cache holds few at a time.

use crate::control::{MAX_RINGS, ring_bytes};
use crate::ring::Buffers;

/// Bytes of a line of cache.
const LINE: u32 = 64;

/// Which way packets go through a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client.
    ToServer,
    /// To the client.
    ToClient,
}

/// How many rings there are, and what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rings from client to server.
    pub to_server: u16,
    /// Rings from server to client.
    pub to_client: u16,
    /// Packets a ring holds, as a power of two.
    pub ring_log2: u8,
    /// Bytes of each slot's buffer; 0: slots have no buffers of their own.
    pub buffer_bytes: u16,
}

impl Shape {
    /// All rings, in the order in which they lie.
    pub fn rings(&self) -> impl Iterator<Item = (Direction, u16)> + use<> {
        let to_server = (0..self.to_server).map(|index| (Direction::ToServer, index));
        to_server.chain((0..self.to_client).map(|index| (Direction::ToClient, index)))
    }

    /// Bytes of the whole memory.
    pub fn bytes(&self) -> u64 {
        u64::from(self.count()) * (ring_bytes(self.ring_log2) + self.buffers_bytes())
    }

    /// Whether offsets in it have room in a descriptor.
    pub fn is_possible(&self) -> bool {
        let most = MAX_RINGS;
        (1..=most).contains(&self.to_server)
            && (1..=most).contains(&self.to_client)
            && self.bytes() <= u64::from(u32::MAX)
    }

    /// Where a ring begins.
    pub fn ring_offset(&self, direction: Direction, index: u16) -> u32 {
        (u64::from(self.place(direction, index)) * ring_bytes(self.ring_log2)) as u32
    }

    /// Bytes from one buffer to the next.
    pub fn stride(&self) -> u32 {
        (u32::from(self.buffer_bytes).div_ceil(LINE) | 1) * LINE
    }

    /// Where a ring's buffers begin.
    pub fn buffers_offset(&self, direction: Direction, index: u16) -> u32 {
        let rings = u64::from(self.count()) * ring_bytes(self.ring_log2);
        (rings + u64::from(self.place(direction, index)) * self.buffers_bytes()) as u32
    }

    /// A ring's buffers, as whoever has them sees them.
    pub(crate) fn buffers(&self, direction: Direction, index: u16) -> Buffers {
        let offset = self.buffers_offset(direction, index);
        Buffers::Ours { offset, bytes: self.buffer_bytes, stride: self.stride() }
    }

    fn count(&self) -> u32 {
        u32::from(self.to_server) + u32::from(self.to_client)
    }

    fn place(&self, direction: Direction, index: u16) -> u32 {
        match direction {
            Direction::ToServer => u32::from(index),
            Direction::ToClient => u32::from(self.to_server) + u32::from(index),
        }
    }

    fn buffers_bytes(&self) -> u64 {
        if self.buffer_bytes == 0 { 0 } else { u64::from(self.stride()) << self.ring_log2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_all_is_used() {
        let shape = Shape { to_server: 3, to_client: 2, ring_log2: 4, buffer_bytes: 100 };
        let mut parts = Vec::new();
        for (direction, index) in shape.rings() {
            parts.push((u64::from(shape.ring_offset(direction, index)), ring_bytes(4)));
            parts.push((u64::from(shape.buffers_offset(direction, index)), 16 * 192));
        }
        parts.sort_unstable();
        let end = parts
            .iter()
            .try_fold(0, |end, &(start, bytes)| (start == end).then_some(start + bytes));
        assert_eq!(end, Some(shape.bytes()));
        assert!(shape.is_possible());
        assert!(
            !Shape { to_server: 256, ring_log2: 14, ..shape }.is_possible()
                || shape.bytes() < 1 << 32
        );
        assert!(!Shape { ring_log2: 14, buffer_bytes: u16::MAX, ..shape }.is_possible());
    }
}
