//! From a checked configuration to the scheduler, and what memory it reserves.

use std::collections::HashMap;

use crate::class_map::ClassMap;
use crate::codel::Codel;
use crate::codel_law::{CodelSettings, tick};
use crate::config::{
    CodelShape, Config, FqCodelShape, HfscShape, HtbClass, HtbShape, PrioShape, SfqShape, Shape,
    TbfShape, breadth_first, check,
};
use crate::discipline::{Child, Kind};
use crate::fifo::{Fifo, Limit};
use crate::fq_codel::{FqCodel, FqCodelSettings};
use crate::hfsc::{self, Hfsc, HfscSettings};
use crate::htb::{self, Htb, HtbSettings};
use crate::lone_fifo::LoneFifo;
use crate::pool::Reuse;
use crate::prio::Prio;
use crate::rate::Price;
use crate::root::Root;
use crate::sfq::{Sfq, SfqSettings};
use crate::tbf::{Bucket, Tbf};
use crate::units::{Size, Time};
use crate::{ClassId, Error, Scheduler};

/// The most slots that are reserved unless the configuration asks for more.
const POOL_PACKETS: u64 = 131_072;
/// A class's limit when its leaf is not configured.
const LEAF_PACKETS: u32 = 1000;

/// Builds the scheduler that `config` describes, or says why there can be none.
///
/// All its memory is reserved here: [`memory`] tells how much.
pub fn build<T: Copy + Send + 'static>(config: &Config) -> Result<Box<dyn Scheduler<T>>, Error> {
    check(config)?;
    let slots = pool_packets(config);
    let (mtu_bytes, reuse) = (config.mtu_bytes, reuse(&config.root));
    // One concrete type for each discipline at the root: its code is compiled for T without a call between the two.
    Ok(match kind(&config.root, mtu_bytes)? {
        Kind::Fifo(it) => Box::new(LoneFifo::new(slots, it.limit)),
        Kind::Prio(it) => Box::new(Root::new(slots, reuse, *it)),
        Kind::Sfq(it) => Box::new(Root::new(slots, reuse, *it)),
        Kind::Codel(it) => Box::new(Root::new(slots, reuse, *it)),
        Kind::FqCodel(it) => Box::new(Root::new(slots, reuse, *it)),
        Kind::Tbf(it) => Box::new(Root::new(slots, reuse, *it)),
        Kind::Htb(it) => Box::new(Root::new(slots, reuse, *it)),
        Kind::Hfsc(it) => Box::new(Root::new(slots, reuse, *it)),
    })
}

/// One queue gives packets back in the order in which they came.
fn reuse(shape: &Shape) -> Reuse {
    match shape {
        Shape::Pfifo { .. } | Shape::Bfifo { .. } | Shape::Codel(_) => Reuse::InOrder,
        Shape::Tbf(tbf) => reuse(&tbf.leaf),
        _ => Reuse::Soonest,
    }
}

/// What a scheduler of this configuration reserves, for handles of 8 bytes: slots, flows, classes, maps.
pub fn memory(config: &Config) -> Size {
    Size(u64::from(pool_packets(config)) * 32 + state_bytes(&config.root))
}

fn pool_packets(config: &Config) -> u32 {
    let by_limits = limit_packets(&config.root).clamp(1, POOL_PACKETS) as u32;
    config.pool_packets.unwrap_or(by_limits)
}

fn leaf_shapes(shape: &Shape) -> Vec<Option<&Shape>> {
    match shape {
        Shape::Prio(prio) => prio.bands.iter().map(Some).collect(),
        Shape::Tbf(tbf) => vec![Some(&tbf.leaf)],
        Shape::Htb(htb) => htb.classes.iter().map(|class| class.leaf.as_ref()).collect(),
        Shape::Hfsc(hfsc) => hfsc.classes.iter().map(|class| class.leaf.as_ref()).collect(),
        _ => Vec::new(),
    }
}

