//! Addresses, tables and frames of a trial: what the device is told and what is sent agree.
//!
//! ```text
//!   lab 198.18.0.2 ── 198.18.0.1 device 198.18.1.1 ── 198.18.1.2 lab        198.18/15: RFC 2544
//!       2001:2::2     2001:2::1         2001:2:0:1::1  2001:2:0:1::2       2001:2/48: RFC 5180
//!
//!   the i-th route     16.0.0.0 + i·256 /24 (of more than 2^20: i·16 /28)   via 198.18.1.2
//!                      2a00:: + i·2^80 /48                                  via 2001:2:0:1::2
//!   the i-th source    48.0.0.0 + i·256 /24 (of more than 2^20: i·16 /28)   allowed at the first link
//!   the i-th station   06:00:00:00:00:00 + i, behind the second link
//! ```
//! An access list denies, rule by rule, a port of the networks that the i-th routes lead to
//! elsewhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lab_traffic::Rate;
use lab_traffic::arrivals::{Field, Imix, Process};
use lab_traffic::{FieldName, Header, Stream, Vary};
use wire::MacAddr;

pub use super::entries::{
    ANYWHERE, Route, beyond_routes, device_address, lab_address, macs, routes, sources, step,
    unlisted_sources,
};
use super::entries::{FIRST_MAC, FIRST_ROUTE_4, FIRST_ROUTE_6, FIRST_SOURCE};
use super::{leases, tunnels};
use crate::link::{DEVICE_MACS, LAB_MACS};
use crate::scenario::{Addresses, Ethertype, FunctionKind, Traffic};

/// What a case sends from the first link; `dot1q` and tunnels are the device's doing.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// The function.
    pub function: FunctionKind,
    /// What the frames carry.
    pub ethertype: Ethertype,
    /// Sizes with checksum.
    pub sizes: Imix,
    /// Entries of the device's table.
    pub entries: u64,
    /// Flows at once.
    pub flows: u64,
    /// How destinations vary.
    pub destinations: Addresses,
    /// How packets follow each other.
    pub arrivals: Process,
    /// Names everything random.
    pub seed: u64,
}

impl Load {
    /// As the scenario has it, with these sizes, entries and flows.
    pub fn new(
        function: FunctionKind,
        ethertype: Ethertype,
        traffic: &Traffic,
        sizes: Imix,
    ) -> Self {
        Self {
            function,
            ethertype,
            sizes,
            entries: 1,
            flows: *traffic.flows.get_ref(),
            destinations: traffic.destinations,
            arrivals: traffic.arrivals.clone(),
            seed: 1,
        }
    }

    /// The stream from the first link to the second.
    pub fn stream(&self, rate: Rate) -> Stream {
        if self.function == FunctionKind::Dhcp4 {
            return Stream { arrivals: self.arrivals.clone(), ..leases::there(&self.sizes, rate) };
        }
        let routed = self.function.is_routed();
        let six = self.function == FunctionKind::Ip6 || self.ethertype == Ethertype::Udp6;
        // What is behind a tunnel is never the lab's own end of it.
        let table =
            self.entries > 1 || self.function.is_tunnel() || self.function == FunctionKind::Acl;
        // A router takes what is sent to itself; a bridge what is sent to a station behind it.
        let destination = match (routed, table) {
            (true, _) => DEVICE_MACS[0],
            (false, true) => MacAddr::from_bits(FIRST_MAC),
            (false, false) => LAB_MACS[1],
        };
        let mut headers =
            vec![Header::Ethernet { source: LAB_MACS[0], destination, ethertype: None }];
        let plain = !routed && self.ethertype == Ethertype::Unknown;
        if !plain {
            headers.extend(self.network(six, routed && table));
        }
        let mut stream = Stream::new("there", headers, self.sizes.clone(), rate);
        stream.arrivals = self.arrivals.clone();
        stream.vary.extend(self.table_field(six, routed));
        stream.vary.extend(self.flow_field(plain));
        stream
    }

    fn network(&self, six: bool, table: bool) -> Vec<Header> {
        let ports = Header::Udp { source_port: 1_024, destination_port: 5_001 };
        let listed = self.function == FunctionKind::SourceAllowList;
        let network = match (lab_address(six, 0), lab_address(six, 1)) {
            (IpAddr::V4(source), IpAddr::V4(peer)) => {
                let source = if listed { Ipv4Addr::from(FIRST_SOURCE + 1) } else { source };
                let first = Ipv4Addr::from(FIRST_ROUTE_4 + 1);
                let destination = if table && !listed { first } else { peer };
                Header::Ipv4 { source, destination, ttl: 64, dscp: 0 }
            }
            (IpAddr::V6(source), IpAddr::V6(peer)) => {
                let first = Ipv6Addr::from(FIRST_ROUTE_6 + 1);
                let destination = if table { first } else { peer };
                Header::Ipv6 { source, destination, hop_limit: 64 }
            }
            _ => return Vec::new(),
        };
        vec![network, ports]
    }

    /// The field that walks through the device's table.
    fn table_field(&self, six: bool, routed: bool) -> Option<Vary> {
        if self.entries <= 1 {
            return None;
        }
        let (count, seed) = (self.entries, self.seed);
        let order = match self.destinations {
            Addresses::Fixed => return None,
            Addresses::Increment => Field::Increment { count },
            Addresses::Random => Field::Random { count, seed },
            Addresses::Permutation => Field::Permutation { count, seed },
        };
        let (field, step) = match (routed, six) {
            (false, _) => (FieldName::DestinationMac, 1),
            _ if self.function == FunctionKind::SourceAllowList => {
                (FieldName::SourceIp, step(count))
            }
            (true, false) => (FieldName::DestinationIp, step(count)),
            (true, true) => (FieldName::DestinationPrefix, 1 << 16),
        };
        Some(Vary { field, step, order })
    }

