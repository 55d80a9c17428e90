//! Shapes and loads to draw from.

use proptest::prelude::*;
use sched::units::{Rate, Size, Time};
use sched::{
    CakeShape, ClassId, CodelShape, Config, Curve, FqCodelShape, HfscClass, HfscShape, HtbClass,
    HtbShape, Isolation, LinkLayer, PrioShape, SfqShape, Shape, TbfShape, Tins,
};

/// One moment: some packets come, some are asked for.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) after_ns: u64,
    pub(crate) offers: u8,
    pub(crate) takes: u8,
    pub(crate) length: u32,
    pub(crate) flow: u32,
    pub(crate) class: u8,
}

pub(crate) fn any_load() -> impl Strategy<Value = Vec<Step>> {
    let step = (0u64..50_000_000, 0u8..20, 0u8..20, 60u32..1514, 0u32..12, any::<u8>()).prop_map(
        |(after_ns, offers, takes, length, flow, class)| Step {
            after_ns,
            offers,
            takes,
            length,
            flow,
            class,
        },
    );
    prop::collection::vec(step, 1..60)
}

pub(crate) fn any_conserving() -> impl Strategy<Value = Shape> {
    let sfq = (1u32..60, 1u32..20, 1u32..6, any::<bool>(), 0u64..3).prop_map(
        |(limit, depth, flows, head_drop, perturb)| {
            Shape::Sfq(SfqShape {
                limit,
                depth,
                flows,
                divisor: 16,
                perturb: Time(perturb * 30_000_000),
                head_drop,
                ..SfqShape::default()
            })
        },
    );
    let fq = (1u32..60, 1u32..8, 64u64..3000, 1000u64..50_000, 1u32..10).prop_map(
        |(limit, flows, quantum, memory, drop_batch)| {
            Shape::FqCodel(FqCodelShape {
                limit,
                flows,
                quantum: Some(Size(quantum)),
                memory_limit: Size(memory),
                drop_batch,
                ..FqCodelShape::default()
            })
        },
    );
    let codel = (1u32..60, any::<bool>())
        .prop_map(|(limit, ecn)| Shape::Codel(CodelShape { limit, ecn, ..CodelShape::default() }));
    prop_oneof![
        (1u32..60).prop_map(Shape::pfifo),
        (64u64..50_000).prop_map(Shape::bfifo),
        Just(Shape::pfifo_fast()),
        sfq,
        fq,
        codel,
        cake(None),
    ]
}

/// Of a rate, or of none.
fn cake(bandwidth: Option<Rate>) -> impl Strategy<Value = Shape> {
    let tins = prop::sample::select(Tins::WORDS);
    let isolation = prop::sample::select(Isolation::WORDS);
    (tins, isolation, any::<bool>(), 16_384u64..40_000, 0u32..40).prop_map(
        move |(tins, isolation, ack_filter, memory, overhead)| {
            Shape::Cake(CakeShape {
                handle: bandwidth.map(|_| id(0)),
                bandwidth,
                tins: tins.parse().unwrap(),
                isolation: isolation.parse().unwrap(),
                ack_filter,
                overhead,
                linklayer: if overhead % 2 == 0 { LinkLayer::Atm } else { LinkLayer::Ethernet },
                memory_limit: Some(Size(memory)),
                ..CakeShape::default()
            })
        },
    )
}

fn prio(handle: u16) -> impl Strategy<Value = Shape> {
    prop::collection::vec(any_conserving(), 3..5).prop_map(move |bands| {
        Shape::Prio(PrioShape { handle: ClassId::new(handle, 0), bands, priomap: [1; 16] })
    })
}

fn leaf(handle: u16) -> impl Strategy<Value = Shape> {
    prop_oneof![4 => any_conserving(), 1 => prio(handle)]
}

fn id(minor: u16) -> ClassId {
    ClassId::new(1, minor)
}

/// A root class, two below it, three leaves below the first of these.
fn parents() -> [Option<ClassId>; 6] {
    [None, Some(id(1)), Some(id(1)), Some(id(2)), Some(id(2)), Some(id(2))]
}

