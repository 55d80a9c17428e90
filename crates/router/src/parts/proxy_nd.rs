//! Ports that answer neighbour solicitations for addresses beyond other ports (RFC 4389, RFC 4861
//! section 7.2.8).

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::Prefix;
use control::config::objects::port::PortName;
use fib::Ip6Prefix;
use nodes::local::ProxyNd;
use nodes::tables::Interface;
use std::net::IpAddr;

/// See the module.
#[derive(Default)]
pub(crate) struct ProxyNds;

impl Part for ProxyNds {
    fn row(&self, _: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        let proxied: Vec<_> = port.config.proxy_nd.iter().filter_map(of_ip6).collect();
        row.put((!proxied.is_empty()).then_some(ProxyNd(proxied)));
    }
}

fn of_ip6(network: &Prefix) -> Option<Ip6Prefix> {
    match network.address() {
        IpAddr::V6(first) => Ip6Prefix::new(first.into(), network.length()).ok(),
        IpAddr::V4(_) => None,
    }
}
