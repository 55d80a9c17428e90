//! Ports of a bridge.

use crate::bridge::Bridge;
use crate::connection::Event;
use flow::{Asks, PortEntry};
use openflow::message::{PortDesc, PortMod, config, state};
use openflow::{Fault, PortNumber};
use std::sync::Arc;

/// A port, as the switch around the bridge has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its address.
    pub mac: [u8; 6],
    /// It is administratively up.
    pub is_up: bool,
    /// Its link is there.
    pub has_link: bool,
    /// Its speed in kbit/s; 0: not known.
    pub speed_kbps: u32,
    /// What flows say of what leaves by it.
    pub asks: Asks,
    /// It is a tunnel whose packets each have our end of their own.
    pub tells_local: bool,
}

impl Port {
    /// One that is up and has its link, and is no tunnel.
    pub fn new(name: impl Into<String>, mac: [u8; 6]) -> Self {
        Self {
            name: name.into(),
            mac,
            is_up: true,
            has_link: true,
            speed_kbps: 0,
            asks: Asks::Nothing,
            tells_local: false,
        }
    }
}

/// A port with what controllers made of it.
#[derive(Clone, Debug)]
pub(crate) struct OpenPort {
    pub(crate) port: Port,
    /// [`config`].
    pub(crate) config: u32,
    pub(crate) since_ns: u64,
}

impl OpenPort {
    fn entry(&self) -> PortEntry {
        let has = |bit: u32| self.config & bit != 0;
        let is_down = has(config::PORT_DOWN) || !self.port.is_up;
        PortEntry {
            floods: !has(config::NO_FLOOD),
            sends: !is_down && !has(config::NO_FWD),
            receives: !is_down && !has(config::NO_RECV),
            is_live: !is_down && self.port.has_link,
            asks: self.port.asks,
            tells_local: self.port.tells_local,
        }
    }

    pub(crate) fn desc(&self, number: PortNumber) -> PortDesc {
        let is_down = self.config & config::PORT_DOWN != 0 || !self.port.is_up;
        let down = if is_down { config::PORT_DOWN } else { 0 };
        PortDesc {
            number,
            mac: self.port.mac,
            name: self.port.name.clone(),
            config: self.config | down,
            state: if self.entry().is_live {
                state::LIVE
            } else if !self.port.has_link || is_down {
                state::LINK_DOWN
            } else {
                0
            },
            speed_kbps: self.port.speed_kbps,
        }
    }
}

impl Bridge {
    /// Puts, changes or removes a port.
    pub fn set_port(&mut self, number: PortNumber, port: Option<Port>, now_ns: u64) {
        match port {
            Some(port) => {
                let reason = match self.ports.get_mut(&number) {
                    Some(had) if had.port == port => return,
                    Some(had) => {
                        had.port = port;
                        2
                    }
                    None => {
                        let open = OpenPort { port, config: 0, since_ns: now_ns };
                        self.ports.insert(number, open);
                        0
                    }
                };
                self.port_changed(number, reason);
            }
            None => {
                if let Some(had) = self.ports.remove(&number) {
                    self.events.push(Event::Port(1, had.desc(number)));
                }
            }
        }
        self.follow_ports();
    }

    /// The numbers and names of its ports.
    pub fn ports(&self) -> impl Iterator<Item = (PortNumber, &str)> {
        self.ports.iter().map(|(number, port)| (*number, port.port.name.as_str()))
    }

    fn port_changed(&mut self, number: PortNumber, reason: u8) {
        if let Some(port) = self.ports.get(&number) {
            self.events.push(Event::Port(reason, port.desc(number)));
        }
    }

    fn follow_ports(&mut self) {
        let entries = self.ports.iter().map(|(number, port)| (*number, port.entry()));
        let entries = entries.collect();
        if *self.snapshot.ports != entries {
            self.snapshot.ports = Arc::new(entries);
            self.is_changed = true;
        }
    }

    pub(crate) fn mod_port(&mut self, wanted: PortMod) -> Result<(), Fault> {
        let port = self.ports.get_mut(&wanted.number).ok_or(Fault::PortModBadPort)?;
        if port.port.mac != wanted.mac {
            return Err(Fault::PortModBadAddress);
        }
        // What is never done here may be asked for: no spanning tree.
        let before = port.config;
        port.config = port.config & !wanted.mask | wanted.config & wanted.mask;
        if port.config != before {
            self.port_changed(wanted.number, 2);
            self.follow_ports();
        }
        Ok(())
    }
}
