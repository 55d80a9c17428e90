//! DPDK's log, kept from the user's terminal.
//!
//! ```text
//!  DPDK ─▶ FILE made by the shim ─▶ `receive` ─┬▶ the route of EalOptions (silent unless asked for)
//!                                              ├▶ the last warnings and errors, for error messages
//!                                              └▶ events, for the program that receives them
//! ```

use core::ffi::c_char;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Warnings and errors kept.
const KEPT: usize = 16;

/// How grave a line of DPDK's log is; the order is DPDK's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something is odd.
    Warning,
    /// Normal but worth knowing.
    Notice,
    /// Everything else that DPDK says by default.
    Info,
    /// What it says when asked for more.
    Debug,
}

impl LogLevel {
    fn from_dpdk(level: u32) -> Self {
        match level {
            0..=4 => Self::Error,
            5 => Self::Warning,
            6 => Self::Notice,
            7 => Self::Info,
            _ => Self::Debug,
        }
    }

    /// As `--log-level` takes it.
    pub(crate) fn dpdk_name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.dpdk_name())
    }
}

/// Where DPDK's log goes. Called from any thread, one line at a time.
pub type LogRoute = Box<dyn Fn(LogLevel, &str) + Send>;

/// A point in the log, to ask later what came after it.
#[derive(Clone, Copy)]
pub(crate) struct Mark(u64);

struct Log {
    route: Option<LogRoute>,
    kept: VecDeque<(u64, String)>,
    lines: u64,
}

static LOG: Mutex<Log> = Mutex::new(Log { route: None, kept: VecDeque::new(), lines: 0 });

fn lock() -> MutexGuard<'static, Log> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn set_route(route: Option<LogRoute>) {
    lock().route = route;
}

pub(crate) fn mark() -> Mark {
    Mark(lock().lines)
}

/// Warnings and errors since `mark`, oldest first, each once.
pub(crate) fn complaints_since(mark: Mark) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for (number, text) in &lock().kept {
        if *number >= mark.0 && !texts.contains(text) {
            texts.push(text.clone());
        }
    }
    texts
}

/// The shim's FILE ends here.
pub(crate) extern "C" fn receive(level: u32, text: *const c_char, length: usize) {
    // SAFETY: the C library hands over `length` bytes for the time of this call.
    let bytes = unsafe { core::slice::from_raw_parts(text.cast::<u8>(), length) };
    let level = LogLevel::from_dpdk(level);
    for line in String::from_utf8_lossy(bytes).lines() {
        record(level, line.trim());
    }
}

fn record(level: LogLevel, line: &str) {
    if line.is_empty() {
        return;
    }
    let mut log = lock();
    let number = log.lines;
    log.lines += 1;
    if level <= LogLevel::Warning {
        if log.kept.len() == KEPT {
            log.kept.pop_front();
        }
        log.kept.push_back((number, line.to_owned()));
    }
    if let Some(route) = &log.route {
        route(level, line);
    }
    drop(log);
    tell(level, line);
}

/// What the tap driver calls errors where nothing is lost: a kernel without the discipline
/// `multiq`, upon which its flow rules stand, and no second process with which it shares devices.
/// The router uses neither.
const HARMLESS: [&str; 5] = [
    "tap_nl_dump_ext_ack(): Specified qdisc kind is unknown",
    "qdisc_create_multiq(): ",
    ": failed to create multiq qdisc.",
    "Disabling rte flow support: ",
    "Failed to send start req to secondary ",
];

/// How grave a line is.
fn gravity(level: LogLevel, line: &str) -> LogLevel {
    match HARMLESS.iter().any(|it| line.contains(it)) {
        true => LogLevel::Info,
        false => level,
    }
}

/// The line as an event: what DPDK calls normal is of use only to who looks for a fault.
fn tell(level: LogLevel, line: &str) {
    match gravity(level, line) {
        LogLevel::Error => tracing::error!(target: "dpdk", fault = "dpdk-error", "{line}"),
        LogLevel::Warning => tracing::warn!(target: "dpdk", fault = "dpdk-warning", "{line}"),
        LogLevel::Notice | LogLevel::Info => tracing::debug!(target: "dpdk", "{line}"),
        LogLevel::Debug => tracing::trace!(target: "dpdk", "{line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_those_after_the_mark_and_grave_enough() {
        record(LogLevel::Error, "before");
        let mark = mark();
        record(LogLevel::Warning, "after");
        record(LogLevel::Warning, "after");
        record(LogLevel::Info, "chatter");
        assert_eq!(complaints_since(mark), ["after"]);
    }

    #[test]
    fn what_the_tap_driver_misses_and_nobody_uses_is_no_error() {
        for line in [
            "tap_nl_dump_ext_ack(): Specified qdisc kind is unknown",
            "qdisc_create_multiq(): Could not add multiq qdisc (2): No such file or directory",
            "eth_dev_tap_create(): guests: failed to create multiq qdisc.",
            "eth_dev_tap_create():  Disabling rte flow support: No such file or directory(2)",
            "tap_mp_req_on_rxtx(): Failed to send start req to secondary 95",
        ] {
            assert_eq!(gravity(LogLevel::Error, line), LogLevel::Info, "{line}");
        }
        let line = "eth_dev_tap_create(): Unable to create TAP interface";
        assert_eq!(gravity(LogLevel::Error, line), LogLevel::Error);
    }
}
