//! What a translation of addresses makes of a packet: which one, by which connection, and into
//! what.

use super::decisions::{Look, Told, whole};
use conntrack::{Read, Tuple, read4};
use graph::{TraceRecord, tsc, tsc_hz};
use nodes::nat::{Nat44, Nat44Input, Nat44Output, Translated, ip4_at};
use nodes::tables::Interface;
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::ip::protocol;

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
        } else if is_known(nat, &tuple) {
            self.connection()
        } else {
            "would begin a connection".to_owned()
        };
        Some(self.said(row, nat, &tuple, by))
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
        let after = self.next.and_then(|next| read(next, row, nat));
        if let Some(Read::Flow { tuple, .. }) = after
            && tuple != *before
        {
            told.push(("becomes", ends(&tuple)));
        }
        told
    }

    fn no_flow(&self, row: &Interface, nat: &Arc<Nat44>) -> Told {
        let what = match read(self.step, row, nat)? {
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

fn is_known(nat: &Nat44, tuple: &Tuple) -> bool {
    nat.table.find(tuple, (tsc() / tsc_hz()) as u32).is_some()
}

/// Both ends of a packet; an echo has an identifier in place of ports.
fn ends(tuple: &Tuple) -> String {
    let [from, to] = [tuple.source4(), tuple.destination4()].map(Ipv4Addr::from);
    match tuple.protocol() {
        protocol::ICMP4 => format!("{from} > {to}, identifier {}", tuple.source_port()),
        _ => format!("{from}:{} > {to}:{}", tuple.source_port(), tuple.destination_port()),
    }
}