fn htb() -> impl Strategy<Value = Shape> {
    let leaves = (leaf(10), leaf(11), leaf(12), leaf(13));
    // On a fast link a leaf sends several packets a visit.
    let scale = prop_oneof![Just(1u64), Just(1000)];
    let draws = prop::collection::vec((1u64..20, 0u8..8, 500u64..5000), 6);
    (leaves, draws, any::<bool>(), scale).prop_map(|(leaves, draws, in_cells, scale)| {
        let mut leaves = [leaves.0, leaves.1, leaves.2, leaves.3].into_iter();
        let classes = (1u16..).zip(parents()).zip(draws);
        // Rates above their own ceils and their parents' among them.
        let classes = classes.map(|((minor, parent), (rate, prio, burst))| HtbClass {
            linklayer: if in_cells { LinkLayer::Atm } else { LinkLayer::Ethernet },
            ceil: Some(Rate((scale * 100_000_000) >> parent.map_or(0, |p| p.minor()))),
            prio,
            burst: Some(Size(burst)),
            cburst: Some(Size(burst)),
            leaf: if minor > 2 { leaves.next() } else { None },
            ..HtbClass::new(id(minor), parent, Rate((rate * rate) * scale * 300_000))
        });
        let (handle, r2q, direct_packets) = (id(0), 10, 5);
        Shape::Htb(HtbShape {
            handle,
            default: Some(id(4)),
            r2q,
            direct_packets,
            all_workers: false,
            classes: classes.collect(),
        })
    })
}

fn curve() -> impl Strategy<Value = Curve> {
    (1u64..50, 1u64..40, 1u64..50).prop_map(|(m1, d, m2)| Curve {
        m1: Rate(m1 * 100_000),
        d: Time(d * 1_000_000),
        m2: Rate(m2 * 100_000),
    })
}

fn hfsc() -> impl Strategy<Value = Shape> {
    let leaves = (leaf(10), leaf(11), leaf(12), leaf(13));
    let draws = prop::collection::vec((curve(), curve(), curve(), 0u8..8), 6);
    (leaves, draws).prop_map(|(leaves, draws)| {
        let mut leaves = [leaves.0, leaves.1, leaves.2, leaves.3].into_iter();
        let classes = (1u16..).zip(parents()).zip(draws);
        let classes = classes.map(|((minor, parent), (rt, ls, ul, has))| HfscClass {
            // Upper limits that do not hold what is promised among them.
            rt: (has & 1 != 0 && minor > 2).then_some(rt),
            ls: Some(ls),
            ul: (has & 2 != 0).then_some(ul),
            leaf: if minor > 2 { leaves.next() } else { None },
            ..HfscClass::new(id(minor), parent)
        });
        Shape::Hfsc(HfscShape { handle: id(0), default: Some(id(4)), classes: classes.collect() })
    })
}

fn tbf() -> impl Strategy<Value = Shape> {
    (prop_oneof![any_conserving(), htb(), hfsc()], 1u64..100, 500u64..5000, any::<bool>()).prop_map(
        |(leaf, rate, burst, peak)| {
            let rate = Rate(rate * 100_000);
            let peakrate = peak.then_some(Rate(rate.0 * 2));
            Shape::Tbf(TbfShape {
                rate,
                burst: Size(burst),
                linklayer: if burst % 2 == 0 { LinkLayer::Atm } else { LinkLayer::Ethernet },
                peakrate,
                leaf: Box::new(leaf),
                ..TbfShape::default()
            })
        },
    )
}

pub(crate) fn any_shape() -> impl Strategy<Value = Shape> {
    let cake = (1u64..200).prop_flat_map(|rate| cake(Some(Rate(rate * 100_000))));
    prop_oneof![3 => any_conserving(), 1 => prio(1), 3 => htb(), 3 => hfsc(), 2 => tbf(), 2 => cake]
}

pub(crate) fn is_work_conserving(shape: &Shape) -> bool {
    match shape {
        Shape::Tbf(_) | Shape::Htb(_) | Shape::Hfsc(_) => false,
        Shape::Cake(cake) => cake.bandwidth.is_none(),
        _ => true,
    }
}

/// Classes to send to: the leaves, an inner one, one that is not there, none.
pub(crate) fn classes_of(_: &Shape) -> Vec<ClassId> {
    let mut classes: Vec<ClassId> = (1..=6).map(id).collect();
    classes.extend([id(77), ClassId::NONE, ClassId::new(10, 1)]);
    classes
}

pub(crate) fn named(shape: Shape) -> Config {
    Config::of(shape)
}
