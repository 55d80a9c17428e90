//! `virtio_user`: the machine's end of a vhost socket.

use std::path::PathBuf;

use super::super::api::check_socket;
use super::kind::Kind;
use crate::config::declare::object;
use crate::config::report::Report;

object! {
    /// The machine's end of a vhost socket
    pub struct VirtioUser {
        /// Socket that we connect to
        pub socket: PathBuf as "/run/other/vhost.sock",
        /// Whether frames of up to 64 KiB pass whole, where the other end has such; off, they are
        /// cut
        pub peer_offloads: bool = true,
    }
}

impl Kind for VirtioUser {
    fn peer_offloads(&self) -> bool {
        self.peer_offloads
    }

    fn claim(&self) -> Option<String> {
        Some(format!("virtio socket {}", self.socket.display()))
    }

    fn check(&self, port: &str, report: &mut Report) {
        check_socket(&format!("{port}.socket"), &self.socket, report);
    }
}
