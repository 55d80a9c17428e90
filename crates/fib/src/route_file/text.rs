//! Routes as text, one a line.
//!
//! ```text
//!   # a comment, here or after a route
//!   192.0.2.0/24     10.0.0.1
//!   2001:db8::/32    AS64500        or 64500: a number, for the caller to map
//!   198.51.100.0/24                 the line's number, where the caller maps all of them
//! ```

use std::io::{BufRead, Read};
use std::net::IpAddr;

use super::{FilePrefix, FileRoute, FileRoutes, FileTarget, Rules, unreadable};
use crate::{Address, FibError, Prefix};

/// The longest line: two addresses, and room for a remark.
const MAX_LINE: u64 = 1024;
/// How much of a wrong field an error quotes.
const MAX_QUOTE: usize = 60;

/// Reads lines until the end.
pub(super) fn read(
    mut source: impl BufRead,
    rules: Rules,
    report: &mut dyn FnMut(usize),
) -> Result<FileRoutes, FibError> {
    let mut file = FileRoutes::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        source.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(unreadable)?;
        if line.is_empty() {
            break;
        }
        if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
            skip_line(&mut source)?;
            file.take(Err(wrong(number, &line, 0..0, "lines of at most 1024 bytes")), rules)?;
        } else if let Some(route) = parse(number, &line, rules).transpose() {
            file.take(route, rules)?;
            report(file.routes.len());
        }
    }
    Ok(file)
}

fn skip_line(source: &mut impl BufRead) -> Result<(), FibError> {
    loop {
        let buffer = source.fill_buf().map_err(unreadable)?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let skipped = end.map_or(buffer.len(), |end| end + 1);
        source.consume(skipped);
        if end.is_some() || skipped == 0 {
            return Ok(());
        }
    }
}

/// The route of one line; none if it is blank or a comment.
fn parse(number: u64, line: &[u8], rules: Rules) -> Result<Option<FileRoute>, FibError> {
    let end = line.iter().position(|byte| *byte == b'#');
    let end = line[..end.unwrap_or(line.len())].trim_ascii_end().len();
    let mut fields = Fields { line: &line[..end], at: 0 };
    let Some(prefix_at) = fields.next() else { return Ok(None) };
    let target_at = fields.next();
    let tell = |at, expected| wrong(number, line, at, expected);
    let prefix =
        prefix_of(&line[prefix_at.clone()]).map_err(|expected| tell(prefix_at, expected))?;
    let target = match target_at {
        None if rules.bare_prefixes => FileTarget::Number(number as u32),
        at => {
            let at = at.unwrap_or(end..end);
            target_of(&line[at.clone()])
                .ok_or_else(|| tell(at, "a next hop's address, or a number as AS64500"))?
        }
    };
    match fields.next() {
        Some(extra) => Err(tell(extra, "nothing more but a # comment")),
        None => Ok(Some(FileRoute { prefix, target })),
    }
}

/// Where the fields of a line are.
struct Fields<'a> {
    line: &'a [u8],
    at: usize,
}

impl Iterator for Fields<'_> {
    type Item = std::ops::Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.line.get(self.at..)?;
        let start = self.at + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let length = self.line[start..].iter().position(u8::is_ascii_whitespace);
        self.at = length.map_or(self.line.len(), |length| start + length);
        Some(start..self.at)
    }
}

fn prefix_of(field: &[u8]) -> Result<FilePrefix, &'static str> {
    let text = str::from_utf8(field).unwrap_or_default();
    if text.contains(':') {
        typed_prefix(text).map(FilePrefix::V6)
    } else {
        typed_prefix(text).map(FilePrefix::V4)
    }
}

fn typed_prefix<A: Address>(text: &str) -> Result<Prefix<A>, &'static str> {
    text.parse().map_err(|error| match error {
        FibError::PrefixText { expected, .. } => expected,
        _ => "a length of at most the address's bits",
    })
}

fn target_of(field: &[u8]) -> Option<FileTarget> {
    let text = str::from_utf8(field).ok()?;
    let digits = text.strip_prefix("AS").or(text.strip_prefix("as")).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits.parse().ok().map(FileTarget::Number);
    }
    text.parse::<IpAddr>().ok().map(FileTarget::Address)
}

fn wrong(line: u64, text: &[u8], at: std::ops::Range<usize>, expected: &'static str) -> FibError {
    let column = at.start + 1;
    let quoted = &text[at.start..at.end.min(at.start + MAX_QUOTE)];
    let text = String::from_utf8_lossy(quoted).into_owned();
    FibError::RouteLine { line, column, text, expected }
}
