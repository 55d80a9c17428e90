//! The disciplines and their settings, with Linux's defaults.

use serde::{Deserialize, Serialize};

use crate::ClassId;
use crate::hfsc::Curve;
use crate::prio::LINUX_PRIOMAP;
use crate::units::{Rate, Size, Time};

/// One discipline and what stands under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// First in, first out, a limit in packets.
    Pfifo {
        /// The most packets that wait.
        #[serde(default = "thousand")]
        limit: u32,
    },
    /// First in, first out, a limit in bytes.
    Bfifo {
        /// The most bytes that wait.
        limit: Size,
    },
    /// Three FIFOs by priority.
    PfifoFast {
        /// The most packets that wait in each band.
        #[serde(default = "thousand")]
        limit: u32,
        /// From priority to band.
        #[serde(default = "linux_priomap")]
        priomap: [u8; 16],
    },
    /// Bands by priority, each a discipline of its own.
    Prio(PrioShape),
    /// Stochastic fair queueing.
    Sfq(SfqShape),
    /// Controlled delay.
    Codel(CodelShape),
    /// Fair queueing with controlled delay.
    FqCodel(FqCodelShape),
    /// A token bucket.
    Tbf(Box<TbfShape>),
    /// The hierarchical token bucket.
    Htb(HtbShape),
    /// The hierarchical fair service curve.
    Hfsc(HfscShape),
}

fn thousand() -> u32 {
    1000
}

fn linux_priomap() -> [u8; 16] {
    LINUX_PRIOMAP
}

fn first_handle() -> ClassId {
    ClassId::new(1, 0)
}

/// Settings of `prio`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrioShape {
    /// Its name; band 0 is class `handle:1`.
    #[serde(default = "first_handle")]
    pub handle: ClassId,
    /// The bands, the first served first.
    pub bands: Vec<Shape>,
    /// From priority to band, for packets that no filter put into a band.
    #[serde(default = "linux_priomap")]
    pub priomap: [u8; 16],
}

/// Settings of `sfq`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SfqShape {
    /// The most packets that wait.
    pub limit: u32,
    /// The most packets of one flow.
    pub depth: u32,
    /// The most flows at a time.
    pub flows: u32,
    /// Hash buckets.
    pub divisor: u32,
    /// What a flow may send in its turn; the MTU if not given.
    pub quantum: Option<Size>,
    /// How often flows are hashed anew; 0 is never.
    pub perturb: Time,
    /// Drop a longest queue's oldest packet, not its youngest.
    pub head_drop: bool,
}

impl Default for SfqShape {
    fn default() -> Self {
        Self {
            limit: 127,
            depth: 127,
            flows: 128,
            divisor: 1024,
            quantum: None,
            perturb: Time(0),
            head_drop: false,
        }
    }
}

/// Settings of `codel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CodelShape {
    /// The most packets that wait.
    pub limit: u32,
    /// The delay that is acceptable for long.
    pub target: Time,
    /// How long it may be exceeded: about the longest round trip.
    pub interval: Time,
    /// Mark packets that can be marked; else drop.
    pub ecn: bool,
    /// Mark every such packet that waited longer than this.
    pub ce_threshold: Option<Time>,
}

impl Default for CodelShape {
    fn default() -> Self {
        Self {
            limit: 1000,
            target: Time(5_000_000),
            interval: Time(100_000_000),
            ecn: false,
            ce_threshold: None,
        }
    }
}

/// Settings of `fq_codel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FqCodelShape {
    /// The most packets that wait.
    pub limit: u32,
    /// Queues that flows are hashed into.
    pub flows: u32,
    /// What a flow may send in its turn; the MTU if not given.
    pub quantum: Option<Size>,
    /// The delay that is acceptable for long.
    pub target: Time,
    /// How long it may be exceeded: about the longest round trip.
    pub interval: Time,
    /// Mark packets that can be marked; else drop.
    pub ecn: bool,
    /// Mark every such packet that waited longer than this.
    pub ce_threshold: Option<Time>,
    /// The most bytes that wait.
    pub memory_limit: Size,
    /// The most packets dropped at a time when it is full.
    pub drop_batch: u32,
}

impl Default for FqCodelShape {
    fn default() -> Self {
        Self {
            limit: 10_240,
            flows: 1024,
            quantum: None,
            target: Time(5_000_000),
            interval: Time(100_000_000),
            ecn: true,
            ce_threshold: None,
            memory_limit: Size(32 << 20),
            drop_batch: 64,
        }
    }
}

/// Settings of `tbf`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TbfShape {
    /// The long-term rate.
    pub rate: Rate,
    /// What may go at once.
    pub burst: Size,
    /// The rate at which the burst goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peakrate: Option<Rate>,
    /// What may go at once at the peak rate; the MTU if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Size>,
    /// What waits for tokens.
    pub leaf: Shape,
}

