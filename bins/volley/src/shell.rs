//! Bare `volley`: a shell with history and completion. The commands are those of the command line;
//! `?` at the end of one tells what may come there.

use std::path::PathBuf;

use rustyline::completion::{Completer, FilenameCompleter};
use rustyline::error::ReadlineError;
use rustyline::{CompletionType, Config, Context, Editor, Helper, Highlighter, Hinter, Validator};

use crate::complete::{candidates, following};
use crate::error::CliError;
use crate::names::Asked;
use crate::session::{Run, Session};
use crate::{cli, exec};

const PROMPT: &str = "volley> ";

/// Reads and runs commands until the end of input, `exit` or `quit`.
pub(crate) fn run(session: &Session, run: Run) -> Result<(), CliError> {
    let broken = |error: ReadlineError| CliError::Output(std::io::Error::other(error));
    // As other shells do: what is common to all, then a list of them.
    let config = Config::builder().completion_type(CompletionType::List).build();
    let mut editor: Editor<Grammar, _> = Editor::with_config(config).map_err(broken)?;
    let asked = Asked::by(&session.client);
    editor.set_helper(Some(Grammar { command: cli::command(), asked }));
    let history = history_file();
    if let Some(file) = &history {
        // The first shell of a user has none.
        let _ = editor.load_history(file);
    }
    let mut last = Ok(());
    // What was typed before a question is still there behind its answer.
    let mut begun = String::new();
    loop {
        let read = editor.readline_with_initial(PROMPT, (&std::mem::take(&mut begun), ""));
        let line = match read {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(broken(error)),
        };
        if let Some(before) = questioned(&line) {
            if let Some(grammar) = editor.helper() {
                session.output.text(&grammar.answer(before))?;
            }
            before.clone_into(&mut begun);
            continue;
        }
        let words = exec::words(&line);
        match words.first().map(String::as_str) {
            None => continue,
            Some("exit" | "quit") => break,
            Some(_) => {}
        }
        let _ = editor.add_history_entry(line.as_str());
        last = exec::short(session, &words, run);
        if let Err(error) = &last {
            error.print();
        }
    }
    if let Some(file) = history {
        // A history that cannot be written is no reason to complain on leaving.
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = editor.save_history(&file);
    }
    // Commands piped in are a script: its outcome is that of its last command.
    last.map_err(|_| CliError::Quiet)
}

/// The user's own, by the XDG base directories.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty());
    let state = state.map(PathBuf::from).or_else(|| {
        std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"))
    })?;
    Some(state.join("volley/history"))
}

/// The line before a question mark at its end, unless that is quoted.
fn questioned(line: &str) -> Option<&str> {
    let before = line.trim_end().strip_suffix('?')?;
    before.matches('"').count().is_multiple_of(2).then_some(before)
}

/// Completes words by the grammar, and by what the router has.
#[derive(Helper, Highlighter, Hinter, Validator)]
struct Grammar {
    command: clap::Command,
    asked: Asked,
}

/// The words before the one that begins at the end of a line, and where it begins.
fn parted(typed: &str) -> (Vec<&str>, usize) {
    let start = typed.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    (typed[..start].split_whitespace().collect(), start)
}

impl Grammar {
    /// What may come behind, or in the place of the word that has begun.
    fn answer(&self, typed: &str) -> String {
        let (words, start) = parted(typed);
        let ask = |which: crate::names::Names<'_>| self.asked.names(which);
        let mut found = following(&self.command, &words, &typed[start..], &ask);
        found.words.retain(|(word, _)| word.starts_with(&typed[start..]));
        match found.words.is_empty() && !found.files {
            true => "  nothing that is known\n".to_owned(),
            false => found.explained(),
        }
    }
}

impl Completer for Grammar {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = &line[..position];
        let (words, start) = parted(typed);
        let ask = |which: crate::names::Names<'_>| self.asked.names(which);
        let found = candidates(&self.command, &words, &typed[start..], &ask);
        if found.files {
            let (start, files) = FilenameCompleter::new().complete(line, position, context)?;
            return Ok((start, files.into_iter().map(|file| file.replacement).collect()));
        }
        let mut words: Vec<String> = found.words.into_iter().map(|(word, _)| word).collect();
        if let [one] = &mut words[..] {
            one.push(' ');
        }
        Ok((start, words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_mark_at_the_end_asks_unless_it_is_quoted() {
        assert_eq!(questioned("show ?"), Some("show "));
        assert_eq!(questioned("sh? "), Some("sh"));
        assert_eq!(questioned("?"), Some(""));
        assert_eq!(questioned("show ports"), None);
        assert_eq!(questioned("route load \"what?"), None);
    }
}