/// The most packets that can wait, one more for each discipline that takes one in before it drops another.
fn limit_packets(shape: &Shape) -> u64 {
    let own = match shape {
        Shape::Pfifo { limit } => u64::from(*limit),
        Shape::Bfifo { limit } => limit.0 / 60,
        Shape::PfifoFast { limit, .. } => 3 * u64::from(*limit),
        Shape::Sfq(sfq) => u64::from(sfq.limit),
        Shape::Codel(codel) => u64::from(codel.limit),
        Shape::FqCodel(fq) => u64::from(fq.limit),
        Shape::Htb(htb) => u64::from(htb.direct_packets),
        Shape::Prio(_) | Shape::Tbf(_) | Shape::Hfsc(_) => 0,
    };
    let below = leaf_shapes(shape).into_iter();
    let below = below.map(|leaf| leaf.map_or(u64::from(LEAF_PACKETS), limit_packets) + 1);
    below.fold(own + 1, u64::saturating_add)
}

fn state_bytes(shape: &Shape) -> u64 {
    let own = match shape {
        Shape::Sfq(sfq) => {
            32 * u64::from(sfq.flows) + 2 * u64::from(sfq.divisor) + 8 * u64::from(sfq.depth)
        }
        Shape::FqCodel(fq) => 84 * u64::from(fq.flows),
        Shape::Htb(htb) => {
            let tree: Vec<_> = htb.classes.iter().map(|class| (class.id, class.parent)).collect();
            let levels = breadth_first(htb.handle, &tree).map_or(1, |tree| tree.levels as u64);
            // A level takes a quantum's rest and eight rings, of two bits a class at most.
            (1024 + 6 * levels) * htb.classes.len() as u64 + (1 << 18)
        }
        Shape::Hfsc(hfsc) => 1280 * hfsc.classes.len() as u64 + (1 << 18),
        _ => 0,
    };
    let below = leaf_shapes(shape).into_iter().flatten().map(state_bytes);
    below.fold(own + 512, u64::saturating_add)
}

fn child(shape: &Shape, mtu_bytes: u32) -> Result<Child, Error> {
    kind(shape, mtu_bytes).map(Child::new)
}

fn kind(shape: &Shape, mtu_bytes: u32) -> Result<Kind, Error> {
    Ok(match shape {
        Shape::Pfifo { limit } => Kind::Fifo(Fifo::new(Limit::of_packets(*limit))),
        Shape::Bfifo { limit } => Kind::Fifo(Fifo::new(Limit::of_bytes(limit.0))),
        Shape::PfifoFast { limit, priomap } => {
            let bands = (0..3)
                .map(|_| Child::new(Kind::Fifo(Fifo::new(Limit::of_packets(*limit)))))
                .collect();
            // No packet can name a class of the last major number.
            let classes = ClassMap::new(u16::MAX);
            Kind::Prio(Box::new(Prio::new("pfifo_fast", bands, *priomap, classes)))
        }
        Shape::Prio(it) => Kind::Prio(Box::new(prio(it, mtu_bytes)?)),
        Shape::Sfq(it) => Kind::Sfq(Box::new(sfq(it, mtu_bytes))),
        Shape::Codel(it) => Kind::Codel(Box::new(Codel::new(it.limit, codel(it, mtu_bytes)))),
        Shape::FqCodel(it) => Kind::FqCodel(Box::new(fq_codel(it, mtu_bytes))),
        Shape::Tbf(it) => Kind::Tbf(Box::new(tbf(it, mtu_bytes)?)),
        Shape::Htb(it) => Kind::Htb(Box::new(htb(it, mtu_bytes)?)),
        Shape::Hfsc(it) => Kind::Hfsc(Box::new(hfsc(it, mtu_bytes)?)),
    })
}

/// The handles of the classful disciplines in a shape.
fn majors(shape: &Shape, into: &mut Vec<u16>) {
    match shape {
        Shape::Prio(it) => into.push(it.handle.major()),
        Shape::Htb(it) => into.push(it.handle.major()),
        Shape::Hfsc(it) => into.push(it.handle.major()),
        _ => {}
    }
    leaf_shapes(shape).into_iter().flatten().for_each(|leaf| majors(leaf, into));
}

/// Classes `id` and those of the disciplines in `shape` go to the child numbered `at`.
fn route(map: &mut ClassMap, id: ClassId, shape: Option<&Shape>, at: u32) {
    map.add(id.minor(), at);
    let mut below = Vec::new();
    if let Some(shape) = shape {
        majors(shape, &mut below);
    }
    below.into_iter().for_each(|major| map.add_below(major, at));
}

