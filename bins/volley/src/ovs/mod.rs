//! `volley ovs`: what Open vSwitch's database says is made of the router, as ovs-vswitchd would.
//!
//! ```text
//!  ovs-vsctl ─▶ ovsdb-server ─▶ session ─▶ wanted: bridges, ports, numbers, QoS ─▶ make ─▶ router, by the API
//!                   ▲                                                              │
//!                   └──────── told: ofport, link state, statistics, errors, cur_cfg ┘
//! ```
//! It is one program beside the router, as the plugin for Docker is: either may be started anew.
//! It, the router and the devices are in one network namespace. What it has made is written down,
//! so that it takes nothing away that is somebody else's.

mod appctl;
mod bonds;
mod controllers;
mod daemon;
mod dpdk;
mod exports;
mod made;
mod make;
mod mirrors;
mod qos;
mod router;
mod rstp;
mod snooping;
mod tables;
mod told;
mod tunnels;
mod vlans;
mod wanted;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use crate::error::CliError;
use crate::kept::Kept;
use crate::session::Session;

/// How long the router may take for what is asked beside.
const PATIENCE: Duration = Duration::from_secs(20);
/// What it has made outlives it.
const STATE: &str = "/var/lib/volley/ovs.json";
/// Where Open vSwitch's programs have their sockets.
const FOLDER: &str = "/var/run/openvswitch";

/// Whose database, and where things are.
#[derive(Debug, Args)]
pub(crate) struct Ovs {
    /// The database: unix:FILE, tcp:ADDRESS:PORT or ssl:ADDRESS:PORT; db.sock in the folder of
    /// sockets when left out
    #[arg(value_name = "DATABASE")]
    database: Option<String>,
    /// Open vSwitch's folder of sockets, where bridges have theirs for ovs-ofctl
    #[arg(long, value_name = "FOLDER", env = "OVS_RUNDIR", hide_env_values = true,
        default_value = FOLDER, value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// Where it writes down what it has made of the router
    #[arg(long, value_name = "FILE", default_value = STATE, value_hint = ValueHint::FilePath)]
    state: PathBuf,
    /// Over TLS: the file of our private key
    #[arg(short = 'p', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    private_key: Option<PathBuf>,
    /// Over TLS: the file of our certificate
    #[arg(short = 'c', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    certificate: Option<PathBuf>,
    /// Over TLS: the file of the certificate of who has signed the server's
    #[arg(short = 'C', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    ca_cert: Option<PathBuf>,
}

impl Ovs {
    /// What TLS needs, if it is there whole.
    fn keys(&self) -> Option<ovsdb::Keys> {
        Some(ovsdb::Keys {
            key: self.private_key.clone()?,
            certificate: self.certificate.clone()?,
            authority: self.ca_cert.clone()?,
        })
    }
}

/// Serves until it is interrupted; what it has made stays.
pub(crate) fn run(session: &Session, args: &Ovs) -> Result<(), CliError> {
    let usual = || format!("unix:{}", args.folder.join("db.sock").display());
    let database = args.database.clone().unwrap_or_else(usual);
    let target = database
        .parse::<ovsdb::Target>()
        .map_err(|error| CliError::Usage(format!("error: {error}\n")))?;
    let keys = args.keys();
    if matches!(target, ovsdb::Target::Ssl(_)) && keys.is_none() {
        let needed = "--private-key, --certificate and --ca-cert";
        return Err(CliError::Usage(format!("error: {target} needs {needed}\n")));
    }
    let router = router::Api::new(session.client.socket())?;
    let made = make::Maker::new(router, Kept::load(&args.state)?);
    let appctl = appctl::Appctl::new(session.client.beside(PATIENCE)?, args.folder.clone());
    daemon::run(&target, keys.as_ref(), &args.folder, made, appctl)
}

/// Tells whoever reads the log.
fn say(what: &str) {
    use std::io::Write;
    // Whoever does not read it does not want it.
    let _ = writeln!(std::io::stderr(), "{}", crate::printable::printable(what));
}
