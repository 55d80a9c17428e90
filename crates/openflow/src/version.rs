//! Versions of the protocol.

/// A version, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Version {
    /// OpenFlow 1.0.
    V10 = 1,
    /// OpenFlow 1.3.
    V13 = 4,
    /// OpenFlow 1.4.
    V14 = 5,
    /// OpenFlow 1.5.
    V15 = 6,
}

impl Version {
    /// All that are spoken here.
    pub const ALL: [Self; 4] = [Self::V10, Self::V13, Self::V14, Self::V15];

    /// The version of a number on the wire.
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|version| *version as u8 == number)
    }

    /// The highest that both sides speak: ours, and those of a bitmap in which bit `n` is version
    /// `n`.
    pub fn common(bitmap: u32) -> Option<Self> {
        Self::ALL.into_iter().rev().find(|version| bitmap >> (*version as u8) & 1 != 0)
    }

    /// All that are spoken, as a bitmap.
    pub fn bitmap() -> u32 {
        Self::ALL.into_iter().fold(0, |bits, version| bits | 1 << version as u8)
    }
}
