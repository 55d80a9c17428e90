//! Ports whose access lists keep connections: each has a zone of the table that translations use,
//! too.
//!
//! ```text
//!  lists of ports ─▶ follow ─▶ a zone for each ─────┬──────────────────────────▶ rows
//!  translations ───▶ the table, while anybody wants it ┘
//!  a port or its list goes ─▶ zone left ─▶ rows written ─▶ its connections are ended, in slices
//! ```
//! A zone that was left is nobody's for as long as can be: a worker in the midst of a frame may
//! have begun a connection there.

use conntrack::{Table, Timeouts};
use control::config::objects::acl::AclName;
use control::config::objects::connections::Connections;
use control::config::objects::port::PortName;
use nodes::filter::Reflecting;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Zones of ports; those of translations are below.
pub(crate) const ZONES: RangeInclusive<u16> = 0x8000..=u16::MAX;
/// Entries that are looked at in a turn when connections are to end.
const SLICE: usize = 4096;

/// The lists of a port that have answers come back: of what it receives, and sends.
pub(crate) type Lists = [Option<AclName>; 2];

/// See the module.
pub(crate) struct Reflected {
    /// How many connections there is room for.
    pub(crate) room: usize,
    /// Some list is there that has answers come back.
    pub(crate) is_wanted: bool,
    /// A table that was made ahead.
    pub(crate) ahead: Option<Arc<Table>>,
    table: Option<Arc<Table>>,
    ports: BTreeMap<PortName, Held>,
    next: u16,
    /// Zones that workers may have still.
    left: BTreeSet<u16>,
    /// Zones whose connections are to end, and from which entry on that is to be done.
    ending: (BTreeSet<u16>, usize),
}

/// What a port has.
struct Held {
    lists: Lists,
    zone: u16,
    reflecting: Option<Arc<Reflecting>>,
}

impl Default for Reflected {
    fn default() -> Self {
        Self {
            room: Connections::default().max as usize,
            is_wanted: false,
            ahead: None,
            table: None,
            ports: BTreeMap::new(),
            next: *ZONES.end(),
            left: BTreeSet::new(),
            ending: (BTreeSet::new(), 0),
        }
    }
}

impl Reflected {
    /// Whether a table is to be made ahead: a large one takes a second.
    pub(crate) fn lacks_table(&self) -> bool {
        self.table.is_none() && self.ahead.is_none()
    }

    /// These ports have such lists, and no others. One whose list is the same keeps its zone; one
    /// that has another list instead begins anew.
    pub(crate) fn follow(&mut self, mut ports: BTreeMap<PortName, Lists>) {
        self.ports.retain(|name, held| {
            let keeps = ports.get(name).is_some_and(|lists| goes_on(&held.lists, lists));
            if !keeps {
                self.left.insert(held.zone);
            }
            keeps
        });
        for (name, held) in &mut self.ports {
            held.lists = ports.remove(name).unwrap_or_default();
        }
        if ports.is_empty() {
            return;
        }
        let mut taken: BTreeSet<u16> = self.ports.values().map(|held| held.zone).collect();
        taken.extend(self.left.iter().chain(&self.ending.0));
        for (name, lists) in ports {
            if let Some(zone) = self.free_zone(&taken) {
                taken.insert(zone);
                self.ports.insert(name, Held { lists, zone, reflecting: None });
            }
        }
    }

    /// A zone that nobody has, and that was nobody's for longest. Where there is none, the port's
    /// lists let nothing begin.
    fn free_zone(&mut self, taken: &BTreeSet<u16>) -> Option<u16> {
        for _ in ZONES {
            let zone = self.next;
            self.next = if zone == *ZONES.start() { *ZONES.end() } else { zone - 1 };
            if !taken.contains(&zone) {
                return Some(zone);
            }
        }
        None
    }

    /// Connections are in this table, and are kept for so long.
    pub(crate) fn use_table(&mut self, table: Option<Arc<Table>>, timeouts: &Timeouts) {
        let is_same = match (&self.table, &table) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        if !is_same {
            // What was in another is gone with it.
            self.ending = (BTreeSet::new(), 0);
        }
        self.table = table;
        for held in self.ports.values_mut() {
            let is_it = |it: &&Arc<Reflecting>| {
                let is_there = self.table.as_ref().is_some_and(|own| Arc::ptr_eq(own, &it.table));
                is_there && it.timeouts == *timeouts
            };
            if held.reflecting.as_ref().filter(is_it).is_some() {
                continue;
            }
            held.reflecting = self.table.as_ref().map(|table| {
                let (table, timeouts, zone) = (Arc::clone(table), *timeouts, held.zone);
                Arc::new(Reflecting { table, timeouts, zone })
            });
        }
    }

