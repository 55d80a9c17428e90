//! `volleyd`: the router. One configuration file in, an API socket out.
//!
//! ```text
//!  main thread: signals, control loop (configuration, routes, neighbours)
//!  API:         two threads of its own, and others for what takes long
//!  workers:     one thread each, or the main thread between its other duties
//! ```

#[cfg(test)]
#[path = "../../volley/src/documented/pages.rs"]
mod documented;
mod reload;
mod serve;
mod supervisor;

use clap::Parser;
use control::api::UnixSocket;
use control::config::{Config, Host, Source, parse};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

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
    // Nothing runs yet, so whoever typed it is told with the lines of the file.
    let config = match read(&arguments.config) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("volleyd: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Capabilities are a thread's, and go to those that it makes: there is none yet.
    let (file, socket, web_socket) = match begin(&arguments, &config) {
        Ok(begun) => begun,
        Err(error) => {
            eprintln!("volleyd: {error}");
            return ExitCode::FAILURE;
        }
    };
    events::hub().set_level(config.log.events_level());
    let outcome = events::install(config.log.events_format())
        .map_err(Into::into)
        .and_then(|()| serve::serve(config, file, socket, web_socket))
        .inspect_err(|error| tracing::error!("{error}"));
    // A reader of the log that has stopped must not keep us.
    events::hub().flush(Duration::from_secs(1));
    if outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Listens, which may take more rights than the router does, and gives up what it does not need.
/// The configuration's file, the API's socket, and the page's.
fn begin(
    arguments: &Arguments,
    config: &Config,
) -> Result<(PathBuf, UnixSocket, Option<UnixSocket>), Box<dyn Error>> {
    // A path that is good from any folder: `save` may come much later.
    let file = std::path::absolute(&arguments.config)?;
    // Where it listens is not a change of the configuration: applying the same file changes
    // nothing.
    let path = arguments.socket.as_ref().unwrap_or(&config.api.socket);
    let socket = UnixSocket::bind(path, &config.api)?;
    let web_socket = config.web.socket.as_ref();
    let web_socket = web_socket.map(|path| UnixSocket::bind(path, &config.api)).transpose()?;
    rights::capabilities::give_up_all_but(&router::capabilities(config, &file))
        .map_err(|error| format!("cannot give up what the router does not need: {error}"))?;
    Ok((file, socket, web_socket))
}

fn read(path: &Path) -> Result<Config, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(parse(&Source::new(path.display().to_string(), text), &Host::this())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_pages_show_is_one() {
        let (tried, wrong) = documented::faults("volleyd", |shown| {
            Arguments::try_parse_from(&shown.words).err().and_then(|error| shown.complaint(&error))
        });
        assert!(wrong.is_empty(), "{} of {tried} are none:\n\n{}", wrong.len(), wrong.join("\n"));
        assert!(tried > 10, "only {tried} were found");
    }
}
