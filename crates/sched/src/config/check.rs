//! What is refused, and why: ranges, names, loops, promises that nothing can keep, more state than is allowed.

use std::collections::{HashMap, HashSet};

use super::{CodelShape, Config, HfscShape, HtbShape, Shape};
use crate::hfsc::Curve;
use crate::units::{Rate, Size, Time};
use crate::{ClassId, Error};

/// As many as a major number can name.
const MAX_CLASSES: usize = 65_534;
/// Disciplines one under the other.
const MAX_NESTING: usize = 8;
/// Levels of classes: more than anybody draws, and a packet pays for each.
const MAX_LEVELS: usize = 255;

/// Says why there can be no such scheduler, if so.
pub fn check(config: &Config) -> Result<(), Error> {
    within("scheduler", "mtu_bytes", u64::from(config.mtu_bytes), 64, 65_535, "64 to 65535")?;
    if let Some(packets) = config.pool_packets {
        within("scheduler", "pool_packets", u64::from(packets), 1, 1 << 26, "1 to 2^26")?;
    }
    let count = count_classes(&config.root, 0)?;
    if count > MAX_CLASSES {
        return Err(Error::TooManyClasses { count, limit: MAX_CLASSES });
    }
    let mut names = Names::default();
    shape(&config.root, config, &mut names)?;
    for (at, filter) in config.filters.iter().enumerate() {
        filter.check()?;
        names.expect_leaf(filter.class, || format!("filter {}", at + 1))?;
    }
    let (needed, limit) = (crate::build::memory(config), config.memory_limit);
    if needed > limit {
        return Err(Error::Memory { needed, limit });
    }
    Ok(())
}

fn count_classes(shape: &Shape, depth: usize) -> Result<usize, Error> {
    if depth >= MAX_NESTING {
        return Err(Error::TooDeep { limit: MAX_NESTING });
    }
    let below = |shapes: Vec<&Shape>| {
        shapes.iter().try_fold(shapes.len(), |sum, shape| {
            count_classes(shape, depth + 1).map(|count| sum + count)
        })
    };
    match shape {
        Shape::Prio(prio) => below(prio.bands.iter().collect()),
        Shape::Tbf(tbf) => count_classes(&tbf.leaf, depth + 1),
        Shape::Htb(htb) => {
            let leaves = htb.classes.iter().filter_map(|class| class.leaf.as_ref()).collect();
            below(leaves).map(|count| count.max(htb.classes.len()))
        }
        Shape::Hfsc(hfsc) => {
            let leaves = hfsc.classes.iter().filter_map(|class| class.leaf.as_ref()).collect();
            below(leaves).map(|count| count.max(hfsc.classes.len()))
        }
        _ => Ok(0),
    }
}

/// The names given so far.
#[derive(Default)]
struct Names {
    handles: HashSet<ClassId>,
    leaves: HashSet<ClassId>,
    inner: HashSet<ClassId>,
}

impl Names {
    fn add_handle(&mut self, id: ClassId) -> Result<(), Error> {
        if self.handles.insert(id) { Ok(()) } else { Err(Error::HandleTwice { id }) }
    }

    fn expect_leaf(&self, id: ClassId, place: impl Fn() -> String) -> Result<(), Error> {
        if self.inner.contains(&id) {
            return Err(Error::NotALeaf { id, use_: place() });
        }
        if self.leaves.contains(&id) {
            Ok(())
        } else {
            Err(Error::UnknownClass { place: place(), id })
        }
    }
}

fn within(
    kind: &'static str,
    setting: &'static str,
    value: u64,
    least: u64,
    most: u64,
    range: &'static str,
) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::Range { kind, setting, value, range })
}

