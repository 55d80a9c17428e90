//! What became of pieces and datagrams.

/// Counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Pieces that came.
    pub pieces: u64,
    /// Datagrams put together.
    pub whole: u64,
    /// Pieces that had come before, byte by byte.
    pub duplicates: u64,
    /// Pieces that contradict others, and those of datagrams given up: RFC 5722 wants the whole
    /// datagram discarded.
    pub overlapping: u64,
    /// Pieces that end behind the longest packet there is.
    pub too_long: u64,
    /// Datagrams given up: in more pieces than are held of one.
    pub too_many_pieces: u64,
    /// Datagrams given up to make room for younger ones.
    pub evicted: u64,
    /// Datagrams whose time ran out.
    pub timed_out: u64,
}
