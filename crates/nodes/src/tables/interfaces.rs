//! Interfaces as workers see them: rows of one table that the control thread publishes.

use crate::interface::ForCopies;
use crate::tables::{
    BondMember, BridgePort, Features, Inside, LispLink, Members, Settings, Tunnel, Tunnels, Vlan,
    Vlans, VrfId, lisps,
};
use fib::{Address, Prefix};
use std::collections::HashMap;
use std::net::IpAddr;
use wire::ipv6;

/// A row of the interface table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub u16);

/// What becomes of the packets that an interface receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// They are for our addresses or to be routed.
    Routed,
    /// They leave by another interface as they came.
    CrossConnect(InterfaceId),
    /// They are bridged.
    Bridged(BridgePort),
    /// They are a bond's.
    Member(BondMember),
}

/// What an interface stands on: where its frames go, and as what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// A port: they leave as they are.
    Port,
    /// A VLAN of a port: they get its tags.
    Vlan(Vlan),
    /// Other ports, of which each takes its share of them.
    Bond,
    /// The bridge that it is in: the router's own station there.
    Bridge,
    /// A tunnel: they leave in packets to its other end.
    Tunnel(Tunnel),
    /// LISP: they leave in packets to the sites of their endpoints.
    Lisp(LispLink),
}

/// One interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name in the configuration.
    pub name: String,
    /// The device behind it; index of its transmit queues.
    pub port: u16,
    /// Administratively up: a down interface neither receives nor sends.
    pub up: bool,
    /// What it stands on.
    pub link: Link,
    /// What becomes of received packets.
    pub mode: Mode,
    /// Whether packets that it receives are routed, or for us: else it hears ARP, neighbour
    /// discovery and groups alone, for its twin.
    pub routes: bool,
    /// What is done to the frames that it receives.
    pub input: Features,
    /// What is done to the frames that it sends.
    pub output: Features,
    /// What it says to nodes that look it up.
    pub settings: Settings,
    /// Whose routes they follow, where they are routed.
    pub vrf: VrfId,
    /// The name of the bridge that it is in; empty where it is in none.
    pub bridge_name: String,
    /// The name of the VRF that it is routed in; empty where it is not routed.
    pub vrf_name: String,
    /// Its MAC address.
    pub mac: [u8; 6],
    /// Longest packet behind the link header that it takes.
    pub mtu_bytes: u16,
    /// Its IPv4 addresses with their prefix lengths, the primary one first, host byte order. One
    /// that is another interface's, borrowed, has the length 0: anybody may be at the other end.
    pub ip4: Vec<(u32, u8)>,
    /// Its IPv6 addresses, the link-local one included: those that nobody else was found to have.
    pub ip6: Vec<(u128, u8)>,
    /// IPv6 addresses that are not its own yet: whether somebody else has them is being found out
    /// (RFC 4862 section 5.4).
    pub tentative6: Vec<u128>,
}

impl Interface {
    /// A port that is up and routed, and says nothing else.
    pub fn new(name: &str, port: u16) -> Self {
        Self {
            name: name.to_owned(),
            port,
            up: true,
            link: Link::Port,
            mode: Mode::Routed,
            routes: true,
            input: Features::default(),
            output: Features::default(),
            settings: Settings::default(),
            vrf: VrfId::DEFAULT,
            bridge_name: String::new(),
            vrf_name: String::new(),
            mac: [0; 6],
            mtu_bytes: 1500,
            ip4: Vec::new(),
            ip6: Vec::new(),
            tentative6: Vec::new(),
        }
    }

    /// The address that our own packets carry, if it has one.
    pub fn primary_ip4(&self) -> Option<u32> {
        self.ip4.first().map(|&(address, _)| address)
    }

    /// Whether packets can be told of by who has no IPv4 address here: those that IPv6's next hops
    /// bring it (RFC 8950).
    pub fn speaks_ip6_alone(&self) -> bool {
        self.ip4.is_empty() && !self.ip6.is_empty()
    }

    /// The address that our own packets towards `neighbor` carry: one in its subnet, else the
    /// primary one.
    pub fn ip4_towards(&self, neighbor: u32) -> Option<u32> {
        own_in_subnet_of(&self.ip4, neighbor).or(self.primary_ip4())
    }

    /// The address that our own packets towards `peer` carry (RFC 6724 section 5, as far as one
    /// interface goes): link-local to link-local peers, else one in its subnet, else any that
    /// reaches as far.
    pub fn ip6_towards(&self, peer: u128) -> Option<u128> {
        let near = ipv6::is_link_local(peer);
        let scoped = |&&(own, _): &&(u128, u8)| ipv6::is_link_local(own) == near;
        let fitting = || self.ip6.iter().filter(scoped);
        let same = fitting().find(|&&subnet| contains(subnet, peer));
        same.or(fitting().next()).map(|&(address, _)| address)
    }

