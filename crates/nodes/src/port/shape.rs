//! Lets packets wait for their turn: the scheduler of each shaped port stands here, on the one
//! worker that owns it, or a part of it on each.
//!
//! ```text
//!  interface_output ┬▶ shape ┬ owner: classify ─▶ scheduler ─ when due ─▶ port_tx
//!  vlan_output ─────┘        │                       ▲   └─ dropped ─▶ drop, by reason
//!                            └ others: classify ─▶ ring (full: drop), doorbell
//! ```
//! Packets that wait are this node's, not the engine's: they are taken, and emitted when the
//! scheduler lets them go, at most a frame of them a call. The clock is the TSC as it stood when
//! the pass began; where packets wait and the worker comes late, a scheduler's time goes on from
//! where it stood (`time`). A worker on which nothing waits never calls this node but with packets
//! for a shaped port. What leaves is counted here: on the way in nobody knew yet whether it would.

mod time;

use self::time::{Clock, Due, STEP_NS};
use crate::filter::Mark;
use crate::port::{Classifier, ForwardedIn, mark_congestion};
use crate::tables::{
    HandOver, Interface, Interfaces, Leftover, Link, Outcome, Setup, ShapeLetter, ShapeLetters,
    Shaper, WorkerCounters,
};
use graph::{Context, ExitIndex, Exits, Node, Published, Role};
use packet::{Frame, Left, Offered, PacketBuf, PacketView, Released, VECTOR};
use sched::{Burst, DropReason, Replaced, WaitingRoom};
use std::collections::VecDeque;
use std::sync::Arc;

/// Packets that may wait to be emitted before memory for them has to be found.
const OWED: usize = 4096;

/// No port has this number: there are no more than [`crate::tables::MOST_INTERFACES`].
const NO_PORT: u16 = u16::MAX;

/// What leaves by the interface waits for its turn in a scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shaped;

/// See the module.
pub struct Shape {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    letters: Arc<ShapeLetters>,
    room: Arc<WaitingRoom>,
    clock: Clock,
    owned: Vec<Owned>,
    handing: Vec<Way>,
    /// Which owned port goes first this time.
    turn: usize,
    released: Released,
    /// Packets that leave as soon as there is room to emit them.
    owed: VecDeque<(PacketBuf, Exit)>,
}

/// A shaped port of this worker.
struct Owned {
    shaper: Shaper,
    due: Due,
}

/// A port that another worker owns.
struct Way {
    to: HandOver,
    /// The owner has not taken yet all that waited here before it had the port.
    catching_up: bool,
    /// For what the ring had no room meanwhile.
    behind: VecDeque<Offered>,
    /// Something was put in that the bell was not rung for yet.
    pushed: bool,
}

impl Way {
    /// Puts a packet in, behind what waited here.
    #[inline]
    fn push(&mut self, offered: Offered) -> Result<(), Offered> {
        if !self.catching_up {
            self.to.ring.push(offered)?;
            self.pushed = true;
        } else if self.behind.len() < OWED {
            self.behind.push_back(offered);
        } else {
            return Err(offered);
        }
        Ok(())
    }
}

