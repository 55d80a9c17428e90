//! Frames of our own that come back: a bond whose other end knows of none gets by one member what
//! it sent by another.
//!
//! ```text
//!  station ─▶ port ─▶ bridge ─▶ p1 of the bond ─▶ switch ─▶ p2 of the bond ─▶ came back
//! ```

use crate::tables::{ComesBack, Interfaces, Stations, bridge_port};
use fib::mac::Sought;
use packet::{Frame, Groups};
use wire::ethernet::{self, ethertype};
use wire::{arp, vlan};

/// Whether some frame came by a port of a bridge whose frames may come back.
#[inline]
pub(super) fn may_come_back(frame: &Frame, interfaces: &Interfaces) -> bool {
    let mut groups = Groups::all();
    while let Some((rx, _)) = groups.next(frame.rx()) {
        let port = bridge_port(interfaces, rx);
        if port.is_some_and(|port| port.comes_back != ComesBack::Nowhere) {
            return true;
        }
    }
    false
}

/// Has stations of what came back sought for nobody, and remembers who announces itself.
#[cold]
pub(super) fn stop(
    frame: &mut Frame,
    interfaces: &Interfaces,
    stations: &Stations,
    sought: &mut Sought,
) {
    let now = stations.now();
    let only_looks = fib::only_looks();
    frame.each(|packet| {
        let Some(port) = bridge_port(interfaces, packet.rx()) else { return };
        let key = sought.keys()[packet.index()];
        match port.comes_back {
            ComesBack::Nowhere => {}
            ComesBack::Elsewhere if !only_looks && is_announcement(packet.header()) => {
                stations.announced.note(key, now);
            }
            ComesBack::Elsewhere => {}
            ComesBack::Here => {
                let known = stations.table.lookup(key, now);
                let is_elsewhere = known.is_some_and(|it| it.port != u32::from(packet.rx()));
                let moves =
                    || is_announcement(packet.header()) && !stations.announced.is_recent(key, now);
                if is_elsewhere && !moves() {
                    sought.forget(packet.index());
                }
            }
        }
    });
}

/// Whether a frame is a gratuitous ARP, by which a station says where it is: to all, and an answer
/// that nobody asked for, or a question about the asker's own address.
fn is_announcement(frame: &[u8]) -> bool {
    let Some(walk) = vlan::walk(frame).filter(|walk| walk.ethertype == ethertype::ARP) else {
        return false;
    };
    let to = ethernet::Header::new(frame).map(|header| header.destination());
    let Ok(packet) = arp::Packet::parse(&frame[walk.offset..]) else { return false };
    let announces = match packet.operation() {
        arp::REPLY => true,
        _ => packet.is_gratuitous(),
    };
    announces && to.is_some_and(|to| to.is_broadcast())
}