/// Settings of `htb`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HtbShape {
    /// Its name.
    #[serde(default = "first_handle")]
    pub handle: ClassId,
    /// Where packets of no class go; without one they pass unshaped, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<ClassId>,
    /// A class's quantum is its rate in bytes a second divided by this.
    #[serde(default = "ten")]
    pub r2q: u32,
    /// The most unshaped packets that wait.
    #[serde(default = "thousand")]
    pub direct_packets: u32,
    /// The classes, in any order.
    pub classes: Vec<HtbClass>,
}

fn ten() -> u32 {
    10
}

/// One class of `htb`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HtbClass {
    /// Its name.
    pub id: ClassId,
    /// The class above it; without one it stands under the discipline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ClassId>,
    /// What it gets whatever the others do.
    pub rate: Rate,
    /// What it gets at most, by borrowing; its rate if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil: Option<Rate>,
    /// What may go at once at its own rate; the MTU and 0.1 ms of the rate if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
    /// What may go at once at its ceil.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cburst: Option<Size>,
    /// Who borrows first: 0 to 7.
    #[serde(default)]
    pub prio: u8,
    /// What it sends in its turn when it borrows; from its rate if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Bytes that the link adds to every packet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overhead: u32,
    /// What waits in it; a FIFO of 1000 packets if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<Shape>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over by reference")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// Settings of `hfsc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HfscShape {
    /// Its name.
    #[serde(default = "first_handle")]
    pub handle: ClassId,
    /// Where packets of no class go; without one they are dropped, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<ClassId>,
    /// The classes, in any order.
    pub classes: Vec<HfscClass>,
}

/// One class of `hfsc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HfscClass {
    /// Its name.
    pub id: ClassId,
    /// The class above it; without one it stands under the discipline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ClassId>,
    /// Real time: what it is due whatever the others do (leaves only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rt: Option<Curve>,
    /// Link share: how it shares what is left with its brothers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ls: Option<Curve>,
    /// Upper limit: what link sharing gives it at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ul: Option<Curve>,
    /// What waits in it; a FIFO of 1000 packets if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<Shape>,
}

impl HtbClass {
    /// A class of that rate, all else by default.
    pub fn new(id: ClassId, parent: Option<ClassId>, rate: Rate) -> Self {
        Self {
            id,
            parent,
            rate,
            ceil: None,
            burst: None,
            cburst: None,
            prio: 0,
            quantum: None,
            overhead: 0,
            leaf: None,
        }
    }
}

impl HfscClass {
    /// A class without curves yet.
    pub fn new(id: ClassId, parent: Option<ClassId>) -> Self {
        Self { id, parent, rt: None, ls: None, ul: None, leaf: None }
    }
}

impl Shape {
    /// A FIFO of so many packets.
    pub fn pfifo(limit: u32) -> Self {
        Self::Pfifo { limit }
    }

    /// A FIFO of so many bytes.
    pub fn bfifo(bytes: u64) -> Self {
        Self::Bfifo { limit: Size(bytes) }
    }

    /// Linux's default discipline.
    pub fn pfifo_fast() -> Self {
        Self::PfifoFast { limit: 1000, priomap: LINUX_PRIOMAP }
    }

    /// So many bands of FIFOs.
    pub fn prio(bands: usize) -> Self {
        let mut priomap = LINUX_PRIOMAP;
        let last = bands.saturating_sub(1) as u8;
        priomap.iter_mut().for_each(|band| *band = (*band).min(last));
        let bands = vec![Self::pfifo(1000); bands];
        Self::Prio(PrioShape { handle: first_handle(), bands, priomap })
    }

    /// Stochastic fair queueing with Linux's defaults.
    pub fn sfq() -> Self {
        Self::Sfq(SfqShape::default())
    }

    /// CoDel with its defaults.
    pub fn codel() -> Self {
        Self::Codel(CodelShape::default())
    }

    /// FQ-CoDel with its defaults.
    pub fn fq_codel() -> Self {
        Self::FqCodel(FqCodelShape::default())
    }

    /// A token bucket over `leaf`.
    pub fn tbf(rate: Rate, burst: Size, leaf: Shape) -> Self {
        Self::Tbf(Box::new(TbfShape { rate, burst, peakrate: None, mtu: None, leaf }))
    }

    /// Its name, as `tc` writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Pfifo { .. } => "pfifo",
            Self::Bfifo { .. } => "bfifo",
            Self::PfifoFast { .. } => "pfifo_fast",
            Self::Prio(_) => "prio",
            Self::Sfq(_) => "sfq",
            Self::Codel(_) => "codel",
            Self::FqCodel(_) => "fq_codel",
            Self::Tbf(_) => "tbf",
            Self::Htb(_) => "htb",
            Self::Hfsc(_) => "hfsc",
        }
    }
}