fn shape(shape_: &Shape, config: &Config, names: &mut Names) -> Result<(), Error> {
    let kind = shape_.kind();
    let packets = |limit: u32| within(kind, "limit", u64::from(limit), 1, 1 << 24, "1 to 2^24");
    match shape_ {
        Shape::Pfifo { limit } => packets(*limit),
        Shape::Bfifo { limit } => within(kind, "limit", limit.0, 64, 1 << 32, "64 bytes to 4 GiB"),
        Shape::PfifoFast { limit, priomap } => packets(*limit).and_then(|()| map(kind, priomap, 3)),
        Shape::Prio(prio) => {
            let bands = prio.bands.len();
            within(kind, "bands", bands as u64, 1, 16, "1 to 16")?;
            map(kind, &prio.priomap, bands)?;
            names.add_handle(prio.handle)?;
            for (minor, band) in (1..).zip(&prio.bands) {
                names.leaves.insert(ClassId::new(prio.handle.major(), minor));
                shape(band, config, names)?;
            }
            Ok(())
        }
        Shape::Sfq(sfq) => {
            packets(sfq.limit)?;
            within(kind, "depth", u64::from(sfq.depth), 1, 65_535, "1 to 65535")?;
            within(kind, "flows", u64::from(sfq.flows), 1, 65_408, "1 to 65408")?;
            within(kind, "divisor", u64::from(sfq.divisor), 1, 65_536, "1 to 65536")?;
            quantum(kind, sfq.quantum)
        }
        Shape::Codel(codel) => packets(codel.limit).and_then(|()| delays(kind, codel)),
        Shape::FqCodel(fq) => {
            packets(fq.limit)?;
            within(kind, "flows", u64::from(fq.flows), 1, 65_536, "1 to 65536")?;
            within(kind, "memory_limit", fq.memory_limit.0, 1, 1 << 32, "1 byte to 4 GiB")?;
            within(kind, "drop_batch", u64::from(fq.drop_batch), 1, 1024, "1 to 1024")?;
            quantum(kind, fq.quantum)?;
            delays(
                kind,
                &CodelShape { target: fq.target, interval: fq.interval, ..CodelShape::default() },
            )
        }
        Shape::Tbf(tbf) => {
            within(kind, "rate", tbf.rate.0, 1, u64::MAX, "1 bit a second and more")?;
            let least = u64::from(config.mtu_bytes);
            within(kind, "burst", tbf.burst.0, least, 1 << 32, "one MTU to 4 GiB")?;
            if let Some(mtu) = tbf.mtu {
                within(kind, "mtu", mtu.0, 64, 1 << 24, "64 bytes to 16 MiB")?;
            }
            if let Some(peak) = tbf.peakrate {
                within(
                    kind,
                    "peakrate",
                    peak.0,
                    tbf.rate.0.saturating_add(1),
                    u64::MAX,
                    "above the rate",
                )?;
            }
            shape(&tbf.leaf, config, names)
        }
        Shape::Htb(it) => htb(it, config, names),
        Shape::Hfsc(it) => hfsc(it, config, names),
    }
}

fn map(kind: &'static str, priomap: &[u8; 16], bands: usize) -> Result<(), Error> {
    let most = bands as u64 - 1;
    priomap
        .iter()
        .try_for_each(|&band| within(kind, "priomap band", u64::from(band), 0, most, "the bands"))
}

fn quantum(kind: &'static str, quantum: Option<Size>) -> Result<(), Error> {
    quantum.map_or(Ok(()), |q| within(kind, "quantum", q.0, 1, 1 << 20, "1 byte to 1 MiB"))
}

fn delays(kind: &'static str, codel: &CodelShape) -> Result<(), Error> {
    let Time(interval) = codel.interval;
    within(kind, "interval (ns)", interval, 2_000, 100_000_000_000, "2us to 100s")?;
    within(kind, "target (ns)", codel.target.0, 1_024, interval - 1, "1.024us to the interval")
}

/// Classes from the top down, brothers together, and how many levels they stand on.
pub(crate) struct BreadthFirst {
    pub(crate) order: Vec<usize>,
    pub(crate) levels: usize,
}

