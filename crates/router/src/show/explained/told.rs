//! What a packet would have the control thread do.

use crate::router::Router;
use nodes::tables::{NdSaid, Punt};
use std::net::Ipv4Addr;
use wire::MacAddr;

impl Router {
    /// What the router would do of what it is told, in words behind "the router".
    pub(super) fn would(&self, punt: &Punt) -> String {
        let on = |interface: u16| self.name_of(interface);
        match punt {
            Punt::Unresolved(it) => format!(
                "asks who has {} on {}, and holds the packet until it knows",
                it.next_hop,
                on(it.interface)
            ),
            Punt::Moved(it) => format!(
                "notes that station {} moved from {} to {}",
                MacAddr(it.station.address()),
                on(it.from as u16),
                on(it.to)
            ),
            Punt::Binding(it) => format!("remembers who has {} in the bridge", it.address),
            Punt::RemoteHeard(it) => {
                format!("learns that tunnel {} has the remote {}", on(it.interface), it.remote)
            }
            Punt::Piece(_) => "keeps the fragment until it has the others".to_owned(),
            Punt::BetterWay(it) => format!(
                "tells the sender that {} is the better way (ICMP redirect)",
                Ipv4Addr::from(it.gateway)
            ),
            Punt::BetterWay6(_) => "tells the sender of a better way (redirect)".to_owned(),
            Punt::Lacp(it) => {
                format!("hears what the partner of {} says by LACP", on(it.interface))
            }
            Punt::Bpdu(it) => {
                format!(
                    "hears what another bridge says of the spanning tree on {}",
                    on(it.interface)
                )
            }
            Punt::ListenersWanted(it) => {
                format!("tells on {} which groups it listens to", on(it.interface))
            }
            Punt::Arp(it) => format!(
                "hears on {} that {} is at {}",
                on(it.interface),
                Ipv4Addr::from(it.address),
                MacAddr(it.mac)
            ),
            Punt::Nd(it) => match it.said {
                NdSaid::Solicited { target } => format!(
                    "hears on {} that {} is asked for",
                    on(it.interface),
                    std::net::Ipv6Addr::from_bits(target)
                ),
                NdSaid::Advertised { target, .. } => format!(
                    "hears on {} where {} is",
                    on(it.interface),
                    std::net::Ipv6Addr::from_bits(target)
                ),
            },
            Punt::RouterWanted(it) => format!("advertises itself on {}", on(it.interface)),
            Punt::Echo(_) => "takes it as an answer to a ping of its own".to_owned(),
            Punt::EidWanted(it) => format!("asks the map resolver of LISP for {}", it.endpoint),
            Punt::GroupsSaid(it) => {
                format!("hears on {} who listens to which groups", on(it.interface))
            }
            Punt::LispSaid(it) => format!("takes a message of LISP in on {}", on(it.interface)),
            Punt::FlowTold(_) => {
                "tells controllers of the bridge of the packet, or learns a flow of it".to_owned()
            }
        }
    }
}
