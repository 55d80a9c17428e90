//! Which frames of a port belong together: Open vSwitch's tags and trunks, as bridges of the
//! router's.
//!
//! ```text
//!  port a, tag 10 ──┐                          br0     a, b, t      flows; untagged, and all VLANs that no port names
//!  port b, tag 20 ──┼─ br0           becomes   br0.10  a, t.10      behind br0
//!  port t ──────────┘                          br0.20  b, t.20      behind br0
//! ```
//! A VLAN that a port names is a bridge of its own, behind the bridge of flows: a trunk takes part
//! by a sub-interface. What flows leave to `NORMAL` comes there.
//!
//! A port of `dot1q-tunnel` is in its VLAN with all tags that its customers' frames have, by a
//! sub-interface that leaves them alone; trunks carry that VLAN with a service's tag in front.

use std::collections::{BTreeMap, BTreeSet};

use ovsdb::{Atom, Row};

/// Tags of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Vlans {
    /// The VLAN of frames without a tag; none: they are in none.
    untagged: Option<u16>,
    /// The VLANs whose frames have tags; none: all that there are.
    tagged: Option<BTreeSet<u16>>,
    /// Of these the one that frames without a tag are in, too.
    native: Option<u16>,
    /// All of its frames are in that one VLAN of `tagged`, and keep their tags.
    tunnel: Option<Tunnel>,
}

/// What a port says of its customers' frames.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tunnel {
    /// The tag that others have for its VLAN is a service's.
    is_of_service: bool,
    /// The VLANs of tags that the frames may have, 0 of those without; none: all.
    customers: BTreeSet<u16>,
}

impl Tunnel {
    fn read(port: &Row) -> Result<Self, String> {
        let other = port.get("other_config").pairs();
        let is_of_service = match other.get("qinq-ethtype").map(String::as_str) {
            None | Some("802.1ad") => true,
            Some("802.1q") => false,
            Some(kind) => return Err(format!("qinq-ethtype `{kind}` is none that there is")),
        };
        Ok(Self { is_of_service, customers: vlans(port, "cvlans") })
    }

    /// What `port add` says of the part of a port that has the frames.
    fn words(&self, port: &str) -> String {
        let (untagged, tagged): (Vec<u16>, Vec<u16>) =
            self.customers.iter().copied().partition(|vlan| *vlan == 0);
        let takes_untagged = self.customers.is_empty() || !untagged.is_empty();
        if takes_untagged && tagged.is_empty() && !self.customers.is_empty() {
            return format!("vlan parent {port} vlan untagged");
        }
        let mut words = format!("vlan parent {port} vlan any");
        tagged.iter().for_each(|vlan| words.push_str(&format!(" customers {vlan}")));
        if takes_untagged {
            words.push_str(" native");
        }
        words
    }
}

/// Frames of a port: all that no other part of it takes, or those of a VLAN.
pub(super) type Part = (String, Option<u16>);

fn vlan(number: i64) -> Option<u16> {
    u16::try_from(number).ok().filter(|it| *it < 4095)
}

/// The VLANs of a column.
fn vlans(port: &Row, column: &str) -> BTreeSet<u16> {
    let of = |atom: &Atom| match atom {
        Atom::Whole(number) => vlan(*number),
        _ => None,
    };
    port.get(column).atoms().iter().filter_map(of).collect()
}

impl Vlans {
    /// What a row of Port says.
    pub(super) fn read(port: &Row) -> Result<Self, String> {
        let tag = port.whole("tag").and_then(vlan);
        let trunks = vlans(port, "trunks");
        let all = |trunks: BTreeSet<u16>| (!trunks.is_empty()).then_some(trunks);
        let is_in = |trunks: &BTreeSet<u16>| trunks.is_empty() || trunks.contains(&0);
        match (port.text("vlan_mode"), tag) {
            (Some("access") | None, Some(tag)) => Ok(Self::plain(Some(tag), Some(BTreeSet::new()))),
            (Some("native-untagged"), Some(tag)) => Ok(Self::plain(Some(tag), all(trunks))),
            (Some("native-tagged"), Some(tag)) if tag != 0 => {
                // It is in its native VLAN whatever `trunks` says.
                let tagged = all(trunks).map(|trunks| &trunks | &BTreeSet::from([tag]));
                Ok(Self { native: Some(tag), ..Self::plain(None, tagged) })
            }
            (Some("dot1q-tunnel"), Some(tag)) if tag != 0 => {
                let tunnel = Some(Tunnel::read(port)?);
                Ok(Self { tunnel, ..Self::plain(None, Some(BTreeSet::from([tag]))) })
            }
            (Some("dot1q-tunnel"), _) => Err("vlan_mode dot1q-tunnel needs a tag".to_owned()),
            (Some("access"), None) => Ok(Self::plain(Some(0), Some(BTreeSet::new()))),
            (Some("trunk" | "native-untagged" | "native-tagged") | None, _) => {
                let untagged = is_in(&trunks).then_some(0);
                Ok(Self::plain(untagged, all(trunks)))
            }
            (Some(mode), _) => Err(format!("vlan_mode {mode} is not done")),
        }
    }

