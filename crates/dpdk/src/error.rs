//! What can go wrong with DPDK, as values.

use crate::{ffi, log};
use std::ffi::CStr;

/// Why something with DPDK could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// DPDK starts once in a process's life.
    #[error("DPDK was already started in this process; it cannot be started twice")]
    AlreadyStarted,
    /// `rte_eal_init` refused.
    #[error("DPDK does not start with `{options}`: {reason}")]
    Start {
        /// The options it got.
        options: String,
        /// What it said.
        reason: String,
    },
    /// Neither hugepages nor plain memory can hold what was asked for.
    #[error(
        "{wanted_mib} MiB of memory for packets are too much: {available_mib} MiB are available"
    )]
    Memory {
        /// Asked for.
        wanted_mib: usize,
        /// Left in the system.
        available_mib: usize,
    },
    /// Fewer hugepages are free than `hugepages = "require"` takes.
    #[error(
        "the configuration requires hugepages: {wanted_mib} MiB of them, and {free_mib} MiB are free; \
         `volley doctor` tells how to have more"
    )]
    Hugepages {
        /// Asked for.
        wanted_mib: usize,
        /// On pages that nobody has.
        free_mib: usize,
    },
    /// A text that must become part of DPDK's device arguments would break them.
    #[error("{what} `{value}` cannot be given to DPDK: {reason}")]
    Argument {
        /// Which one.
        what: &'static str,
        /// The text.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The driver refused the device.
    #[error("cannot open {device}: {reason}")]
    Open {
        /// The port as the user names it.
        device: String,
        /// What DPDK and the driver said.
        reason: String,
    },
    /// A call on an open port failed.
    #[error("{device}: cannot {action}: {reason}")]
    Port {
        /// The port as the user names it.
        device: String,
        /// What was tried.
        action: String,
        /// What DPDK said.
        reason: String,
    },
    /// A pool could not be made.
    #[error("no pool of {count} packet buffers of {frame_bytes} bytes: {reason}")]
    Pool {
        /// Buffers asked for.
        count: u32,
        /// Room for the frame in each.
        frame_bytes: u16,
        /// What DPDK said.
        reason: String,
    },
    /// A Linux device could not be looked at or changed.
    #[error("{device}: cannot {action}: {source}")]
    Device {
        /// Its name.
        device: String,
        /// What was tried.
        action: &'static str,
        /// What Linux said.
        source: std::io::Error,
    },
}

/// DPDK's words for an error number (of either sign), with what it logged on the way there.
pub(crate) fn reason(number: i32, since: log::Mark) -> String {
    let mut text = words(number);
    let logged = log::complaints_since(since);
    if !logged.is_empty() {
        text.push_str(" (DPDK: ");
        text.push_str(&logged.join("; "));
        text.push(')');
    }
    text
}

fn words(number: i32) -> String {
    // SAFETY: any number is allowed; the text is static or the thread's own, copied at once.
    let text = unsafe { CStr::from_ptr(ffi::rte_strerror(number.abs())) };
    text.to_string_lossy().into_owned()
}
