//! What an end of a stream is: somewhere that commands run, with a network of its own.

use std::path::{Path, PathBuf};

use lab_record::axes::Endpoint;

use crate::Error;
use crate::dut::device::Device;
use crate::link::LinkKind;
use crate::place::Place;

/// A kind of end.
pub(crate) trait Site: Sync {
    /// Its name in scenarios.
    fn endpoint(&self) -> Endpoint;

    /// Why the lab can make none; none where it can.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// Of which kind the links to a device are where the scenario's are of that one.
    fn link(&self, _: &dyn Device, link: LinkKind) -> Result<LinkKind, &'static str> {
        match link {
            LinkKind::Veth | LinkKind::VethXdp => Ok(link),
            _ => Err("streams need the kernel's TCP at the far end of each link: veth or veth-xdp"),
        }
    }

    /// Makes one.
    fn place(&self, plan: &Plan<'_>) -> Result<Place, Error>;
}

/// What an end is made by.
pub(crate) struct Plan<'a> {
    /// Where its files are.
    pub(crate) folder: &'a Path,
    /// Where its processes run, as `taskset` writes it.
    pub(crate) cores: &'a str,
    /// Which of the two it is.
    pub(crate) side: usize,
    /// The device's network namespace.
    pub(crate) namespace: String,
    /// The device's end of the wire.
    pub(crate) wire: Wire,
}

/// A device's end of a wire.
#[derive(Debug, Clone)]
pub(crate) enum Wire {
    /// A device of the kernel.
    Device(String),
    /// A socket of vhost-user, at which the end listens or the device.
    Socket {
        /// Where.
        path: PathBuf,
        /// Whether the end does.
        listens: bool,
    },
}

impl Wire {
    /// What it is, in a word.
    pub(crate) fn told(&self) -> &'static str {
        match self {
            Self::Device(_) => "a tap",
            Self::Socket { .. } => "vhost-user",
        }
    }
}
