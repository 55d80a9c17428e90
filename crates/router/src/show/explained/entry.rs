//! Where a packet comes in that is asked about, and what it has that nobody said.

use crate::router::Router;
use control::engine::EngineError;
use nodes::tables::{Interface, Link, Mode, Vlan};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::MacAddr;
use wire::craft::Unsaid;

/// Somebody on the link.
const SOMEBODY: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 0xfe]);

/// See the module.
pub(super) struct Entry {
    /// The port's name, as it was said.
    pub(super) name: String,
    /// The interface that receives it.
    pub(super) interface: u16,
    /// What goes where nothing was said.
    pub(super) unsaid: Unsaid,
    /// The VLAN whose tags it has, where a VLAN's port was named.
    vlan: Option<Vlan>,
}

impl Router {
    /// The port of a name; the only one, if none is named.
    pub(super) fn entry_of(&self, name: Option<&str>) -> Result<Entry, EngineError> {
        let wrong = |why: String| EngineError::Wrong(why);
        let names = || self.core.ports.iter().map(|(name, _)| name.as_str());
        let name = match (name, &names().take(2).collect::<Vec<_>>()[..]) {
            (Some(name), _) => name,
            (None, [only]) => only,
            (None, []) => {
                return Err(wrong("there is no port that it could come in by".to_owned()));
            }
            (None, _) => {
                let why = "by which port does it come in? Begin with it, as in `in p1 ip dst …`";
                return Err(wrong(why.to_owned()));
            }
        };
        let port = self.core.port_named(name)?;
        let interfaces = self.core.dataplane.interfaces();
        let gone = || wrong(format!("port {name} is not there yet"));
        let row = interfaces.get(port.id).ok_or_else(gone)?;
        let (interface, vlan) = match row.link {
            Link::Port => (port.id, None),
            Link::Vlan(vlan) => (vlan.parent, Some(vlan)),
            Link::Bond | Link::Bridge | Link::Tunnel(_) | Link::Lisp(_) => {
                let why = format!(
                    "no device brings frames to {name} itself: name the port that they come in by, \
                     and say them with the headers that they have there"
                );
                return Err(wrong(why));
            }
        };
        // A member of a bond is spoken to as the bond is.
        let spoken_to = match row.mode {
            Mode::Member(member) => interfaces.get(member.bond.0).unwrap_or(row),
            Mode::Routed | Mode::CrossConnect(_) | Mode::Bridged(_) => row,
        };
        Ok(Entry { name: name.to_owned(), interface, unsaid: unsaid(spoken_to), vlan })
    }
}

impl Entry {
    /// The frame with the tags of its VLAN in front, unless it has some.
    pub(super) fn tagged(&self, frame: Vec<u8>) -> Vec<u8> {
        let kind = frame.get(12..14).map(|kind| u16::from_be_bytes([kind[0], kind[1]]));
        let Some(vlan) = self.vlan.filter(|_| !kind.is_some_and(wire::vlan::is_tag)) else {
            return frame;
        };
        let tags = vlan.written(None);
        let (macs, rest) = frame.split_at(12.min(frame.len()));
        [macs, &tags[..vlan.tag_bytes()], rest].concat()
    }
}

/// A host on the link of an interface, and the interface itself. Where that has no address, one
/// that hardly is the destination, too.
fn unsaid(row: &Interface) -> Unsaid {
    let beside4 = |own: u32| if own & 1 == 1 { own + 1 } else { own | 1 };
    let own6 = row.ip6.iter().map(|(own, _)| *own).find(|own| !wire::ipv6::is_link_local(*own));
    let source4 =
        row.primary_ip4().map_or(Ipv4Addr::new(192, 0, 2, 254), |own| beside4(own).into());
    let documented = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0xfe);
    let source6 = own6.map_or(documented, |own| Ipv6Addr::from_bits(own ^ 0xfe));
    Unsaid { destination_mac: MacAddr(row.mac), source_mac: SOMEBODY, source4, source6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_said_is_another_on_the_link() {
        let mut row = Interface::new("p1", 0);
        let source = |row: &Interface| unsaid(row).source4.to_string();
        assert_eq!(source(&row), "192.0.2.254");
        assert_eq!(unsaid(&row).source6.to_string(), "2001:db8::fe");
        for (own, other) in [([10, 0, 1, 1], "10.0.1.2"), ([10, 0, 1, 2], "10.0.1.3")] {
            row.ip4 = vec![(u32::from(Ipv4Addr::from(own)), 24)];
            assert_eq!(source(&row), other);
        }
        row.ip6 = vec![(0xfe80 << 112 | 5, 64), (0x2001_0db8 << 96 | 1, 64)];
        assert_eq!(unsaid(&row).source6.to_string(), "2001:db8::ff");
    }
}