    fn plain(untagged: Option<u16>, tagged: Option<BTreeSet<u16>>) -> Self {
        Self { untagged, tagged, native: None, tunnel: None }
    }

    /// The VLAN that all of its frames are in with their own tags, and whether the tag that others
    /// have for it is a service's.
    pub(super) fn tunnel(&self) -> Option<(u16, bool)> {
        let vlan = self.tagged.as_ref()?.first()?;
        self.tunnel.as_ref().map(|tunnel| (*vlan, tunnel.is_of_service))
    }

    /// The part of the port that has the frames of a VLAN, if one has them alone.
    pub(super) fn part(&self, port: &str, vlan: u16) -> Option<Part> {
        if self.untagged == Some(vlan) {
            return Some((port.to_owned(), None));
        }
        let has = vlan != 0 && self.tagged.as_ref().is_none_or(|tagged| tagged.contains(&vlan));
        has.then(|| (port.to_owned(), Some(vlan)))
    }

    /// Whether some VLAN's frames have no tag.
    pub(super) fn has_untagged(&self) -> bool {
        self.untagged.is_some()
    }

    /// Whether it says that a VLAN's frames have tags.
    pub(super) fn names_tag(&self, vlan: u16) -> bool {
        let tagged = self.tagged.as_ref().filter(|_| self.tunnel.is_none());
        tagged.is_some_and(|tagged| tagged.contains(&vlan))
    }

    /// What `port add` says of its part that has a VLAN's tags, those of a service where it is one
    /// of these.
    pub(super) fn part_words(&self, port: &str, vlan: u16, services: &BTreeSet<u16>) -> String {
        if let Some(tunnel) = &self.tunnel {
            return tunnel.words(port);
        }
        let protocol = if services.contains(&vlan) { " protocol 802.1ad" } else { "" };
        let native = if self.native == Some(vlan) { " native" } else { "" };
        format!("vlan parent {port} vlan {vlan}{protocol}{native}")
    }

    /// The same without a VLAN.
    pub(super) fn without(&mut self, vlan: u16) {
        if let Some(tagged) = &mut self.tagged {
            tagged.remove(&vlan);
        }
    }

    /// VLANs that it names.
    fn named(&self) -> impl Iterator<Item = u16> {
        let all = self.untagged.into_iter().chain(self.native);
        all.chain(self.tagged.iter().flatten().copied()).filter(|it| *it != 0)
    }
}

/// The VLANs whose tag is a service's, and those of which ports say two things.
pub(super) fn services<'a>(
    ports: impl Iterator<Item = &'a Vlans>,
) -> (BTreeSet<u16>, BTreeSet<u16>) {
    let (services, others): (Vec<_>, Vec<_>) = ports.filter_map(Vlans::tunnel).partition(|it| it.1);
    let only = |all: Vec<(u16, bool)>| all.into_iter().map(|it| it.0).collect::<BTreeSet<_>>();
    let (services, others) = (only(services), only(others));
    let both = &services & &others;
    (services, both)
}

/// The bridge of a VLAN: 0 is none.
pub(super) fn bridge_of(bridge: &str, vlan: u16) -> String {
    if vlan == 0 { bridge.to_owned() } else { format!("{bridge}.{vlan}") }
}

/// The port of a VLAN of a port.
pub(super) fn part_name((port, vlan): &Part) -> String {
    vlan.map_or_else(|| port.clone(), |vlan| format!("{port}.{vlan}"))
}

