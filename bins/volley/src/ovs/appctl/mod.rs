//! What `ovs-appctl` speaks with: a socket where it looks for the daemon's, commands of the names
//! that people know.
//!
//! ```text
//!  ovs-appctl ─ ovs-vswitchd.pid, locked ─▶ ovs-vswitchd.PID.ctl ─ JSON-RPC ─▶ command ─▶ router's API
//!  daemon ─ bridges and numbers, counters every 5 s ─▶ Known ───────────────────┘
//! ```
//! Each connection has a thread of its own and a client of the router: who asks keeps nobody
//! waiting.

mod bond;
mod command;
mod coverage;
mod dpctl;
mod dpif;
mod fdb;
mod flows;
mod known;
mod rpc;
mod socket;
mod stp;
mod trace;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use control::view::Node;
use ovsdb::Rows;

use self::known::Known;
use self::socket::Socket;
use super::wanted::Wanted;
use crate::client::Client;

/// The daemon's side of it.
pub(super) struct Appctl {
    router: Client,
    folder: PathBuf,
    known: Arc<Mutex<Known>>,
    socket: Option<Socket>,
}

impl Appctl {
    pub(super) fn new(router: Client, folder: PathBuf) -> Self {
        Self { router, folder, known: Arc::default(), socket: None }
    }

    /// Listens, if it does not yet: who does what the database says is who answers.
    pub(super) fn listen(&mut self) -> Result<(), String> {
        if self.socket.is_none() {
            self.socket = Some(Socket::open(&self.folder, self.router.socket(), &self.known)?);
        }
        Ok(())
    }

    /// Takes note of a round, and of counters where it is time to.
    pub(super) fn learn(&self, rows: &Rows, wanted: &Wanted, counts: bool) {
        // A router that does not answer is told of elsewhere.
        let nodes = counts.then(|| self.router.view::<Vec<Node>>("/v1/nodes").ok()).flatten();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.learn(rows, wanted);
        if let Some(nodes) = nodes {
            known.count(Instant::now(), coverage::counters(&nodes));
        }
    }
}