graph::exits! {
    /// What becomes of a packet for a shaped port.
    pub enum Exit {
        /// Its time has come.
        Release => node "port-tx",
        /// Nothing shapes the port: it passes as it is.
        Unshaped => node "port-tx",
        /// The ring to the worker that owns the port is full.
        HandoverFull => drop "The worker that owns the port is overloaded: `volley show workers`; \
            give it fewer ports, or the router more workers.",
        /// Its queue was full when it came.
        QueueFull => drop "Nothing, where senders adapt: this is how they hear that the rate is \
            reached. `volley show qos` tells; else raise rate or `limit`.",
        /// Another packet needed room, and it stood in the longest queue.
        LongestQueue => drop "Nothing: the flow that takes most gives way. `volley show qos` \
            tells; raise `limit` or the rate if all of it is wanted.",
        /// CoDel: packets had waited too long for too long.
        Delay => drop "Nothing: senders hear so that they are too fast. `volley show qos` tells; \
            raise the rate if the link has more.",
        /// No filter names a class for it, and there is no default class.
        NoClass => drop "Name a `default` class, or add a filter that fits: `volley qos filter`.",
        /// Longer than a token bucket ever holds tokens for.
        TooLong => drop "Raise the `burst` above the port's MTU.",
        /// A later acknowledgement of its flow says as much.
        Acknowledged => drop "Nothing: the later one takes its place. `ack_filter` of `cake` switches \
            it off.",
        /// As many packets wait as the pool has buffers for, at this port and at others.
        NoBuffers => drop "Raise `buffers` in [memory], or lower the `limit` of the schedulers: \
            more may wait than there is room for.",
        /// As many packets wait as the scheduler has memory for.
        PoolExhausted => drop "Lower the `limit` of the scheduler's classes, or shape fewer \
            packets: `volley show qos` tells where they wait.",
        /// It still waited when its port went away.
        PortGone => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

impl From<DropReason> for Exit {
    fn from(reason: DropReason) -> Self {
        match reason {
            DropReason::QueueFull => Self::QueueFull,
            DropReason::LongestQueue => Self::LongestQueue,
            DropReason::Delay => Self::Delay,
            DropReason::NoClass => Self::NoClass,
            DropReason::TooLong => Self::TooLong,
            DropReason::Acknowledged => Self::Acknowledged,
            DropReason::PoolExhausted => Self::PoolExhausted,
        }
    }
}

impl Node for Shape {
    const NAME: &'static str = "shape";
    const ABOUT: &'static str = "lets packets of shaped ports wait for their turn";
    const ROLE: Role = Role::Timed;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            counters: Arc::clone(&setup.counters),
            letters: Arc::clone(&setup.shape),
            room: Arc::clone(&setup.shared.waiting_room),
            clock: Clock::new(),
            owned: Vec::new(),
            handing: Vec::new(),
            turn: 0,
            released: Released::default(),
            owed: VecDeque::with_capacity(OWED),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        if !self.letters.are_read() {
            self.read_letters(context.now_tsc);
        }
        let now_ns = self.clock.ns(context.now_tsc);
        if !frame.is_empty() {
            self.admit(now_ns, frame, exits, context);
        }
        if self.handing.iter().any(|way| way.catching_up) {
            self.hand_over_what_waited(context);
        }
        self.release(now_ns, context);
    }
}

impl Shape {
    /// Takes each packet of the frame to the scheduler of its port, or to the worker that has it.
    fn admit(
        &mut self,
        now_ns: u64,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let now_tsc = context.now_tsc;
        let Self { owned, handing, owed, counters, .. } = self;
        exits.each(frame, |packet| {
            let row = interfaces.get(packet.tx());
            let port = row.map_or(NO_PORT, |row| row.port);
            let rx = packet.rx();
            let forwarded_in = || forwarded_in(interfaces, row, rx);
            if let Some(Owned { shaper, due }) = owned.iter_mut().find(|it| it.shaper.port == port)
            {
                if !shaper.share.take(1) {
                    return Exit::NoBuffers.into();
                }
                let facts = describe(&shaper.classifier, packet, forwarded_in, now_tsc);
                if let Some(packet) = packet.take() {
                    let offered = Offered::new(packet, facts);
                    let time_ns = due.resume(now_ns);
                    shaper.scheduler.enqueue(time_ns, offered, &mut drops_to(owed));
                    return ExitIndex::TAKEN;
                }
            }
            if let Some(way) = handing.iter_mut().find(|way| way.to.port == port) {
                let facts = describe(&way.to.classifier, packet, forwarded_in, now_tsc);
                if let Some(taken) = packet.take() {
                    if let Err(refused) = way.push(Offered::new(taken, facts)) {
                        packet.put_back(refused.into_packet());
                        return Exit::HandoverFull.into();
                    }
                    return ExitIndex::TAKEN;
                }
            }
            // Of no shaped port, or one that others hold, too: nobody may make that wait.
            count(counters, row, packet.tx(), packet.length() as u32);
            Exit::Unshaped.into()
        });
        for way in self.handing.iter_mut().filter(|way| way.pushed) {
            way.pushed = false;
            way.to.doorbell.ring();
        }
    }

    /// Hands over what waited here before another worker had the port, as its ring has room.
    #[cold]
    fn hand_over_what_waited(&mut self, context: &mut Context<'_>) {
        for Way { to, behind, catching_up, .. } in &mut self.handing {
            if !*catching_up {
                continue;
            }
            *catching_up = !behind.is_empty() || !to.ring.is_empty();
            while let Some(offered) = behind.pop_front() {
                if let Err(refused) = to.ring.push(offered) {
                    behind.push_front(refused);
                    break;
                }
            }
            if *catching_up {
                context.call_at(context.now_tsc);
            }
            to.doorbell.ring();
        }
    }

    /// Emits what is due, then what else leaves, and says when to be called again.
    fn release(&mut self, now_ns: u64, context: &mut Context<'_>) {
        let ports = self.owned.len();
        self.turn = if ports == 0 { 0 } else { (self.turn + 1) % ports };
        for at in (self.turn..ports).chain(0..self.turn) {
            self.release_port(at, now_ns, context);
        }
        while context.room_to_emit() != 0
            && let Some((packet, exit)) = self.owed.pop_front()
        {
            emit(&self.interfaces, &self.counters, packet, exit, context);
        }
        if !self.owed.is_empty() {
            context.call_at(context.now_tsc);
        }
    }

    fn release_port(&mut self, at: usize, now_ns: u64, context: &mut Context<'_>) {
        let Self { owned, released, owed, clock, .. } = self;
        let Owned { shaper, due } = &mut owned[at];
        let mut time_ns = due.resume(now_ns);
        for ring in &mut shaper.handed {
            // What finds no room stays in the ring, which drops when it is full.
            if !shaper.share.take(VECTOR) {
                break;
            }
            if shaper.scheduler.enqueue_handed(time_ns, ring, &mut drops_to(owed)) == VECTOR {
                context.call_at(context.now_tsc);
            }
        }
        *due = Due::default();
        while shaper.scheduler.waiting_packets() != 0 {
            let room = context.room_to_emit();
            let burst =
                shaper.scheduler.dequeue_burst(time_ns, room, released, &mut drops_to(owed));
            for (mut packet, mark) in released.drain() {
                if mark {
                    mark_congestion(packet.bytes_mut());
                }
                emit(&self.interfaces, &self.counters, packet, Exit::Release, context);
            }
            match burst {
                // The worker was away, and more was due meanwhile.
                Burst::Wait(until_ns) if until_ns <= now_ns && time_ns < now_ns => {
                    time_ns = until_ns.max(time_ns + STEP_NS).min(now_ns);
                }
                Burst::Wait(until_ns) => {
                    *due = Due::at(until_ns);
                    context.call_at(clock.tsc(until_ns));
                    break;
                }
                Burst::More => {
                    *due = Due::at(time_ns);
                    context.call_at(context.now_tsc);
                    break;
                }
                Burst::Empty => break,
            }
        }
        shaper.share.count(shaper.scheduler.waiting_packets() as usize, &self.room);
    }

    #[cold]
    fn read_letters(&mut self, now_tsc: u64) {
        let now_ns = self.clock.ns(now_tsc);
        let letters = Arc::clone(&self.letters);
        letters.read(|letter| match letter {
            ShapeLetter::Own(shaper, reply) => {
                let outcome = self.own(*shaper, now_ns);
                // The control thread may have lost its patience.
                let _heard = reply.send(outcome);
            }
            ShapeLetter::Disown(port, leftover, reply) => {
                let outcome = self.disown(port, leftover, now_ns);
                let _heard = reply.send(outcome);
            }
            ShapeLetter::HandOver(way) => self.hand_over(*way, now_ns),
            ShapeLetter::Keep(port) => self.keep(port),
            ShapeLetter::HandedAll(port) => self.take_in_all(port, now_ns),
            ShapeLetter::Tell(port, reply) => {
                if let Some(Owned { shaper, .. }) =
                    self.owned.iter().find(|it| it.shaper.port == port)
                {
                    let _heard = reply.send(shaper.scheduler.report());
                }
            }
        });
    }

    /// Another worker has the port from now on, and what waits in a part that was here.
    fn hand_over(&mut self, to: HandOver, now_ns: u64) {
        if let Some(had) = self.handing.iter_mut().find(|had| had.to.port == to.port) {
            had.to.classifier = to.classifier;
            return;
        }
        let mut behind = VecDeque::new();
        if let Some(at) = self.owned.iter().position(|it| it.shaper.port == to.port) {
            let Owned { mut shaper, due } = self.owned.swap_remove(at);
            let time_ns = due.resume(now_ns);
            shaper.scheduler.drain_offered(time_ns, &mut |offered| behind.push_back(offered));
            shaper.share.count(0, &self.room);
        }
        self.handing.push(Way { to, catching_up: !behind.is_empty(), behind, pushed: false });
    }

    fn keep(&mut self, port: u16) {
        let Some(at) = self.handing.iter().position(|way| way.to.port == port) else { return };
        let behind = self.handing.swap_remove(at).behind;
        let behind = behind.into_iter().map(|it| (it.into_packet(), Exit::HandoverFull));
        self.owed.extend(behind);
    }

    /// Takes in the last of what was handed over.
    fn take_in_all(&mut self, port: u16, now_ns: u64) {
        let Self { owned, owed, .. } = self;
        let Some(Owned { shaper, due }) = owned.iter_mut().find(|it| it.shaper.port == port) else {
            return;
        };
        let time_ns = due.resume(now_ns);
        for mut ring in std::mem::take(&mut shaper.handed) {
            let scheduler = &mut shaper.scheduler;
            while scheduler.enqueue_handed(time_ns, &mut ring, &mut drops_to(owed)) != 0 {}
        }
    }

    fn own(&mut self, mut shaper: Shaper, now_ns: u64) -> Outcome {
        if let Some(at) = self.handing.iter().position(|way| way.to.port == shaper.port) {
            // It has a part of its own from now on.
            let Way { behind, .. } = self.handing.swap_remove(at);
            for offered in behind {
                shaper.scheduler.enqueue(now_ns, offered, &mut drops_to(&mut self.owed));
            }
        }
        let found = self.owned.iter_mut().find(|it| it.shaper.port == shaper.port);
        let Some(Owned { shaper: had, due }) = found else {
            shaper.share.count(0, &self.room);
            if shaper.spent {
                shaper.scheduler.spend(now_ns);
            }
            self.owned.push(Owned { shaper, due: Due::default() });
            return Outcome { old: None, packets: Replaced::default() };
        };
        let (old, new) = (&mut had.scheduler, &mut shaper.scheduler);
        let packets = new.take_over(old, due.resume(now_ns), &mut drops_to(&mut self.owed));
        std::mem::swap(old, new);
        had.classifier = shaper.classifier;
        if had.handed.is_empty() {
            had.handed = shaper.handed;
        }
        Outcome { old: Some(shaper.scheduler), packets }
    }

    fn disown(&mut self, port: u16, leftover: Leftover, now_ns: u64) -> Outcome {
        let Some(at) = self.owned.iter().position(|it| it.shaper.port == port) else {
            return Outcome { old: None, packets: Replaced::default() };
        };
        let Owned { mut shaper, due } = self.owned.swap_remove(at);
        let before = self.owed.len();
        let exit = match leftover {
            Leftover::Sent => Exit::Unshaped,
            Leftover::Dropped => Exit::PortGone,
        };
        let owed = &mut self.owed;
        let mut leave = |packet| owed.push_back((packet, exit));
        shaper.scheduler.drain(due.resume(now_ns), &mut leave);
        shaper.handed.iter_mut().for_each(|ring| ring.drain(&mut leave));
        shaper.share.count(0, &self.room);
        let count = (owed.len() - before) as u64;
        let packets = match leftover {
            Leftover::Sent => Replaced { kept: count, dropped: 0 },
            Leftover::Dropped => Replaced { kept: 0, dropped: count },
        };
        Outcome { old: Some(shaper.scheduler), packets }
    }
}

/// The caller has seen that there is room.
fn emit(
    interfaces: &Published<Interfaces>,
    counters: &WorkerCounters,
    packet: PacketBuf,
    exit: Exit,
    context: &mut Context<'_>,
) {
    let interfaces = interfaces.get(context);
    let (rx, tx) = (packet.rx(), packet.tx());
    match context.emit(packet, rx, exit) {
        Ok(mut view) => {
            view.set_tx(tx);
            if matches!(exit, Exit::Release | Exit::Unshaped) {
                count(counters, interfaces.get(tx), tx, view.length() as u32);
            }
        }
        Err(packet) => context.cache.release_one(packet),
    }
}

/// Where a scheduler's drops go: each leaves by its reason's exit when there is room.
fn drops_to(owed: &mut VecDeque<(PacketBuf, Exit)>) -> impl FnMut(Left) {
    |left| owed.push_back((left.packet, left.reason.into()))
}

/// What the scheduler is told of a packet, which is marked if the filter that takes it says so.
fn describe<'a>(
    classifier: &Classifier,
    packet: &mut PacketView<'_>,
    forwarded_in: impl FnOnce() -> ForwardedIn<'a>,
    now_tsc: u64,
) -> sched::Packet<()> {
    let queue = || packet.queue(now_tsc);
    let (facts, dscp) = classifier.describe(packet.header(), forwarded_in, queue);
    if dscp.is_some() {
        Mark { dscp, pcp: None }.write(packet.header_mut(), false);
    }
    facts
}

