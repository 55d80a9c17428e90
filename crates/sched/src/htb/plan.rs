//! What `htb` and its classes can be set to, what is refused, and how it is made.

use std::collections::HashMap;

use super::{ClassSettings, Htb, HtbSettings};
use crate::config::Config;
use crate::discipline::Kind;
use crate::names::Names;
use crate::plan::{ClassShape, Classes, Plan, Shape};
use crate::rate::{Link, Price};
use crate::settings::{Settings, settings};
use crate::tree::{BreadthFirst, Tree, breadth_first};
use crate::units::{Rate, Size, Time};
use crate::{ClassId, Error};

settings! {
    /// What `htb` can be set to.
    pub struct HtbShape: "htb" {
        /// Its name.
        handle: usual ClassId = ClassId::new(1, 0), tc(&[]);
        /// Where packets of no class go; without one they pass unshaped, as in Linux.
        default: maybe ClassId;
        /// A class's quantum is its rate in bytes a second divided by this.
        r2q: usual u32 = 10, within(1, u32::MAX as u64, "1 and more");
        /// The most unshaped packets that wait.
        direct_packets: usual u32 = 1000, within(1, 1 << 24, "1 to 2^24"), tc(&["direct_qlen"]);
        with /// The classes, in any order.
        classes: Vec<HtbClass>;
    }
}

settings! {
    /// One class of `htb`.
    pub struct HtbClass: "htb" {
        /// What it gets whatever the others do.
        rate: needed Rate;
        /// What it gets at most, by borrowing; its rate if not given.
        ceil: maybe Rate;
        /// What may go at once at its own rate; the MTU and 0.1 ms of the rate if not given.
        burst: maybe Size, within(1, 1 << 40, "1 byte to 1 TiB"), tc(&["burst", "buffer", "maxburst"]);
        /// What may go at once at its ceil.
        cburst: maybe Size, within(1, 1 << 40, "1 byte to 1 TiB"), tc(&["cburst", "cbuffer", "maxcburst"]);
        /// Who borrows first: 0 to 7.
        prio: usual u8 = 0, within(0, 7, "0 to 7");
        /// What it sends in its turn when it borrows; from its rate if not given.
        quantum: maybe Size, within(1, 1 << 20, "1 byte to 1 MiB");
        /// Bytes that the link adds to every packet.
        overhead: usual u32 = 0, within(0, 1024, "0 to 1024");
        /// The least bytes that the link carries for a packet.
        mpu: usual u32 = 0, within(0, 1024, "0 to 1024");
        with /// Its name.
        id: ClassId = ClassId::NONE;
        with /// The class above it; without one it stands under the discipline.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<ClassId>;
        with /// What waits in it; a FIFO of 1000 packets if not given.
        #[serde(skip_serializing_if = "Option::is_none")]
        leaf: Option<Shape>;
    }
}

impl HtbClass {
    /// A class of that rate, all else by default.
    pub fn new(id: ClassId, parent: Option<ClassId>, rate: Rate) -> Self {
        Self { id, parent, rate, ..Self::default() }
    }

    fn check(&self) -> Result<(), Error> {
        let (id, ceil) = (self.id, self.ceil.unwrap_or(self.rate));
        for (setting, rate) in [("rate", self.rate), ("ceil", ceil)] {
            if rate.0 == 0 {
                return Err(Error::ZeroRate { id, setting });
            }
        }
        if self.rate > ceil {
            let (setting, value, bound) = ("rate", self.rate, "its own ceil".to_string());
            return Err(Error::Above { id, setting, value, bound, limit: ceil });
        }
        self.check_ranges()
    }

    fn settings(&self, r2q: u32, mtu_bytes: u32, is_leaf: bool) -> ClassSettings {
        let ceil = self.ceil.unwrap_or(self.rate);
        let burst = self.burst.map_or(default_burst(self.rate, mtu_bytes), |size| size.0);
        let cburst = self.cburst.map_or(default_burst(ceil, mtu_bytes), |size| size.0);
        let by_rate = (self.rate.0 / 8 / u64::from(r2q)).clamp(1000, 200_000);
        let quantum = self.quantum.map_or(by_rate, |quantum| quantum.0);
        let mut text = format!("rate {} ceil {ceil}", self.rate);
        if is_leaf {
            text = format!("prio {} quantum {quantum} {text}", self.prio);
        }
        text += &format!(" burst {} cburst {}", Size(burst), Size(cburst));
        let link = Link { overhead_bytes: self.overhead as u16, least_bytes: self.mpu as u16 };
        ClassSettings {
            id: self.id,
            rate: Price::new(self.rate, link),
            ceil: Price::new(ceil, link),
            burst_bytes: burst,
            cburst_bytes: cburst,
            priority: self.prio,
            quantum_bytes: quantum as u32,
            text,
        }
    }
}

