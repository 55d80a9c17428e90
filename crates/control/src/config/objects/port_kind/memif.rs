//! `memif`: shared memory with another process.

use std::path::PathBuf;

use super::super::api::check_socket;
use super::kind::Kind;
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::report::{Problem, Report};

object! {
    /// Shared memory with another process
    pub struct Memif {
        /// Socket over which the ends meet
        pub socket: PathBuf as "/run/volley/memif.sock",
        /// Our end
        pub role: Role as "server",
        /// Number that tells several interfaces on a socket apart
        pub id: u32 = 0,
        /// Whether packets stay where they are, in buffers that the other ends of all such ports
        /// read and write at any time: for those that are trusted as the router itself. Takes the
        /// role `client`
        pub zero_copy: bool = false,
    }
}

word_field! {
    /// Which end of a memif we are.
    Role {
        /// We make the socket and the other end connects.
        Server = "server",
        /// We connect to the other end's socket.
        Client = "client",
    }
}

impl Kind for Memif {
    fn claim(&self) -> Option<String> {
        let Self { socket, role, id, zero_copy: _ } = self;
        Some(format!("memif {} {id} as {}", socket.display(), role.word()))
    }

    fn check(&self, port: &str, report: &mut Report) {
        check_socket(&format!("{port}.socket"), &self.socket, report);
        if self.zero_copy && self.role == Role::Server {
            let message = "a memif's server has no memory to share";
            let problem = Problem::new(format!("{port}.zero_copy"), message);
            report.push(problem.help("make it the client: `role = \"client\"`"));
        }
    }
}
