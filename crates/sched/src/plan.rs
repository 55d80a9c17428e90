//! What a discipline's configuration says of it: beside its settings, what stands under it and how
//! it is made.
//!
//! ```text
//!   disciplines! { Codel(CodelShape), … }      one line a discipline
//!        │
//!        ├─▶ Shape        the value that is configured
//!        └─▶ its Plan     check, memory, build: in the discipline's own file
//! ```

use std::any::Any;

use crate::htb::Part;
use crate::kind::Kind;
use crate::names::Names;
use crate::pool::Reuse;
use crate::settings::{Settings, Slot};
use crate::units::{Rate, Size};
use crate::{ClassId, Error, Warning};

/// What of a packet has to be looked up for a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asks {
    /// Whom it is from and to.
    pub hosts: bool,
    /// Whether it only acknowledges.
    pub acks: bool,
}

/// A discipline's configuration.
pub(crate) trait Plan: Settings {
    /// What stands under it; `None`: a FIFO by default.
    fn leaves(&self) -> Vec<Option<&Shape>> {
        Vec::new()
    }

    /// Its name, where it was given one.
    fn handle(&self) -> Option<ClassId> {
        None
    }

    /// The tree of classes under it, where it has one.
    fn classes(&self) -> Option<&dyn Classes> {
        None
    }

    /// The same, to be changed.
    fn classes_mut(&mut self) -> Option<&mut dyn Classes> {
        None
    }

    /// Where packets go that no filter sent to a class.
    fn default_class(&self) -> Option<ClassId> {
        None
    }

    /// How many class names it takes.
    fn count_classes(&self) -> usize {
        self.classes().map_or(0, |classes| classes.all().len())
    }

    /// The most packets that wait in itself, and not under it.
    fn limit_packets(&self) -> u64 {
        0
    }

    /// Memory for its flows and classes.
    fn state_bytes(&self) -> u64 {
        0
    }

    /// In which order slots come free.
    fn reuse(&self) -> Reuse {
        Reuse::Soonest
    }

    /// Whether it may have packets and yet give none.
    fn holds_back(&self) -> bool {
        false
    }

    /// What it asks of packets beside what all are told.
    fn asks(&self) -> Asks {
        Asks::default()
    }

    /// Refuses what ranges of single settings cannot, and names its classes.
    fn check(&self, _names: &mut Names) -> Result<(), Error> {
        Ok(())
    }

    /// Finds what it had better not say.
    fn warn(&self, _mtu_bytes: u32, _link_rate: Option<Rate>, _warnings: &mut Vec<Warning>) {}

    /// What becomes of packets that no filter takes while there is no default.
    fn without_default(&self) -> &'static str {
        ""
    }

    /// Whether every worker is to have a part of it.
    fn all_workers(&self) -> bool {
        false
    }

    /// A part for each of so many workers, where it can be had so.
    fn parts(&self, _mtu_bytes: u32, _workers: usize) -> Result<Vec<Part>, Error> {
        Ok(Vec::new())
    }

    /// Makes it; it was checked.
    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error>;
}

/// A class of a discipline with a tree of them: its settings, and where it stands.
pub trait ClassShape: Settings {
    /// Its name.
    fn id(&self) -> ClassId;

    /// The class above it; `None`: it stands under the discipline.
    fn parent(&self) -> Option<ClassId>;

    /// Gives it another name and place.
    fn place(&mut self, id: ClassId, parent: Option<ClassId>);

    /// What waits in it; `None`: a FIFO by default.
    fn leaf(&self) -> Option<&Shape>;

    /// The same, to be changed.
    fn leaf_mut(&mut self) -> Option<&mut Shape>;

    /// Gives it another leaf.
    fn set_leaf(&mut self, leaf: Option<Shape>);

    /// Words that stand for several settings: each with those that it sets.
    fn shorthands(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[]
    }
}

/// The classes of a discipline, whatever their settings are.
pub trait Classes {
    /// All of them, in any order.
    fn all(&self) -> Vec<&dyn ClassShape>;

    /// The class of that name, if it is there.
    fn find(&mut self, id: ClassId) -> Option<&mut dyn ClassShape>;

