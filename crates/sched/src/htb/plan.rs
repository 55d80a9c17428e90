//! What `htb` and its classes can be set to, what is refused, and how it is made.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::book::Book;
use super::{ClassSettings, Htb, HtbSettings, Part, kept};
use crate::discipline::visit_bytes;
use crate::kind::Kind;
use crate::names::Names;
use crate::plan::{ClassShape, Classes, Plan, Shape};
use crate::rate::{Link, Price};
use crate::said::Said;
use crate::settings::{Settings, settings};
use crate::tree::{BreadthFirst, Tree, breadth_first};
use crate::units::{Rate, Size, Time};
use crate::{ClassId, Error, LinkLayer, Warning};

/// In so long a class's rate gives what a worker is lent of it at a time.
const PIECE: Time = Time(500_000);

settings! {
    /// What `htb` can be set to.
    pub struct HtbShape: "htb" {
        /// Its name.
        handle: usual ClassId = ClassId::new(1, 0), its_name();
        /// Where packets of no class go; without one they pass unshaped, as in Linux.
        default: maybe ClassId;
        /// A class's quantum is its rate in bytes a second divided by this.
        r2q: usual u32 = 10, within(1, u32::MAX as u64, "1 and more");
        /// The most unshaped packets that wait.
        direct_packets: usual u32 = 1000, within(1, 1 << 24, "1 to 2^24"), tc(&["direct_qlen"]);
        /// Whether every worker serves the packets that come to it, with leaves of its own; else
        /// one worker serves all.
        all_workers: usual bool = false, tc(&[]);
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
        /// How the link carries a packet: `atm` in cells.
        linklayer: usual LinkLayer = LinkLayer::Ethernet;
        /// What bursts hold at least where they are not given.
        mtu: usual Size = Size(1600), within(64, 1 << 24, "64 bytes to 16 MiB");
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

    /// What it gets at most.
    pub(super) fn ceil(&self) -> Rate {
        self.ceil.unwrap_or(self.rate)
    }

    fn check(&self) -> Result<(), Error> {
        let id = self.id;
        for (setting, rate) in [("rate", self.rate), ("ceil", self.ceil())] {
            if rate.0 == 0 {
                return Err(Error::ZeroRate { id, setting });
            }
        }
        self.check_ranges()
    }

    fn warn(&self, warnings: &mut Vec<Warning>) {
        let (id, value) = (self.id, self.rate);
        if let Some(limit) = self.ceil.filter(|&ceil| value > ceil) {
            let (setting, bound) = ("rate", "its own ceil".to_string());
            warnings.push(Warning::Above { id, setting, value, bound, limit });
        }
    }

    /// `kept` is as much of its rate as can be kept to.
    fn settings(&self, kept: Rate, r2q: u32, mtu_bytes: u32, is_leaf: bool) -> ClassSettings {
        let ceil = self.ceil();
        let usual = |rate| default_burst(rate, mtu_bytes).max(self.mtu.0);
        let burst = self.burst.map_or_else(|| usual(self.rate), |size| size.0);
        let cburst = self.cburst.map_or_else(|| usual(ceil), |size| size.0);
        let by_rate = (self.rate.0 / 8 / u64::from(r2q)).clamp(1000, 200_000);
        let quantum = self.quantum.map_or(by_rate, |quantum| quantum.0);
        let mut text = format!("rate {} ", Said(self.rate));
        if is_leaf {
            text = format!("prio {} {text}", self.prio);
        }
        if self.overhead != 0 {
            text += &format!("overhead {} ", self.overhead);
        }
        text += &format!("ceil {} ", Said(ceil));
        if self.linklayer != LinkLayer::Ethernet {
            text += &format!("linklayer {} ", self.linklayer);
        }
        text += &format!("burst {} cburst {}", Said(Size(burst)), Said(Size(cburst)));
        let link = self.link();
        ClassSettings {
            id: self.id,
            rate: Price::new(kept, link),
            ceil: Price::new(ceil, link),
            burst_bytes: burst,
            cburst_bytes: cburst,
            priority: self.prio,
            quantum_bytes: quantum as u32,
            piece_bytes: self.piece_bytes(quantum, mtu_bytes),
            text,
        }
    }

    /// What a worker is lent at a time: what the rate gives in half a millisecond, or a packet.
    /// More than a quantum would leave its turn no meaning.
    fn piece_bytes(&self, quantum: u64, mtu_bytes: u32) -> u32 {
        let packet = self.link().longest(u64::from(mtu_bytes));
        self.rate.bytes_in(PIECE).clamp(packet, quantum.max(packet)) as u32
    }

    fn link(&self) -> Link {
        Link::new(self.overhead, self.mpu, self.linklayer)
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

    fn leaf_mut(&mut self) -> Option<&mut Shape> {
        self.leaf.as_mut()
    }

    fn set_leaf(&mut self, leaf: Option<Shape>) {
        self.leaf = leaf;
    }
}

impl HtbShape {
    /// What the children of a class, or of the discipline, are promised together should fit what it
    /// has.
    fn warn_of_promises(&self, link_rate: Option<Rate>, warnings: &mut Vec<Warning>) {
        let by_id: HashMap<_, _> = self.classes.iter().map(|class| (class.id, class)).collect();
        let mut promised: BTreeMap<ClassId, u64> = BTreeMap::new();
        for class in &self.classes {
            class.warn(warnings);
            let parent = class.parent.unwrap_or(self.handle);
            let sum = promised.entry(parent).or_default();
            *sum = sum.saturating_add(class.rate.0);
            let Some(limit) = by_id.get(&parent).map(|above| above.ceil()) else { continue };
            if class.ceil() > limit {
                let (id, value) = (class.id, class.ceil());
                let bound = format!("the ceil of its parent {parent},");
                warnings.push(Warning::Above { id, setting: "ceil", value, bound, limit });
            }
        }
        for (id, sum) in promised {
            let bound = by_id.get(&id).map(|above| ("ceil", above.ceil()));
            let bound = bound.or(link_rate.map(|rate| ("link_rate", rate)));
            if let Some((bound, limit)) = bound.filter(|(_, limit)| sum > limit.0) {
                warnings.push(Warning::Overbooked { id, promised: Rate(sum), bound, limit });
            }
        }
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

    fn check(&self, names: &mut Names) -> Result<(), Error> {
        breadth_first(self.handle, &self.classes)?;
        self.classes.iter().try_for_each(HtbClass::check)?;
        let links: Vec<Link> = self.classes.iter().map(HtbClass::link).collect();
        if self.all_workers && links.windows(2).any(|two| two[0] != two[1]) {
            let reason = "its classes differ in overhead, mpu or linklayer, and what a worker is \
                lent is of one link";
            return Err(Error::AllWorkers { reason });
        }
        names.add_classes("htb", &self.classes)
    }

    fn warn(&self, _: u32, link_rate: Option<Rate>, warnings: &mut Vec<Warning>) {
        self.warn_of_promises(link_rate, warnings);
    }

    fn without_default(&self) -> &'static str {
        "packets that no filter takes pass unshaped"
    }

    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error> {
        Ok(Kind::Htb(Box::new(Htb::new(self.settings(mtu_bytes)?))))
    }

    fn all_workers(&self) -> bool {
        self.all_workers
    }

    fn parts(&self, mtu_bytes: u32, workers: usize) -> Result<Vec<Part>, Error> {
        let mut tree = self.settings(mtu_bytes)?;
        tree.leaves.clear();
        for (class, _) in &mut tree.classes {
            // A part asks for what the link makes of its packets.
            class.rate = class.rate.of_link_bytes();
            class.ceil = class.ceil.of_link_bytes();
        }
        let pieces: Vec<u32> = tree.classes.iter().map(|(class, _)| class.piece_bytes).collect();
        let book = Arc::new(Book::new(Htb::new(tree), workers, &pieces));
        let link = self.classes.first().map(HtbClass::link).unwrap_or_default();
        let part = |worker| Ok(Part::new(&book, worker, self.settings(mtu_bytes)?, link));
        (0..workers).map(part).collect()
    }
}

impl HtbShape {
    fn settings(&self, mtu_bytes: u32) -> Result<HtbSettings, Error> {
        let Tree { order, leaves, map } = Tree::of(self.handle, &self.classes, mtu_bytes)?;
        let kept = kept::rates(&self.classes, &order);
        let class = |((at, parent, is_leaf), kept): ((usize, _, _), Rate)| {
            (self.classes[at].settings(kept, self.r2q, mtu_bytes, is_leaf), parent)
        };
        let default = self.default.and_then(|id| map.find(id));
        Ok(HtbSettings {
            handle: self.handle,
            text: format!("r2q {} default {}", self.r2q, Said(self.default)),
            direct_packets: self.direct_packets,
            classes: order.into_iter().zip(kept).map(class).collect(),
            leaves,
            map,
            default,
            visit_bytes: self.visit_bytes(),
        })
    }

    /// What a leaf may send in one visit. Where the link adds something to packets each is charged
    /// by itself.
    fn visit_bytes(&self) -> u32 {
        if self.classes.iter().any(|class| class.link() != Link::default()) {
            return 0;
        }
        let is_top = |class: &&HtbClass| class.parent.is_none_or(|parent| parent == self.handle);
        let tops = self.classes.iter().filter(is_top);
        tops.map(|class| visit_bytes(class.ceil())).max().unwrap_or(0)
    }
}

/// The default burst: what the rate gives in 0.1 ms, so that a worker which comes by so seldom
/// still keeps the rate.
fn default_burst(rate: Rate, mtu_bytes: u32) -> u64 {
    rate.bytes_in(Time(100_000)) + u64::from(mtu_bytes)
}
