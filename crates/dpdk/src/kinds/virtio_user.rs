//! `virtio_user`: the machine's end of a vhost socket, without a machine.

use crate::Error;
use crate::arguments::Arguments;
use crate::device::{Device, Shape};
use crate::driver::Driver;
use crate::eth_dev::EthDev;
use crate::kind::Kind;
use std::fmt;
use std::path::{Path, PathBuf};

/// The machine's end of a vhost socket, without a machine; or the kernel's vhost-net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtioUser {
    /// The vhost socket, or `/dev/vhost-net`.
    pub path: PathBuf,
    /// Listen at the socket for a host that connects. Opening waits until it does.
    pub server: bool,
}

impl Kind for VirtioUser {
    fn name(&self) -> &'static str {
        "virtio_user"
    }

    fn driver(&self, shape: Shape) -> Result<Box<dyn Driver>, Error> {
        let list = Arguments::default().socket("path", &self.path)?.with("queues", shape.queues);
        let arguments = if self.server { list.with("server", 1) } else { list };
        let device = Device::of_driver("net_virtio_user", arguments);
        Ok(Box::new(EthDev::with_large_frames(device)))
    }

    fn has_queue_pairs(&self) -> bool {
        true
    }

    fn tells_addresses(&self) -> bool {
        true
    }

    fn listens_at(&self) -> Option<&Path> {
        self.server.then_some(&self.path)
    }
}

impl fmt::Display for VirtioUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}
