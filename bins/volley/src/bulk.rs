//! `volley route load`, `add-range` and `flush`: many routes at once.
//!
//! ```text
//!  file ─▶ router ─▶ a line now and then ─▶ progress on a terminal, the last one to standard output
//! ```

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches, Subcommand, ValueHint};
use control::view::{self, BulkState, Fields, File, RoutesFlush, RoutesLoad, RoutesRange};
use serde_json::Value;

use crate::error::CliError;
use crate::session::{Session, usage};

/// Verbs of `route` that change no configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum BulkVerb {
    /// Add the routes of a file: PREFIX NEXT-HOP a line or an MRT table dump, .zst and .gz as well.
    /// They forward at once, are no part of the configuration, and there again after a restart
    Load(Load),
    /// Add routes to many networks in a row, as in: route add-range 10.0.0.0/24 --count 1000 --via
    /// 192.0.2.9
    AddRange(AddRange),
    /// Remove all routes of a source that were loaded
    Flush {
        /// Whose routes, as in ebgp
        #[arg(long, value_name = "NAME")]
        source: String,
        /// VRF that they are in
        #[arg(long, value_name = "NAME")]
        vrf: Option<String>,
    },
}

/// How a file is loaded.
#[derive(Debug, Args)]
pub(crate) struct Load {
    /// The file
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Whose routes they are: ebgp, ospf, isis, rip or ibgp, and maybe a preference, as in ospf/90
    #[arg(long, value_name = "NAME", default_value = "ebgp")]
    source: String,
    /// VRF that they go into
    #[arg(long, value_name = "NAME")]
    vrf: Option<String>,
    /// Next hops to lead the routes over, instead of the file's own, which may be prefixes alone
    #[arg(long, value_name = "ADDRESS,...")]
    via: Option<String>,
    /// Lead every route over all of --via, sharing its flows, instead of over one of them
    #[arg(long, requires = "via")]
    share: bool,
    /// Then remove the source's routes that the file does not have
    #[arg(long)]
    replace: bool,
    /// Leave wrong lines out instead of refusing the file
    #[arg(long)]
    skip_wrong: bool,
}

/// Which routes are made up.
#[derive(Debug, Args)]
pub(crate) struct AddRange {
    /// The first network
    prefix: String,
    /// How many
    #[arg(long)]
    count: u32,
    /// Next hops, taken in turn
    #[arg(long, value_name = "ADDRESS,...")]
    via: String,
    /// Lead every route over all of --via, sharing its flows
    #[arg(long)]
    share: bool,
    /// Whose routes they are, as for `route load`
    #[arg(long, value_name = "NAME", default_value = "ebgp")]
    source: String,
    /// VRF that they go into
    #[arg(long, value_name = "NAME")]
    vrf: Option<String>,
}

impl BulkVerb {
    /// The verb among the matches, if it is one of these.
    pub(crate) fn of(matches: &ArgMatches) -> Option<Result<Self, CliError>> {
        let ("route", matches) = matches.subcommand()? else { return None };
        let verb = matches.subcommand_name()?;
        Self::has_subcommand(verb).then(|| Self::from_arg_matches(matches).map_err(usage))
    }

    /// Runs it, telling how it goes.
    pub(crate) fn run(self, session: &Session) -> Result<(), CliError> {
        let mut last = None;
        let read = |line: &[u8]| {
            let broken = |error: serde_json::Error| CliError::Broken(error.to_string());
            let value: Value = serde_json::from_slice(line).map_err(broken)?;
            let bulk: view::Bulk = serde_json::from_value(value.clone()).map_err(broken)?;
            progress(&bulk);
            last = Some((value, bulk));
            Ok(())
        };
        let client = &session.client;
        match self {
            Self::Load(load) => client.make_lines::<RoutesLoad>(load.read()?, read),
            Self::AddRange(AddRange { prefix, count, via, share, source, vrf }) => {
                let source = Some(source);
                let range = view::RouteRange { prefix, count, source, vrf, via, share };
                client.make_lines::<RoutesRange>(Fields(range), read)
            }
            Self::Flush { source, vrf } => {
                let flush = view::RouteFlush { source, vrf };
                client.make_lines::<RoutesFlush>(Fields(flush), read)
            }
        }?;
        match last {
            Some((value, bulk)) if bulk.state == BulkState::Done => {
                let output = session.output;
                if output.json { output.json(&value) } else { output.text(&told(&bulk)) }
            }
            Some((value, bulk)) => {
                let json = session.output.json.then_some(value);
                Err(CliError::Refused { detail: failed(&bulk), json })
            }
            None => Err(CliError::Broken("nothing was said".to_owned())),
        }
    }
}

