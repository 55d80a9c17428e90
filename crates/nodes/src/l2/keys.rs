//! The stations that frames are from and to, as the table of stations knows them.

use crate::tables::{Interfaces, bridge_port};
use fib::mac::{MOST_SOUGHT, MacKey};
use packet::{Frame, Groups, VECTOR};
use wire::ethernet;

const _: () = assert!(VECTOR <= MOST_SOUGHT, "a vector of keys has room for all of a frame's");

/// Which address of a frame.
#[derive(Clone, Copy)]
pub(super) enum Whose {
    /// Whom it is to.
    Destination,
    /// Whom it is from.
    Source,
}

impl Whose {
    /// Where eight octets of the header begin that have the address, and by how many bits the
    /// number has to be shifted that they are.
    #[inline(always)]
    fn place(self) -> (usize, u32) {
        match self {
            Self::Destination => (0, 16),
            Self::Source => (4, 0),
        }
    }
}

/// Reads an address of each frame; nobody's where a frame has no whole header, or came by a port
/// that is in no bridge.
#[inline(always)]
pub(super) fn read_keys(
    frame: &mut Frame,
    interfaces: &Interfaces,
    whose: Whose,
    keys: &mut [MacKey],
) {
    let bridge_of = |rx: u16| bridge_port(interfaces, rx).map(|port| port.bridge.0);
    let (offset, shift) = whose.place();
    if let Some(bridge) = sole_bridge(frame.rx(), bridge_of)
        && frame.shortest() >= ethernet::Header::LEN as u32
        && frame.each_word(offset, |slot, word| {
            keys[slot] = MacKey::from_word(bridge, word >> shift);
        })
    {
        return;
    }
    // The last frame's port is often the next one's, too.
    let mut rx = frame.rx()[0];
    let mut bridge = bridge_of(rx);
    frame.each(|packet| {
        if packet.rx() != rx {
            rx = packet.rx();
            bridge = bridge_of(rx);
        }
        let header = packet.header().first_chunk::<{ ethernet::Header::LEN }>();
        let octets = header.and_then(|header| header[offset..].first_chunk().copied());
        let key = bridge
            .zip(octets)
            .map(|(bridge, octets)| MacKey::from_word(bridge, u64::from_be_bytes(octets) >> shift));
        keys[packet.index()] = key.unwrap_or(MacKey::NOBODY);
    });
}

/// Reads both addresses of each frame, whom it is from and whom it is to; false, and nothing read,
/// where the frames are of several bridges, or one is short.
#[inline(always)]
pub(super) fn read_both(
    frame: &Frame,
    interfaces: &Interfaces,
    [from, to]: [&mut [MacKey; MOST_SOUGHT]; 2],
) -> bool {
    let bridge_of = |rx: u16| bridge_port(interfaces, rx).map(|port| port.bridge.0);
    let Some(bridge) = sole_bridge(frame.rx(), bridge_of) else { return false };
    let places = [Whose::Source, Whose::Destination].map(Whose::place);
    frame.each_front::<{ ethernet::Header::LEN }>(|slot, header| {
        let [from_key, to_key] = places.map(|(offset, shift)| {
            let octets = header[offset..].first_chunk().copied().unwrap_or_default();
            MacKey::from_word(bridge, u64::from_be_bytes(octets) >> shift)
        });
        (from[slot % MOST_SOUGHT], to[slot % MOST_SOUGHT]) = (from_key, to_key);
    })
}

/// The bridge that all of these ports are in.
#[inline]
fn sole_bridge(ports: &[u16], bridge_of: impl Fn(u16) -> Option<u16>) -> Option<u16> {
    let mut groups = Groups::all();
    let sole = bridge_of(groups.next(ports)?.0)?;
    while let Some((port, _)) = groups.next(ports) {
        if bridge_of(port) != Some(sole) {
            return None;
        }
    }
    Some(sole)
}
