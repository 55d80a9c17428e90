//! A thread that panics: told as an event, and the end of the process.
//!
//! ```text
//!  main, request   told ─▶ the panic goes up: out of main, or out of the task of one request
//!  any other       told ─▶ the process aborts, and whoever supervises it starts it anew
//! ```
//! A router whose worker is gone still answers and forwards nothing of some queues: half of it is
//! worse than none, and what the thread had in hand nobody can put in order.

use crate::hub;
use std::backtrace::Backtrace;
use std::panic::PanicHookInfo;
use std::time::Duration;

/// How long the process waits for its last words to be read.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Threads that whoever waits for them hears the panic of: the first one, and [`REQUEST`]s'.
const HEARD: [&str; 2] = ["main", REQUEST];
/// Calls of a caller's own, of which callers deep down there is no need.
const CALLS: usize = 12;

/// The name of threads that serve one request each: others do without it.
pub const REQUEST: &str = "request";

/// Has panics told. A thread that panics must not wait for a reader of stderr.
pub(crate) fn tell_panics() {
    std::panic::set_hook(Box::new(tell));
}

fn tell(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("");
    let calls = calls(&Backtrace::force_capture().to_string());
    tracing::error!(fault = "panic", place, thread, calls, "panicked: {text}");
    if HEARD.contains(&thread) {
        hub().flush(LAST_WORDS);
        return;
    }
    tracing::error!(
        fault = "panic",
        thread,
        "the process ends: it does not run without this thread"
    );
    hub().flush(LAST_WORDS);
    std::process::abort();
}

/// The names of functions of a backtrace, innermost first; those of the standard library left out.
fn calls(backtrace: &str) -> String {
    let names = backtrace.lines().filter_map(|line| line.trim().split_once(": ")).map(|it| it.1);
    let strange =
        ["std::", "core::", "<alloc::", "rust_", "__rust", "<core::", "<std::", "events::panics"];
    let ours = names.filter(|name| !strange.iter().any(|start| name.starts_with(start)));
    let ours: Vec<&str> = ours.take(CALLS).collect();
    ours.join(" < ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_ours_innermost_first() {
        let backtrace = "   0: events::panics::tell\n             at ./src/panics.rs:30:5\n   1: __rustc::rust_begin_unwind\n   \
                         2: core::panicking::panic_fmt\n   3: nodes::ip::lookup\n   4: <graph::worker::Worker>::turn\n   5: clone\n";
        assert_eq!(calls(backtrace), "nodes::ip::lookup < <graph::worker::Worker>::turn < clone");
    }
}
