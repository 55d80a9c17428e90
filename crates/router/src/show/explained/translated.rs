//! What a translation of addresses makes of a packet: which one, by which connection, and into
//! what.

use super::decisions::{Look, Told, whole};
use conntrack::{Family, Read, Tuple, read4, read6_in_pieces};
use graph::{TraceRecord, tsc, tsc_hz};
use nodes::nat::{Nat44, Nat44Input, Nat44Output, Nat64Input, Translated, ip4_at, ip6_at};
use nodes::tables::Interface;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use wire::ip::protocol;
use wire::ipv6;

impl Look<'_> {
    /// Of a packet that comes to an outer address.
    pub(super) fn led_inside(&self) -> Told {
        let row = self.row(self.step.rx)?;
        let Translated(nat) = row.setting::<Nat44Input>()?;
        let Read::Flow { tuple, .. } = read(self.step, row, nat)? else {
            return self.no_flow(row, nat);
        };
        // What is to nobody's outer address is none of its business.
        if !nat.is_outer(tuple.destination4()) {
            return None;
        }
        let address = Ipv4Addr::from(tuple.destination4());
        let by = if is_known(nat, &tuple) {
            self.connection()
        } else if nat.forwarded(&tuple).is_some() {
            format!("port {} of {address} is forwarded", tuple.destination_port())
        } else {
            "of no known connection, and no forwarded port".to_owned()
        };
        Some(self.said(row, nat, &tuple, by))
    }

    /// Of a packet that leaves for the outside.
    pub(super) fn leaves_inside(&self) -> Told {
        let row = self.row(self.step.tx)?;
        let Translated(nat) = row.setting::<Nat44Output>()?;
        let Read::Flow { tuple, .. } = read(self.step, row, nat)? else {
            return self.no_flow(row, nat);
        };
        let by = if !nat.is_inside(self.step.rx) {
            "did not come in by a port inside: as it is".to_owned()
        } else if nat.is_outer(tuple.source4()) {
            "translated where it came in: as it is".to_owned()
        } else if is_known(nat, &tuple) {
            self.connection()
        } else {
            "would begin a connection".to_owned()
        };
        Some(self.said(row, nat, &tuple, by))
    }

    /// Of a packet between hosts of IPv6 inside and of IPv4 outside.
    pub(super) fn crosses(&self) -> Told {
        let row = self.row(self.step.rx)?;
        let Translated(nat) = row.setting::<Nat64Input>()?;
        let is_of6 = |step| ip6_at(&whole(step), row.carries_packets()).is_some();
        let is_to_prefix = nat.is_inside(self.step.rx) && self.goes_to_prefix(row, nat);
        // What came from outside is of IPv6 afterwards.
        if !is_to_prefix && (is_of6(self.step) || !self.next.is_some_and(is_of6)) {
            return None;
        }
        let before = read_any(self.step, row, nat)?;
        let Read::Flow { tuple, .. } = before else { return self.told_with(before, nat) };
        let by = match is_known(nat, &tuple) {
            true => self.connection(),
            false => "would begin a connection".to_owned(),
        };
        Some(self.said(row, nat, &tuple, by))
    }

    fn goes_to_prefix(&self, row: &Interface, nat: &Nat44) -> bool {
        let bytes = whole(self.step);
        let header =
            ip6_at(&bytes, row.carries_packets()).and_then(|at| ipv6::Header::new(&bytes[at..]));
        let prefix = nat.nat64.zip(header);
        prefix.is_some_and(|(prefix, header)| prefix.has(header.destination()))
    }

    /// One that is known; what a worker had may have begun it.
    fn connection(&self) -> String {
        let said = if self.was { "is in the table" } else { "of a known connection" };
        said.to_owned()
    }

    fn said(
        &self,
        row: &Interface,
        nat: &Arc<Nat44>,
        before: &Tuple,
        by: String,
    ) -> Vec<(&'static str, String)> {
        let mut told = vec![("NAT", nat.name.clone()), ("connection", by)];
        let after = self.next.and_then(|next| read_any(next, row, nat));
        if let Some(Read::Flow { tuple, .. }) = after
            && tuple != *before
        {
            told.push(("becomes", ends(&tuple)));
        }
        told
    }

    fn no_flow(&self, row: &Interface, nat: &Arc<Nat44>) -> Told {
        self.told_with(read(self.step, row, nat)?, nat)
    }

    /// Of a packet that is no connection's own.
    fn told_with(&self, read: Read, nat: &Nat44) -> Told {
        let what = match read {
            Read::Error(_) => "an error of ICMP: with the connection that it tells of",
            Read::Piece(_) => "a piece: with the first one of its packet",
            _ => "no packet that has a connection",
        };
        Some(vec![("NAT", nat.name.clone()), ("connection", what.to_owned())])
    }
}

fn read(step: &TraceRecord, row: &Interface, nat: &Nat44) -> Option<Read> {
    let bytes = whole(step);
    let at = ip4_at(&bytes, row.carries_packets())?;
    Some(read4(&bytes[at..], nat.zone))
}

/// The same of IPv6 as well.
fn read_any(step: &TraceRecord, row: &Interface, nat: &Nat44) -> Option<Read> {
    read(step, row, nat).or_else(|| {
        let bytes = whole(step);
        let at = ip6_at(&bytes, row.carries_packets())?;
        Some(read6_in_pieces(&bytes[at..], nat.zone))
    })
}

fn is_known(nat: &Nat44, tuple: &Tuple) -> bool {
    nat.table.find(tuple, (tsc() / tsc_hz()) as u32).is_some()
}

/// Both ends of a packet; an echo has an identifier in place of ports.
fn ends(tuple: &Tuple) -> String {
    let (from, to): (IpAddr, IpAddr) = match tuple.family() {
        Family::Ip6 => {
            (Ipv6Addr::from(tuple.source6()).into(), Ipv6Addr::from(tuple.destination6()).into())
        }
        _ => (Ipv4Addr::from(tuple.source4()).into(), Ipv4Addr::from(tuple.destination4()).into()),
    };
    match tuple.protocol() {
        protocol::ICMP4 | protocol::ICMP6 => {
            format!("{from} > {to}, identifier {}", tuple.source_port())
        }
        _ => {
            let with = |address, port| SocketAddr::new(address, port);
            format!("{} > {}", with(from, tuple.source_port()), with(to, tuple.destination_port()))
        }
    }
}