    /// One more of that name, everything else by default.
    fn add(&mut self, id: ClassId) -> &mut dyn ClassShape;

    /// Takes one out; says whether it was there.
    fn remove(&mut self, id: ClassId) -> bool;

    /// What waits in those that have something of their own in them.
    fn leaves_mut(&mut self) -> Vec<&mut Shape>;

    /// Takes the class of that name over from others of the same discipline, in the place of its
    /// own if it has one.
    fn take_over(&mut self, id: ClassId, from: &dyn Classes);

    /// Becomes like others of the same discipline; says whether they are.
    fn become_like(&mut self, others: &dyn Classes) -> bool;

    /// Itself, whatever its type.
    fn as_any(&self) -> &dyn Any;
}

impl<C: ClassShape + Clone + Default + 'static> Classes for Vec<C> {
    fn all(&self) -> Vec<&dyn ClassShape> {
        self.iter().map(|class| class as &dyn ClassShape).collect()
    }

    fn find(&mut self, id: ClassId) -> Option<&mut dyn ClassShape> {
        self.iter_mut().find(|class| class.id() == id).map(|class| class as &mut dyn ClassShape)
    }

    fn add(&mut self, id: ClassId) -> &mut dyn ClassShape {
        let mut class = C::default();
        class.place(id, None);
        let at = self.len();
        self.push(class);
        &mut self[at]
    }

    fn remove(&mut self, id: ClassId) -> bool {
        let before = self.len();
        self.retain(|class| class.id() != id);
        self.len() < before
    }

    fn leaves_mut(&mut self) -> Vec<&mut Shape> {
        self.iter_mut().filter_map(ClassShape::leaf_mut).collect()
    }

    fn take_over(&mut self, id: ClassId, from: &dyn Classes) {
        let from = from.as_any().downcast_ref::<Self>().into_iter().flatten();
        for class in from.filter(|class| class.id() == id).cloned() {
            match self.iter_mut().find(|own| own.id() == id) {
                Some(own) => *own = class,
                None => self.push(class),
            }
        }
    }

    fn become_like(&mut self, others: &dyn Classes) -> bool {
        let others = others.as_any().downcast_ref::<Self>();
        others.map(|others| self.clone_from(others)).is_some()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

macro_rules! disciplines {
    ($($(#[doc = $about:literal])+ $(#[cfg($cfg:meta)])? $variant:ident($shape:ty),)+) => {
        /// One discipline and what stands under it.
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Shape { $($(#[doc = $about])+ $(#[cfg($cfg)])? $variant($shape),)+ }

        impl Shape {
            pub(crate) fn plan(&self) -> &dyn Plan {
                match self { $($(#[cfg($cfg)])? Self::$variant(plan) => plan,)+ }
            }

            pub(crate) fn plan_mut(&mut self) -> &mut dyn Plan {
                match self { $($(#[cfg($cfg)])? Self::$variant(plan) => plan,)+ }
            }

            /// Every discipline, all by default.
            #[allow(clippy::vec_init_then_push, reason = "some are there in tests alone")]
            fn every() -> Vec<Self> {
                let mut every = Vec::new();
                $($(#[cfg($cfg)])? every.push(Self::$variant(<$shape>::default()));)+
                every
            }
        }

        $($(#[cfg($cfg)])? impl From<$shape> for Shape {
            fn from(shape: $shape) -> Self {
                Self::$variant(shape)
            }
        })+
    };
}

// One line a discipline.
disciplines! {
    /// First in, first out, a limit in packets.
    Pfifo(crate::fifo::PfifoShape),
    /// First in, first out, a limit in bytes.
    Bfifo(crate::fifo::BfifoShape),
    /// Three FIFOs by priority.
    PfifoFast(crate::prio::PfifoFastShape),
    /// Bands by priority, each a discipline of its own.
    Prio(crate::prio::PrioShape),
    /// Stochastic fair queueing.
    Sfq(crate::sfq::SfqShape),
    /// Controlled delay.
    Codel(crate::codel::CodelShape),
    /// Fair queueing with controlled delay.
    FqCodel(crate::fq_codel::FqCodelShape),
    /// A rate, tins by code point, fairness between hosts and their flows.
    Cake(crate::cake::CakeShape),
    /// A token bucket.
    Tbf(crate::tbf::TbfShape),
    /// The hierarchical token bucket.
    Htb(crate::htb::HtbShape),
    /// The hierarchical fair service curve.
    Hfsc(crate::hfsc::HfscShape),
    /// The example of CONTRIBUTING.md.
    #[cfg(test)]
    PfifoHeadDrop(crate::pfifo_head_drop::PfifoHeadDropShape),
}

impl Shape {
    /// The discipline of that name, all by default.
    pub fn of_kind(kind: &str) -> Option<Self> {
        Self::every().into_iter().find(|shape| shape.kind() == kind)
    }

    /// The names of all disciplines, as `tc` writes them.
    pub fn kinds() -> Vec<&'static str> {
        Self::every().iter().map(Self::kind).collect()
    }

    /// Its name, as `tc` writes it.
    pub fn kind(&self) -> &'static str {
        self.plan().kind()
    }

    /// Its settings.
    pub fn settings(&mut self) -> &mut dyn Settings {
        self.plan_mut()
    }

    /// Its classes, where it has a tree of them.
    pub fn classes(&self) -> Option<&dyn Classes> {
        self.plan().classes()
    }

    /// The same, to be changed.
    pub fn classes_mut(&mut self) -> Option<&mut dyn Classes> {
        self.plan_mut().classes_mut()
    }

    /// Its name, where it was given one.
    pub fn handle(&self) -> Option<ClassId> {
        self.plan().handle()
    }

    /// Gives it a name.
    pub fn set_handle(&mut self, handle: ClassId) {
        self.settings().each(&mut |setting, slot| match slot {
            Slot::Class(place) if setting.is_its_name() => place.set(handle),
            _ => {}
        });
    }

    /// What stands under it, each with the class that it stands in.
    pub(crate) fn below(&self, handle: ClassId) -> Vec<(ClassId, &Shape)> {
        let plan = self.plan();
        if let Some(classes) = plan.classes() {
            let all = classes.all().into_iter();
            return all.filter_map(|class| Some((class.id(), class.leaf()?))).collect();
        }
        // Bands are numbered; what stands in a token bucket is its class 1.
        let minors = (1..).map(|minor| ClassId::new(handle.major(), minor));
        minors.zip(plan.leaves()).filter_map(|(id, leaf)| Some((id, leaf?))).collect()
    }

    /// What it, or what stands under it, asks of packets.
    pub(crate) fn asks(&self) -> Asks {
        let own = self.plan().asks();
        let below = self.plan().leaves().into_iter().flatten().map(Self::asks);
        below.fold(own, |all, it| Asks { hosts: all.hosts || it.hosts, acks: all.acks || it.acks })
    }

    /// A FIFO of so many packets.
    pub fn pfifo(limit: u32) -> Self {
        crate::fifo::PfifoShape { limit, handle: None }.into()
    }

    /// A FIFO of so many bytes.
    pub fn bfifo(bytes: u64) -> Self {
        crate::fifo::BfifoShape { limit: Size(bytes), handle: None }.into()
    }

    /// Linux's default discipline.
    pub fn pfifo_fast() -> Self {
        crate::prio::PfifoFastShape::default().into()
    }

    /// So many bands of FIFOs.
    pub fn prio(bands: usize) -> Self {
        crate::prio::PrioShape::of_bands(vec![Self::pfifo(1000); bands]).into()
    }

    /// Stochastic fair queueing with Linux's defaults.
    pub fn sfq() -> Self {
        crate::sfq::SfqShape::default().into()
    }

    /// CoDel with its defaults.
    pub fn codel() -> Self {
        crate::codel::CodelShape::default().into()
    }

    /// FQ-CoDel with its defaults.
    pub fn fq_codel() -> Self {
        crate::fq_codel::FqCodelShape::default().into()
    }

    /// A token bucket over `leaf`.
    pub fn tbf(rate: Rate, burst: Size, leaf: Shape) -> Self {
        let leaf = Box::new(leaf);
        crate::tbf::TbfShape { rate, burst, leaf, ..Default::default() }.into()
    }
}
