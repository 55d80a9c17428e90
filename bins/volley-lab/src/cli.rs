//! The commands, their help and their completion.

use std::fs;
use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand, ValueHint};

use crate::bisect::Bisect;
use crate::compare::Compare;
use crate::fit::Fit;
use crate::history::History;
use crate::index::Index;
use crate::peers::Peers;
use crate::report::Report;
use crate::round_trip::{Ask, Respond};
use crate::run::Run;
use crate::say::say;
use crate::scenario::Verb;
use crate::self_test::SelfTest;
use crate::simulate::Simulate;
use crate::traffic::Traffic;
use crate::trend::Trend;
use crate::{
    Failure, bisect, compare, fit, history, index, peers, plan, report, round_trip, run, scenario,
    self_test, simulate, study, traffic, trend,
};

const EXIT_CODES: &str = "\
Exit codes: 0 done, and all passed; 1 the lab itself failed; 2 not a command; 3 not passed: slower, or a
function that is wrong; 4 nothing, or not all, could be measured; 130 stopped, what was measured is kept.";

/// Measures switches and routers.
#[derive(Debug, Parser)]
#[command(name = "volley-lab", version, after_help = EXIT_CODES)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure a scenario on devices of this host and write the report
    Run(Run),
    /// Measure what a source measured: many scenarios, one report with its numbers beside ours
    Study(study::Arguments),
    /// What a scenario would take, and what a shorter campaign would lose
    Plan(plan::Arguments),
    /// Hold device B against A: interleaved blocks of fresh starts, compared pair by pair
    Compare(Compare),
    /// Find the revision of a repository, or the build of several, since which Volley is slower
    Bisect(Bisect),
    /// Numbers that several campaigns have, in order of time, cut where they changed
    Trend(Trend),
    /// Results kept by commit and host: baselines, changes, a dashboard
    History(History),
    /// Which devices are here, their versions, and how to get the others
    Peers(Peers),
    /// What the lab itself can send and receive over each kind of link, and at which latency
    SelfTest(SelfTest),
    /// Send test frames and say what came of every one of them
    Traffic(Box<Traffic>),
    /// Answer small UDP datagrams with themselves
    Respond(Respond),
    /// Send small requests and say how long their answers took
    Ask(Ask),
    /// Run a search against simulated devices of known capacity
    Simulate(Simulate),
    /// Render the report of a results folder again
    Report(Report),
    /// Make one SQLite file of the results in many folders
    Index(Index),
    /// On a device's host: do what a test bed's generator asks for, by standard input and output
    Agent,
    /// In a virtual machine of the lab's: run what the lab asks for at this port
    #[command(hide = true)]
    Guest {
        /// The port
        port: PathBuf,
    },
    /// Scenario files, before anything is measured
    #[command(subcommand)]
    Scenario(Verb),
    /// Fit a model to lines of `x,y`
    Fit(Fit),
    /// Print the completions of a shell, as in: source <(volley-lab completion bash)
    Completion {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one a command
    Manual {
        /// The folder; it is made
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

impl Cli {
    /// Does what was asked for.
    pub(crate) fn execute(self) -> Result<(), Failure> {
        match self.command {
            Command::Run(arguments) => run::run(&arguments),
            Command::Study(arguments) => study::run(&arguments),
            Command::Plan(arguments) => plan::run(&arguments),
            Command::Compare(arguments) => compare::compare(&arguments),
            Command::Bisect(arguments) => bisect::bisect(&arguments),
            Command::Trend(arguments) => trend::run(&arguments),
            Command::History(arguments) => history::run(&arguments),
            Command::Peers(arguments) => peers::run(&arguments),
            Command::SelfTest(arguments) => self_test::run(&arguments),
            Command::Traffic(arguments) => traffic::run(&arguments),
            Command::Respond(arguments) => round_trip::respond(&arguments),
            Command::Ask(arguments) => round_trip::ask(&arguments),
            Command::Simulate(arguments) => simulate::run(&arguments),
            Command::Report(arguments) => report::run(&arguments),
            Command::Index(arguments) => index::run(&arguments),
            Command::Agent => {
                let input = std::io::BufReader::new(std::io::stdin());
                Ok(lab_trial::testbed::agent::serve(input, std::io::stdout())?)
            }
            Command::Guest { port } => Ok(lab_trial::endpoint::vm::agent::serve_at(&port)?),
            Command::Scenario(verb) => scenario::run(&verb),
            Command::Fit(arguments) => fit::run(&arguments),
            Command::Completion { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Self::command(), "volley-lab", &mut script);
                say!("{}", String::from_utf8_lossy(&script).trim_end());
                Ok(())
            }
            Command::Manual { folder } => {
                let write = || {
                    fs::create_dir_all(&folder)?;
                    clap_mangen::generate_to(Self::command(), &folder)
                };
                write().map_err(lab_record::Error::file(&folder)).map_err(Failure::from)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documented as pages;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_that_pages_show_is_one() {
        let (tried, wrong) = pages::faults("volley-lab", |shown| {
            Cli::try_parse_from(&shown.words).err().and_then(|error| shown.complaint(&error))
        });
        assert!(wrong.is_empty(), "{} of {tried} are none:\n\n{}", wrong.len(), wrong.join("\n"));
        assert!(tried > 60, "only {tried} were found");
    }
}
