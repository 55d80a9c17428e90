//! From matched words to what they do.

use clap::{ArgMatches, FromArgMatches};
use control::view::{CountersClear, Nothing, Style, Verb};
use serde::de::DeserializeOwned;

use crate::bulk::BulkVerb;
use crate::cli::{self, Cli, CountersVerb, Noun};
use crate::client::Client;
use crate::edits::Edit;
use crate::error::CliError;
use crate::output::{Output, style_of_stdout};
use crate::qos::QosVerb;
use crate::show::Wanted;
use crate::{complete, config, events, exec, mac, observe, shell};

/// Who is talked to, and where results go.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) output: Output,
}

/// Runs what the command line says.
pub(crate) fn start(matches: &ArgMatches) -> Result<(), CliError> {
    let global = cli::Global::from_arg_matches(matches).map_err(usage)?;
    let client = Client::new(&global.socket)?;
    let output = Output { json: global.json, style: style_of_stdout() };
    let session = Session { client, output };
    let outcome = match matches.subcommand() {
        Some(_) => session.run(matches),
        None => shell::run(&session),
    };
    if let Err(CliError::Refused { json: Some(json), .. }) = &outcome
        && output.json
    {
        output.json(json)?;
    }
    outcome
}

/// What clap says, for those who typed it.
pub(crate) fn usage(error: clap::Error) -> CliError {
    CliError::Usage(error.render().to_string())
}

impl Session {
    /// Runs one command.
    pub(crate) fn run(&self, matches: &ArgMatches) -> Result<(), CliError> {
        if let Some(edit) = Edit::of(matches) {
            return edit.send(self);
        }
        if let Some(bulk) = BulkVerb::of(matches) {
            return bulk?.run(self);
        }
        if let Some(verb) = QosVerb::of(matches) {
            return verb?.run(self);
        }
        if let Some(wanted) = Wanted::of(matches) {
            return wanted.run(self);
        }
        let cli = Cli::from_arg_matches(matches).map_err(usage)?;
        match cli.noun {
            // Clap wants a verb behind `show`, and those are views.
            None | Some(Noun::Show { .. }) => Ok(()),
            Some(Noun::Config(verb)) => config::run(self, verb),
            Some(Noun::Trace(verb)) => observe::trace(self, verb),
            Some(Noun::Capture(verb)) => observe::capture(self, verb),
            Some(Noun::Mac(verb)) => mac::run(self, verb),
            Some(Noun::Counters(CountersVerb::Clear)) => {
                self.make::<CountersClear>(Nothing, |_, _| String::new())
            }
            Some(Noun::Events(which)) => events::run(self, &which),
            Some(Noun::Exec { file }) => exec::run(self, &file),
            Some(Noun::Completion { shell }) => complete::script(self.output, shell),
        }
    }

    /// Has the router do something, and writes what it came to.
    pub(crate) fn make<V: Verb>(
        &self,
        request: V::Request,
        text: impl FnOnce(V::Reply, Style) -> String,
    ) -> Result<(), CliError>
    where
        V::Reply: DeserializeOwned,
    {
        self.output.answer(self.client.make::<V>(request)?, text)
    }
}
