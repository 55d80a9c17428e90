//! From a checked configuration to the scheduler.

use crate::check::check;
use crate::config::Config;
use crate::handles::Handles;
use crate::kind::{Kind, each};
use crate::lone_fifo::LoneFifo;
use crate::memory::pool_packets;
use crate::pool::Reuse;
use crate::root::Root;
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
