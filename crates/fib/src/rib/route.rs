//! What routes are made of, and what they resolve to.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use super::shared::SharedId;

/// Who may add routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// The address of an interface.
    Connected,
    /// The operator.
    Static,
    /// BGP, from another autonomous system.
    Ebgp,
    /// Open shortest path first (RFC 2328, RFC 5340).
    Ospf,
    /// Intermediate system to intermediate system (RFC 1195).
    Isis,
    /// The routing information protocol (RFC 2453, RFC 2080).
    Rip,
    /// BGP, from our own autonomous system.
    Ibgp,
    /// FRR's zebra, which has chosen among protocols of its own.
    Fpm,
}

impl Protocol {
    /// Those that bring routes by themselves, not by the configuration.
    pub const DYNAMIC: [Protocol; 5] =
        [Protocol::Ebgp, Protocol::Ospf, Protocol::Isis, Protocol::Rip, Protocol::Ibgp];

    /// Whether its routes come while the router runs, and are no configuration's.
    pub fn is_brought(self) -> bool {
        !matches!(self, Protocol::Connected | Protocol::Static)
    }

    /// How far it is preferred to others: the customary administrative distance, lowest first.
    pub fn preference(self) -> u8 {
        match self {
            Protocol::Connected => 0,
            Protocol::Static => 1,
            Protocol::Ebgp => 20,
            Protocol::Ospf => 110,
            Protocol::Isis => 115,
            Protocol::Rip => 120,
            Protocol::Ibgp => 200,
            // As good as the best of those that it speaks for.
            Protocol::Fpm => 20,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Connected => "connected",
            Protocol::Static => "static",
            Protocol::Ebgp => "ebgp",
            Protocol::Ospf => "ospf",
            Protocol::Isis => "isis",
            Protocol::Rip => "rip",
            Protocol::Ibgp => "ibgp",
            Protocol::Fpm => "fpm",
        })
    }
}

/// Whose route it is. A source has at most one route for a prefix; the least source is best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// Lower is better.
    pub preference: u8,
    /// Who adds it.
    pub protocol: Protocol,
}

impl From<Protocol> for Source {
    fn from(protocol: Protocol) -> Source {
        Source { preference: protocol.preference(), protocol }
    }
}

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// To next hops, shared by weight. Routes over the same ones may share the list.
    Via(Arc<[NextHop]>),
    /// Where the group of this number leads, which routes share: see [`Rib::set_shared`].
    ///
    /// [`Rib::set_shared`]: super::Rib::set_shared
    Shared(SharedId),
    /// To the router itself.
    Local,
    /// Where the table of this number leads: another VRF's.
    Table(u16),
    /// Nowhere, silently.
    Blackhole,
    /// Nowhere, with "destination unreachable" to the sender.
    Unreachable,
    /// Nowhere, with "administratively prohibited" to the sender.
    Prohibit,
}

impl Target {
    /// The next hops, if it has any of its own.
    pub fn hops(&self) -> &[NextHop] {
        match self {
            Self::Via(hops) => hops,
            _ => &[],
        }
    }
}

/// A route, less its prefix and source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it leads.
    pub target: Target,
}

impl Route {
    /// A route over one router, wherever that is.
    pub fn via(address: impl Into<IpAddr>) -> Route {
        let hop = NextHop { address: Some(address.into()), interface: None, weight: 1 };
        Route { target: Target::Via([hop].into()) }
    }

    /// A route to the hosts on an interface's link.
    pub fn connected(interface: u16) -> Route {
        let hop = NextHop { address: None, interface: Some(interface), weight: 1 };
        Route { target: Target::Via([hop].into()) }
    }

    /// The next hops, if it has any of its own.
    pub fn hops(&self) -> &[NextHop] {
        self.target.hops()
    }
}

/// One way of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NextHop {
    /// The next router; none means that the destination itself is on the link.
    pub address: Option<IpAddr>,
    /// The link; none means wherever the routes say that `address` is.
    pub interface: Option<u16>,
    /// Its share of the flows; 0 counts as 1.
    pub weight: u16,
}

/// One resolved way: a neighbour on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// The link.
    pub interface: u16,
    /// The neighbour; none means that the destination itself is on the link.
    pub address: Option<IpAddr>,
    /// Its share among the paths.
    pub weight: u32,
}

/// What a prefix forwards to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// At least one path, sorted, each neighbour once.
    Paths(Arc<[Path]>),
    /// The several paths that a shared group has at the time.
    Shared(SharedId),
    /// To the router itself.
    Local,
    /// Where the table of this number leads.
    Table(u16),
    /// Nowhere, silently.
    Blackhole,
    /// Nowhere, with "destination unreachable".
    Unreachable,
    /// Nowhere, with "administratively prohibited".
    Prohibit,
}
