//! Writes disciplines, classes and filters as `read` reads them.

use sched::{
    CodelShape, Filter, FqCodelShape, HfscClass, HfscShape, HtbClass, HtbShape, PrioShape,
    SfqShape, Shape, TbfShape,
};

use super::units::{PortRange, Protocol};
use crate::config::write::Fields;

/// A discipline alone, without its classes.
pub(super) fn alone(shape: &Shape) -> Fields {
    match shape {
        Shape::Pfifo { limit } => kind("pfifo").unless("limit", limit, &1000),
        Shape::Bfifo { limit } => kind("bfifo").with("limit", limit),
        Shape::PfifoFast { limit, priomap } => {
            kind("pfifo_fast").unless("limit", limit, &1000).list("priomap", &words(priomap))
        }
        Shape::Prio(prio) => bands(prio),
        Shape::Sfq(it) => sfq(it),
        Shape::Codel(it) => codel(it),
        Shape::FqCodel(it) => fq_codel(it),
        Shape::Tbf(it) => tbf(it),
        Shape::Htb(HtbShape { handle, default, r2q, direct_packets, .. }) => kind("htb")
            .with("handle", handle)
            .maybe("default", default)
            .unless("r2q", r2q, &10)
            .unless("direct_packets", direct_packets, &1000),
        Shape::Hfsc(HfscShape { handle, default, .. }) => {
            kind("hfsc").with("handle", handle).maybe("default", default)
        }
    }
}

/// The classes of a discipline: name and fields.
pub(super) fn classes(shape: &Shape) -> Vec<(String, Fields)> {
    match shape {
        Shape::Htb(it) => {
            it.classes.iter().map(|class| (class.id.to_string(), htb_class(class))).collect()
        }
        Shape::Hfsc(it) => {
            it.classes.iter().map(|class| (class.id.to_string(), hfsc_class(class))).collect()
        }
        Shape::Tbf(it) => classes(&it.leaf),
        _ => Vec::new(),
    }
}

/// A discipline with its classes, as one inline table.
fn inline(shape: &Shape) -> String {
    let classes = classes(shape);
    if classes.is_empty() {
        return alone(shape).inline();
    }
    let classes: Vec<String> = classes.iter().map(|(_, fields)| fields.inline()).collect();
    alone(shape).raw("class", format!("[{}]", classes.join(", "))).inline()
}

fn kind(name: &'static str) -> Fields {
    Fields::new().with("kind", &name.to_owned())
}

fn words(priomap: &[u8; 16]) -> [u16; 16] {
    priomap.map(u16::from)
}

fn bands(prio: &PrioShape) -> Fields {
    let bands: Vec<String> = prio.bands.iter().map(inline).collect();
    kind("prio")
        .with("handle", &prio.handle)
        .raw("band", format!("[{}]", bands.join(", ")))
        .list("priomap", &words(&prio.priomap))
}

fn sfq(it: &SfqShape) -> Fields {
    let usual = SfqShape::default();
    kind("sfq")
        .unless("limit", &it.limit, &usual.limit)
        .unless("depth", &it.depth, &usual.depth)
        .unless("flows", &it.flows, &usual.flows)
        .unless("divisor", &it.divisor, &usual.divisor)
        .maybe("quantum", &it.quantum)
        .unless("perturb", &it.perturb, &usual.perturb)
        .unless("head_drop", &it.head_drop, &usual.head_drop)
}

fn codel(it: &CodelShape) -> Fields {
    let usual = CodelShape::default();
    kind("codel")
        .unless("limit", &it.limit, &usual.limit)
        .unless("target", &it.target, &usual.target)
        .unless("interval", &it.interval, &usual.interval)
        .unless("ecn", &it.ecn, &usual.ecn)
        .maybe("ce_threshold", &it.ce_threshold)
}

fn fq_codel(it: &FqCodelShape) -> Fields {
    let usual = FqCodelShape::default();
    kind("fq_codel")
        .unless("limit", &it.limit, &usual.limit)
        .unless("flows", &it.flows, &usual.flows)
        .maybe("quantum", &it.quantum)
        .unless("target", &it.target, &usual.target)
        .unless("interval", &it.interval, &usual.interval)
        .unless("ecn", &it.ecn, &usual.ecn)
        .maybe("ce_threshold", &it.ce_threshold)
        .unless("memory_limit", &it.memory_limit, &usual.memory_limit)
        .unless("drop_batch", &it.drop_batch, &usual.drop_batch)
}

/// A token bucket is written as what stands in it, with a rate.
fn tbf(it: &TbfShape) -> Fields {
    let inside = match &it.leaf {
        Shape::Bfifo { limit } => kind("tbf").with("limit", limit),
        leaf => alone(leaf),
    };
    inside
        .with("rate", &it.rate)
        .with("burst", &it.burst)
        .maybe("peakrate", &it.peakrate)
        .maybe("mtu", &it.mtu)
}

fn htb_class(class: &HtbClass) -> Fields {
    let fields = Fields::new()
        .with("id", &class.id)
        .maybe("parent", &class.parent)
        .with("rate", &class.rate)
        .maybe("ceil", &class.ceil)
        .maybe("burst", &class.burst)
        .maybe("cburst", &class.cburst)
        .unless("prio", &u16::from(class.prio), &0)
        .maybe("quantum", &class.quantum)
        .unless("overhead", &class.overhead, &0);
    with_leaf(fields, class.leaf.as_ref())
}

fn hfsc_class(class: &HfscClass) -> Fields {
    let fields = Fields::new()
        .with("id", &class.id)
        .maybe("parent", &class.parent)
        .maybe("rt", &class.rt)
        .maybe("ls", &class.ls)
        .maybe("ul", &class.ul);
    with_leaf(fields, class.leaf.as_ref())
}

fn with_leaf(fields: Fields, leaf: Option<&Shape>) -> Fields {
    match leaf {
        Some(leaf) => fields.raw("leaf", inline(leaf)),
        None => fields,
    }
}

/// A filter.
pub(super) fn filter(filter: &Filter) -> Fields {
    Fields::new()
        .with("class", &filter.class)
        .maybe("dscp", &filter.dscp.map(u16::from))
        .maybe("priority", &filter.priority.map(u16::from))
        .maybe("vlan_pcp", &filter.vlan_pcp.map(u16::from))
        .maybe("source", &filter.source)
        .maybe("destination", &filter.destination)
        .maybe("protocol", &filter.protocol.map(Protocol))
        .maybe("source_port", &filter.source_port.map(PortRange))
        .maybe("destination_port", &filter.destination_port.map(PortRange))
        .maybe("bridge", &filter.bridge)
        .maybe("vrf", &filter.vrf)
        .maybe("hash_modulus", &filter.hash_modulus)
        .maybe("hash_value", &filter.hash_value)
}
