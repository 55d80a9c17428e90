//! Whoever is measured: ours in this process, DPDK's in this process, the kernel's in a namespace.

use crate::cases::{Case, Subject};
use crate::kernel::Kernel;
use crate::load::{Load, SLICE};
use crate::reference::{self, RteSched};

pub(crate) enum Contestant {
    Ours(Box<Load>),
    RteSched(RteSched),
    Kernel(Kernel),
}

/// What several of them share.
#[derive(Default)]
pub(crate) struct Contestants {
    dpdk_started: bool,
}

impl Contestants {
    /// Makes the one that a case is about.
    pub(crate) fn enter(&mut self, case: &Case) -> Result<Contestant, String> {
        let ours = |config| Load::new(case, config).map(Box::new).map(Contestant::Ours);
        match &case.subject {
            Subject::Nothing => ours(None).map_err(|error| error.to_string()),
            Subject::Ours(config) => ours(Some(config)).map_err(|error| error.to_string()),
            Subject::RteSched => {
                if !self.dpdk_started {
                    reference::start()?;
                    self.dpdk_started = true;
                }
                RteSched::new(case.classes).map(Contestant::RteSched)
            }
            Subject::Kernel(qdisc) => {
                Kernel::new(case.scheduler, *qdisc, case.classes).map(Contestant::Kernel)
            }
        }
    }
}

impl Contestant {
    /// Cycles a packet in the median of so many slices of packets.
    pub(crate) fn run(&mut self, slices: usize, cycles_per_ns: f64) -> Result<f64, String> {
        Ok(match self {
            Self::Ours(load) => load.run(slices) * cycles_per_ns,
            Self::RteSched(one) => {
                let mut cycles: Vec<u64> = (0..slices).map(|_| one.run(SLICE as u32)).collect();
                cycles.sort_unstable();
                cycles[slices / 2] as f64 / SLICE as f64
            }
            Self::Kernel(kernel) => kernel.run()? * cycles_per_ns,
        })
    }
}
