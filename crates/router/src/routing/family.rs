//! What the two address families differ in, so that routing itself is written once.

use fib::ip4::Ip4Table;
use fib::ip6::Ip6Table;
use fib::{Address, FibError, Forward, Prefix};
use wire::ethernet::ethertype;

/// A forwarding table, as routing writes it.
pub(crate) trait Table<A> {
    /// Adds or replaces a route; returns what it forwarded to. On an error nothing changed.
    fn insert(&self, prefix: Prefix<A>, to: Forward) -> Result<Option<Forward>, FibError>;

    /// Removes a route; returns what it forwarded to.
    fn remove(&self, prefix: Prefix<A>) -> Option<Forward>;

    /// What exactly `prefix` forwards to.
    fn get(&self, prefix: Prefix<A>) -> Option<Forward>;
}

/// An address family.
pub(crate) trait Family: Address {
    /// Its forwarding table.
    type Table: Table<Self>;

    /// What Ethernet calls its packets.
    const ETHERTYPE: u16;

    /// Networks that no router forwards to.
    fn martians() -> Vec<Prefix<Self>>;
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
}

impl Table<u128> for Ip6Table {
    fn insert(&self, prefix: Prefix<u128>, to: Forward) -> Result<Option<Forward>, FibError> {
        Self::insert(self, prefix, to)
    }

    fn remove(&self, prefix: Prefix<u128>) -> Option<Forward> {
        Self::remove(self, prefix)
    }

    fn get(&self, prefix: Prefix<u128>) -> Option<Forward> {
        Self::get(self, prefix)
    }
}

impl Family for u32 {
    type Table = Ip4Table;
    const ETHERTYPE: u16 = ethertype::IPV4;

    /// RFC 1812 section 5.3.7, RFC 1122 section 3.2.1.3: this network, loopback, multicast,
    /// reserved.
    fn martians() -> Vec<Prefix<u32>> {
        prefixes(&[(0x0000_0000, 8), (0x7f00_0000, 8), (0xe000_0000, 4), (0xf000_0000, 4)])
    }
}

impl Family for u128 {
    type Table = Ip6Table;
    const ETHERTYPE: u16 = ethertype::IPV6;

    /// RFC 4291 sections 2.5.2, 2.5.3 and 2.7: unspecified, loopback, multicast.
    fn martians() -> Vec<Prefix<u128>> {
        prefixes(&[(0, 128), (1, 128), (0xff << 120, 8)])
    }
}

fn prefixes<A: Address>(list: &[(A, u8)]) -> Vec<Prefix<A>> {
    list.iter().filter_map(|(address, length)| Prefix::new(*address, *length).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<A: Family>() -> Vec<String> {
        A::martians().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn martians_are_the_networks_of_the_standards() {
        assert_eq!(texts::<u32>(), ["0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4"]);
        assert_eq!(texts::<u128>(), ["::/128", "::1/128", "ff00::/8"]);
    }
}
