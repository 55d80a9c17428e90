//! Why what is found is not believed.

use thiserror::Error;

/// A value that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    /// It ends in the middle of something.
    #[error("it ends within a value")]
    Short,
    /// Something has a value that there is not.
    #[error("{what} is {found}")]
    Value {
        /// What.
        what: &'static str,
        /// As it stands there.
        found: u64,
    },
    /// A name is no text.
    #[error("a name is no text")]
    Text,
}

/// Why a file is not taken over.
#[derive(Debug, Error)]
pub enum Refused {
    /// There is none: nothing to tell.
    #[error("there is none")]
    Absent,
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unread(#[from] std::io::Error),
    /// Somebody else could have written it.
    #[error("{0}")]
    Foreign(String),
    /// Longer than any that is written.
    #[error("it has {found} bytes, and {most} are the most")]
    Long {
        /// Its length.
        found: u64,
        /// The most.
        most: u64,
    },
    /// Something else altogether.
    #[error("it is no state of a router")]
    Unknown,
    /// Written by another version.
    #[error("it has version {found} of the format, and this router knows {known}")]
    Version {
        /// Its own.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// A file of another table.
    #[error("it is of another table: number {0}")]
    Table(u32),
    /// The machine was started since.
    #[error("it is of another start of the machine")]
    Boot,
    /// Nobody wrote for too long.
    #[error("it was last written {age_s} s ago, and {keep_s} s are the most")]
    Old {
        /// How long ago.
        age_s: u64,
        /// The most.
        keep_s: u64,
    },
    /// A checksum is wrong.
    #[error("it is damaged: the checksum at byte {0} is wrong")]
    Damaged(usize),
    /// It ends before its end.
    #[error("it is not whole: it ends at byte {0}")]
    Torn(usize),
    /// What it says cannot be.
    #[error("it says what cannot be: {0}")]
    Wrong(#[from] Wrong),
}
