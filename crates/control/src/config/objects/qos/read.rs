//! Reads disciplines, classes and filters field by field, so that each fault gets its place.

use sched::units::{Rate, Size};
use sched::{
    ClassId, CodelShape, Filter, FqCodelShape, HfscClass, HfscShape, HtbClass, HtbShape, PrioShape,
    SfqShape, Shape, TbfShape,
};

use super::units::{PortRange, Protocol};
use crate::config::field::word_field;
use crate::config::read::TableReader;
use crate::config::report::Problem;

word_field! {
    /// A discipline, by `tc`'s name.
    Kind {
        /// First in, first out, so many packets.
        Pfifo = "pfifo",
        /// First in, first out, so many bytes.
        Bfifo = "bfifo",
        /// Three FIFOs by priority.
        PfifoFast = "pfifo_fast",
        /// Bands by priority.
        Prio = "prio",
        /// Stochastic fair queueing.
        Sfq = "sfq",
        /// Controlled delay.
        Codel = "codel",
        /// Fair queueing with controlled delay.
        FqCodel = "fq_codel",
        /// A token bucket.
        Tbf = "tbf",
        /// The hierarchical token bucket.
        Htb = "htb",
        /// The hierarchical fair service curve.
        Hfsc = "hfsc",
    }
}

/// Milliseconds of its rate that a token bucket holds unless told otherwise: what a busy worker may
/// come late.
const BURST_MS: u64 = 1;

fn first_handle() -> ClassId {
    ClassId::new(1, 0)
}

/// A discipline and all below it. With a `rate`, any discipline that has none of its own stands
/// under a token bucket.
pub(super) fn shape(table: &mut TableReader<'_>, frame_bytes: u32) -> Option<Shape> {
    let kind: Kind = table.required("kind")?;
    let shape = match kind {
        Kind::Pfifo => Shape::Pfifo { limit: table.or("limit", 1000) },
        Kind::Bfifo => Shape::Bfifo { limit: table.required("limit")? },
        Kind::PfifoFast => {
            let Shape::PfifoFast { limit, priomap: linux } = Shape::pfifo_fast() else {
                return None;
            };
            Shape::PfifoFast { limit: table.or("limit", limit), priomap: priomap(table, linux) }
        }
        Kind::Prio => prio(table, frame_bytes),
        Kind::Sfq => sfq(table),
        Kind::Codel => codel(table),
        Kind::FqCodel => fq_codel(table),
        Kind::Tbf => Shape::Bfifo { limit: table.or("limit", Size(256 << 10)) },
        Kind::Htb => htb(table, frame_bytes),
        Kind::Hfsc => hfsc(table, frame_bytes),
    };
    let rate: Option<Rate> =
        if kind == Kind::Tbf { Some(table.required("rate")?) } else { table.optional("rate") };
    let (burst, peakrate, mtu) =
        (table.optional("burst"), table.optional("peakrate"), table.optional("mtu"));
    let Some(rate) = rate else {
        if burst.is_some() || peakrate.is_some() || mtu.is_some() {
            let problem = Problem::new(table.field("burst"), "a bucket without a `rate`");
            table.report().push(problem.expected("a `rate` beside burst, peakrate and mtu"));
        }
        return Some(shape);
    };
    let by_default = Size(rate.0 / 8 * BURST_MS / 1000 + 2 * u64::from(frame_bytes));
    let burst = burst.unwrap_or(by_default);
    Some(Shape::Tbf(Box::new(TbfShape { rate, burst, peakrate, mtu, leaf: shape })))
}

fn priomap(table: &mut TableReader<'_>, default: [u8; 16]) -> [u8; 16] {
    if !table.has("priomap") {
        // Asked for all the same, so that the key is known.
        table.list::<u16>("priomap");
        return default;
    }
    let bands: Vec<u8> =
        table.list::<u16>("priomap").into_iter().map(|band| band.min(255) as u8).collect();
    bands.try_into().unwrap_or_else(|bands: Vec<u8>| {
        let message = format!("`priomap` has {} entries", bands.len());
        let problem = Problem::new(table.field("priomap"), message);
        table.report().push(problem.expected("16 bands, one for each priority"));
        default
    })
}

fn prio(table: &mut TableReader<'_>, frame_bytes: u32) -> Shape {
    let mut bands = Vec::new();
    table.each_item("band", |band| bands.extend(shape(band, frame_bytes)));
    if bands.is_empty() {
        let count = table.number::<u16>("bands", 3, 1..=16);
        bands = vec![Shape::pfifo(1000); usize::from(count)];
    }
    let Shape::Prio(plain) = Shape::prio(bands.len()) else { return Shape::prio(3) };
    let handle = table.or("handle", first_handle());
    Shape::Prio(PrioShape { handle, priomap: priomap(table, plain.priomap), bands })
}

fn sfq(table: &mut TableReader<'_>) -> Shape {
    let usual = SfqShape::default();
    Shape::Sfq(SfqShape {
        limit: table.or("limit", usual.limit),
        depth: table.or("depth", usual.depth),
        flows: table.or("flows", usual.flows),
        divisor: table.or("divisor", usual.divisor),
        quantum: table.optional("quantum"),
        perturb: table.or("perturb", usual.perturb),
        head_drop: table.or("head_drop", usual.head_drop),
    })
}

