//! Nouns and verbs. Those that edit come from the configuration's own table of commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use control::config::objects::api::DEFAULT_SOCKET;

use crate::docker::DockerPlugin;
use crate::events::Events;
use crate::extcap::Extcap;
use crate::live::Live;
use crate::mac::MacVerb;
use crate::ovs::Ovs;
use crate::ping::{PingArgs, TracerouteArgs};
use crate::top::Top;
use crate::{edits, observe, show, time};

/// Where packages put the configuration.
const DEFAULT_FILE: &str = "/etc/volley/volley.toml";

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 refused or wrong; 2 not a command; 3 no router to talk to.
Commands may be cut short where one alone begins so, as in `volley sh por`; not in files.
Without a command, a shell: history, completion, the same commands; `?` tells what may come next.";

/// The command line of the Volley router.
#[derive(Debug, Parser)]
#[command(name = "volley", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) noun: Option<Noun>,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// The router's socket, or https://HOST:PORT of one on another machine
    #[arg(long, global = true, env = "VOLLEY_SOCKET", value_name = "PATH",
        default_value = DEFAULT_SOCKET, hide_env_values = true, value_hint = ValueHint::FilePath)]
    pub(crate) socket: PathBuf,
    /// File of the token that such a router knows you by
    #[arg(long, global = true, env = "VOLLEY_TOKEN_FILE", value_name = "FILE",
        hide_env_values = true, value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,
    /// File of the certificate that such a router is known by, or of who signed it
    #[arg(long, global = true, env = "VOLLEY_CERTIFICATE", value_name = "FILE",
        hide_env_values = true, value_hint = ValueHint::FilePath)]
    pub(crate) certificate: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Noun {
    /// Show what the router is doing
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Show {
        /// Show again and again, every second or so many; counters as rates
        #[arg(long, global = true, value_name = "SECONDS", num_args = 0..=1,
            default_missing_value = "1", value_parser = clap::value_parser!(u64).range(1..=3600))]
        watch: Option<u64>,
    },
    /// Check, apply, undo and save configurations
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Tell what this machine lacks for a configuration, and how to mend it; needs no router
    Doctor {
        /// The file
        #[arg(value_hint = ValueHint::FilePath, default_value = DEFAULT_FILE)]
        file: PathBuf,
    },
    /// Serve Docker's networks: `docker network create -d volley` makes a bridge of the router
    DockerPlugin(DockerPlugin),
    /// Do what Open vSwitch's database says, in place of ovs-vswitchd
    Ovs(Ovs),
    /// Follow packets through the graph
    #[command(subcommand)]
    Trace(TraceVerb),
    /// Copy packets at a node's exit into a pcap file
    #[command(subcommand)]
    Capture(CaptureVerb),
    /// Show, forget and add stations of bridges
    #[command(subcommand)]
    Mac(MacVerb),
    /// Counters of ports and nodes
    #[command(subcommand)]
    Counters(CountersVerb),
    /// End what the router knows
    #[command(subcommand)]
    Clear(ClearWhat),
    /// Ask somebody for echoes, from the router itself; exit codes as of ping(8)
    Ping(PingArgs),
    /// Find the routers on a way, from the router itself, by echo requests
    Traceroute(TracerouteArgs),
    /// Show what happened: commits, links, sessions, faults
    Events(Events),
    /// Show again and again what there is most of: workers, ports, nodes, drops, by the second
    Top(Top),
    /// Run a file of commands; changes in a row are made together or not at all
    Exec {
        /// The file; `-` for standard input
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Print the completions of a shell, as in: source <(volley completion bash)
    Completion {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Answer Wireshark, as a program of its extcap folder
    Extcap(Extcap),
    /// What could come next, for those completions; the last word is the one begun
    #[command(hide = true)]
    Complete {
        /// The words so far
        #[arg(last = true, num_args = 0.., allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Write the manual pages, one a command
    Manual {
        /// As pages of the documentation site: commands, and fields of the configuration
        #[arg(long)]
        markdown: bool,
        /// The folder; it is made
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Check a file; needs no router
    Check {
        /// The file
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// It is for another machine: believe its core lists
        #[arg(long)]
        any_host: bool,
    },
    /// Tell what a file would change
    Diff {
        /// The file
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Make a file the running configuration: all of it or nothing
    Apply {
        /// The file
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Undo it after this time unless confirmed, as in 60s
        #[arg(long, value_name = "TIME", value_parser = time::duration)]
        confirm_within: Option<Duration>,
    },
    /// Keep the change that waits to be confirmed
    Confirm,
    /// Go back to an earlier configuration
    Rollback {
        /// Its revision, as in `config history`; without one, that before the last change
        revision: Option<u64>,
    },
    /// Print the configuration's JSON Schema; needs no router
    Schema,
    /// Write the running configuration to the router's file
    Save,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceVerb {
    /// Stop tracing
    Stop,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CaptureVerb {
    /// Capture the next packets
    Start {
        /// Node, as in `show nodes`
        #[arg(long)]
        node: String,
        /// Exit of the node; without one, all of them
        #[arg(long)]
        exit: Option<String>,
        /// How many packets
        #[arg(long, default_value_t = 1_000)]
        count: u32,
        /// Bytes kept of each packet
        #[arg(long, value_name = "BYTES")]
        snap: Option<u32>,
    },
    /// Write what was captured, as pcap
    Save {
        /// The file; `-` for standard output
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Write packets as they come, as pcapng: `volley capture live | wireshark -k -i -`
    Live(Live),
    /// Stop capturing
    Stop,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CountersVerb {
    /// Set every counter to zero
    Clear,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClearWhat {
    /// End connections: all, or those of a translation, of a port's access lists, of an address
    Connections {
        /// Only those of this translation
        #[arg(long)]
        nat: Option<String>,
        /// Only those that access lists of this port keep
        #[arg(long)]
        port: Option<String>,
        /// Only those with this address, on either side
        #[arg(long)]
        address: Option<String>,
    },
}

/// The whole grammar.
pub(crate) fn command() -> clap::Command {
    observe::add_verbs(show::add_commands(edits::add_nouns(Cli::command())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_that_edits_has_its_noun_and_verb() {
        let grammar = command();
        for edit in control::config::objects::commands() {
            let noun = grammar.find_subcommand(edit.noun).unwrap();
            assert!(noun.find_subcommand(edit.verb).is_some(), "{} {}", edit.noun, edit.verb);
        }
    }
}
