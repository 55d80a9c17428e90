//! `vhost`: the host's end of a virtual machine's network card.

use crate::Error;
use crate::arguments::Arguments;
use crate::device::{Device, Shape};
use crate::driver::Driver;
use crate::eth_dev::EthDev;
use crate::kind::{AddressOf, Kind};
use std::fmt;
use std::path::{Path, PathBuf};

/// The host's end of a virtual machine's network card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vhost {
    /// The socket both meet at.
    pub socket: PathBuf,
    /// Connect to the socket instead of listening.
    pub client: bool,
}

impl Kind for Vhost {
    fn name(&self) -> &'static str {
        "vhost"
    }

    fn driver(&self, shape: Shape) -> Result<Box<dyn Driver>, Error> {
        let arguments = Arguments::default()
            .socket("iface", &self.socket)?
            .with("queues", shape.queues)
            .with("client", u8::from(self.client));
        Ok(EthDev::of(Device::of_driver("net_vhost", arguments)))
    }

    fn has_queue_pairs(&self) -> bool {
        true
    }

    fn listens_at(&self) -> Option<&Path> {
        (!self.client).then_some(&self.socket)
    }

    fn address_is_of(&self) -> AddressOf {
        AddressOf::PortThatBringsAll
    }
}

impl fmt::Display for Vhost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.display().fmt(f)
    }
}