    /// The VLAN whose tag its frames have on the port alone, and not here.
    #[inline]
    pub fn outer_vlan(&self) -> Option<u16> {
        match self.link {
            Link::Vlan(vlan) => vlan.outer(),
            Link::Port | Link::Bond | Link::Bridge | Link::Tunnel(_) | Link::Lisp(_) => None,
        }
    }

    /// The VLAN of the second tag that its frames have on the port alone, and not here.
    pub fn inner_vlan(&self) -> Option<u16> {
        match self.link {
            Link::Vlan(vlan) => vlan.inner(),
            Link::Port | Link::Bond | Link::Bridge | Link::Tunnel(_) | Link::Lisp(_) => None,
        }
    }

    /// True if there are packets on its link, not frames.
    #[inline]
    pub fn carries_packets(&self) -> bool {
        matches!(self.link, Link::Tunnel(Tunnel { inside: Inside::Packets, .. }) | Link::Lisp(_))
    }

    /// True if `address` is one of its own.
    pub fn has_ip4(&self, address: u32) -> bool {
        self.ip4.iter().any(|&(own, _)| own == address)
    }

    /// True if `address` is one of its own.
    pub fn has_ip6(&self, address: u128) -> bool {
        self.ip6.iter().any(|&(own, _)| own == address)
    }

    /// True if `address` is one of its own.
    pub fn has_address(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => self.has_ip4(address.into()),
            IpAddr::V6(address) => self.has_ip6(address.into()),
        }
    }

    /// True if `address` is one of its own, or may become one.
    pub fn claims_ip6(&self, address: u128) -> bool {
        self.has_ip6(address) || self.tentative6.contains(&address)
    }

    /// True if packets to `group` are for us: all nodes, all routers, and the groups on which
    /// others ask for our addresses.
    pub fn hears_ip6(&self, group: u128) -> bool {
        let asks = |&own: &u128| ipv6::solicited_node(own) == group;
        let mut own = self.ip6.iter().map(|(address, _)| address).chain(&self.tentative6);
        group == ipv6::ALL_NODES || group == ipv6::ALL_ROUTERS || own.any(asks)
    }

    /// True if `address` lies in a subnet of this interface.
    pub fn reaches_ip4(&self, address: u32) -> bool {
        own_in_subnet_of(&self.ip4, address).is_some()
    }

    /// True if both addresses lie in one subnet of this interface. An end that may be anybody's is
    /// none.
    pub fn has_in_one_subnet(&self, one: u32, other: u32) -> bool {
        let has = |&subnet: &(u32, u8)| contains(subnet, one) && contains(subnet, other);
        self.ip4.iter().filter(|(_, length)| *length != 0).any(has)
    }

    /// True if `address` lies in a subnet of this interface.
    pub fn reaches_ip6(&self, address: u128) -> bool {
        own_in_subnet_of(&self.ip6, address).is_some()
    }
}

fn own_in_subnet_of<A: Address>(own: &[(A, u8)], peer: A) -> Option<A> {
    own.iter().find(|&&subnet| contains(subnet, peer)).map(|&(address, _)| address)
}

/// True if the subnet, an address of it and its prefix length, has `address`.
fn contains<A: Address>((own, length): (A, u8), address: A) -> bool {
    Prefix::new(own, length).is_ok_and(|subnet| subnet.contains(address))
}

/// All interfaces; rows stay where they are, so an id is good until the interface is removed.
#[derive(Clone, Debug, Default)]
pub struct Interfaces {
    /// Rows by id; a removed interface leaves a gap.
    rows: Vec<Option<Interface>>,
    pub(super) members: Members,
    pub(super) vlans: Vlans,
    pub(super) tunnels: Tunnels,
    /// Some row is that of an interface for copies.
    has_copies: bool,
    /// Interfaces of LISP's instances, by their VRF too.
    pub(super) lisps: HashMap<(u32, VrfId), u16>,
}

impl Interfaces {
    /// A table of these rows.
    pub fn new(rows: Vec<Option<Interface>>) -> Self {
        let (members, vlans) = (Members::of(&rows), Vlans::of(&rows));
        let has_copies = rows.iter().flatten().any(Interface::has::<ForCopies>);
        let lisps = lisps(&rows);
        Self { members, vlans, tunnels: Tunnels::of(&rows), has_copies, lisps, rows }
    }