impl Load {
    /// The file, and what becomes of it.
    fn read(self) -> Result<File<view::RouteLoad>, CliError> {
        let Self { file, source, vrf, via, share, replace, skip_wrong } = self;
        let routes = fs::read(&file).map_err(|error| CliError::File { path: file, error })?;
        let source = Some(source);
        Ok(File(view::RouteLoad { source, vrf, via, share, replace, skip_wrong }, routes))
    }
}

/// One line on standard error that the next one replaces; nothing where nobody watches.
fn progress(bulk: &view::Bulk) {
    if !io::stderr().is_terminal() {
        return;
    }
    let doing = match bulk.state {
        BulkState::Reading => format!("{} routes read", bulk.read),
        BulkState::Adding => {
            format!("{} routes added, {} a second", bulk.added, rate(bulk.added, bulk.elapsed_ms))
        }
        BulkState::Removing => format!("{} routes removed", bulk.removed),
        BulkState::Done | BulkState::Failed => String::new(),
    };
    let share = match doing.is_empty() {
        true => String::new(),
        false => format!("{:3.0}%  ", bulk.share * 100.0),
    };
    // Progress that cannot be shown is not worth failing for.
    let _ = write!(io::stderr(), "\r\x1b[K{share}{doing}");
}

fn rate(count: u64, elapsed_ms: u64) -> u64 {
    count * 1000 / elapsed_ms.max(1)
}

fn told(bulk: &view::Bulk) -> String {
    let seconds = bulk.elapsed_ms as f64 / 1000.0;
    let mut text = format!(
        "{}: {} routes added, {} removed, in {seconds:.2} s; {} of its {} routes forward\n",
        bulk.source, bulk.added, bulk.removed, bulk.active, bulk.routes
    );
    if bulk.wrong > 0 {
        text.push_str(&format!("{} wrong lines were left out:\n", bulk.wrong));
        for line in &bulk.wrong_lines {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

fn failed(bulk: &view::Bulk) -> String {
    let detail = bulk.detail.as_deref().unwrap_or("it broke off");
    match (bulk.added, bulk.removed) {
        (0, 0) => format!("{detail}; nothing was changed"),
        (added, removed) => {
            format!("{detail}; of {} routes {added} were added, and {removed} removed", bulk.read)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_it_is_told_in_numbers() {
        let mut bulk = view::Bulk { source: "ebgp".into(), ..view::Bulk::default() };
        (bulk.added, bulk.elapsed_ms, bulk.routes, bulk.active) = (1000, 500, 1000, 900);
        let expected =
            "ebgp: 1000 routes added, 0 removed, in 0.50 s; 900 of its 1000 routes forward\n";
        assert_eq!(told(&bulk), expected);
        (bulk.wrong, bulk.wrong_lines) = (2, vec!["line 7".into()]);
        assert!(told(&bulk).ends_with("2 wrong lines were left out:\n  line 7\n"));
        assert_eq!(rate(1000, 500), 2000);
    }

    #[test]
    fn a_failure_says_what_was_done_until_then() {
        let mut bulk = view::Bulk { detail: Some("full".into()), ..view::Bulk::default() };
        assert_eq!(failed(&bulk), "full; nothing was changed");
        (bulk.read, bulk.added) = (10, 4);
        assert_eq!(failed(&bulk), "full; of 10 routes 4 were added, and 0 removed");
    }
}
