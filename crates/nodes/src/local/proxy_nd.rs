//! For whom an interface answers neighbour discovery that is not here (RFC 4389, RFC 4861 section
//! 7.2.8): hosts beyond other interfaces.
//!
//! ```text
//!  host ── "who has X?" ──▶ interface ── X leaves by another ──▶ "I", that is replaced by X itself
//! ```
//! Who looks whether an address is free (RFC 4862 section 5.4) is told that it is not if its owner
//! is a neighbour of another interface whose MAC is known. Of all others in a proxied network
//! nobody knows whether they are there: such a question is not answered, or nobody could take an
//! address.

use crate::ip::{PacketRoutes, leaves_by};
use crate::tables::{Interface, Kind};
use fib::Ip6Prefix;
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::ecmp::{EcmpTable, GroupId};
use std::net::{IpAddr, Ipv6Addr};
use wire::ipv6;

/// Networks whose addresses an interface answers neighbour discovery for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProxyNd(pub Vec<Ip6Prefix>);

/// What an answer in another's name needs to know.
pub(crate) struct Proxy<'a> {
    pub(crate) adjacencies: &'a AdjacencyTable,
    pub(crate) groups: &'a EcmpTable,
    pub(crate) routes: PacketRoutes<'a>,
}

impl Proxy<'_> {
    /// Whether interface `rx`, whose row this is, answers for `target`; `is_probe`: somebody looks
    /// whether it is free.
    pub(crate) fn stands_in(&self, rx: u16, row: &Interface, target: u128, is_probe: bool) -> bool {
        let Some(ProxyNd(networks)) = row.get::<ProxyNd>() else { return false };
        let is_meant = !ipv6::is_link_local(target)
            && !row.claims_ip6(target)
            && networks.iter().any(|network| network.contains(target));
        is_meant && self.is_elsewhere(rx, target, is_probe)
    }

    /// Whether packets from `rx` to `target` leave by another interface, and for a probe: whether
    /// it is known to be there.
    fn is_elsewhere(&self, rx: u16, target: u128, is_probe: bool) -> bool {
        let mut to = self.routes.to(target);
        if to.kind() == Kind::Group as u8 {
            to = self.groups.pick(GroupId(to.id()), target as u32);
        }
        let leaves = leaves_by(to, self.adjacencies).is_some_and(|interface| interface != rx);
        let is_neighbour = || {
            let entry = self.adjacencies.entry(AdjacencyId(to.id()));
            let host = IpAddr::from(Ipv6Addr::from(target));
            to.kind() == Kind::Rewrite as u8 && entry.is_some_and(|it| it.next_hop() == host)
        };
        leaves && (!is_probe || is_neighbour())
    }
}

/// Whether `group` is one on which neighbours ask for an address that this row may answer for.
pub(crate) fn hears_for_others(row: &Interface, group: u128) -> bool {
    let asked = ipv6::solicited_node(0) >> 24 == group >> 24;
    asked && row.get::<ProxyNd>().is_some()
}
