//! What was typed, held against the grammar: where it leads, and short words written out.
//!
//! ```text
//!  sh por --watch 2 ─▶ show ports --watch 2       a word short for one command alone is that one
//!  sh po           ─▶ "policers, ports"                  for several: they are told
//! ```

use std::ffi::OsString;

use clap::{Arg, Command};

/// Where typed words lead.
pub(crate) struct Place<'a> {
    /// The command that they name, those above it first.
    pub(crate) path: Vec<&'a Command>,
    /// The words that are neither commands, nor flags, nor values of flags.
    pub(crate) plain: Vec<&'a str>,
    /// Flags that have a value, by their names.
    pub(crate) values: Vec<(&'a str, &'a str)>,
    /// The flag whose value comes next.
    pub(crate) open: Option<&'a Arg>,
}

impl<'a> Place<'a> {
    /// Where these words lead.
    pub(crate) fn of(grammar: &'a Command, words: &[&'a str]) -> Self {
        let mut place = Self { path: vec![grammar], plain: vec![], values: vec![], open: None };
        for word in words {
            place.step(word);
        }
        place
    }

    /// The command itself.
    pub(crate) fn command(&self) -> &'a Command {
        self.path[self.path.len() - 1]
    }

    /// The flags and other arguments that it takes, its own and those of all below one above.
    pub(crate) fn arguments(&self) -> Vec<&'a Arg> {
        let (last, above) = (self.command(), &self.path[..self.path.len() - 1]);
        let above = above.iter().flat_map(|command| command.get_arguments());
        last.get_arguments().chain(above.filter(|argument| argument.is_global_set())).collect()
    }

    /// The value of a flag that was said.
    pub(crate) fn value(&self, flag: &str) -> Option<&'a str> {
        self.values.iter().rev().find(|(said, _)| *said == flag).map(|(_, value)| *value)
    }

    fn step(&mut self, word: &'a str) {
        if let Some(flag) = self.open.take() {
            self.values.push((flag.get_long().unwrap_or_default(), word));
            return;
        }
        if let Some(flag) = word.strip_prefix("--") {
            match flag.split_once('=') {
                Some(said) => self.values.push(said),
                None => self.open = self.arguments().into_iter().find(|it| wants_value(it, flag)),
            }
            return;
        }
        if word.starts_with('-') && word.len() > 1 {
            return;
        }
        match self.command().find_subcommand(word).filter(|_| self.plain.is_empty()) {
            Some(command) => self.path.push(command),
            None => self.plain.push(word),
        }
    }
}

/// Whether the argument is the flag of this name, and a value must follow it.
fn wants_value(argument: &Arg, flag: &str) -> bool {
    let may_be_alone = argument.get_num_args().is_some_and(|range| range.min_values() == 0);
    argument.get_long() == Some(flag) && argument.get_action().takes_values() && !may_be_alone
}

/// Writes short commands out, the first word being the program's. Of those that are short for
/// several: what a person is told.
pub(crate) fn written_out(
    grammar: &Command,
    words: impl IntoIterator<Item = OsString>,
) -> Result<Vec<OsString>, String> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let mut seen: Vec<String> = Vec::new();
    for typed in words.iter_mut().skip(1) {
        // What is no text is no command.
        let Some(word) = typed.to_str().map(str::to_owned) else { break };
        let before: Vec<&str> = seen.iter().map(String::as_str).collect();
        let place = Place::of(grammar, &before);
        let is_plain = place.open.is_none() && place.plain.is_empty() && !word.starts_with('-');
        let whole = match is_plain && word != "help" {
            true => meant(place.command(), &word)?,
            false => None,
        };
        if let Some(whole) = whole {
            *typed = whole.into();
        }
        if word != "help" {
            seen.push(whole.map_or(word, str::to_owned));
        }
    }
    Ok(words)
}

/// The one verb of a command that a word is short for.
fn meant<'a>(command: &'a Command, word: &str) -> Result<Option<&'a str>, String> {
    if command.find_subcommand(word).is_some() {
        return Ok(None);
    }
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let mut fits: Vec<&str> =
        verbs.map(Command::get_name).filter(|name| name.starts_with(word)).collect();
    fits.sort_unstable();
    match fits[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(format!("error: `{word}` may be {}: say more of it\n", fits.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn out(line: &str) -> Result<String, String> {
        let words = std::iter::once("volley").chain(line.split(' ')).map(OsString::from);
        let words = written_out(&cli::command(), words)?;
        Ok(words[1..].join(&OsString::from(" ")).into_string().unwrap())
    }

    #[test]
    fn a_word_that_is_short_for_one_command_is_that_one() {
        assert_eq!(out("sh por").unwrap(), "show ports");
        assert_eq!(out("sh por --watch 2 --json").unwrap(), "show ports --watch 2 --json");
        assert_eq!(out("--socket sh sh ver").unwrap(), "--socket sh show version");
        assert_eq!(out("--socket=/x --json sh err").unwrap(), "--socket=/x --json show errors");
        assert_eq!(out("help sh por").unwrap(), "help show ports");
        // A whole word is itself, though others begin with it.
        assert_eq!(out("show neighbors").unwrap(), "show neighbors");
        assert_eq!(out("show acl").unwrap(), "show acl");
        // What is no command stays: clap says so.
        assert_eq!(out("xyz po").unwrap(), "xyz po");
        // Names and fields are never written out.
        assert_eq!(out("por se po up of").unwrap(), "port set po up of");
    }

    #[test]
    fn a_word_that_is_short_for_several_tells_them() {
        let told = out("show n").unwrap_err();
        assert_eq!(
            told,
            "error: `n` may be neighbor-shares, neighbors, next-hops, nodes: say more of it\n"
        );
        assert!(out("sh po").unwrap_err().contains("policers, ports"));
        assert!(out("e").unwrap_err().contains("events, exec"));
    }
}
