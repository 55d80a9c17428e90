//! From a checked configuration to the scheduler.

use crate::check::check;
use crate::config::Config;
use crate::handles::Handles;
use crate::kind::{Kind, each};
use crate::lone_fifo::LoneFifo;
use crate::memory::{memory, pool_packets};
use crate::pool::Reuse;
use crate::root::Root;
use crate::units::Size;
use crate::{Error, Scheduler};

/// Builds the scheduler that `config` describes, or says why there can be none.
///
/// All its memory is reserved here: [`memory`](crate::memory()) tells how much.
pub fn build<T: Copy + Send + 'static>(config: &Config) -> Result<Box<dyn Scheduler<T>>, Error> {
    check(config)?;
    let plan = config.root.plan();
    let handles = Handles::of(&config.root);
    let kind = plan.build(config.mtu_bytes)?;
    Ok(at_the_root(kind, pool_packets(config), plan.reuse(), handles))
}

/// The schedulers of so many workers: a part for each where the configuration asks for that, whose
/// rates and shares are those of one tree; else one, which one of them serves.
pub fn build_for<T: Copy + Send + 'static>(
    config: &Config,
    workers: usize,
) -> Result<Vec<Box<dyn Scheduler<T>>>, Error> {
    if workers < 2 || !config.is_for_all_workers() {
        return build(config).map(|one| vec![one]);
    }
    check(config)?;
    let (needed, limit) =
        (Size(memory(config).0.saturating_mul(workers as u64)), config.memory_limit);
    if needed > limit {
        return Err(Error::Memory { needed, limit });
    }
    let (plan, slots) = (config.root.plan(), pool_packets(config));
    let root = |part| -> Box<dyn Scheduler<T>> {
        Box::new(Root::new(slots, plan.reuse(), part, Handles::of(&config.root)))
    };
    Ok(plan.parts(config.mtu_bytes, workers)?.into_iter().map(root).collect())
}

/// The scheduler of this discipline alone. One concrete type for each: its code is compiled for T
/// without a call between the two.
fn at_the_root<T: Copy + Send + 'static>(
    kind: Kind,
    slots: u32,
    reuse: Reuse,
    handles: Handles,
) -> Box<dyn Scheduler<T>> {
    each!(
        kind,
        fifo => Box::new(LoneFifo::new(slots, fifo.limit, handles)),
        other => Box::new(Root::new(slots, reuse, *other, handles))
    )
}
