//! What others say to a router in a world without sockets and kernel: a simulation is the
//! controller and the routing daemon.

use crate::router::Router;
use control::config::field::Field;
use control::config::objects::port::PortName;
use std::collections::BTreeMap;
use std::net::IpAddr;

impl Router {
    /// An OpenFlow message to a bridge of flows, always of one connection: what it is answered;
    /// none where there is no such bridge.
    pub fn controller_says(&mut self, bridge: &str, message: &[u8]) -> Option<Vec<Vec<u8>>> {
        self.parts.bridges.say(bridge, message)
    }

    /// A routing daemon says which remotes a tunnel has, and which of them flooding reaches, as
    /// EVPN does.
    pub fn daemon_tells_remotes(&mut self, port: &str, remotes: BTreeMap<IpAddr, bool>) {
        if let Ok(name) = PortName::from_text(port) {
            self.core.tell_remotes(&name, remotes);
        }
    }
}
