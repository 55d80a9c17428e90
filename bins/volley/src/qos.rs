//! `qos import` and `qos show`: `tc` scripts to take over, and what there is in `tc`'s own words.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use clap::{ArgMatches, FromArgMatches, Subcommand};
use control::view::{self, View};

use crate::error::CliError;
use crate::session::{Session, usage};

/// Verbs of `qos` that change no configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum QosVerb {
    /// Show schedulers and classes in tc's own words, as `tc qdisc show` and `tc class show` do
    Show {
        /// The port; all that are shaped when left out
        port: Option<String>,
        /// With what they did, as `tc -s` has it
        #[arg(short, long)]
        statistics: bool,
    },
}

impl QosVerb {
    /// The verb among the matches, if it is one of these.
    pub(crate) fn of(matches: &ArgMatches) -> Option<Result<Self, CliError>> {
        let ("qos", matches) = matches.subcommand()? else { return None };
        let verb = matches.subcommand_name()?;
        Self::has_subcommand(verb).then(|| Self::from_arg_matches(matches).map_err(usage))
    }

    /// Runs it.
    pub(crate) fn run(self, session: &Session) -> Result<(), CliError> {
        let Self::Show { port, statistics } = self;
        let known = session.client.get(view::Port::PATH)?;
        let is_known = |port: &String| {
            let mut ports = known.as_array().into_iter().flatten();
            ports.any(|known| known["name"] == port.as_str())
        };
        if let Some(port) = port.as_ref().filter(|port| !is_known(port)) {
            let detail = format!("there is no port `{port}`");
            return Err(CliError::Refused { detail, json: None });
        }
        let answer = session.client.get(view::Qos::PATH)?;
        session.output.answer(answer, |shaped: Vec<view::Qos>, _| {
            view::Qos::as_tc(shaped, port.as_deref(), statistics)
        })
    }
}

/// The command that takes over a `tc` script: its lines, comments left out, parted by `;`, so that
/// a fault still names the right one.
pub(crate) fn import(file: &str) -> Result<String, CliError> {
    let text = if file == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(Path::new(file))
    };
    let text = text.map_err(|error| CliError::Usage(format!("error: {file}: {error}\n")))?;
    if text.contains(['"', ';']) {
        let message =
            format!("error: {file}: quotes and semicolons are a shell's: take them out\n");
        return Err(CliError::Usage(message));
    }
    let lines: Vec<&str> =
        text.lines().map(|line| line.split('#').next().unwrap_or("").trim_end()).collect();
    Ok(format!("qos import \"{}\"", lines.join(";")))
}

/// What a script is called where its faults are told.
pub(crate) fn name(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}
