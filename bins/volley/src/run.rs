//! From matched words to what they do.

use clap::{ArgMatches, FromArgMatches};
use control::view::{ConnectionClear, ConnectionsClear, CountersClear, Fields, Nothing};

use crate::bulk::BulkVerb;
use crate::cli::{self, ClearWhat, Cli, CountersVerb, Noun};
use crate::client::Client;
use crate::edits::Edit;
use crate::error::CliError;
use crate::output::{Output, style_of_stdout};
use crate::qos::QosVerb;
use crate::session::{Session, usage};
use crate::show::Wanted;
use crate::{
    complete, config, docker, doctor, events, exec, extcap, mac, manual, observe, ovs, ping, shell,
    top, watch,
};

/// Runs what the command line says.
pub(crate) fn start(matches: &ArgMatches) -> Result<(), CliError> {
    let global = cli::Global::from_arg_matches(matches).map_err(usage)?;
    let client = Client::of(&global)?;
    let output = Output { json: global.json, style: style_of_stdout() };
    let session = Session { client, output };
    let outcome = match matches.subcommand() {
        Some(_) => run(&session, matches),
        None => shell::run(&session, run),
    };
    if let Err(
        CliError::Refused { json: Some(json), .. } | CliError::NotAsked { json: Some(json), .. },
    ) = &outcome
        && output.json
    {
        output.json(json)?;
    }
    outcome
}

/// Runs one command.
pub(crate) fn run(session: &Session, matches: &ArgMatches) -> Result<(), CliError> {
    if let Some(edit) = Edit::of(matches) {
        return edit.send(session);
    }
    if let Some(bulk) = BulkVerb::of(matches) {
        return bulk?.run(session);
    }
    if let Some(verb) = QosVerb::of(matches) {
        return verb?.run(session);
    }
    if let Some(start) = observe::Start::of(matches)? {
        return start.run(session);
    }
    if let Some(wanted) = Wanted::of(matches)? {
        return match wanted.watch {
            Some(seconds) => watch::watch(session, &wanted, seconds),
            None => wanted.run(session),
        };
    }
    let cli = Cli::from_arg_matches(matches).map_err(usage)?;
    match cli.noun {
        // Clap wants a verb behind `show`, and those are views.
        None | Some(Noun::Show { .. }) => Ok(()),
        Some(Noun::Config(verb)) => config::run(session, verb),
        Some(Noun::Doctor { file }) => doctor::run(session, &file),
        Some(Noun::DockerPlugin(args)) => docker::run(session, &args),
        Some(Noun::Ovs(args)) => ovs::run(session, &args),
        Some(Noun::Trace(verb)) => observe::trace(session, verb),
        Some(Noun::Capture(verb)) => observe::capture(session, verb),
        Some(Noun::Mac(verb)) => mac::run(session, verb),
        Some(Noun::Counters(CountersVerb::Clear)) => {
            session.make::<CountersClear>(Nothing, |_, _| "every counter is zero\n".to_owned())
        }
        Some(Noun::Clear(ClearWhat::Connections { nat, port, address })) => {
            let which = ConnectionClear { nat, port, address };
            session.make::<ConnectionsClear>(Fields(which), |count, _| {
                format!("{} connections ended\n", count.connections)
            })
        }
        Some(Noun::Ping(args)) => ping::ping(session, &args),
        Some(Noun::Traceroute(args)) => ping::traceroute(session, &args),
        Some(Noun::Events(which)) => events::run(session, &which),
        Some(Noun::Top(args)) => top::run(session, &args),
        Some(Noun::Exec { file }) => exec::run(session, &file, run),
        Some(Noun::Extcap(args)) => extcap::run(session, &args),
        Some(Noun::Completion { shell }) => complete::script(session.output, shell),
        Some(Noun::Complete { words }) => complete::print(session.output, &cli.global, &words),
        Some(Noun::Manual { markdown, folder }) => manual::write(&folder, markdown),
    }
}
