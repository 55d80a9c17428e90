//! Where a frame goes that a controller sends and leaves to `NORMAL`.
//!
//! One that comes from a port goes through the graph, as if it had come in there. One that comes
//! from nowhere has no port that it is not sent back to: it leaves here, by all of its VLAN.

use super::surroundings::Surroundings;
use super::surroundings::injected;
use fib::mac::MacKey;
use flow::InTunnel;
use nodes::flow::{FirstTag, first_tag};
use nodes::tables::{BridgeId, Injected, Interfaces, Link, Mode, TAG_BYTES};
use openflow::PortNumber;
use std::collections::{BTreeMap, BTreeSet};

/// The stations of a VLAN, and the ports by which its frames leave.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Domain {
    id: BridgeId,
    members: Vec<u16>,
}

/// The bridge's own ports, and those of the VLANs that are behind it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Domains {
    own: Option<Domain>,
    vlans: BTreeMap<u16, Domain>,
}

impl Domains {
    /// Those of a bridge whose ports are these interfaces.
    pub(super) fn of(interfaces: &Interfaces, bridge: BridgeId, ports: &BTreeSet<u16>) -> Self {
        let domain = |id| Domain { id, members: interfaces.members(id).to_vec() };
        let vlans = interfaces.all().filter_map(|row| match (row.link, row.mode) {
            (Link::Vlan(vlan), Mode::Bridged(port))
                if port.is_behind && ports.contains(&vlan.parent) =>
            {
                Some((vlan.outer()?, domain(port.bridge)))
            }
            _ => None,
        });
        Self { vlans: vlans.collect(), own: Some(domain(bridge)) }
    }

    /// That of a frame, and whether its tag is not the frame's there.
    fn of_frame(&self, frame: &[u8]) -> Option<(&Domain, bool)> {
        let tagged = match first_tag(frame)? {
            FirstTag::Vlan { tag, .. } => self.vlans.get(&tag.tci().vid()),
            FirstTag::None | FirstTag::Priority => None,
        };
        tagged.map(|it| (it, true)).or(self.own.as_ref().map(|it| (it, false)))
    }
}

impl Surroundings {
    /// As an ordinary bridge: where the station is, else everywhere.
    pub(super) fn send_normally(&self, frame: &[u8], in_port: PortNumber, own: Option<InTunnel>) {
        if let Some(row) = self.rows.get(&in_port) {
            let (rx, own) = (row.interface, own.unwrap_or_default());
            self.inject(frame, |packet| Injected::Normal { rx, own, packet });
            return;
        }
        let Some((domain, is_tagged)) = self.domains.of_frame(frame) else { return };
        let mut frame = frame.to_vec();
        if is_tagged {
            frame.drain(12..12 + TAG_BYTES);
        }
        let station = frame.first_chunk::<6>().map(|mac| MacKey::new(domain.id.0, *mac));
        let known = station.and_then(|key| self.stations.table.lookup(key, self.stations.now()));
        for &interface in &domain.members {
            if known.is_none_or(|station| station.port == u32::from(interface)) {
                self.inject(&frame, |packet| injected(interface, own, packet));
            }
        }
    }
}
