//! Why bytes were refused.

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Fewer bytes than the format needs.
    #[error("{what}: {have} bytes where {needed} are needed")]
    Short {
        /// The format.
        what: &'static str,
        /// Bytes it needs.
        needed: usize,
        /// Bytes there are.
        have: usize,
    },
    /// It says another length than it can have.
    #[error("{what} says that it has {found} bytes: {have} are there, and its header takes some")]
    Length {
        /// The format.
        what: &'static str,
        /// The length that it says.
        found: usize,
        /// Bytes there are.
        have: usize,
    },
    /// A field holds a value that is not allowed there.
    #[error("{what} is {found}: expected {expected}")]
    Field {
        /// The field.
        what: &'static str,
        /// What was found.
        found: u64,
        /// What is allowed.
        expected: &'static str,
    },
    /// Something is missing.
    #[error("{what} has no {missing}")]
    Missing {
        /// The format.
        what: &'static str,
        /// What it lacks.
        missing: &'static str,
    },
}
