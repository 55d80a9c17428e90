//! The command line of the Volley router: a thin client of its API.
//!
//! ```text
//!  words ─▶ typed ─▶ cli ─▶ run ─┬─▶ show: every view  ─▶ client ─▶ Unix socket, or TLS (remote)
//!                                ├─▶ mac, observe, ping
//!                                ├─▶ config           (check works without a router)
//!                                ├─▶ doctor: the machine, without a router
//!                                ├─▶ docker: networks of containers, for Docker's engine
//!                                ├─▶ ovs: bridges and ports, for Open vSwitch's database
//!                                ├─▶ bulk: many routes at once
//!                                ├─▶ edits: nouns and verbs come from the configuration's own table
//!                                └─▶ exec, shell ─▶ run
//! ```

mod applied;
mod bulk;
mod cli;
mod client;
mod complete;
mod config;
mod docker;
mod doctor;
#[cfg(test)]
mod documented;
mod edits;
mod error;
mod events;
mod exec;
mod explain;
mod extcap;
mod kept;
mod live;
mod mac;
mod manual;
mod names;
mod observe;
mod output;
mod ovs;
mod pcapng;
mod ping;
mod printable;
mod qos;
mod reference;
mod remote;
mod run;
mod session;
mod shell;
mod show;
mod time;
mod top;
mod typed;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    let grammar = cli::command();
    let words = match typed::written_out(&grammar, std::env::args_os()) {
        Ok(words) => words,
        Err(told) => return error::CliError::Usage(told).report(),
    };
    let matches = match grammar.try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            // Help goes to standard output with success, the rest to standard error with code 2.
            drop(error.print());
            return if error.use_stderr() { error::USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    match run::start(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