    /// The field that tells flows apart: ports first, as every device's RSS looks at them.
    fn flow_field(&self, plain: bool) -> Option<Vary> {
        let count = self.flows;
        let field = match (count, plain) {
            (0 | 1, _) => return None,
            (_, true) => FieldName::SourceMac,
            (..=60_000, false) => FieldName::SourcePort,
            (_, false) => FieldName::SourceMac,
        };
        // Addresses of the lab's own ends follow each other: a flow that came from the second's
        // would teach bridges that it is here.
        let step = if field == FieldName::SourceMac { FLOW_MAC_STEP } else { 1 };
        Some(Vary { field, step, order: Field::Increment { count } })
    }

    /// The stream of the other direction: back to the lab's first end, whatever the table.
    pub fn stream_back(&self, rate: Rate) -> Stream {
        if self.function == FunctionKind::Dhcp4 {
            return Stream { arrivals: self.arrivals.clone(), ..leases::back(&self.sizes, rate) };
        }
        let plain = Self { entries: 1, flows: 1, ..self.clone() };
        let mut back = plain.stream(rate).reversed();
        let routed = self.function.is_routed();
        match &mut back.headers[..] {
            // Behind a tunnel are stations; everywhere else there is the lab itself.
            [Header::Ethernet { .. }, ..] if self.function == FunctionKind::VxlanEncap => {}
            [Header::Ethernet { source, destination, .. }, ..] => {
                *source = LAB_MACS[1];
                *destination = if routed { DEVICE_MACS[1] } else { LAB_MACS[0] };
            }
            _ => {}
        }
        if let (
            FunctionKind::SourceAllowList,
            Some(Header::Ipv4 { destination, .. }),
            IpAddr::V4(lab),
        ) = (self.function, back.headers.get_mut(1), lab_address(false, 0))
        {
            *destination = lab;
        }
        tunnels::wrapped(self.function, back)
    }
}

/// Between the addresses of two flows: ten million of them fit behind the lab's first end.
const FLOW_MAC_STEP: u64 = 1 << 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flow_comes_from_the_address_that_it_is_for() {
        for flows in [2, 100_000] {
            let load = Load { flows, ..load(FunctionKind::Bridge, 1) };
            let stream = Load { ethertype: Ethertype::Unknown, ..load }.stream(Rate::Pps(1.0));
            let Header::Ethernet { source, destination, .. } = stream.headers[0] else { panic!() };
            let vary = stream.vary.iter().find(|it| it.field == FieldName::SourceMac).unwrap();
            for packet in 0..1_000 {
                let from = source.to_bits() + vary.step * vary.order.value(packet);
                assert_ne!(MacAddr::from_bits(from), destination);
            }
        }
    }

    fn load(function: FunctionKind, entries: u64) -> Load {
        let traffic = Traffic { destinations: Addresses::Random, ..Traffic::default() };
        let load = Load::new(function, Ethertype::Udp4, &traffic, Imix::single(100));
        Load { entries, ..load }
    }

    #[test]
    fn every_destination_sent_to_is_covered_by_a_route_told() {
        let within = |table: &[Route], address: Ipv4Addr| {
            table.iter().any(|route| {
                let (network, length) = route.prefix.split_once('/').unwrap();
                let network = u32::from(network.parse::<Ipv4Addr>().unwrap());
                let shift = 32 - length.parse::<u32>().unwrap();
                network >> shift == u32::from(address) >> shift
            })
        };
        let table: Vec<Route> = routes(false, 300).collect();
        let stream = load(FunctionKind::Ip4, 300).stream(Rate::Pps(1.0));
        stream.check().unwrap();
        let Header::Ipv4 { destination, .. } = stream.headers[1] else { panic!() };
        let vary = stream.vary[0];
        for packet in 0..1_000 {
            let moved = u32::from(destination) + (vary.step * vary.order.value(packet)) as u32;
            assert!(within(&table, moved.into()), "{}", Ipv4Addr::from(moved));
        }
    }

    #[test]
    fn large_tables_have_narrow_routes_that_do_not_overlap() {
        let last = routes(false, 1 << 24).last().unwrap();
        assert_eq!(last.prefix, "31.255.255.240/28");
        assert_eq!(routes(true, 3).last().unwrap().prefix, "2a00:0:2::/48");
    }

    #[test]
    fn the_way_back_reaches_the_labs_first_end() {
        let back = load(FunctionKind::Ip4, 300).stream_back(Rate::Pps(1.0));
        back.check().unwrap();
        let Header::Ethernet { source, destination, .. } = back.headers[0] else { panic!() };
        assert_eq!((source, destination), (LAB_MACS[1], DEVICE_MACS[1]));
        let Header::Ipv4 { destination, .. } = back.headers[1] else { panic!() };
        assert_eq!(IpAddr::from(destination), lab_address(false, 0));
    }

    #[test]
    fn a_bridge_is_sent_frames_to_its_stations() {
        let stream = load(FunctionKind::Bridge, 9).stream(Rate::Pps(1.0));
        assert_eq!(stream.vary[0].field, FieldName::DestinationMac);
        let Header::Ethernet { destination, .. } = stream.headers[0] else { panic!() };
        assert_eq!(Some(destination), macs(9).next());
    }
}