fn codel(table: &mut TableReader<'_>) -> Shape {
    let usual = CodelShape::default();
    Shape::Codel(CodelShape {
        limit: table.or("limit", usual.limit),
        target: table.or("target", usual.target),
        interval: table.or("interval", usual.interval),
        ecn: table.or("ecn", usual.ecn),
        ce_threshold: table.optional("ce_threshold"),
    })
}

fn fq_codel(table: &mut TableReader<'_>) -> Shape {
    let usual = FqCodelShape::default();
    Shape::FqCodel(FqCodelShape {
        limit: table.or("limit", usual.limit),
        flows: table.or("flows", usual.flows),
        quantum: table.optional("quantum"),
        target: table.or("target", usual.target),
        interval: table.or("interval", usual.interval),
        ecn: table.or("ecn", usual.ecn),
        ce_threshold: table.optional("ce_threshold"),
        memory_limit: table.or("memory_limit", usual.memory_limit),
        drop_batch: table.or("drop_batch", usual.drop_batch),
    })
}

fn htb(table: &mut TableReader<'_>, frame_bytes: u32) -> Shape {
    let (mut classes, names) = (Vec::new(), table.field("class"));
    table.each_item("class", |class| match htb_class(class, &names, frame_bytes) {
        Some(read) => classes.push(read),
        None => class.report().lose_row(),
    });
    Shape::Htb(HtbShape {
        handle: table.or("handle", first_handle()),
        default: table.optional("default"),
        r2q: table.or("r2q", 10),
        direct_packets: table.or("direct_packets", 1000),
        classes,
    })
}

/// A class's name; its faults are told under it from here on.
fn class_id(table: &mut TableReader<'_>, names: &str) -> Option<ClassId> {
    let id: ClassId = table.required("id")?;
    table.rename(format!("{names}.{id}"));
    Some(id)
}

/// One class of `htb`.
pub(super) fn htb_class(
    table: &mut TableReader<'_>,
    names: &str,
    frame_bytes: u32,
) -> Option<HtbClass> {
    let id = class_id(table, names);
    let parent = table.optional("parent");
    let rate = table.required("rate");
    let read = HtbClass {
        ceil: table.optional("ceil"),
        burst: table.optional("burst"),
        cburst: table.optional("cburst"),
        prio: table.number::<u16>("prio", 0, 0..=7) as u8,
        quantum: table.optional("quantum"),
        overhead: table.or("overhead", 0),
        leaf: table.table("leaf", |leaf| shape(leaf, frame_bytes)).flatten(),
        ..HtbClass::new(id.unwrap_or(ClassId::NONE), parent, rate.unwrap_or_default())
    };
    (id.is_some() && rate.is_some()).then_some(read)
}

fn hfsc(table: &mut TableReader<'_>, frame_bytes: u32) -> Shape {
    let (mut classes, names) = (Vec::new(), table.field("class"));
    table.each_item("class", |class| match hfsc_class(class, &names, frame_bytes) {
        Some(read) => classes.push(read),
        None => class.report().lose_row(),
    });
    Shape::Hfsc(HfscShape {
        handle: table.or("handle", first_handle()),
        default: table.optional("default"),
        classes,
    })
}

/// One class of `hfsc`. `sc` stands for `rt` and `ls` together, as in `tc`.
pub(super) fn hfsc_class(
    table: &mut TableReader<'_>,
    names: &str,
    frame_bytes: u32,
) -> Option<HfscClass> {
    let id = class_id(table, names);
    let both = table.optional("sc");
    let parent = table.optional("parent");
    let read = HfscClass {
        rt: table.optional("rt").or(both),
        ls: table.optional("ls").or(both),
        ul: table.optional("ul"),
        leaf: table.table("leaf", |leaf| shape(leaf, frame_bytes)).flatten(),
        ..HfscClass::new(id.unwrap_or(ClassId::NONE), parent)
    };
    id.is_some().then_some(read)
}

/// One filter.
pub(super) fn filter(table: &mut TableReader<'_>) -> Option<Filter> {
    let class = table.required("class");
    let small = |value: Option<u16>| value.map(|value| value.min(255) as u8);
    let read = Filter {
        dscp: small(table.optional("dscp")),
        priority: small(table.optional("priority")),
        vlan_pcp: small(table.optional("vlan_pcp")),
        source: table.optional("source"),
        destination: table.optional("destination"),
        protocol: table.optional("protocol").map(|Protocol(number)| number),
        source_port: table.optional("source_port").map(|PortRange(ports)| ports),
        destination_port: table.optional("destination_port").map(|PortRange(ports)| ports),
        bridge: table.optional("bridge"),
        vrf: table.optional("vrf"),
        hash_modulus: table.optional("hash_modulus"),
        hash_value: table.optional("hash_value"),
        ..Filter::to(class.unwrap_or(ClassId::NONE))
    };
    class.is_some().then_some(read)
}
