//! Ports that answer ARP for addresses beyond other ports (RFC 1027).

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::Prefix;
use control::config::objects::port::PortName;
use fib::Ip4Prefix;
use nodes::local::ProxyArp;
use nodes::tables::Interface;
use std::net::IpAddr;

/// See the module.
#[derive(Default)]
pub(crate) struct ProxyArps;

impl Part for ProxyArps {
    fn row(&self, _: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        let proxied: Vec<_> = port.config.proxy_arp.iter().filter_map(of_ip4).collect();
        row.put((!proxied.is_empty()).then_some(ProxyArp(proxied)));
    }
}

fn of_ip4(network: &Prefix) -> Option<Ip4Prefix> {
    match network.address() {
        IpAddr::V4(first) => Ip4Prefix::new(first.into(), network.length()).ok(),
        IpAddr::V6(_) => None,
    }
}