impl ClassShape for HtbClass {
    fn id(&self) -> ClassId {
        self.id
    }

    fn parent(&self) -> Option<ClassId> {
        self.parent
    }

    fn place(&mut self, id: ClassId, parent: Option<ClassId>) {
        (self.id, self.parent) = (id, parent);
    }

    fn leaf(&self) -> Option<&Shape> {
        self.leaf.as_ref()
    }

    fn set_leaf(&mut self, leaf: Option<Shape>) {
        self.leaf = leaf;
    }
}

impl HtbShape {
    /// What the children of a class, or of the discipline, are promised together must fit what it
    /// has.
    fn check_promises(&self, config: &Config) -> Result<(), Error> {
        let by_id: HashMap<_, _> = self.classes.iter().map(|class| (class.id, class)).collect();
        let ceil_of = |class: &HtbClass| class.ceil.unwrap_or(class.rate);
        let mut promised: HashMap<ClassId, u64> = HashMap::new();
        for class in &self.classes {
            class.check()?;
            let parent = class.parent.unwrap_or(self.handle);
            let sum = promised.entry(parent).or_default();
            *sum = sum.saturating_add(class.rate.0);
            let Some(limit) = by_id.get(&parent).map(|above| ceil_of(above)) else { continue };
            if ceil_of(class) > limit {
                let (id, value) = (class.id, ceil_of(class));
                let bound = format!("the ceil of its parent {parent},");
                return Err(Error::Above { id, setting: "ceil", value, bound, limit });
            }
        }
        for (&id, &sum) in &promised {
            let bound = by_id.get(&id).map(|above| ("ceil", ceil_of(above)));
            let bound = bound.or(config.link_rate.map(|rate| ("link_rate", rate)));
            if let Some((bound, limit)) = bound.filter(|(_, limit)| sum > limit.0) {
                return Err(Error::Overbooked { id, promised: Rate(sum), bound, limit });
            }
        }
        Ok(())
    }
}

impl Plan for HtbShape {
    fn leaves(&self) -> Vec<Option<&Shape>> {
        self.classes.iter().map(|class| class.leaf.as_ref()).collect()
    }

    fn handle(&self) -> Option<ClassId> {
        Some(self.handle)
    }

    fn classes(&self) -> Option<&dyn Classes> {
        Some(&self.classes)
    }

    fn classes_mut(&mut self) -> Option<&mut dyn Classes> {
        Some(&mut self.classes)
    }

    fn default_class(&self) -> Option<ClassId> {
        self.default
    }

    fn holds_back(&self) -> bool {
        true
    }

    fn limit_packets(&self) -> u64 {
        u64::from(self.direct_packets)
    }

    fn state_bytes(&self) -> u64 {
        let tree = breadth_first(self.handle, &self.classes);
        let levels = tree.map_or(1, |BreadthFirst { levels, .. }| levels as u64);
        // A level takes a quantum's rest and eight rings, of two bits a class at most.
        (1024 + 6 * levels) * self.classes.len() as u64 + (1 << 18)
    }

    fn check(&self, config: &Config, names: &mut Names) -> Result<(), Error> {
        names.add_handle(self.handle)?;
        breadth_first(self.handle, &self.classes)?;
        self.check_promises(config)?;
        names.add_classes("htb", &self.classes)
    }

    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error> {
        let Tree { order, leaves, map } = Tree::of(self.handle, &self.classes, mtu_bytes)?;
        let class = |(at, parent, is_leaf): (usize, _, _)| {
            (self.classes[at].settings(self.r2q, mtu_bytes, is_leaf), parent)
        };
        let default = self.default.and_then(|id| map.find(id));
        let text = self.default.map_or(String::new(), |id| format!("default {id} "));
        Ok(Kind::Htb(Box::new(Htb::new(HtbSettings {
            handle: self.handle,
            text: format!("{text}r2q {}", self.r2q),
            direct_packets: self.direct_packets,
            classes: order.into_iter().map(class).collect(),
            leaves,
            map,
            default,
        }))))
    }
}

/// The default burst: what the rate gives in 0.1 ms, so that a worker which comes by so seldom
/// still keeps the rate.
fn default_burst(rate: Rate, mtu_bytes: u32) -> u64 {
    rate.bytes_in(Time(100_000)) + u64::from(mtu_bytes)
}
