//! `pcap`: files of packets.

use crate::Error;
use crate::arguments::{Arguments, refuse};
use crate::device::{Device, Shape};
use crate::driver::Driver;
use crate::eth_dev::EthDev;
use crate::kind::{AddressOf, Kind};
use std::fmt;
use std::path::PathBuf;

/// Files of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pcap {
    /// Received from.
    pub rx: Option<PathBuf>,
    /// Sent to.
    pub tx: Option<PathBuf>,
    /// Received again and again.
    pub repeat: bool,
}

impl Kind for Pcap {
    fn name(&self) -> &'static str {
        "pcap"
    }

    fn driver(&self, _: Shape) -> Result<Box<dyn Driver>, Error> {
        let mut list = Arguments::default();
        if self.rx.is_none() && self.tx.is_none() {
            return Err(refuse("pcap", "", "a file to receive from or to send to is needed"));
        }
        if let Some(path) = &self.rx {
            list = list.path("rx_pcap", path)?.with("infinite_rx", u8::from(self.repeat));
        }
        if let Some(path) = &self.tx {
            list = list.path("tx_pcap", path)?;
        }
        Ok(EthDev::of(Device::of_driver("net_pcap", list)))
    }

    fn address_is_of(&self) -> AddressOf {
        AddressOf::PortThatBringsAll
    }
}

impl fmt::Display for Pcap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ways = [("from", &self.rx), ("to", &self.tx)];
        let named = ways.iter().filter_map(|(way, path)| Some((way, path.as_ref()?)));
        let named: Vec<_> = named.map(|(way, path)| format!("{way} {}", path.display())).collect();
        f.write_str(&named.join(" "))
    }
}
