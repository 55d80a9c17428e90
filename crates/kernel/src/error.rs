//! What the kernel refuses.

use std::io;
use std::net::SocketAddr;

/// Why there is no twin, or it is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// There is no such network namespace, or it cannot be entered.
    #[error("network namespace `{name}`: {why}")]
    Namespace {
        /// As it was named.
        name: String,
        /// Why not.
        why: io::Error,
    },
    /// Another link has the name.
    #[error(
        "the kernel has a link `{0}` already: give the twin another name, or another namespace"
    )]
    Taken(String),
    /// The link cannot be made.
    #[error("the kernel makes no tap `{name}`: {why}")]
    Tap {
        /// Its name.
        name: String,
        /// Why not.
        why: io::Error,
    },
    /// The link cannot be changed.
    #[error("the kernel refuses to {what} of `{name}`: {why}")]
    Refused {
        /// What was asked.
        what: String,
        /// Of which link.
        name: String,
        /// Why not.
        why: io::Error,
    },
    /// Nobody can connect there.
    #[error("{address} cannot be listened on: {why}")]
    Listen {
        /// The address that was configured.
        address: SocketAddr,
        /// Why not.
        why: io::Error,
    },
    /// No thread, or nothing to wake it with.
    #[error("there is no thread for it: {0}")]
    Thread(#[source] io::Error),
}