/// The order of classes: places in `classes`, each a name and its parent's.
pub(crate) fn breadth_first(
    handle: ClassId,
    classes: &[(ClassId, Option<ClassId>)],
) -> Result<BreadthFirst, Error> {
    let mut place = HashMap::with_capacity(classes.len());
    for (at, &(id, _)) in classes.iter().enumerate() {
        if id.major() != handle.major() || id.minor() == 0 {
            return Err(Error::Stranger { id, handle });
        }
        if place.insert(id, at).is_some() {
            return Err(Error::Twice { id });
        }
    }
    let mut children = vec![Vec::new(); classes.len()];
    let mut order = Vec::with_capacity(classes.len());
    for (at, &(id, parent)) in classes.iter().enumerate() {
        match parent.filter(|parent| *parent != handle) {
            None => order.push(at),
            Some(parent) => match place.get(&parent) {
                Some(&above) => children[above].push(at),
                None => {
                    return Err(Error::UnknownClass { place: format!("class {id}"), id: parent });
                }
            },
        }
    }
    let (mut done, mut levels) = (0, 0);
    while let Some(&top) = order.get(done) {
        levels += 1;
        if levels > MAX_LEVELS {
            return Err(Error::TooManyLevels { id: classes[top].0, limit: MAX_LEVELS });
        }
        let level = done..order.len();
        done = order.len();
        level.for_each(|at| order.append(&mut children[order[at]]));
    }
    if order.len() < classes.len() {
        return Err(Error::Loop { id: on_the_loop(classes, &place, &order) });
    }
    Ok(BreadthFirst { order, levels })
}

/// A class of the loop itself, found by going up from one that the top does not reach.
fn on_the_loop(
    classes: &[(ClassId, Option<ClassId>)],
    place: &HashMap<ClassId, usize>,
    reached: &[usize],
) -> ClassId {
    let reached: HashSet<usize> = reached.iter().copied().collect();
    let mut at = (0..classes.len()).find(|at| !reached.contains(at)).unwrap_or(0);
    for _ in 0..classes.len() {
        at = classes[at].1.and_then(|parent| place.get(&parent).copied()).unwrap_or(at);
    }
    classes[at].0
}

/// Names the classes as leaves or inner ones, and checks what stands in them.
fn name_classes<'a>(
    kind: &'static str,
    config: &Config,
    names: &mut Names,
    classes: impl Iterator<Item = (ClassId, Option<ClassId>, Option<&'a Shape>)> + Clone,
) -> Result<(), Error> {
    names.inner.extend(classes.clone().filter_map(|(_, parent, _)| parent));
    for (id, _, leaf) in classes {
        if !names.inner.contains(&id) {
            names.leaves.insert(id);
        } else if let Some(leaf) = leaf {
            return Err(Error::NotALeaf { id, use_: leaf.kind().to_string() });
        }
        let Some(leaf) = leaf else { continue };
        if holds_back(leaf) {
            let reason = "it holds packets back by itself, and the class would lose its turns";
            return Err(Error::Nesting { id, kind: leaf.kind(), above: kind, reason });
        }
        shape(leaf, config, names)?;
    }
    Ok(())
}

/// Whether a discipline may have packets and yet give none.
fn holds_back(shape: &Shape) -> bool {
    match shape {
        Shape::Tbf(_) | Shape::Htb(_) | Shape::Hfsc(_) => true,
        Shape::Prio(prio) => prio.bands.iter().any(holds_back),
        _ => false,
    }
}

fn htb(it: &HtbShape, config: &Config, names: &mut Names) -> Result<(), Error> {
    names.add_handle(it.handle)?;
    within("htb", "r2q", u64::from(it.r2q), 1, u64::from(u32::MAX), "1 and more")?;
    within("htb", "direct_packets", u64::from(it.direct_packets), 1, 1 << 24, "1 to 2^24")?;
    let tree: Vec<_> = it.classes.iter().map(|class| (class.id, class.parent)).collect();
    breadth_first(it.handle, &tree)?;
    let by_id: HashMap<_, _> = it.classes.iter().map(|class| (class.id, class)).collect();
    let mut promised: HashMap<ClassId, u64> = HashMap::new();
    for class in &it.classes {
        let id = class.id;
        let ceil = class.ceil.unwrap_or(class.rate);
        for (setting, rate) in [("rate", class.rate), ("ceil", ceil)] {
            if rate.0 == 0 {
                return Err(Error::ZeroRate { id, setting });
            }
        }
        if class.rate > ceil {
            let (setting, value, bound) = ("rate", class.rate, "its own ceil".to_string());
            return Err(Error::Above { id, setting, value, bound, limit: ceil });
        }
        within("htb", "prio", u64::from(class.prio), 0, 7, "0 to 7")?;
        within("htb", "overhead", u64::from(class.overhead), 0, 1024, "0 to 1024")?;
        quantum("htb", class.quantum)?;
        for (setting, size) in [("burst", class.burst), ("cburst", class.cburst)] {
            if let Some(size) = size {
                within("htb", setting, size.0, 1, 1 << 40, "1 byte to 1 TiB")?;
            }
        }
        let parent = class.parent.filter(|parent| *parent != it.handle).unwrap_or(it.handle);
        let sum = promised.entry(parent).or_default();
        *sum = sum.saturating_add(class.rate.0);
        if let Some(above) = by_id.get(&parent) {
            let limit = above.ceil.unwrap_or(above.rate);
            if ceil > limit {
                let bound = format!("the ceil of its parent {parent},");
                return Err(Error::Above { id, setting: "ceil", value: ceil, bound, limit });
            }
        }
    }
    for (&id, &sum) in &promised {
        let bound = by_id.get(&id).map(|above| ("ceil", above.ceil.unwrap_or(above.rate)));
        let bound = bound.or(config.link_rate.map(|rate| ("link_rate", rate)));
        if let Some((bound, limit)) = bound.filter(|(_, limit)| sum > limit.0) {
            return Err(Error::Overbooked { id, promised: Rate(sum), bound, limit });
        }
    }
    let shapes = it.classes.iter().map(|class| (class.id, class.parent, class.leaf.as_ref()));
    name_classes("htb", config, names, shapes)?;
    it.default.map_or(Ok(()), |id| names.expect_leaf(id, || "the default of htb".to_string()))
}

