//! What `hfsc` and its classes can be set to, what is refused, and how it is made.

use std::collections::{HashMap, HashSet};

use super::{ClassSettings, Hfsc, HfscSettings};
use crate::curve::Curve;
use crate::discipline::visit_bytes;
use crate::kind::Kind;
use crate::names::Names;
use crate::plan::{ClassShape, Classes, Plan, Shape};
use crate::said::Said;
use crate::settings::settings;
use crate::tree::{BreadthFirst, Tree, breadth_first};
use crate::units::Rate;
use crate::units::Time;
use crate::{ClassId, Error, Warning};

settings! {
    /// What `hfsc` can be set to.
    pub struct HfscShape: "hfsc" {
        /// Its name.
        handle: usual ClassId = ClassId::new(1, 0), its_name();
        /// Where packets of no class go; without one they are dropped, as in Linux.
        default: maybe ClassId;
        with /// The classes, in any order.
        classes: Vec<HfscClass>;
    }
}

settings! {
    /// One class of `hfsc`.
    pub struct HfscClass: "hfsc" {
        /// Real time: what it is due whatever the others do (leaves only).
        rt: maybe Curve;
        /// Link share: how it shares what is left with its brothers.
        ls: maybe Curve;
        /// Upper limit: what link sharing gives it at most.
        ul: maybe Curve;
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

impl HfscClass {
    /// A class without curves yet.
    pub fn new(id: ClassId, parent: Option<ClassId>) -> Self {
        Self { id, parent, ..Self::default() }
    }

    fn check(&self) -> Result<(), Error> {
        let id = self.id;
        let refuse = |reason| Err(Error::Curves { id, reason });
        match (&self.rt, &self.ls, &self.ul) {
            (None, None, _) => return refuse("it has neither a real-time nor a link-share curve"),
            (_, None, Some(_)) => return refuse("an upper limit without a link-share curve"),
            _ => {}
        }
        for (setting, curve) in [("ls", self.ls), ("ul", self.ul)] {
            if curve.is_some_and(|curve| curve.m2.0 == 0) {
                return Err(Error::ZeroRate { id, setting });
            }
        }
        if self.rt.is_some_and(|rt| rt.m2.0 == 0 && (rt.m1.0 == 0 || rt.d.0 == 0)) {
            return Err(Error::ZeroRate { id, setting: "rt" });
        }
        if [self.rt, self.ls, self.ul].iter().flatten().any(|curve| curve.d.0 > 1 << 40) {
            return refuse("a first piece of more than 18 minutes");
        }
        Ok(())
    }

    fn settings(&self) -> ClassSettings {
        let curves = match self.rt {
            Some(_) if self.rt == self.ls => [("sc", self.rt), ("ul", self.ul), ("", None)],
            _ => [("rt", self.rt), ("ls", self.ls), ("ul", self.ul)],
        };
        let told = |&(name, curve): &(&str, Option<Curve>)| {
            curve.map(|curve| format!("{name} {}", Said(curve)))
        };
        let told = curves.iter().filter_map(told);
        ClassSettings {
            id: self.id,
            real_time: self.rt,
            link_share: self.ls,
            upper_limit: self.ul,
            text: told.collect::<Vec<_>>().join(" "),
        }
    }
}

impl ClassShape for HfscClass {
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

    fn shorthands(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[("sc", &["rt", "ls"])]
    }
}

impl Plan for HfscShape {
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

    fn state_bytes(&self) -> u64 {
        let parents: HashSet<_> = self.classes.iter().filter_map(|class| class.parent).collect();
        1024 * self.classes.len() as u64 + 2048 * parents.len() as u64 + (1 << 16)
    }

    fn check(&self, names: &mut Names) -> Result<(), Error> {
        breadth_first(self.handle, &self.classes)?;
        self.classes.iter().try_for_each(HfscClass::check)?;
        names.add_classes("hfsc", &self.classes)
    }

    fn warn(&self, _: u32, link_rate: Option<Rate>, warnings: &mut Vec<Warning>) {
        if let Ok(BreadthFirst { order, .. }) = breadth_first(self.handle, &self.classes) {
            warn_of_curves(self, link_rate, &order, warnings);
        }
    }

    fn without_default(&self) -> &'static str {
        "packets that no filter takes are dropped"
    }

    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error> {
        let Tree { order, leaves, map } = Tree::of(self.handle, &self.classes, mtu_bytes)?;
        let classes = order.into_iter();
        let classes = classes.map(|(at, parent, _)| (self.classes[at].settings(), parent));
        let default = self.default.and_then(|id| map.find(id));
        let text = self.default.map_or(String::new(), |id| format!("default {}", Said(Some(id))));
        Ok(Kind::Hfsc(Box::new(Hfsc::new(HfscSettings {
            handle: self.handle,
            text,
            classes: classes.collect(),
            leaves,
            map,
            default,
            visit_bytes: self.visit_bytes(),
        }))))
    }
}

impl HfscShape {
    /// What a leaf may send in one visit, by what the classes at the top have of the link.
    fn visit_bytes(&self) -> u32 {
        let is_top = |class: &&HfscClass| class.parent.is_none_or(|parent| parent == self.handle);
        let curves = self.classes.iter().filter(is_top).filter_map(|class| class.ul.or(class.ls));
        curves.map(|curve| visit_bytes(curve.m2)).max().unwrap_or(0)
    }
}

/// Every upper limit, and the link, should let through what the leaves below are promised.
fn warn_of_curves(
    it: &HfscShape,
    link_rate: Option<Rate>,
    order: &[usize],
    warnings: &mut Vec<Warning>,
) {
    let place: HashMap<_, _> =
        it.classes.iter().zip(0..).map(|(class, at)| (class.id, at)).collect();
    let parent = |at: usize| it.classes[at].parent.and_then(|id| place.get(&id).copied());
    let mut has_children = vec![false; it.classes.len()];
    (0..it.classes.len()).filter_map(parent).for_each(|above| has_children[above] = true);
    let mut below: Vec<Vec<Curve>> = vec![Vec::new(); it.classes.len()];
    let mut all = Vec::new();
    for &at in order.iter().rev() {
        let class = &it.classes[at];
        let mut promised = std::mem::take(&mut below[at]);
        if let (Some(rt), false) = (class.rt, has_children[at]) {
            promised.push(rt);
        }
        if let Some(limit) = class.ul {
            warnings.extend(above(class.id, "the upper limit", limit, &promised));
        }
        match parent(at) {
            Some(parent) => below[parent].append(&mut promised),
            None => all.append(&mut promised),
        }
    }
    let link = link_rate.map(Curve::straight);
    warnings.extend(link.and_then(|link| above(it.handle, "link_rate", link, &all)));
}

/// Sums the curves from break to break, and holds the sum against the bound at each, and for ever
/// after.
fn above(id: ClassId, bound: &'static str, limit: Curve, curves: &[Curve]) -> Option<Warning> {
    let mut breaks: Vec<(u64, i128)> = curves
        .iter()
        .map(|curve| (curve.d.0, i128::from(curve.m2.0) - i128::from(curve.m1.0)))
        .collect();
    let bend = limit.d.0;
    let second = i128::from(Time(1_000_000_000).0);
    breaks.push((bend, 0));
    breaks.sort_unstable();
    let last = breaks.last().map_or(0, |&(at, _)| at);
    // A second past the last break shows whether the final slopes fit.
    breaks.push((last.saturating_add(second as u64), 0));
    let mut slope: i128 = curves.iter().map(|curve| i128::from(curve.m1.0)).sum();
    let mut bits_ns: i128 = 0;
    let mut from = 0;
    for (at, change) in breaks {
        bits_ns += slope * i128::from(at - from);
        slope += change;
        from = at;
        let promised = (bits_ns / second) as u128;
        let allowed = limit.bits_at(at);
        if promised > allowed {
            return Some(Warning::CannotBeMet { id, promised, after: Time(at), bound, allowed });
        }
    }
    let promised: u128 = curves.iter().map(|curve| u128::from(curve.m2.0)).sum();
    if promised > u128::from(limit.m2.0) {
        let allowed = u128::from(limit.m2.0);
        let after = Time(u64::MAX >> 1);
        return Some(Warning::CannotBeMet { id, promised, after, bound, allowed });
    }
    None
}
