//! What the two address families differ in, so that routing itself is written once.

use fib::ip4::Ip4Table;
use fib::ip6::Ip6Table;
use fib::neighbor::NeighborKey;
use fib::{Address, FibError, Forward, Prefix};
use nodes::tables::{Kind, address_of_link_key, link_key};
use std::sync::Arc;
use wire::ethernet::ethertype;
use wire::ipv6;

/// Forwarding tables of a family, as routing writes them.
pub(crate) trait Table<A> {
    /// Adds or replaces a route; returns what it forwarded to. On an error nothing changed.
    fn insert(&self, prefix: Prefix<A>, to: Forward) -> Result<Option<Forward>, FibError>;

    /// Removes a route; returns what it forwarded to.
    fn remove(&self, prefix: Prefix<A>) -> Option<Forward>;

    /// What exactly `prefix` forwards to.
    fn get(&self, prefix: Prefix<A>) -> Option<Forward>;

    /// The most routes it may hold.
    fn max_routes(&self) -> usize;
}

/// An address family.
///
/// Routing writes addresses that one link alone knows with their interface in them
/// ([`link_key`]), so that equal ones of two links are two: this trait says how.
pub(crate) trait Family: Address {
    /// Its forwarding tables.
    type Table: Table<Self>;

    /// What Ethernet calls its packets.
    const ETHERTYPE: u16;

    /// Networks that are not to be had by routes, and what becomes of packets to them.
    fn specials() -> Vec<(Prefix<Self>, Kind)>;

    /// An address of an interface, as routing writes it.
    fn on_interface(self, interface: u16) -> Self;

    /// An address that routing wrote, as others know it.
    fn plain(self) -> Self;

    /// A neighbour's address, as routing writes it.
    fn of_neighbor(key: NeighborKey) -> Option<Self> {
        Self::from_ip(key.address).map(|address| address.on_interface(key.interface))
    }
}

impl Table<u32> for Ip4Table {
    fn insert(&self, prefix: Prefix<u32>, to: Forward) -> Result<Option<Forward>, FibError> {
        Self::insert(self, prefix, to)
    }

    fn remove(&self, prefix: Prefix<u32>) -> Option<Forward> {
        Self::remove(self, prefix)
    }

    fn get(&self, prefix: Prefix<u32>) -> Option<Forward> {
        Self::get(self, prefix)
    }

    fn max_routes(&self) -> usize {
        Self::max_routes(self)
    }
}

/// IPv6 has two tables: that of routes, and that of link-local addresses.
pub(crate) struct Ip6Tables {
    pub(crate) routes: Arc<Ip6Table>,
    pub(crate) links: Arc<Ip6Table>,
}

impl Ip6Tables {
    fn of(&self, prefix: Prefix<u128>) -> &Ip6Table {
        // Shorter ones are no networks of a link, but the rule that such addresses stay on it.
        let of_link = ipv6::is_link_local(prefix.address()) && prefix.length() >= 64;
        if of_link { &self.links } else { &self.routes }
    }
}

impl Table<u128> for Ip6Tables {
    fn insert(&self, prefix: Prefix<u128>, to: Forward) -> Result<Option<Forward>, FibError> {
        self.of(prefix).insert(prefix, to)
    }

    fn remove(&self, prefix: Prefix<u128>) -> Option<Forward> {
        self.of(prefix).remove(prefix)
    }

    fn get(&self, prefix: Prefix<u128>) -> Option<Forward> {
        self.of(prefix).get(prefix)
    }

    fn max_routes(&self) -> usize {
        self.routes.max_routes()
    }
}

impl Family for u32 {
    type Table = Ip4Table;
    const ETHERTYPE: u16 = ethertype::IPV4;

    /// RFC 1812 section 5.3.7, RFC 1122 section 3.2.1.3: this network, loopback, multicast,
    /// reserved.
    fn specials() -> Vec<(Prefix<u32>, Kind)> {
        let martians = [(0x0000_0000, 8), (0x7f00_0000, 8), (0xe000_0000, 4), (CLASS_E, 4)];
        prefixes(&martians.map(|(address, length)| (address, length, Kind::Martian)))
    }

    fn on_interface(self, _: u16) -> u32 {
        self
    }

    fn plain(self) -> u32 {
        self
    }
}

/// The same where class E is hosts': of 240.0.0.0/4 there is the broadcast address alone.
pub(super) fn specials_without_class_e() -> Vec<(Prefix<u32>, Kind)> {
    let mut specials = u32::specials();
    specials.retain(|(prefix, _)| prefix.address() != CLASS_E);
    specials.extend(prefixes(&[(u32::MAX, 32, Kind::Martian)]));
    specials
}

/// 240.0.0.0/4.
const CLASS_E: u32 = 0xf000_0000;

impl Family for u128 {
    type Table = Ip6Tables;
    const ETHERTYPE: u16 = ethertype::IPV6;

    /// RFC 4291 sections 2.5.2, 2.5.3, 2.5.6 and 2.7: unspecified, loopback, link-local, multicast.
    fn specials() -> Vec<(Prefix<u128>, Kind)> {
        prefixes(&[
            (0, 128, Kind::Martian),
            (1, 128, Kind::Martian),
            (0xfe80 << 112, 10, Kind::Link),
            (0xff << 120, 8, Kind::Link),
        ])
    }

    fn on_interface(self, interface: u16) -> u128 {
        link_key(interface, self).unwrap_or(self)
    }

    fn plain(self) -> u128 {
        if ipv6::is_link_local(self) { address_of_link_key(self) } else { self }
    }
}

fn prefixes<A: Address>(list: &[(A, u8, Kind)]) -> Vec<(Prefix<A>, Kind)> {
    let known = |&(address, length, kind)| Some((Prefix::new(address, length).ok()?, kind));
    list.iter().filter_map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<A: Family>() -> Vec<String> {
        A::specials().iter().map(|(prefix, kind)| format!("{prefix} {kind:?}")).collect()
    }

    #[test]
    fn what_is_not_routed_are_the_networks_of_the_standards() {
        let martians = ["0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4"];
        assert_eq!(texts::<u32>(), martians.map(|prefix| format!("{prefix} Martian")));
        let special = ["::/128 Martian", "::1/128 Martian", "fe80::/10 Link", "ff00::/8 Link"];
        assert_eq!(texts::<u128>(), special);
    }

    #[test]
    fn link_local_addresses_alone_are_told_apart_by_interface() {
        let (link, global) = (0xfe80_u128 << 112 | 7, 0x2001_0db8_u128 << 96 | 7);
        assert_ne!(link.on_interface(1), link.on_interface(2));
        assert_eq!((link.on_interface(1).plain(), link.on_interface(0)), (link, link));
        assert_eq!((global.on_interface(1), global.plain()), (global, global));
    }
}
