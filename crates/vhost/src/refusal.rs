//! Why a peer is turned away.

/// What it said that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not a message of a front end, or one that is not offered.
    #[error("message {0} is not taken")]
    Request(u32),
    /// Longer or shorter than such a message is.
    #[error("message {request} has {bytes} bytes")]
    Size {
        /// The message.
        request: u32,
        /// What it says that it has.
        bytes: u32,
    },
    /// Another version, or an answer to nothing.
    #[error("flags {0:#x}")]
    Flags(u32),
    /// More or fewer descriptors than belong to it.
    #[error("{there} descriptors come with message {request}")]
    Descriptors {
        /// The message.
        request: u32,
        /// So many came.
        there: usize,
    },
    /// A descriptor that has to be an eventfd.
    #[error("ring {0} gets a descriptor that is no eventfd")]
    NoEventfd(u32),
    /// The port has fewer.
    #[error("there is no ring {0}")]
    NoRing(u32),
    /// Not a power of two up to 32,768.
    #[error("a ring of {0} descriptors")]
    RingSize(u32),
    /// Another size in a place that was looked at for the first.
    #[error("ring {0} gets a size while it has its addresses")]
    RingInUse(u32),
    /// A ring is begun of which not all is known.
    #[error("ring {0} has no size, or no addresses")]
    RingUnknown(u32),
    /// Not all of it inside one region, or askew.
    #[error("ring {0} lies not in one region of memory")]
    RingOutside(u32),
    /// Rings that are set up would become others.
    #[error("features {0:#x} in place of others while rings are set up")]
    Features(u64),
    /// What was not offered.
    #[error("protocol features {0:#x} that were not offered")]
    ProtocolFeatures(u64),
    /// No region, or more than there is room for.
    #[error("{0} regions of memory")]
    Regions(u32),
    /// Empty, shorter than told, in the place of another, or not memory at all.
    #[error("region {0} is not what it is said to be")]
    Region(usize),
    /// The map of written pages is shorter than told, or not at its file's begin.
    #[error("a log of written pages that is not what it is said to be")]
    Log,
    /// It came with so many in turn.
    #[error("it brings one file of memory after the other")]
    Files,
    /// Memory that was used is gone.
    #[error("it took memory away")]
    TookAway,
    /// It asks and does not read the answers.
    #[error("it does not read its answers")]
    Deaf,
}
