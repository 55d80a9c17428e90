//! Bare `volley`: a shell with history and completion. The commands are those of the command line.

use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::{Context, Editor, Helper, Highlighter, Hinter, Validator};

use crate::error::CliError;
use crate::session::{Run, Session};
use crate::{cli, complete, exec};

const PROMPT: &str = "volley> ";

/// Reads and runs commands until the end of input, `exit` or `quit`.
pub(crate) fn run(session: &Session, run: Run) -> Result<(), CliError> {
    let broken = |error: ReadlineError| CliError::Output(std::io::Error::other(error));
    let mut editor: Editor<Grammar, _> = Editor::new().map_err(broken)?;
    editor.set_helper(Some(Grammar { command: cli::command() }));
    let history = history_file();
    if let Some(file) = &history {
        // The first shell of a user has none.
        let _ = editor.load_history(file);
    }
    let mut last = Ok(());
    loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(broken(error)),
        };
        let words = exec::words(&line);
        match words.first().map(String::as_str) {
            None => continue,
            Some("exit" | "quit") => break,
            Some(_) => {}
        }
        let _ = editor.add_history_entry(line.as_str());
        last = exec::one(session, &words, run);
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

/// Completes words by the grammar.
#[derive(Helper, Highlighter, Hinter, Validator)]
struct Grammar {
    command: clap::Command,
}

impl Completer for Grammar {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = &line[..position];
        let start = typed.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let words: Vec<&str> = typed[..start].split_whitespace().collect();
        Ok((start, complete::candidates(&self.command, &words, &typed[start..])))
    }
}