/// The parts of ports that are in each VLAN of a bridge, 0 always among them.
pub(super) fn lay_out(ports: &BTreeMap<String, Vlans>) -> BTreeMap<u16, Vec<Part>> {
    let mut found = BTreeMap::from([(0, Vec::new())]);
    found.extend(ports.values().flat_map(Vlans::named).map(|vlan| (vlan, Vec::new())));
    for (vlan, parts) in &mut found {
        for (name, port) in ports {
            if port.untagged == Some(*vlan) {
                parts.push((name.clone(), None));
            } else if *vlan != 0 && port.tagged.as_ref().is_none_or(|it| it.contains(vlan)) {
                parts.push((name.clone(), Some(*vlan)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use ovsdb::Datum;

    fn port(mode: &str, tag: Option<i64>, trunks: &[i64]) -> Vlans {
        let mut row = Row::default();
        row.set("vlan_mode", Datum::text(mode));
        if let Some(tag) = tag {
            row.set("tag", Datum::whole(tag));
        }
        row.set("trunks", Datum::Set(trunks.iter().map(|it| Atom::Whole(*it)).collect()));
        Vlans::read(&row).unwrap()
    }

    fn laid_out(ports: &[(&str, Vlans)]) -> Vec<(u16, Vec<String>)> {
        let ports = ports.iter().map(|(name, it)| ((*name).to_owned(), it.clone())).collect();
        let names = |parts: Vec<Part>| parts.iter().map(part_name).collect();
        lay_out(&ports).into_iter().map(|(vlan, parts)| (vlan, names(parts))).collect()
    }

    #[test]
    fn without_tags_there_is_one_bridge() {
        let ports = [("a", port("", None, &[])), ("b", port("trunk", None, &[]))];
        assert_eq!(laid_out(&ports), [(0, vec!["a".to_owned(), "b".to_owned()])]);
    }

    #[test]
    fn each_vlan_that_a_port_names_is_a_bridge() {
        let ports = [
            ("a", port("", Some(10), &[])),
            ("b", port("access", Some(20), &[])),
            ("n", port("native-untagged", Some(20), &[10])),
            ("s", port("", None, &[10, 30])),
            ("t", port("", None, &[])),
        ];
        let text = |parts: &[&str]| parts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            laid_out(&ports),
            [
                (0, text(&["t"])),
                (10, text(&["a", "n.10", "s.10", "t.10"])),
                (20, text(&["b", "n", "t.20"])),
                (30, text(&["s.30", "t.30"])),
            ]
        );
    }

    #[test]
    fn a_native_vlan_with_tags_has_what_comes_without_one() {
        let text = |parts: &[&str]| parts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        // Of all VLANs, and of some; without a tag it is a trunk.
        let all = port("native-tagged", Some(20), &[]);
        let some = port("native-tagged", Some(20), &[10]);
        assert_eq!(
            laid_out(&[("a", port("", Some(20), &[])), ("n", all.clone())]),
            [(0, text(&[])), (20, text(&["a", "n.20"]))]
        );
        assert_eq!(
            laid_out(&[("n", some.clone())]),
            [(0, text(&[])), (10, text(&["n.10"])), (20, text(&["n.20"]))]
        );
        assert_eq!(port("native-tagged", None, &[]), port("trunk", None, &[]));
        for it in [all, some] {
            let none = BTreeSet::new();
            assert_eq!(it.part_words("n", 20, &none), "vlan parent n vlan 20 native");
            assert_eq!(it.part_words("n", 10, &none), "vlan parent n vlan 10");
        }
    }

    #[test]
    fn what_is_not_done_is_told() {
        let mut row = Row::default();
        row.set("vlan_mode", Datum::text("dot1q-tunnel"));
        row.set("tag", Datum::whole(7));
        let set = |row: &mut Row, kind: &str| {
            let kind = Atom::Text(kind.to_owned());
            row.set("other_config", Datum::map([("qinq-ethtype", kind)]));
        };
        set(&mut row, "802.3");
        assert_eq!(Vlans::read(&row).unwrap_err(), "qinq-ethtype `802.3` is none that there is");
        set(&mut row, "802.1q");
        assert_eq!(Vlans::read(&row).unwrap().tunnel(), Some((7, false)));
        row.set("tag", Datum::whole(0));
        assert_eq!(Vlans::read(&row).unwrap_err(), "vlan_mode dot1q-tunnel needs a tag");
        row.set("vlan_mode", Datum::text("x"));
        assert_eq!(Vlans::read(&row).unwrap_err(), "vlan_mode x is not done");
    }

    #[test]
    fn customers_keep_their_tags_in_the_vlan_of_a_service() {
        let tunnel = |customers: &[i64]| {
            let mut row = Row::default();
            row.set("vlan_mode", Datum::text("dot1q-tunnel"));
            row.set("tag", Datum::whole(20));
            row.set("cvlans", Datum::Set(customers.iter().map(|it| Atom::Whole(*it)).collect()));
            Vlans::read(&row).unwrap()
        };
        let (trunk, native) = (port("", None, &[]), port("native-tagged", Some(20), &[]));
        let text = |parts: &[&str]| parts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            laid_out(&[("c", tunnel(&[])), ("t", trunk.clone())]),
            [(0, text(&["t"])), (20, text(&["c.20", "t.20"]))]
        );
        let (services, both) = services([&trunk, &tunnel(&[])].into_iter());
        assert_eq!((&services, both), (&BTreeSet::from([20]), BTreeSet::new()));
        assert_eq!(trunk.part_words("t", 20, &services), "vlan parent t vlan 20 protocol 802.1ad");
        assert_eq!(trunk.part_words("t", 30, &services), "vlan parent t vlan 30");
        assert_eq!(
            native.part_words("n", 20, &services),
            "vlan parent n vlan 20 protocol 802.1ad native"
        );
        for (customers, words) in [
            (&[][..], "vlan any native"),
            (&[5, 7], "vlan any customers 5 customers 7"),
            (&[0, 5], "vlan any customers 5 native"),
            (&[0], "vlan untagged"),
        ] {
            let words = format!("vlan parent c {words}");
            assert_eq!(tunnel(customers).part_words("c", 20, &services), words);
        }
        // It names no tag that copies could have, and none of its frames is without one.
        assert!(!tunnel(&[]).names_tag(20) && !tunnel(&[]).has_untagged());
    }
}
