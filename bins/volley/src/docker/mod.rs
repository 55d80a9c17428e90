//! `volley docker-plugin`: Docker's networks as bridges of the router.
//!
//! ```text
//!  docker network create -d volley        docker run --network
//!        dockerd (libnetwork) ── HTTP on a Unix socket ──▶ serve ─▶ driver ─┬─▶ links    veth pairs, by ip(8)
//!                                                                           ├─▶ router   bridges and ports, by the API
//!                                                                           └─▶ state    what there is to be, in a file
//!  every second: what there is to be ─ what the router has = what it is told      (it was restarted, another file runs …)
//! ```
//! The router, the engine and this program are in one network namespace. Addresses are the
//! engine's own business (its IPAM): the driver hears them.

mod driver;
mod links;
mod plan;
mod protocol;
mod router;
mod serve;
mod state;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Args, ValueHint};

use self::driver::Driver;
use self::links::Veths;
use self::router::Api;
use self::state::Kept;
use crate::error::CliError;
use crate::session::Session;

/// Where the engine looks for plugins: `-d volley` is the socket of that name.
const SOCKET: &str = "/run/docker/plugins/volley.sock";
/// What networks there are outlives us.
const STATE: &str = "/var/lib/volley/docker.json";

/// Where it is heard, and what it remembers.
#[derive(Debug, Args)]
pub(crate) struct DockerPlugin {
    /// Where the engine talks to it; the name of the file is that of the driver
    #[arg(long, value_name = "PATH", default_value = SOCKET, value_hint = ValueHint::FilePath)]
    listen: PathBuf,
    /// Where it writes down which networks and containers there are
    #[arg(long, value_name = "FILE", default_value = STATE, value_hint = ValueHint::FilePath)]
    state: PathBuf,
}

/// Serves until it is interrupted; containers keep their network.
pub(crate) fn run(session: &Session, args: &DockerPlugin) -> Result<(), CliError> {
    let kept = Kept::load(&args.state)?;
    let driver = Driver::new(Api::new(session.client.socket())?, Veths, kept);
    serve::serve(&args.listen, driver)
}

/// Tells whoever reads the log.
fn say(what: &str) {
    use std::io::Write;
    // Whoever does not read it does not want it.
    let _ = writeln!(std::io::stderr(), "{}", crate::printable::printable(what));
}
