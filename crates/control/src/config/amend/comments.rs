//! Comments of the file that are about more than what stands below them.
//!
//! ```text
//!  # The uplinks.            stays when port.p0 goes: an empty line is between
//!
//!  # To the other town.      goes with it
//!  [port.p0]
//! ```

use toml_edit::{DocumentMut, Table};

use super::place::each_table;

/// A comment that stood above what is gone.
pub(super) struct Left {
    /// Where among the file's tables.
    position: isize,
    text: String,
}

impl Left {
    /// What stays of the comment above a table that goes.
    pub(super) fn of(table: &Table) -> Option<Self> {
        let text = apart(table.decor().prefix()?.as_str()?);
        let is_said = !text.trim().is_empty();
        is_said.then(|| Self { position: table.position().unwrap_or(0), text: text.to_owned() })
    }
}

/// What of a comment is not right above what follows it: all to the last empty line.
pub(super) fn apart(comment: &str) -> &str {
    let mut end = 0;
    let mut bytes = 0;
    for line in comment.split_inclusive('\n') {
        bytes += line.len();
        if line.ends_with('\n') && line.trim().is_empty() {
            end = bytes;
        }
    }
    &comment[..end]
}

/// Puts a comment that is left in front of what comes next.
fn leave(document: &mut DocumentMut, left: Left) {
    let mut next = None;
    each_table(document.as_item_mut(), &mut |table| {
        let behind = table.position().filter(|position| *position > left.position);
        next = [next, behind].into_iter().flatten().min();
    });
    let Some(next) = next else {
        let trailing = document.trailing().as_str().unwrap_or_default();
        let both = format!("{}{trailing}", left.text);
        return document.set_trailing(both);
    };
    let mut text = Some(left.text);
    each_table(document.as_item_mut(), &mut |table| {
        if table.position() == Some(next)
            && let Some(text) = text.take()
        {
            let own = table.decor().prefix().and_then(|it| it.as_str()).unwrap_or_default();
            let both = format!("{text}{}", own.strip_prefix('\n').unwrap_or(own));
            table.decor_mut().set_prefix(both);
        }
    });
}

/// Puts what is left where it belongs; what stood at the head of the file stays there.
pub(super) fn finish(before: &str, mut document: DocumentMut, left: Vec<Left>) -> String {
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let bytes = before.split_inclusive('\n').take_while(is_comment).map(str::len).sum();
    let mut head = &before[..bytes];
    for left in left {
        match before.strip_prefix(&left.text) {
            Some(rest) => head = &before[..before.len() - rest.len()],
            None => leave(&mut document, left),
        }
    }
    let after = document.to_string();
    if after.starts_with(head) {
        return after;
    }
    let is_apart = head.ends_with("\n\n");
    let after = if is_apart { after.trim_start_matches('\n') } else { &after };
    let space = if is_apart || after.starts_with('\n') || after.is_empty() { "" } else { "\n" };
    format!("{head}{space}{after}")
}
