//! Copies of what ports carry: the table Mirror, as mirrors of the router's.
//!
//! ```text
//!  Bridge.mirrors ─▶ BRIDGE.NAME: select_* are its sources, output_port is where copies leave
//!                                 select_vlan: the parts of sources in those VLANs
//!                                 output_vlan: the port that names that VLAN, with its tag (RSPAN)
//! ```
//! As in Open vSwitch, a port that copies leave by carries nothing else: it takes no part in the
//! bridge.

use std::collections::{BTreeMap, BTreeSet};

use control::config::field::Field;
use control::config::objects::mirror::MirrorName;
use ovsdb::{Atom, Row, Rows};

use super::vlans::{self, Vlans};

/// A mirror of the router's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedMirror {
    /// The row of Mirror.
    pub(super) of: String,
    /// Where copies leave.
    pub(super) to: String,
    /// Whose frames are copied, with the word for the direction.
    pub(super) from: BTreeMap<String, &'static str>,
}

impl WantedMirror {
    /// What `mirror add` says behind its name.
    pub(super) fn words(&self) -> String {
        let from = self.from.iter().map(|(port, way)| format!(" sources {port} {way}"));
        format!("destination {}{}", self.to, from.collect::<String>())
    }
}

/// A port of a bridge: the row of Port, and the VLANs that it is in.
pub(super) struct Seen {
    pub(super) of: String,
    pub(super) vlans: Vlans,
}

/// What a bridge's mirrors come to.
#[derive(Default)]
pub(super) struct Mirrors {
    /// Mirrors by name.
    pub(super) wanted: BTreeMap<String, WantedMirror>,
    /// Ports that copies leave by.
    pub(super) outputs: BTreeSet<String>,
    /// The same of a VLAN of a port.
    pub(super) tagged: BTreeSet<(String, u16)>,
    /// What is wrong with rows.
    pub(super) wrong: Vec<String>,
}

/// The mirrors of a bridge with these ports.
pub(super) fn mirrors(
    rows: &Rows,
    bridge: &str,
    row: &Row,
    ports: &BTreeMap<String, Seen>,
) -> Mirrors {
    let mut found = Mirrors::default();
    let mut all: Vec<_> = rows.named(row, "mirrors", "Mirror").collect();
    all.sort_by_key(|(_, mirror)| mirror.text("name"));
    for (uuid, mirror) in all {
        let name = format!("{bridge}.{}", mirror.text("name").unwrap_or_default());
        if let Err(why) = found.add(uuid, &name, mirror, ports, bridge) {
            found.wrong.push(format!("mirror {name}: {why}"));
        }
    }
    // A port that copies leave by is nobody's source.
    let Mirrors { wanted, outputs, wrong, .. } = &mut found;
    for (name, mirror) in wanted.iter_mut() {
        mirror.from.retain(|port, _| !outputs.contains(port));
        if mirror.from.is_empty() {
            wrong.push(format!("mirror {name}: no port is selected whose frames could be copied"));
        }
    }
    wanted.retain(|_, mirror| !mirror.from.is_empty());
    found
}

/// Rows of Port that a column names.
fn named(mirror: &Row, column: &str) -> BTreeSet<String> {
    let uuid = |atom: &Atom| if let Atom::Uuid(it) = atom { Some(it.clone()) } else { None };
    mirror.get(column).atoms().iter().filter_map(uuid).collect()
}

impl Mirrors {
    fn add(
        &mut self,
        uuid: &str,
        name: &str,
        mirror: &Row,
        ports: &BTreeMap<String, Seen>,
        bridge: &str,
    ) -> Result<(), String> {
        MirrorName::from_text(name)
            .map_err(|_| format!("its name is not {}", MirrorName::EXPECTED))?;
        let all = mirror.get("select_all").atoms().first() == Some(&Atom::Bool(true));
        let (received, sent) = (named(mirror, "select_src_port"), named(mirror, "select_dst_port"));
        let vlans: BTreeSet<u16> = mirror
            .get("select_vlan")
            .atoms()
            .iter()
            .filter_map(
                |atom| if let Atom::Whole(it) = atom { u16::try_from(*it).ok() } else { None },
            )
            .collect();
        let output = named(mirror, "output_port").into_iter().next();
        let (to, tag) = match (output, mirror.whole("output_vlan")) {
            (Some(output), _) => {
                let port = ports.iter().find(|(_, it)| it.of == output).map(|it| it.0.clone());
                (port.ok_or("its output_port is no port of the bridge that is there")?, None)
            }
            (None, Some(vlan)) => {
                let vlan = u16::try_from(vlan).ok().filter(|it| (1..4095).contains(it));
                let vlan = vlan.ok_or("its output_vlan is no VLAN")?;
                (self.carrier(vlan, ports)?, Some(vlan))
            }
            (None, None) => return Err("it has neither output_port nor output_vlan".to_owned()),
        };
        let mut from = BTreeMap::new();
        for (port, seen) in ports.iter().filter(|(port, _)| **port != to) {
            let way = match (all || received.contains(&seen.of), all || sent.contains(&seen.of)) {
                (true, true) => "both",
                (true, false) => "rx",
                (false, true) => "tx",
                (false, false) => continue,
            };
            // The bridge's own port is no end of a wire: what it carries others do.
            if port == bridge && all {
                continue;
            }
            if vlans.is_empty() {
                from.insert(port.clone(), way);
                continue;
            }
            for vlan in &vlans {
                if let Some(part) = seen.vlans.part(port, *vlan) {
                    from.insert(vlans::part_name(&part), way);
                }
            }
        }
        if from.is_empty() {
            return Err("no port is selected whose frames could be copied".to_owned());
        }
        let is_taken = |(port, way): &(&String, &&'static str)| {
            let own = from.get(*port);
            own.is_some_and(|own| own == *way || *own == "both" || **way == "both")
        };
        if let Some((port, _)) = self.wanted.values().flat_map(|it| &it.from).find(is_taken) {
            return Err(format!("{port} is copied by another mirror already"));
        }
        let to = match tag {
            None => {
                self.outputs.insert(to.clone());
                to
            }
            Some(vlan) => {
                let part = (to, Some(vlan));
                let name = vlans::part_name(&part);
                self.tagged.insert((part.0, vlan));
                name
            }
        };
        self.wanted.insert(name.to_owned(), WantedMirror { of: uuid.to_owned(), to, from });
        Ok(())
    }

    /// The one port that carries a VLAN for copies.
    fn carrier(&self, vlan: u16, ports: &BTreeMap<String, Seen>) -> Result<String, String> {
        let mut carriers = ports.iter().filter(|(_, it)| it.vlans.names_tag(vlan));
        match (carriers.next(), carriers.next()) {
            (Some((port, _)), None) => Ok(port.clone()),
            (None, _) => Err(format!("no port names the VLAN {vlan} among its trunks")),
            _ => Err(format!("several ports name the VLAN {vlan}: copies leave by one")),
        }
    }
}