fn prio(it: &PrioShape, mtu_bytes: u32) -> Result<Prio, Error> {
    let mut map = ClassMap::new(it.handle.major());
    for (at, band) in (0..).zip(&it.bands) {
        route(&mut map, ClassId::new(it.handle.major(), at as u16 + 1), Some(band), at);
    }
    let bands = it.bands.iter().map(|band| child(band, mtu_bytes)).collect::<Result<_, _>>()?;
    Ok(Prio::new("prio", bands, it.priomap, map))
}

fn quantum_bytes(quantum: Option<Size>, mtu_bytes: u32) -> u32 {
    quantum.map_or(mtu_bytes, |quantum| quantum.0 as u32)
}

fn sfq(it: &SfqShape, mtu_bytes: u32) -> Sfq {
    Sfq::new(SfqSettings {
        limit: it.limit,
        depth: it.depth,
        flows: it.flows,
        divisor: it.divisor,
        quantum_bytes: quantum_bytes(it.quantum, mtu_bytes),
        perturb_ns: it.perturb.0,
        head_drop: it.head_drop,
    })
}

fn codel(it: &CodelShape, mtu_bytes: u32) -> CodelSettings {
    CodelSettings {
        target: tick(it.target.0),
        interval: tick(it.interval.0),
        ce_threshold: it.ce_threshold.map(|Time(ns)| tick(ns)),
        mtu_bytes,
        ecn: it.ecn,
    }
}

fn fq_codel(it: &FqCodelShape, mtu_bytes: u32) -> FqCodel {
    let law = CodelShape {
        limit: it.limit,
        target: it.target,
        interval: it.interval,
        ecn: it.ecn,
        ce_threshold: it.ce_threshold,
    };
    FqCodel::new(FqCodelSettings {
        limit: it.limit,
        flows: it.flows,
        quantum_bytes: quantum_bytes(it.quantum, mtu_bytes),
        memory_limit_bytes: it.memory_limit.0,
        drop_batch: it.drop_batch,
        codel: codel(&law, mtu_bytes),
    })
}

fn tbf(it: &TbfShape, mtu_bytes: u32) -> Result<Tbf, Error> {
    let peak_depth = it.mtu.map_or(u64::from(mtu_bytes), |mtu| mtu.0);
    let peak = it.peakrate.map(|rate| Bucket::new(Price::new(rate, 0), peak_depth));
    let longest = if peak.is_some() { it.burst.0.min(peak_depth) } else { it.burst.0 };
    let mut text = format!("rate {} burst {}", it.rate, it.burst);
    if let Some(rate) = it.peakrate {
        text += &format!(" peakrate {rate} mtu {}", Size(peak_depth));
    }
    let rate = Bucket::new(Price::new(it.rate, 0), it.burst.0);
    let longest_bytes = u32::try_from(longest).unwrap_or(u32::MAX);
    Ok(Tbf::new(child(&it.leaf, mtu_bytes)?, rate, peak, longest_bytes, text))
}

/// The default burst: what the rate gives in 0.1 ms, so that a worker which comes by so seldom still keeps the rate.
fn default_burst(rate: crate::units::Rate, mtu_bytes: u32) -> u64 {
    rate.bytes_in(Time(100_000)) + u64::from(mtu_bytes)
}

fn htb_class(class: &HtbClass, r2q: u32, mtu_bytes: u32, is_leaf: bool) -> htb::ClassSettings {
    let ceil = class.ceil.unwrap_or(class.rate);
    let burst = class.burst.map_or(default_burst(class.rate, mtu_bytes), |size| size.0);
    let cburst = class.cburst.map_or(default_burst(ceil, mtu_bytes), |size| size.0);
    let by_rate = (class.rate.0 / 8 / u64::from(r2q)).clamp(1000, 200_000);
    let quantum = class.quantum.map_or(by_rate, |quantum| quantum.0);
    let mut text = format!("rate {} ceil {ceil}", class.rate);
    if is_leaf {
        text = format!("prio {} quantum {quantum} {text}", class.prio);
    }
    text += &format!(" burst {} cburst {}", Size(burst), Size(cburst));
    htb::ClassSettings {
        id: class.id,
        rate: Price::new(class.rate, class.overhead),
        ceil: Price::new(ceil, class.overhead),
        burst_bytes: burst,
        cburst_bytes: cburst,
        priority: class.prio,
        quantum_bytes: quantum as u32,
        text,
    }
}

