//! Why a configuration is refused: every message carries the value and what is wrong with it.

use thiserror::Error;

use crate::ClassId;
use crate::units::Size;

/// Why a configuration, or a text that should be one, is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// A rate, size or time that cannot be read.
    #[error("{what} `{text}`: {reason}")]
    Quantity {
        /// What was to be read.
        what: &'static str,
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A text that is no class name.
    #[error("class `{text}`: not of the form major:minor in hexadecimal, 1:0 to fffe:ffff")]
    ClassName {
        /// The text.
        text: String,
    },
    /// A setting out of its range.
    #[error("{kind}: {setting} {value} is not within {range}")]
    Range {
        /// The discipline.
        kind: &'static str,
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: u64,
        /// What is allowed.
        range: &'static str,
    },
    /// A class that is defined twice.
    #[error("class {id} is defined twice")]
    Twice {
        /// The class.
        id: ClassId,
    },
    /// A handle that two disciplines have.
    #[error("handle {id} names two disciplines")]
    HandleTwice {
        /// The handle.
        id: ClassId,
    },
    /// A class named in `place` that is nowhere defined.
    #[error("{place} names class {id}, which is not defined")]
    UnknownClass {
        /// Who names it.
        place: String,
        /// The class.
        id: ClassId,
    },
    /// A class of another discipline's major number.
    #[error("class {id} does not belong to {handle}: its major number differs")]
    Stranger {
        /// The class.
        id: ClassId,
        /// The discipline.
        handle: ClassId,
    },
    /// A class that is its own ancestor.
    #[error("class {id} is its own ancestor")]
    Loop {
        /// The class.
        id: ClassId,
    },
    /// A class with children that is used as a leaf.
    #[error("class {id} has children, so {use_} cannot be its leaf")]
    NotALeaf {
        /// The class.
        id: ClassId,
        /// What wanted it as one.
        use_: String,
    },
    /// More classes than can be named or held.
    #[error("{count} classes are more than the {limit} that one scheduler may have")]
    TooManyClasses {
        /// How many.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// Disciplines nested too deep.
    #[error("disciplines are nested more than {limit} deep")]
    TooDeep {
        /// How deep they may be.
        limit: usize,
    },
    /// A class too far below the top.
    #[error("class {id} stands more than {limit} levels deep")]
    TooManyLevels {
        /// The class.
        id: ClassId,
        /// How many levels there may be.
        limit: usize,
    },
    /// A rate of zero.
    #[error("class {id}: {setting} is zero, so nothing could ever be sent")]
    ZeroRate {
        /// The class.
        id: ClassId,
        /// Which rate.
        setting: &'static str,
    },
    /// A class without any curve, or with a useless set of them.
    #[error("class {id}: {reason}")]
    Curves {
        /// The class.
        id: ClassId,
        /// What is wrong.
        reason: &'static str,
    },
    /// A discipline under a class that it cannot stand under.
    #[error("class {id}: {kind} cannot stand under {above}: {reason}")]
    Nesting {
        /// The class.
        id: ClassId,
        /// The child discipline.
        kind: &'static str,
        /// The parent discipline.
        above: &'static str,
        /// What would go wrong if it did.
        reason: &'static str,
    },
    /// A tree that several workers cannot serve.
    #[error("all_workers: {reason}")]
    AllWorkers {
        /// Why not.
        reason: &'static str,
    },
    /// State that would need more memory than is allowed.
    #[error("this needs {needed} of memory, above memory_limit {limit}")]
    Memory {
        /// What it needs.
        needed: Size,
        /// What it may use.
        limit: Size,
    },
    /// A `tc` line that cannot be read.
    #[error("line {line}: {reason}")]
    Tc {
        /// Its number, from 1.
        line: usize,
        /// What `tc` would exit with: 1 where it cannot read the line, 2 where the kernel refuses
        /// it, 255 where a handle is none.
        status: u8,
        /// What is wrong with it.
        reason: String,
    },
}

impl Error {
    /// The number of the filter at fault, from 1.
    pub fn filter(&self) -> Option<usize> {
        let (Self::UnknownClass { place, .. } | Self::NotALeaf { use_: place, .. }) = self else {
            return None;
        };
        place.strip_prefix("filter ")?.parse().ok()
    }

    /// The class or discipline at fault, where there is one.
    pub fn class(&self) -> Option<ClassId> {
        match self {
            Self::Twice { id }
            | Self::HandleTwice { id }
            | Self::UnknownClass { id, .. }
            | Self::Stranger { id, .. }
            | Self::Loop { id }
            | Self::NotALeaf { id, .. }
            | Self::TooManyLevels { id, .. }
            | Self::ZeroRate { id, .. }
            | Self::Curves { id, .. }
            | Self::Nesting { id, .. } => Some(*id),
            _ => None,
        }
    }
}
