//! What a configuration had better not say, and may: the scheduler does what it is told, and its
//! promises are not kept to the letter. Providers sell more than they have.

use thiserror::Error;

use crate::ClassId;
use crate::units::{Rate, Size, Time};

/// Why a configuration will not do what it seems to say.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Warning {
    /// A rate above the one that bounds it.
    #[error("class {id}: {setting} {value} is above {bound} {limit}")]
    Above {
        /// The class.
        id: ClassId,
        /// Which rate.
        setting: &'static str,
        /// Its value.
        value: Rate,
        /// What bounds it.
        bound: String,
        /// The bound.
        limit: Rate,
    },
    /// Guarantees that together exceed what there is.
    #[error("the children of {id} are promised {promised} together, above its {bound} of {limit}")]
    Overbooked {
        /// The parent.
        id: ClassId,
        /// The sum of the children's rates.
        promised: Rate,
        /// What bounds it.
        bound: &'static str,
        /// The bound.
        limit: Rate,
    },
    /// Curves that cannot be met.
    #[error(
        "curves below {id} cannot be met: {promised} bits are due after {after} where {bound} allows {allowed}"
    )]
    CannotBeMet {
        /// Where the bound stands.
        id: ClassId,
        /// What the curves promise by then.
        promised: u128,
        /// How long after they begin.
        after: Time,
        /// What bounds it.
        bound: &'static str,
        /// What the bound lets pass by then.
        allowed: u128,
    },
    /// A default that is no class: packets that no filter takes do without one.
    #[error("the default of {kind} is class {id}, which is not defined: {meanwhile}")]
    NoDefault {
        /// The discipline.
        kind: &'static str,
        /// The class.
        id: ClassId,
        /// What becomes of packets that no filter takes.
        meanwhile: &'static str,
    },
    /// A bucket that does not hold the longest packet.
    #[error(
        "{kind}: {setting} {size} is less than the longest packet, {longest}: such are dropped"
    )]
    ShortBurst {
        /// The discipline.
        kind: &'static str,
        /// Which bucket.
        setting: &'static str,
        /// Its depth.
        size: Size,
        /// The longest packet on the link.
        longest: Size,
    },
}

impl Warning {
    /// The class or discipline that it is about, where there is one.
    pub fn class(&self) -> Option<ClassId> {
        match self {
            Self::Above { id, .. } | Self::Overbooked { id, .. } | Self::CannotBeMet { id, .. } => {
                Some(*id)
            }
            Self::NoDefault { .. } | Self::ShortBurst { .. } => None,
        }
    }
}
