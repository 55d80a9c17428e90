//! Packets of which all that is done has the form of a [`flow::Rewrite`]: megaflow by megaflow,
//! each of them in a row.

use crate::interface::run_of;
use crate::tables::FlowBridge;
use flow::{Cache, Found};
use packet::Frame;
use std::ops::Range;

/// Rewrites those that it can, and has them leave by their port. Says which: a bit for each slot,
/// of 32 at most.
pub(super) fn rewrite(
    frame: &mut Frame,
    slots: Range<usize>,
    bridge: &FlowBridge,
    cache: &Cache,
) -> u32 {
    let (first, mut start, mut done) = (slots.start, slots.start, 0);
    while start < slots.end {
        let (found, end) = run_of(&frame.adjacencies()[..slots.end], start);
        let rewrite = cache.verdict(Found(found)).and_then(|verdict| verdict.rewrite);
        let row = rewrite.and_then(|it| bridge.rows.get(&it.port)).filter(|row| !row.is_own);
        if let (Some(rewrite), Some(row)) = (rewrite, row) {
            frame.each_of(start..end, |mut packet| {
                if rewrite.apply(packet.header_mut()) {
                    packet.set_tx(row.interface);
                    if let Some(number) = rewrite.number {
                        packet.set_adjacency(number);
                    }
                    done |= 1 << (packet.index() - first);
                }
            });
        }
        start = end;
    }
    done
}