    /// What workers are to know of a port.
    pub(crate) fn of(&self, port: &PortName) -> Option<Arc<Reflecting>> {
        self.ports.get(port)?.reflecting.clone()
    }

    /// Every port, by its zone.
    pub(crate) fn zones(&self) -> impl Iterator<Item = (u16, &PortName)> {
        self.ports.iter().map(|(name, held)| (held.zone, name))
    }

    /// Workers have the rows: nobody begins more in zones that were left.
    pub(crate) fn published(&mut self) {
        if !self.left.is_empty() {
            self.ending.0.append(&mut self.left);
            self.ending.1 = 0;
        }
    }

    /// Ends some of the connections that are to end; true if there may be more.
    pub(crate) fn end_some(&mut self, now_s: u32) -> bool {
        let (zones, from) = &mut self.ending;
        if zones.is_empty() {
            return false;
        }
        let of_left = |it: conntrack::Shown| zones.contains(&it.original.zone());
        *from = self.table.as_ref().map_or(0, |table| table.each(*from, SLICE, now_s, of_left));
        if *from == 0 {
            zones.clear();
        }
        *from != 0
    }
}

/// Whether a port's lists are still those that connections were begun by; one may have come.
fn goes_on(old: &Lists, new: &Lists) -> bool {
    old.iter().zip(new).all(|(old, new)| old.is_none() || old == new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use conntrack::{Seen, Tuple};
    use control::config::field::Field;

    fn ports(all: &[(&str, Option<&str>, Option<&str>)]) -> BTreeMap<PortName, Lists> {
        let list = |name: &Option<&str>| name.map(|name| AclName::from_text(name).unwrap());
        let port = |(name, input, output): &(&str, Option<&str>, Option<&str>)| {
            (PortName::from_text(name).unwrap(), [list(input), list(output)])
        };
        all.iter().map(port).collect()
    }

    fn zone(reflected: &Reflected, port: &str) -> Option<u16> {
        Some(reflected.of(&PortName::from_text(port).unwrap())?.zone)
    }

    #[test]
    fn a_port_keeps_its_zone_while_it_keeps_its_lists() {
        let mut reflected = Reflected::default();
        let (table, timeouts) = (Some(Arc::new(Table::new(64, 1))), Timeouts::default());
        let mut follow = |all: &[(&str, Option<&str>, Option<&str>)]| {
            reflected.follow(ports(all));
            reflected.use_table(table.clone(), &timeouts);
            reflected.published();
            [zone(&reflected, "p1"), zone(&reflected, "p2")]
        };
        let first = follow(&[("p1", None, Some("out")), ("p2", None, Some("out"))]);
        assert!(first[0].is_some() && first[0] != first[1]);
        // Another list beside it changes nothing.
        let both = [("p1", Some("in"), Some("out")), ("p2", None, Some("out"))];
        assert_eq!(follow(&both), first);
        // Another one instead, or none: what was begun by it is gone.
        let other = follow(&[("p1", Some("in"), Some("other")), ("p2", None, Some("out"))]);
        assert!(other[0] != first[0] && other[1] == first[1]);
        assert_eq!(follow(&[("p1", Some("in"), Some("other"))]), [other[0], None]);
        let back = follow(&[("p1", Some("in"), Some("other")), ("p2", None, Some("out"))]);
        assert!(back[0] == other[0] && back[1] != first[1]);
    }

    #[test]
    fn connections_of_zones_that_were_left_end_and_others_stay() {
        let mut reflected = Reflected::default();
        let (table, timeouts) = (Arc::new(Table::new(6000, 1)), Timeouts::default());
        reflected.follow(ports(&[("p1", None, Some("out")), ("p2", None, Some("out"))]));
        reflected.use_table(Some(Arc::clone(&table)), &timeouts);
        let zones = ["p1", "p2"].map(|port| zone(&reflected, port).unwrap());
        for port in 0..4000 {
            let one = Tuple::ip4((1, port), (2, 53), 17, zones[usize::from(port % 2)]);
            table.create(&one, &one.inverse(), Seen::Other, &timeouts, None, 5).unwrap();
        }
        reflected.follow(ports(&[("p2", None, Some("out"))]));
        assert!(!reflected.end_some(5), "workers may have the zone still");
        assert_eq!(table.counters().ended, 0);
        reflected.published();
        assert!(reflected.end_some(5) && !reflected.end_some(5));
        assert_eq!(table.counters().ended, 2000);
        let mut of = BTreeSet::new();
        table.each(0, 6000, 5, |it| {
            of.insert(it.original.zone());
            false
        });
        assert_eq!(of.into_iter().collect::<Vec<_>>(), [zones[1]]);
    }
}
