//! The commands that edit the configuration: their nouns and verbs in the grammar, and their
//! sending.

use std::path::Path;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, Subcommand};
use control::config::help;
use control::config::info::Described;
use control::config::objects::Command as EditCommand;
use control::config::objects::{commands, described};
use control::view::{self, ConfigEdit, Fields};

use crate::applied::applied;
use crate::bulk::BulkVerb;
use crate::error::CliError;
use crate::qos::{self, QosVerb};
use crate::session::Session;
use crate::time::{duration, seconds};

/// Verb of `route` that shows and does not edit.
const LIST: &str = "list";

/// Adds every noun that edits to the grammar.
pub(crate) fn add_nouns(mut grammar: Command) -> Command {
    let sections = described();
    for edit in commands() {
        if grammar.find_subcommand(edit.noun).is_none() {
            let noun = Command::new(edit.noun).about(about(edit, &sections));
            grammar =
                grammar.subcommand(noun.subcommand_required(true).arg_required_else_help(true));
        }
        grammar = grammar.mut_subcommand(edit.noun, |noun| noun.subcommand(verb(edit)));
    }
    let grammar = grammar.mut_subcommand("qos", with_more::<QosVerb>);
    grammar.mut_subcommand("route", |noun| {
        let list = Command::new(LIST).about("List the routes, as `show routes` does");
        with_more::<BulkVerb>(noun.subcommand(list))
    })
}

/// Adds verbs that edit nothing: the noun is still what it was, not what those are.
fn with_more<Verbs: Subcommand>(noun: Command) -> Command {
    let about = noun.get_about().cloned();
    Verbs::augment_subcommands(noun).about(about.unwrap_or_default())
}

/// What a noun is: the section of the file that it edits, or else what its first verb does.
fn about(edit: &EditCommand, sections: &[Described]) -> String {
    let section = sections.iter().find(|section| section.path == edit.noun);
    let about = section.map_or(&*edit.about, |section| (section.about)("").trim());
    about.split(", as in").next().unwrap_or_default().to_owned()
}

fn verb(edit: &'static EditCommand) -> Command {
    let EditCommand { noun, verb, about, .. } = edit;
    Command::new(*verb)
        .about(about.as_ref())
        .display_name(format!("{noun} {verb}"))
        .defer(explained)
        .arg(
            Arg::new("confirm_within")
                .long("confirm-within")
                .value_name("TIME")
                .help("Undo it after this time unless confirmed, as in 60s")
                .value_parser(duration),
        )
        .arg(Arg::new("words").value_name("WORDS").num_args(0..).help("What it says, see below"))
}

/// Adds usage and fields to the help of a verb, once somebody names it.
fn explained(verb: Command) -> Command {
    let is_named = |edit: &&EditCommand| {
        verb.get_display_name() == Some(format!("{} {}", edit.noun, edit.verb).as_str())
    };
    match commands().iter().find(is_named) {
        Some(edit) => {
            let usage = format!("volley {} {} [OPTIONS] {}", edit.noun, edit.verb, edit.usage());
            verb.override_usage(usage.trim_end().to_owned())
                .after_help(help::of_fields(&(edit.fields)()))
        }
        None => verb,
    }
}

/// A command that edits, as it was typed.
pub(crate) struct Edit {
    line: String,
    /// A `tc` script that is the command's text.
    script: Option<String>,
    confirm_within: Option<Duration>,
}

impl Edit {
    /// The edit among the matches, if it is one.
    pub(crate) fn of(matches: &ArgMatches) -> Option<Self> {
        let (noun, matches) = matches.subcommand()?;
        let (verb, matches) = matches.subcommand()?;
        commands().iter().find(|edit| (edit.noun, edit.verb) == (noun, verb))?;
        let mut line = format!("{noun} {verb}");
        for word in matches.get_many::<String>("words").into_iter().flatten() {
            line.push(' ');
            line.push_str(&quoted(word));
        }
        let confirm_within = matches.get_one::<Duration>("confirm_within").copied();
        let script =
            matches.get_many::<String>("words").filter(|_| (noun, verb) == ("qos", "import"));
        let script = script.and_then(|mut words| words.next().cloned());
        Some(Self { line, script, confirm_within })
    }

    /// Its words, as the configuration's commands read them; none where a file has them.
    #[cfg(test)]
    pub(crate) fn line(&self) -> Option<&str> {
        self.script.is_none().then_some(&self.line)
    }

    /// Whether it wants more than its words say.
    pub(crate) fn has_options(&self) -> bool {
        self.confirm_within.is_some() || self.script.is_some()
    }

    /// Has the router make the change.
    pub(crate) fn send(&self, session: &Session) -> Result<(), CliError> {
        let (line, file) = match &self.script {
            Some(file) => (qos::import(file)?, Some(Path::new(qos::name(file)))),
            None => (self.line.clone(), None),
        };
        send(session, line, file, self.confirm_within)
    }
}

/// Has the router make all changes of a text, or none.
pub(crate) fn send(
    session: &Session,
    commands: String,
    file: Option<&Path>,
    confirm_within: Option<Duration>,
) -> Result<(), CliError> {
    let body = view::EditText {
        commands,
        file: file.map(|file| file.display().to_string()),
        confirm_within_s: confirm_within.map(seconds),
    };
    session.make::<ConfigEdit>(Fields(body), applied)
}

/// A word as the configuration's commands read it.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '#');
    if plain { word.to_owned() } else { format!("\"{word}\"") }
}
