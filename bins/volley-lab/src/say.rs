//! Lines to standard output, whose reader may go away in the middle: `volley-lab help | head`.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// What a shell says of a program that SIGPIPE ended.
const NOBODY_READS: i32 = 141;

/// Says a line, as `println!`, but ends the program quietly where nobody reads any more.
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}
pub(crate) use say;

pub(crate) fn line(words: Arguments<'_>) {
    printed(writeln!(std::io::stdout().lock(), "{words}"));
}

/// Ends the program where what it said could not be written.
pub(crate) fn printed(outcome: std::io::Result<()>) {
    match outcome {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(NOBODY_READS),
        Err(error) => {
            eprintln!("volley-lab: standard output: {error}");
            std::process::exit(1);
        }
    }
}
