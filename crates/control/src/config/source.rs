//! A text that was read: from byte offsets to lines, and the excerpt with its caret.
//!
//! ```text
//!   --> router.toml:7:8          name:line:column, both counted from 1
//!    |
//!  7 | mtu  = 99999             the line
//!    |        ^^^^^             the span
//! ```

use std::fmt::{self, Write};
use std::ops::Range;

/// A file, or a command line, with the name a person knows it by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// File name, or what stands for it.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// Where something stands in a [`Source`], counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line's number.
    pub line: usize,
    /// The character's number in its line.
    pub column: usize,
}

impl Source {
    /// A named text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Line and column of a byte offset; past the end means the end.
    pub fn position(&self, offset: usize) -> Position {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The place and the excerpt, as compilers show them.
    pub(crate) fn excerpt(&self, out: &mut String, span: &Range<usize>) -> fmt::Result {
        let position = self.position(span.start);
        let line = self.text.lines().nth(position.line - 1).unwrap_or("");
        let shown: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let margin = position.line.to_string().len().max(2);
        let marked = self.text.get(span.clone()).and_then(|text| text.lines().next()).unwrap_or("");
        let room = line.chars().count().saturating_sub(position.column - 1);
        let carets = marked.chars().count().min(room).max(1);
        writeln!(out, "{:margin$}--> {}:{}:{}", "", self.name, position.line, position.column)?;
        writeln!(out, "{:margin$} |", "")?;
        writeln!(out, "{:>margin$} | {shown}", position.line)?;
        let indent = position.column - 1;
        writeln!(out, "{:margin$} | {:indent$}{:^<carets$}", "", "", "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let source = Source::new("f", "a = 1\nü = \"é\"\nc = 3");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(source.text.find("\"é").unwrap()).column, 5);
        assert_eq!(source.position(source.text.find("c").unwrap()).line, 3);
        assert_eq!(source.position(10_000).line, 3);
    }

    #[test]
    fn the_caret_stands_under_the_span() {
        let source = Source::new("f.toml", "x = 1\nmtu = 99999 # much\n");
        let mut out = String::new();
        source.excerpt(&mut out, &(12..17)).unwrap();
        assert_eq!(out, "  --> f.toml:2:7\n   |\n 2 | mtu = 99999 # much\n   |       ^^^^^\n");
    }
}
