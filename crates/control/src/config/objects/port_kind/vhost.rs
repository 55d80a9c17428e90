//! `vhost`: the host's end of a virtual machine's network card.

use std::path::PathBuf;

use super::super::api::check_socket;
use super::kind::Kind;
use super::memif::Role;
use crate::config::declare::object;
use crate::config::report::Report;

object! {
    /// Shared memory with a virtual machine
    pub struct Vhost {
        /// Socket over which the machine and we meet
        pub socket: PathBuf as "/run/volley/vhost.sock",
        /// Our end
        pub role: Role = Role::Server,
        /// Whether frames of up to 64 KiB, which the machine need not cut, pass whole; off, they
        /// are cut as they come
        pub peer_offloads: bool = true,
    }
}

impl Kind for Vhost {
    fn peer_offloads(&self) -> bool {
        self.peer_offloads
    }

    fn claim(&self) -> Option<String> {
        Some(format!("vhost socket {}", self.socket.display()))
    }

    fn check(&self, port: &str, report: &mut Report) {
        check_socket(&format!("{port}.socket"), &self.socket, report);
    }
}
