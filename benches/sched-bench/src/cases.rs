//! What is measured: each scheduler at 1, 1 thousand and 64 thousand flows, or 10, 1 thousand and
//! 10 thousand classes.

use sched::units::{Rate, Size};
use sched::{
    CakeShape, ClassId, CodelShape, Config, Curve, FqCodelShape, HfscClass, HfscShape, HtbClass,
    HtbShape, SfqShape, Shape,
};

/// One row of the result.
pub(crate) struct Case {
    /// The scheduler's name.
    pub(crate) scheduler: &'static str,
    /// Flows that packets come from.
    pub(crate) flows: u32,
    /// Leaf classes.
    pub(crate) classes: u32,
    /// Cycles a packet aimed at.
    pub(crate) aim: Option<f64>,
    /// What is measured.
    pub(crate) subject: Subject,
}

/// Whose scheduler it is.
pub(crate) enum Subject {
    /// Nobody's: what the benchmark itself costs.
    Nothing,
    Ours(Config),
    RteSched,
    Kernel(Qdisc),
}

/// One of the kernel's schedulers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Qdisc {
    None,
    Pfifo,
    Tbf,
    Htb,
}

/// A link that all classes share.
pub(crate) const LINK: Rate = Rate(100_000_000_000);
const FLOWS: [u32; 3] = [1, 1_000, 64_000];
const CLASSES: [u32; 3] = [10, 1_000, 10_000];
/// Room for two packets of each of the most flows.
const LIMIT: u32 = 130_000;

fn flat(scheduler: &'static str, aim: Option<f64>, shape: Shape) -> impl Iterator<Item = Case> {
    FLOWS.into_iter().map(move |flows| Case {
        scheduler,
        flows,
        classes: 1,
        aim,
        subject: Subject::Ours(Config::of(shape.clone())),
    })
}

fn classful(
    scheduler: &'static str,
    aim: f64,
    shape: impl Fn(u32) -> Shape,
) -> impl Iterator<Item = Case> {
    CLASSES.into_iter().map(move |classes| Case {
        scheduler,
        flows: classes,
        classes,
        aim: (classes <= 1_000).then_some(aim),
        subject: Subject::Ours(Config::of(shape(classes))),
    })
}

fn other(scheduler: &'static str, classes: u32, subject: Subject) -> Case {
    Case { scheduler, flows: classes, classes, aim: None, subject }
}

/// The leaf class numbered `at`; 1:ffff is the class above them all.
pub(crate) fn leaf(at: u32) -> ClassId {
    ClassId::new(1, at as u16 + 1)
}

const TOP: ClassId = ClassId::new(1, 0xffff);
const HANDLE: ClassId = ClassId::new(1, 0);

fn htb(classes: u32) -> Shape {
    let share = Rate(LINK.0 / u64::from(classes) / 2);
    let mut all = vec![HtbClass::new(TOP, None, LINK)];
    all.extend((0..classes).map(|at| HtbClass {
        ceil: Some(LINK),
        quantum: Some(Size(1514)),
        ..HtbClass::new(leaf(at), Some(TOP), share)
    }));
    Shape::Htb(HtbShape { handle: HANDLE, classes: all, ..HtbShape::default() })
}

fn hfsc(classes: u32) -> Shape {
    let share = Some(Curve::straight(Rate(LINK.0 / u64::from(classes) / 2)));
    let mut all = vec![HfscClass { ls: Some(Curve::straight(LINK)), ..HfscClass::new(TOP, None) }];
    all.extend((0..classes).map(|at| HfscClass {
        rt: share,
        ls: share,
        ..HfscClass::new(leaf(at), Some(TOP))
    }));
    Shape::Hfsc(HfscShape { handle: HANDLE, default: None, classes: all })
}

/// Every case, in the order of the result.
pub(crate) fn all() -> Vec<Case> {
    let sfq = SfqShape { limit: LIMIT, flows: 65_408, divisor: 65_536, ..SfqShape::default() };
    // A rate that the link does not come to, so that the clocks are counted too.
    let cake = CakeShape {
        bandwidth: Some(Rate(2 * LINK.0)),
        memory_limit: Some(Size(u64::from(LIMIT) << 10)),
        ..CakeShape::default()
    };
    let fq_codel = FqCodelShape { limit: LIMIT, flows: 65_536, ..FqCodelShape::default() };
    let codel = CodelShape { limit: LIMIT, ..CodelShape::default() };
    let tbf = Shape::tbf(LINK, Size(100_000), Shape::pfifo(LIMIT));
    std::iter::once(other("none", 1, Subject::Nothing))
        .chain(flat("pfifo", Some(15.0), Shape::pfifo(LIMIT)))
        .chain(flat("prio", None, Shape::prio(3)).take(1))
        .chain(flat("tbf", None, tbf).take(1))
        .chain(flat("sfq", Some(60.0), Shape::Sfq(sfq)))
        .chain(flat("codel", Some(40.0), Shape::Codel(codel)))
        .chain(flat("fq_codel", Some(80.0), Shape::FqCodel(fq_codel)))
        .chain(flat("cake", None, Shape::Cake(cake)))
        .chain(classful("htb", 90.0, htb))
        .chain(classful("hfsc", 140.0, hfsc))
        .chain(CLASSES.map(|classes| other("rte_sched", classes, Subject::RteSched)))
        .chain([
            other("linux-none", 1, Subject::Kernel(Qdisc::None)),
            other("linux-pfifo", 1, Subject::Kernel(Qdisc::Pfifo)),
            other("linux-tbf", 1, Subject::Kernel(Qdisc::Tbf)),
        ])
        .chain(CLASSES.map(|classes| other("linux-htb", classes, Subject::Kernel(Qdisc::Htb))))
        .collect()
}
