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
}

/// Some versions: bit `n` is version `n`, as in greetings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Versions(u32);

impl Versions {
    /// All that are spoken here.
    pub fn all() -> Self {
        Self::of(Version::ALL)
    }

    /// These.
    pub fn of(versions: impl IntoIterator<Item = Version>) -> Self {
        Self(versions.into_iter().fold(0, |bits, version| bits | 1 << version as u8))
    }

    /// As greetings have them.
    pub fn bitmap(self) -> u32 {
        self.0
    }

    /// Whether it is one of them.
    pub fn has(self, version: Version) -> bool {
        self.0 >> (version as u8) & 1 != 0
    }

    /// The highest of these that another speaks, too, who says so by a bitmap.
    pub fn common(self, bitmap: u32) -> Option<Version> {
        let both = Self(self.0 & bitmap);
        Version::ALL.into_iter().rev().find(|version| both.has(*version))
    }

    /// The highest; 1.0 of none.
    pub fn highest(self) -> Version {
        self.common(self.0).unwrap_or(Version::V10)
    }
}
