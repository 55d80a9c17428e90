//! Reads routes from a file: lines of text, or a BGP table dump, plain or compressed by zstd or
//! gzip.
//!
//! ```text
//!   file -> [ zstd, gzip? by magic ] -> [ MRT? by its first record's type ] -> mrt.rs   -> routes
//!                                                                         \-> text.rs  /
//! ```
//!
//! What is wrong is told with its line and column, or with the offset of its record. A caller
//! chooses whether one wrong line refuses the whole file or costs only itself.

mod mrt;
mod table_dump;
mod text;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr;

use crate::{FibError, Ip4Prefix, Ip6Prefix};

/// How many wrong lines are kept word for word; all are counted.
pub const MAX_WRONG: usize = 100;
/// Routes between two calls of the progress callback.
const PROGRESS_ROUTES: usize = 10_000;
/// What is read at once.
const BUFFER_BYTES: usize = 1 << 16;

/// A prefix of either family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilePrefix {
    /// A dotted prefix.
    V4(Ip4Prefix),
    /// A prefix with colons.
    V6(Ip6Prefix),
}

impl FilePrefix {
    /// The first of all, in their order.
    pub fn first() -> FilePrefix {
        FilePrefix::V4(Ip4Prefix::all())
    }
}

impl fmt::Display for FilePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePrefix::V4(prefix) => prefix.fmt(f),
            FilePrefix::V6(prefix) => prefix.fmt(f),
        }
    }
}

impl FromStr for FilePrefix {
    type Err = FibError;

    fn from_str(text: &str) -> Result<FilePrefix, FibError> {
        match text.contains(':') {
            true => text.parse().map(FilePrefix::V6),
            false => text.parse().map(FilePrefix::V4),
        }
    }
}

/// Where a file says that a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileTarget {
    /// The next router.
    Address(IpAddr),
    /// A number that the caller maps to a next hop: the autonomous system that announced it.
    Number(u32),
}

/// A route as the file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRoute {
    /// Its prefix.
    pub prefix: FilePrefix,
    /// Where it leads.
    pub target: FileTarget,
}

/// What a wrong line does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnWrong {
    /// It refuses the file.
    Refuse,
    /// It is left out and told of.
    Skip,
}

/// What a reader goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What a wrong line does.
    pub on_wrong: OnWrong,
    /// Most routes: a small compressed file may hold more than there is memory for.
    pub most_routes: usize,
    /// Whether a line of text may have a prefix alone: it leads to the number of its line then.
    pub bare_prefixes: bool,
}

/// How far the reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file that have been read, as it lies on disk.
    pub bytes: u64,
    /// Routes so far.
    pub routes: usize,
}

/// What a file held.
#[derive(Debug, Default)]
pub struct FileRoutes {
    /// The routes, in the file's order.
    pub routes: Vec<FileRoute>,
    /// The first [`MAX_WRONG`] lines or records that were left out.
    pub wrong: Vec<FibError>,
    /// How many were left out.
    pub wrong_count: usize,
}

impl FileRoutes {
    /// Takes one line's or record's outcome; an error ends the reading if it is to.
    fn take(&mut self, outcome: Result<FileRoute, FibError>, rules: Rules) -> Result<(), FibError> {
        match outcome {
            Ok(_) if self.routes.len() >= rules.most_routes => {
                return Err(FibError::TooManyRoutes { most: rules.most_routes });
            }
            Ok(route) => self.routes.push(route),
            Err(error) if rules.on_wrong == OnWrong::Refuse => return Err(error),
            Err(error) => {
                self.wrong_count += 1;
                if self.wrong.len() < MAX_WRONG {
                    self.wrong.push(error);
                }
            }
        }
        Ok(())
    }
}

/// Reads the routes of the file at `path`, calling `progress` now and then.
pub fn load_routes(
    path: &Path,
    on_wrong: OnWrong,
    progress: &mut dyn FnMut(Progress),
) -> Result<FileRoutes, FibError> {
    let rules = Rules { on_wrong, most_routes: usize::MAX, bare_prefixes: false };
    read_routes(File::open(path).map_err(unreadable)?, rules, progress)
}

/// The same from anything that reads.
pub fn read_routes(
    source: impl Read,
    rules: Rules,
    progress: &mut dyn FnMut(Progress),
) -> Result<FileRoutes, FibError> {
    let bytes = std::cell::Cell::new(0);
    let mut report = |routes: usize| {
        if routes.is_multiple_of(PROGRESS_ROUTES) {
            progress(Progress { bytes: bytes.get(), routes });
        }
    };
    let counted = Counted { source, bytes: &bytes };
    let (head, raw) = peek(BufReader::with_capacity(BUFFER_BYTES, counted))?;
    let file = if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let plain = ruzstd::decoding::StreamingDecoder::new(raw)
            .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        let (head, plain) = peek(BufReader::with_capacity(BUFFER_BYTES, plain))?;
        read_plain(&head, plain, rules, &mut report)?
    } else if head.starts_with(&[0x1f, 0x8b]) {
        let plain = flate2::bufread::MultiGzDecoder::new(raw);
        let (head, plain) = peek(BufReader::with_capacity(BUFFER_BYTES, plain))?;
        read_plain(&head, plain, rules, &mut report)?
    } else {
        read_plain(&head, raw, rules, &mut report)?
    };
    progress(Progress { bytes: bytes.get(), routes: file.routes.len() });
    Ok(file)
}

fn read_plain(
    head: &[u8],
    source: impl BufRead,
    rules: Rules,
    report: &mut dyn FnMut(usize),
) -> Result<FileRoutes, FibError> {
    if mrt::is_table_dump(head) {
        mrt::read(source, rules, report)
    } else {
        text::read(source, rules, report)
    }
}

/// The first bytes, and a source that still has them.
fn peek(mut source: impl BufRead) -> Result<(Vec<u8>, impl BufRead), FibError> {
    let mut head = Vec::new();
    source.by_ref().take(mrt::HEADER_BYTES as u64).read_to_end(&mut head).map_err(unreadable)?;
    Ok((head.clone(), Cursor::new(head).chain(source)))
}

fn unreadable(source: io::Error) -> FibError {
    FibError::RouteFile { source }
}

/// Counts what is read through it.
struct Counted<'a, R> {
    source: R,
    bytes: &'a std::cell::Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bytes.set(self.bytes.get() + read as u64);
        Ok(read)
    }
}
