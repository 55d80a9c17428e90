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
}

/// Frames of a port: all that no other part of it takes, or those of a VLAN.
pub(super) type Part = (String, Option<u16>);

fn vlan(number: i64) -> Option<u16> {
    u16::try_from(number).ok().filter(|it| *it < 4095)
}

impl Vlans {
    /// What a row of Port says.
    pub(super) fn read(port: &Row) -> Result<Self, String> {
        let tag = port.whole("tag").and_then(vlan);
        let trunks = port.get("trunks").atoms().iter().filter_map(|atom| match atom {
            Atom::Whole(number) => vlan(*number),
            _ => None,
        });
        let trunks: BTreeSet<u16> = trunks.collect();
        let all = |trunks: BTreeSet<u16>| (!trunks.is_empty()).then_some(trunks);
        let is_in = |trunks: &BTreeSet<u16>| trunks.is_empty() || trunks.contains(&0);
        match (port.text("vlan_mode"), tag) {
            (Some("access") | None, Some(tag)) => {
                Ok(Self { untagged: Some(tag), tagged: Some(BTreeSet::new()), native: None })
            }
            (Some("native-untagged"), Some(tag)) => {
                Ok(Self { untagged: Some(tag), tagged: all(trunks), native: None })
            }
            (Some("native-tagged"), Some(tag)) if tag != 0 => {
                // It is in its native VLAN whatever `trunks` says.
                let tagged = all(trunks).map(|trunks| &trunks | &BTreeSet::from([tag]));
                Ok(Self { untagged: None, tagged, native: Some(tag) })
            }
            (Some("access"), None) => {
                Ok(Self { untagged: Some(0), tagged: Some(BTreeSet::new()), native: None })
            }
            (Some("trunk" | "native-untagged" | "native-tagged") | None, _) => {
                let untagged = is_in(&trunks).then_some(0);
                Ok(Self { untagged, tagged: all(trunks), native: None })
            }
            (Some(mode), _) => Err(format!("vlan_mode {mode} is not done")),
        }
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
        self.tagged.as_ref().is_some_and(|tagged| tagged.contains(&vlan))
    }

    /// What `port add` says of its part that has a VLAN's tags.
    pub(super) fn part_words(&self, port: &str, vlan: u16) -> String {
        let native = if self.native == Some(vlan) { " native" } else { "" };
        format!("vlan parent {port} vlan {vlan}{native}")
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
            assert_eq!(it.part_words("n", 20), "vlan parent n vlan 20 native");
            assert_eq!(it.part_words("n", 10), "vlan parent n vlan 10");
        }
    }

    #[test]
    fn what_is_not_done_is_told() {
        let mut row = Row::default();
        row.set("vlan_mode", Datum::text("dot1q-tunnel"));
        row.set("tag", Datum::whole(7));
        assert_eq!(Vlans::read(&row).unwrap_err(), "vlan_mode dot1q-tunnel is not done");
    }
}