/// Classes in breadth-first order, each with its parent's place in that order; and which of them are leaves.
struct Ordered {
    order: Vec<usize>,
    parents: Vec<Option<usize>>,
    is_leaf: Vec<bool>,
}

fn ordered(handle: ClassId, classes: &[(ClassId, Option<ClassId>)]) -> Result<Ordered, Error> {
    let order = breadth_first(handle, classes)?.order;
    let place: HashMap<ClassId, usize> =
        order.iter().enumerate().map(|(place, &at)| (classes[at].0, place)).collect();
    let parents: Vec<Option<usize>> = order
        .iter()
        .map(|&at| classes[at].1.and_then(|parent| place.get(&parent).copied()))
        .collect();
    let mut is_leaf = vec![true; order.len()];
    parents.iter().flatten().for_each(|&parent| is_leaf[parent] = false);
    Ok(Ordered { order, parents, is_leaf })
}

/// The leaves' disciplines and the way to them.
fn leaves<'a>(
    handle: ClassId,
    ordered: &Ordered,
    leaf_of: impl Fn(usize) -> (ClassId, Option<&'a Shape>),
    mtu_bytes: u32,
) -> Result<(Vec<(usize, Child)>, ClassMap), Error> {
    let mut map = ClassMap::new(handle.major());
    let mut leaves = Vec::new();
    let fifo = Shape::pfifo(LEAF_PACKETS);
    for (place, &at) in
        ordered.order.iter().enumerate().filter(|(place, _)| ordered.is_leaf[*place])
    {
        let (id, shape) = leaf_of(at);
        route(&mut map, id, shape, place as u32);
        leaves.push((place, child(shape.unwrap_or(&fifo), mtu_bytes)?));
    }
    Ok((leaves, map))
}

fn htb(it: &HtbShape, mtu_bytes: u32) -> Result<Htb, Error> {
    let tree: Vec<_> = it.classes.iter().map(|class| (class.id, class.parent)).collect();
    let ordered = ordered(it.handle, &tree)?;
    let leaf_of = |at: usize| (it.classes[at].id, it.classes[at].leaf.as_ref());
    let (leaves, map) = leaves(it.handle, &ordered, leaf_of, mtu_bytes)?;
    let classes = ordered.order.iter().zip(&ordered.parents).zip(&ordered.is_leaf);
    let classes = classes
        .map(|((&at, &parent), &leaf)| {
            (htb_class(&it.classes[at], it.r2q, mtu_bytes, leaf), parent)
        })
        .collect();
    let default = it.default.and_then(|id| map.find(id));
    let text = it.default.map_or(String::new(), |id| format!("default {id} "));
    Ok(Htb::new(HtbSettings {
        handle: it.handle,
        text: format!("{text}r2q {}", it.r2q),
        direct_packets: it.direct_packets,
        classes,
        leaves,
        map,
        default,
    }))
}

fn hfsc(it: &HfscShape, mtu_bytes: u32) -> Result<Hfsc, Error> {
    let tree: Vec<_> = it.classes.iter().map(|class| (class.id, class.parent)).collect();
    let ordered = ordered(it.handle, &tree)?;
    let leaf_of = |at: usize| (it.classes[at].id, it.classes[at].leaf.as_ref());
    let (leaves, map) = leaves(it.handle, &ordered, leaf_of, mtu_bytes)?;
    let class = |at: usize| {
        let class = &it.classes[at];
        let curves = [("rt", class.rt), ("ls", class.ls), ("ul", class.ul)];
        let told: Vec<String> = curves
            .iter()
            .filter_map(|(name, curve)| curve.map(|curve| format!("{name} {curve}")))
            .collect();
        hfsc::ClassSettings {
            id: class.id,
            real_time: class.rt,
            link_share: class.ls,
            upper_limit: class.ul,
            text: told.join(" "),
        }
    };
    let classes = ordered.order.iter().zip(&ordered.parents);
    let classes = classes.map(|(&at, &parent)| (class(at), parent)).collect();
    let default = it.default.and_then(|id| map.find(id));
    let text = it.default.map_or(String::new(), |id| format!("default {id}"));
    Ok(Hfsc::new(HfscSettings { handle: it.handle, text, classes, leaves, map, default }))
}