    /// The table with another row `id`.
    #[must_use]
    pub fn with(&self, id: u16, row: Option<Interface>) -> Self {
        self.with_rows([(id, row)])
    }

    /// The table with other rows of these numbers: all in one go, as each makes a whole table.
    #[must_use]
    pub fn with_rows(&self, changed: impl IntoIterator<Item = (u16, Option<Interface>)>) -> Self {
        let mut rows = self.rows.clone();
        for (id, row) in changed {
            let index = usize::from(id);
            if rows.len() <= index {
                rows.resize(index + 1, None);
            }
            rows[index] = row;
        }
        Self::new(rows)
    }

    /// The table with every row changed.
    #[must_use]
    pub fn with_each(&self, change: impl FnMut(&mut Interface)) -> Self {
        let mut rows = self.rows.clone();
        rows.iter_mut().flatten().for_each(change);
        Self::new(rows)
    }

    /// Every interface, by number.
    pub fn all(&self) -> impl Iterator<Item = &Interface> {
        self.rows.iter().flatten()
    }

    /// True if an interface has features for what it receives.
    #[inline]
    pub fn has_input_features(&self, id: u16) -> bool {
        self.get(id).is_some_and(|row| !row.input.is_empty())
    }

    /// True if copies of what others carry leave by an interface, and nothing else: a packet that
    /// is said to have come by it is such a copy.
    #[inline]
    pub fn is_for_copies(&self, id: u16) -> bool {
        self.has_copies && self.get(id).is_some_and(Interface::has::<ForCopies>)
    }

    /// Whether that is true of one of these.
    #[inline]
    pub fn some_are_for_copies(&self, ids: &[u16]) -> bool {
        self.has_copies && ids.iter().any(|id| self.is_for_copies(*id))
    }

    /// The VRF of an interface's packets.
    #[inline]
    pub fn vrf(&self, id: u16) -> VrfId {
        self.get(id).map_or(VrfId::DEFAULT, |interface| interface.vrf)
    }

    /// The interface of a frame's `rx` or `tx` entry.
    #[inline]
    pub fn get(&self, id: u16) -> Option<&Interface> {
        self.rows.get(usize::from(id))?.as_ref()
    }
}

/// How a link-local address is written where interfaces must be told apart: with the interface's
/// number in it. None of an address whose 54 middle bits are not zero: no node has such a one
/// (RFC 4291 section 2.5.6), so what is on a wire is never taken for one that is written so.
///
/// ```text
///  | fe80 (16) | interface (16) | 0 (32) | interface identifier (64) |
/// ```
pub fn link_key(interface: u16, address: u128) -> Option<u128> {
    let is_plain = address >> 64 == 0xfe80 << 48;
    is_plain.then_some(address | u128::from(interface) << LINK_SHIFT)
}

/// The link-local address that [`link_key`] wrote.
pub fn address_of_link_key(key: u128) -> u128 {
    key & !(u128::from(u16::MAX) << LINK_SHIFT)
}

const LINK_SHIFT: u32 = 96;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{HOST6, LINK_HOST, US6, link_local, rows};

    const FAR: u128 = 0x2001_0db8_00ff << 80 | 1;

    #[test]
    fn our_packets_carry_an_address_of_the_peers_scope() {
        let row = rows().remove(0).unwrap();
        assert_eq!(row.ip6_towards(HOST6.into()), Some(US6.into()));
        assert_eq!(row.ip6_towards(FAR), Some(US6.into()));
        assert_eq!(row.ip6_towards(LINK_HOST.into()), Some(link_local(0).into()));
    }

    #[test]
    fn groups_of_tentative_addresses_are_heard_too() {
        let mut row = rows().remove(0).unwrap();
        row.tentative6 = vec![FAR | 0x00ab_cdef];
        assert!(
            row.hears_ip6(ipv6::solicited_node(0x00ab_cdef)) && row.hears_ip6(ipv6::ALL_ROUTERS)
        );
        assert!(row.hears_ip6(ipv6::solicited_node(US6.into())));
        assert!(!row.hears_ip6(ipv6::solicited_node(0x77)));
        assert!(row.claims_ip6(FAR | 0x00ab_cdef) && !row.has_ip6(FAR | 0x00ab_cdef));
    }

    #[test]
    fn a_link_local_address_is_told_apart_by_its_interface() {
        let address = 0xfe80 << 112 | 7;
        assert_eq!(link_key(3, address), Some(0xfe80_0003 << 96 | 7));
        assert_eq!(address_of_link_key(0xfe80_0003 << 96 | 7), address);
        assert_eq!(link_key(3, address | 1 << 64), None);
    }
}
