//! Sends one frame out of several interfaces, without copying its payload where that can be.
//!
//! ```text
//!  frame ─▶ targets: own stations, those that need a copy, the others ┬▶ a copy, or one more reference, each
//!                                                                     └▶ the buffer itself by the last
//! ```
//! All references show the same bytes, so nobody behind this node may change them: ports send them
//! as they are. An interface that puts something in front of its frames (a tag, a tunnel's
//! headers), or lets them wait, gets a copy of its own. How many targets have theirs stands where
//! the interface to leave by will be; where an adjacency would be there may be a number that flows
//! gave the packet, which goes along.

use crate::l2::l2_forward::hand_in;
use crate::tables::{Interface, Link, WorkerCounters};
use graph::{Context, Exit};
use packet::PacketView;

/// The exits of a node that sends copies.
pub(crate) trait Ways: Exit + Copy {
    /// To a port.
    const OUTPUT: Self;
    /// To the router's own station.
    const OWN: Self;
    /// To the router's own station, which has features.
    const OWN_FEATURES: Self;
    /// The same node again: there are ports left, and no room.
    const AGAIN: Self;
    /// No port is to have it.
    const NOWHERE: Self;
    /// No buffer for a copy.
    const NO_BUFFER: Self;
}

/// Exits that have the usual names.
macro_rules! usual_ways {
    ($exit:ty) => {
        impl $crate::l2::copies::Ways for $exit {
            const OUTPUT: Self = Self::Output;
            const OWN: Self = Self::Own;
            const OWN_FEATURES: Self = Self::OwnFeatures;
            const AGAIN: Self = Self::Again;
            const NOWHERE: Self = Self::Nowhere;
            const NO_BUFFER: Self = Self::NoBuffer;
        }
    };
}
pub(crate) use usual_ways;

/// An interface that is to send a frame, and by which exit.
#[derive(Clone, Copy)]
pub(crate) struct Target<W> {
    pub(crate) interface: u16,
    exit: W,
    holds: Holds,
}

/// What a target gets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    /// A copy, for the router itself.
    Own,
    /// A copy.
    Copy,
    /// A reference.
    Reference,
}

impl<W: Ways> Target<W> {
    pub(crate) fn new(interface: u16, row: &Interface) -> Self {
        let (exit, holds) = match row.link {
            Link::Bridge if row.input.is_empty() => (W::OWN, Holds::Own),
            Link::Bridge => (W::OWN_FEATURES, Holds::Own),
            _ if row.sends_unchanged() => (W::OUTPUT, Holds::Reference),
            _ => (W::OUTPUT, Holds::Copy),
        };
        Self { interface, exit, holds }
    }
}

/// Puts targets into the order in which they are served: copies are made before anybody else holds
/// the buffer.
pub(crate) fn sort<W>(targets: &mut [Target<W>]) {
    // An unstable sort allocates nothing; each target's number keeps their order.
    targets.sort_unstable_by_key(|target| (target.holds, target.interface));
}

/// Sends to each target but the last, as far as there is room.
#[inline(always)]
pub(crate) fn send<W: Ways>(
    mut packet: PacketView<'_>,
    targets: &[Target<W>],
    counters: &WorkerCounters,
    context: &mut Context<'_>,
) -> W {
    let Some((&last, others)) = targets.split_last() else { return W::NOWHERE };
    let rx = packet.rx();
    let done = usize::from(packet.tx());
    let number = packet.adjacency();
    let others = others.get(done..).unwrap_or_default();
    let (now, later) = others.split_at(others.len().min(context.room()));
    let copies = now.iter().take_while(|target| target.holds != Holds::Reference).count();
    let (to_copy, to_share) = now.split_at(copies);
    for &target in to_copy {
        let Some(copy) = packet.copy(context.cache) else { return W::NO_BUFFER };
        if let Ok(mut copy) = context.emit(copy, rx, target.exit) {
            copy.advance(packet.consumed());
            copy.set_adjacency(number);
            copy.set_remote(packet.remote());
            copy.set_local(packet.local());
            hand_over(copy, target, counters);
        }
    }
    if !to_share.is_empty() {
        let references = packet.share(to_share.len() as u16);
        for (target, reference) in to_share.iter().zip(references) {
            if let Ok(mut copy) = context.emit_shared(reference, rx, W::OUTPUT) {
                copy.set_tx(target.interface);
            }
        }
    }
    if later.is_empty() {
        hand_over(packet, last, counters);
        return last.exit;
    }
    packet.set_tx((done + now.len()) as u16);
    W::AGAIN
}

fn hand_over<W>(mut packet: PacketView<'_>, target: Target<W>, counters: &WorkerCounters) {
    match target.holds {
        Holds::Own => hand_in(counters, packet, target.interface),
        _ => packet.set_tx(target.interface),
    }
}