/// The bridge and the VRF that a packet was forwarded in: those of the interface it leaves by, else
/// of the one it came by.
fn forwarded_in<'a>(
    interfaces: &'a Interfaces,
    leaves_by: Option<&'a Interface>,
    rx: u16,
) -> ForwardedIn<'a> {
    let came_by = interfaces.get(rx);
    let either = |name: fn(&Interface) -> &str| {
        let mut names = [leaves_by, came_by].into_iter().flatten().map(name);
        names.find(|name| !name.is_empty()).unwrap_or("")
    };
    ForwardedIn { bridge: either(|row| &row.bridge_name), vrf: either(|row| &row.vrf_name) }
}

/// Counts what an interface sends as `interface-output` and `vlan-output` do for those that do not
/// wait: a sub-interface without the tags that it got since, and its port with them.
#[inline]
fn count(counters: &WorkerCounters, row: Option<&Interface>, tx: u16, length_bytes: u32) {
    let bytes = u64::from(length_bytes);
    let tags = match row.map(|row| row.link) {
        Some(Link::Vlan(vlan)) => {
            counters.count_sent(vlan.parent, 1, bytes);
            vlan.tag_bytes() as u64
        }
        _ => 0,
    };
    counters.count_sent(tx, 1, bytes.saturating_sub(tags));
}

#[cfg(test)]
mod tests;
