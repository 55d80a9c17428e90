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
    }
}

impl Kind for VirtioUser {
    fn claim(&self) -> Option<String> {
        Some(format!("virtio socket {}", self.socket.display()))
    }

    fn check(&self, port: &str, report: &mut Report) {
        check_socket(&format!("{port}.socket"), &self.socket, report);
    }
}
