//! `volleyd`: the router. One configuration file in, an API socket out.
//!
//! ```text
//!  main thread: signals, API, control loop (configuration, routes, neighbours)
//!  workers:     one thread each, or the main thread between its other duties
//! ```

mod serve;

use clap::Parser;
use control::config::{Config, Host, Source, parse};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The Volley router.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The configuration file. `volley config check FILE` says whether it is good.
    #[arg(long, short)]
    config: PathBuf,
    /// Listen here instead of where the configuration says.
    #[arg(long)]
    socket: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("volleyd: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let config = read(&arguments.config)?;
    // A path that is good from any folder: `save` may come much later.
    let file = std::path::absolute(&arguments.config)?;
    // Where it listens is not a change of the configuration: applying the same file changes
    // nothing.
    let socket = arguments.socket.clone().unwrap_or_else(|| config.api.socket.clone());
    serve::serve(config, file, &socket)
}

fn read(path: &Path) -> Result<Config, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(parse(&Source::new(path.display().to_string(), text), &Host::this())?)
}
