//! Who listens to which groups, in bridges that listen to IGMP and MLD (RFC 4541).
//!
//! ```text
//!  l2_multicast ── what hosts and routers say ──▶ control thread ── published whole, now and then ──▶ l2_multicast
//! ```
//! Bounded by the control thread. Bytes: some 60 a group, and two for each interface of it.

use crate::tables::BridgeId;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// All bridges' listeners.
#[derive(Clone, Debug, Default)]
pub struct Listeners {
    /// Of each bridge, IPv4's and IPv6's.
    pub bridges: HashMap<BridgeId, [Heeding; 2]>,
    /// The interfaces that a group's packets leave by: its listeners' and routers'.
    pub groups: HashMap<(BridgeId, IpAddr), Box<[u16]>>,
}

/// What goes for a family's groups in a bridge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heeding {
    /// The interfaces behind which routers are that forward groups.
    pub routers: Box<[u16]>,
    /// Somebody asks for listeners, so that those who do not answer are none. Without, all get
    /// everything.
    pub is_asked: bool,
    /// Groups that nobody listens to go to all, not to routers alone.
    pub floods_unknown: bool,
}

impl Default for Heeding {
    fn default() -> Self {
        Self { routers: Box::default(), is_asked: false, floods_unknown: true }
    }
}

/// Where packets to a group go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way<'a> {
    /// To all ports.
    All,
    /// To these.
    Only(&'a [u16]),
}

/// Whether all hosts listen to a group, told or not: those of one link of IPv4 (RFC 4541 section
/// 2.1.2), all nodes of IPv6 (section 3).
pub fn is_for_all(group: IpAddr) -> bool {
    match group {
        IpAddr::V4(group) => group.octets()[..3] == [224, 0, 0],
        IpAddr::V6(group) => group == Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1),
    }
}

/// Whether hosts may depend on a group without telling: those of one link, which neighbour
/// discovery stands on.
pub fn is_of_link(group: IpAddr) -> bool {
    match group {
        IpAddr::V4(_) => is_for_all(group),
        IpAddr::V6(group) => group.octets()[1] & 0x0f <= 2,
    }
}

impl Listeners {
    fn heeding(&self, bridge: BridgeId, group: IpAddr) -> Option<&Heeding> {
        let bridge = self.bridges.get(&bridge)?;
        Some(&bridge[usize::from(group.is_ipv6())]).filter(|heeding| heeding.is_asked)
    }

    /// Where data to a group goes.
    pub fn way(&self, bridge: BridgeId, group: IpAddr) -> Way<'_> {
        let Some(heeding) = self.heeding(bridge, group) else { return Way::All };
        if is_for_all(group) {
            return Way::All;
        }
        match self.groups.get(&(bridge, group)) {
            Some(ports) => Way::Only(ports),
            None if heeding.floods_unknown || is_of_link(group) => Way::All,
            None => Way::Only(&heeding.routers),
        }
    }

    /// Where what a host says goes: other hosts are not to hear it, as one that hears another's
    /// report keeps its own back (RFC 4541 section 2.1.1).
    pub fn routers(&self, bridge: BridgeId, to: IpAddr) -> Way<'_> {
        self.heeding(bridge, to).map_or(Way::All, |heeding| Way::Only(&heeding.routers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAN: BridgeId = BridgeId(1);

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn listeners(is_asked: bool, floods_unknown: bool) -> Listeners {
        let heeding = Heeding { routers: [7].into(), is_asked, floods_unknown };
        let known = [(LAN, ip("239.1.1.1")), (LAN, ip("ff02::1:ff00:1"))];
        Listeners {
            bridges: [(LAN, [heeding.clone(), heeding])].into(),
            groups: known.map(|group| (group, [6, 7].into())).into(),
        }
    }

    #[test]
    fn known_groups_go_to_their_listeners_where_somebody_asks() {
        let asked = listeners(true, true);
        assert_eq!(asked.way(LAN, ip("239.1.1.1")), Way::Only(&[6, 7]));
        assert_eq!(asked.way(BridgeId(2), ip("239.1.1.1")), Way::All);
        assert_eq!(listeners(false, false).way(LAN, ip("239.1.1.1")), Way::All);
        assert_eq!(asked.routers(LAN, ip("224.0.0.22")), Way::Only(&[7]));
        assert_eq!(listeners(false, true).routers(LAN, ip("224.0.0.22")), Way::All);
    }

    #[test]
    fn unknown_groups_go_to_all_or_to_routers_but_those_of_links() {
        for (group, strict) in [
            ("239.9.9.9", Way::Only(&[7][..])),
            ("ff0e::9", Way::Only(&[7])),
            ("224.0.0.251", Way::All),
            ("ff02::1", Way::All),
            ("ff02::fb", Way::All),
        ] {
            assert_eq!(listeners(true, true).way(LAN, ip(group)), Way::All);
            assert_eq!(listeners(true, false).way(LAN, ip(group)), strict, "{group}");
        }
        assert_eq!(listeners(true, false).way(LAN, ip("ff02::1:ff00:1")), Way::Only(&[6, 7]));
    }
}