fn hfsc(it: &HfscShape, config: &Config, names: &mut Names) -> Result<(), Error> {
    names.add_handle(it.handle)?;
    let tree: Vec<_> = it.classes.iter().map(|class| (class.id, class.parent)).collect();
    let BreadthFirst { order, .. } = breadth_first(it.handle, &tree)?;
    for class in &it.classes {
        let id = class.id;
        let refuse = |reason| Err(Error::Curves { id, reason });
        match (&class.rt, &class.ls, &class.ul) {
            (None, None, _) => return refuse("it has neither a real-time nor a link-share curve"),
            (_, None, Some(_)) => return refuse("an upper limit without a link-share curve"),
            _ => {}
        }
        for (setting, curve) in [("ls", class.ls), ("ul", class.ul)] {
            if curve.is_some_and(|curve| curve.m2.0 == 0) {
                return Err(Error::ZeroRate { id, setting });
            }
        }
        if class.rt.is_some_and(|rt| rt.m2.0 == 0 && (rt.m1.0 == 0 || rt.d.0 == 0)) {
            return Err(Error::ZeroRate { id, setting: "rt" });
        }
        if [class.rt, class.ls, class.ul].iter().flatten().any(|curve| curve.d.0 > 1 << 40) {
            return refuse("a first piece of more than 18 minutes");
        }
    }
    can_be_met(it, config, &order)?;
    let shapes = it.classes.iter().map(|class| (class.id, class.parent, class.leaf.as_ref()));
    name_classes("hfsc", config, names, shapes)?;
    it.default.map_or(Ok(()), |id| names.expect_leaf(id, || "the default of hfsc".to_string()))
}

/// Every upper limit, and the link, must let through what the leaves below are promised.
fn can_be_met(it: &HfscShape, config: &Config, order: &[usize]) -> Result<(), Error> {
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
            fits(class.id, "the upper limit", limit, &promised)?;
        }
        match parent(at) {
            Some(above) => below[above].append(&mut promised),
            None => all.append(&mut promised),
        }
    }
    config
        .link_rate
        .map_or(Ok(()), |rate| fits(it.handle, "link_rate", Curve::straight(rate), &all))
}

/// Sums the curves from break to break, and holds the sum against the bound at each, and for ever after.
fn fits(id: ClassId, bound: &'static str, limit: Curve, curves: &[Curve]) -> Result<(), Error> {
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
            return Err(Error::CannotBeMet { id, promised, after: Time(at), bound, allowed });
        }
    }
    let promised: u128 = curves.iter().map(|curve| u128::from(curve.m2.0)).sum();
    if promised > u128::from(limit.m2.0) {
        let allowed = u128::from(limit.m2.0);
        return Err(Error::CannotBeMet {
            id,
            promised,
            after: Time(u64::MAX >> 1),
            bound,
            allowed,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
