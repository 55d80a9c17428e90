//! Tells switches beyond a bond behind which of their ports its stations are now: each says so
//! itself, as it seems, by a reverse ARP request to all (RFC 903), as virtual machines that moved
//! do.
//!
//! ```text
//!  other members carry ─▶ begin ─▶ go_on, 100 times a second ─▶ stations of the bond's bridges,
//!                                                              a part of the table each time ─▶ requests
//! ```
//! Each leaves by the bond, and there by the member that the station's frames leave by. They are
//! told twice: a switch's port may need a moment when its link comes up.

use crate::core::Core;
use crate::interfaces::OpenPort;
use control::config::objects::port::PortName;
use fib::mac::MacSweep;
use nodes::tables::bridge_port;
use std::collections::BTreeMap;
use wire::craft;
use wire::ethernet::{self, ethertype};

/// Parts that the table of stations is looked through in.
const PARTS: usize = 20;
/// Between the two times.
const PAUSE_NS: u64 = 1_000_000_000;
/// Requests sent at a time: what waits for workers has a bound.
const MOST_SENT: usize = 32;

/// Which stations switches are to be told of still.
#[derive(Default)]
pub(super) struct Learning {
    /// How far the table was looked through; none: it was.
    sweep: Option<MacSweep>,
    /// Those found in it, and the interfaces by which it is told.
    found: Vec<(u16, [u8; 6])>,
    /// They are to be told once more.
    is_first: bool,
    /// When that is.
    again_ns: Option<u64>,
}

impl Learning {
    /// All of them, from now on.
    pub(super) fn begin(&mut self) {
        *self = Self { sweep: Some(MacSweep::default()), is_first: true, ..Self::default() };
    }

    /// Looks for some more, and tells of some.
    pub(super) fn go_on(&mut self, core: &mut Core, bond: &PortName) {
        if self.again_ns.take_if(|at| core.now_ns() >= *at).is_some() {
            self.sweep = Some(MacSweep::default());
        }
        if let Some(sweep) = &mut self.sweep
            && is_through(sweep, &mut self.found, core, bond)
        {
            self.sweep = None;
            let is_first = std::mem::take(&mut self.is_first);
            self.again_ns = is_first.then(|| core.now_ns() + PAUSE_NS);
        }
        let some = self.found.len().min(MOST_SENT);
        for (interface, station) in self.found.drain(..some) {
            core.neighborhood.send(interface, &request(station));
        }
    }
}

/// Looks through a part of the table; whether that was the last.
fn is_through(
    sweep: &mut MacSweep,
    found: &mut Vec<(u16, [u8; 6])>,
    core: &Core,
    bond: &PortName,
) -> bool {
    let stands = |name: &PortName, port: &OpenPort| name == bond || port.parent() == Some(bond);
    let own = core.ports.iter().filter(|(name, port)| stands(name, port)).map(|(_, port)| port.id);
    let of_bridge = |id: u16| Some((bridge_port(core.dataplane.interfaces(), id)?.bridge.0, id));
    let by_bridge: BTreeMap<u16, u16> = own.filter_map(of_bridge).collect();
    let stations = &core.dataplane.stations;
    let lines = stations.table.line_count().div_ceil(PARTS);
    stations.table.look(sweep, lines, stations.now(), |key, entry| {
        if let Some(id) = by_bridge.get(&key.domain())
            && entry.port != u32::from(*id)
        {
            found.push((*id, key.address()));
        }
    })
}

/// Asks, for nobody to answer, which address a station has.
fn request(station: [u8; 6]) -> Vec<u8> {
    let mut asked = vec![0, 1, 8, 0, 6, 4, 0, 3];
    for _ in 0..2 {
        asked.extend(station);
        asked.extend([0; 4]);
    }
    let frame = craft::ethernet(station, [0xff; 6]).ethertype(ethertype::RARP).payload(&asked);
    frame.pad_to(ethernet::MIN_FRAME_LEN).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_that_of_the_rfc() {
        let station = [2, 0, 0, 0, 0, 7];
        let frame = request(station);
        assert_eq!(frame.len(), 60);
        assert_eq!(frame[..14], [255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 7, 0x80, 0x35]);
        let asked = [0, 1, 8, 0, 6, 4, 0, 3, 2, 0, 0, 0, 0, 7, 0, 0, 0, 0, 2, 0, 0, 0, 0, 7];
        assert_eq!(frame[14..38], asked);
        assert!(frame[38..].iter().all(|octet| *octet == 0));
    }
}
