//! `volley exec FILE`: a file of commands. Changes in a row are made together or not at all.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use control::config::edit::is_edit;

use crate::cli;
use crate::edits::{self, Edit};
use crate::error::CliError;
use crate::session::{Run, Session, usage};
use crate::typed::written_out;

/// Runs every command of a file, from the top; stops at the first that fails.
pub(crate) fn run(session: &Session, file: &Path, run: Run) -> Result<(), CliError> {
    let text = read(file)?;
    let mut pending = Batch::default();
    for (index, line) in text.lines().enumerate() {
        let words = words(line);
        let plain = match words.first() {
            None => continue,
            Some(_) => is_edit(line) && !has_options(&words),
        };
        if plain {
            pending.push(index, line);
            continue;
        }
        pending.send(session, file)?;
        if words.first().is_some_and(|word| word == "exec") {
            let place = format!("{}:{}", file.display(), index + 1);
            return Err(CliError::Usage(format!("error: {place}: no exec within a file\n")));
        }
        one(session, &words, run).map_err(|error| match error {
            CliError::Usage(text) => {
                CliError::Usage(format!("{}:{}: {text}", file.display(), index + 1))
            }
            other => other,
        })?;
    }
    pending.send(session, file)
}

/// Runs one line's words.
pub(crate) fn one(session: &Session, words: &[String], run: Run) -> Result<(), CliError> {
    let line = std::iter::once("volley".to_owned()).chain(words.iter().cloned());
    run(session, &cli::command().try_get_matches_from(line).map_err(usage)?)
}

/// Runs one line's words as a person types them: commands may be cut short. In files they are
/// whole, so that a file means the same when there are more commands.
pub(crate) fn short(session: &Session, words: &[String], run: Run) -> Result<(), CliError> {
    let line = std::iter::once("volley").chain(words.iter().map(String::as_str));
    let words = written_out(&cli::command(), line.map(Into::into)).map_err(CliError::Usage)?;
    run(session, &cli::command().try_get_matches_from(words).map_err(usage)?)
}

/// Whether a line wants more than its words say. Most do not, and have no need of the grammar.
fn has_options(words: &[String]) -> bool {
    let is_import = words.len() > 1 && words[..2] == ["qos", "import"];
    if !is_import && !words.iter().any(|word| word.starts_with("--")) {
        return false;
    }
    let line = std::iter::once("volley".to_owned()).chain(words.iter().cloned());
    let matches = cli::command().try_get_matches_from(line);
    matches.is_ok_and(|matches| Edit::of(&matches).is_some_and(|edit| edit.has_options()))
}

/// Changes in a row, each on its line of the file, so that a fault names the right one.
#[derive(Default)]
struct Batch {
    lines: usize,
    text: String,
}

impl Batch {
    fn push(&mut self, index: usize, line: &str) {
        self.text.extend(std::iter::repeat_n('\n', index - self.lines));
        self.text.push_str(line);
        self.lines = index;
    }

    fn send(&mut self, session: &Session, file: &Path) -> Result<(), CliError> {
        let text = std::mem::take(&mut self.text);
        let lines = std::mem::take(&mut self.lines);
        if text.trim().is_empty() {
            return Ok(());
        }
        debug_assert!(text.lines().count() == lines + 1);
        edits::send(session, text, Some(file), None)
    }
}

fn read(file: &Path) -> Result<String, CliError> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(file)
    };
    text.map_err(|error| CliError::File { path: file.to_owned(), error })
}

/// The words of a line: double quotes keep blanks, `#` at the start of a word ends the line.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '#' if word.is_none() => break,
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_blanks_outside_quotes() {
        assert_eq!(words("route add \"a b\" c#d # e"), ["route", "add", "a b", "c#d"]);
        assert_eq!(words("  # only a comment"), [""; 0]);
        assert_eq!(words("port set \"\""), ["port", "set", ""]);
    }
}
