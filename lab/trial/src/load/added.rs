//! Entries that a running device is given beside those that it was started with.
//!
//! ```text
//!   the i-th route     32.0.0.0 + i·256 /24 (of more than 2^20: i·16 /28)   via the lab, behind the second link
//!                      2b00:: + i·2^80 /48
//! ```
//! They lie apart from those of [`super::frames`], so that what was there before can be told from
//! what was added.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use lab_search::search::largest_table::MOST_ENTRIES;
use lab_traffic::Rate;
use lab_traffic::arrivals::Field;
use lab_traffic::{FieldName, Header, Stream, Vary};

use super::entries::{Route, WIDE_ROUTES, lab_address};
use super::frames::Load;
use crate::scenario::FunctionKind;

const FIRST_4: u32 = 0x2000_0000;
const FIRST_6: u128 = 0x2b00 << 112;

/// Where the entries lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    /// IPv6 routes, else IPv4.
    pub six: bool,
    /// Bits of a prefix' hosts; of IPv4 alone.
    host_bits: u32,
}

impl Added {
    /// Room for `most` entries; none of a function that does not route.
    pub fn new(kind: FunctionKind, most: u64) -> Option<Self> {
        let six = match kind {
            FunctionKind::Ip4 => false,
            FunctionKind::Ip6 => true,
            _ => return None,
        };
        let host_bits = if most <= WIDE_ROUTES { 8 } else { 4 };
        (most <= MOST_ENTRIES).then_some(Self { six, host_bits })
    }

    /// The routes of these numbers.
    pub fn routes(self, entries: Range<u64>) -> impl Iterator<Item = Route> {
        let via = lab_address(self.six, 1);
        entries.map(move |index| Route { prefix: self.prefix(index), via })
    }

    fn prefix(self, index: u64) -> String {
        if self.six {
            return format!("{}/48", Ipv6Addr::from(FIRST_6 + (u128::from(index) << 80)));
        }
        let network = FIRST_4 + ((index as u32) << self.host_bits);
        format!("{}/{}", Ipv4Addr::from(network), 32 - self.host_bits)
    }

    /// A prefix that all of them are in, and nothing else that a device is given.
    pub fn all(self) -> &'static str {
        if self.six { "2b00::/16" } else { "32.0.0.0/4" }
    }

    /// Packets of this load to `entries` of them, each once before any twice.
    pub fn stream(self, load: &Load, rate: Rate, entries: u64) -> Stream {
        let mut stream = Load { entries: 1, flows: 1, ..load.clone() }.stream(rate);
        for header in &mut stream.headers {
            match header {
                Header::Ipv4 { destination, .. } => *destination = Ipv4Addr::from(FIRST_4 + 1),
                Header::Ipv6 { destination, .. } => *destination = Ipv6Addr::from(FIRST_6 + 1),
                _ => {}
            }
        }
        let (field, step) = match self.six {
            true => (FieldName::DestinationPrefix, 1 << 16),
            false => (FieldName::DestinationIp, 1 << self.host_bits),
        };
        let order = Field::Permutation { count: entries.max(1), seed: load.seed };
        stream.name = "added".into();
        stream.vary = vec![Vary { field, step, order }];
        stream
    }
}

/// Entries that a trial with a change adds, and takes away again when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LiveChange {
    pub(crate) added: Added,
    pub(crate) entries: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Ethertype, Traffic};
    use lab_traffic::arrivals::Imix;
    use std::net::IpAddr;

    /// Whether an address is in one of the first `entries`.
    fn covers(added: Added, address: IpAddr, entries: u64) -> bool {
        let index = match address {
            IpAddr::V4(address) => u64::from((u32::from(address) - FIRST_4) >> added.host_bits),
            IpAddr::V6(address) => ((u128::from(address) - FIRST_6) >> 80) as u64,
        };
        index < entries
    }

    fn load(kind: FunctionKind) -> Load {
        Load::new(kind, Ethertype::Udp4, &Traffic::default(), Imix::single(100))
    }

    #[test]
    fn the_last_of_all_still_lies_in_the_network_of_all() {
        let last = |kind, most: u64| {
            Added::new(kind, most).unwrap().routes(most - 1..most).last().unwrap().prefix
        };
        assert_eq!(last(FunctionKind::Ip4, 1 << 20), "47.255.255.0/24");
        assert_eq!(last(FunctionKind::Ip4, MOST_ENTRIES), "47.255.255.240/28");
        assert_eq!(last(FunctionKind::Ip6, MOST_ENTRIES), "2b00:ff:ffff::/48");
        assert_eq!(Added::new(FunctionKind::Bridge, 1), None);
        assert_eq!(Added::new(FunctionKind::Ip4, MOST_ENTRIES + 1), None);
    }

    #[test]
    fn packets_go_to_each_of_the_entries_once_before_any_twice() {
        for most in [300, 2 << 20] {
            let added = Added::new(FunctionKind::Ip4, most).unwrap();
            let stream = added.stream(&load(FunctionKind::Ip4), Rate::Pps(1.0), 300);
            stream.check().unwrap();
            let Header::Ipv4 { destination, .. } = stream.headers[1] else { panic!() };
            let Vary { step, order, .. } = stream.vary[0];
            let address = |packet| {
                Ipv4Addr::from(u32::from(destination) + (step * order.value(packet)) as u32)
            };
            let mut met: Vec<Ipv4Addr> = (0..300).map(address).collect();
            assert!(met.iter().all(|&it| covers(added, it.into(), 300)));
            assert!(!covers(added, Ipv4Addr::from(FIRST_4 + 300 * step as u32).into(), 300));
            met.sort_unstable();
            met.dedup();
            assert_eq!(met.len(), 300);
        }
    }
}
