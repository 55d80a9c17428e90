//! Packets that wait in a scheduler, and on their way to one that another worker has.
//!
//! ```text
//!  PacketBuf ─ Offered ┬──────────────────▶ PacketScheduler ─┬▶ Released ─▶ PacketBuf
//!                      └ Handing ═ring═ Handed ─▶            └▶ Left, with the reason why
//! ```
//! `sched` never looks into a packet: it copies a token about and gives each token back once, sent,
//! dropped or drained, which its property tests hold it to. Here, and nowhere else, a token becomes
//! the packet again; so no scheduler but those that `sched` builds is behind this, and no token
//! leaves this file.

use crate::handoff::{Consumer, Producer, handoff};
use crate::mbuf::Mbuf;
use crate::{PacketBuf, VECTOR};
use core::ptr::NonNull;
use sched::{Burst, Config, DropReason, Dropped, Packet, Replaced, Report, Scheduler, Sent};

/// A packet, as long as the scheduler has it.
#[derive(Clone, Copy)]
struct Token(NonNull<Mbuf>);

// SAFETY: as of the PacketBuf that it stands for.
unsafe impl Send for Token {}

impl Token {
    /// # Safety
    /// The token was given back by who was given it, and is redeemed once.
    #[inline]
    unsafe fn redeem(self) -> PacketBuf {
        // SAFETY: made of a PacketBuf (`Offered::new`); the caller's word.
        unsafe { PacketBuf::from_raw(self.0) }
    }
}

/// A packet with what a scheduler is told about it.
#[must_use = "a packet that nobody gives back is lost to its pool"]
pub struct Offered(Packet<Token>);

impl Offered {
    /// Of the facts, the handle is the packet's place.
    #[inline]
    pub fn new(packet: PacketBuf, facts: Packet<()>) -> Self {
        Self(facts.of(Token(packet.into_raw())))
    }

    /// The packet again.
    pub fn into_packet(self) -> PacketBuf {
        // SAFETY: the token was not given to anybody.
        unsafe { self.0.handle.redeem() }
    }
}

/// A packet that a scheduler does not send.
pub struct Left {
    /// The packet.
    pub packet: PacketBuf,
    /// Why it is not sent.
    pub reason: DropReason,
}

impl Left {
    #[inline]
    fn of(Dropped { handle, reason, .. }: Dropped<Token>) -> Self {
        // SAFETY: a scheduler that drops a packet has it no more.
        Self { packet: unsafe { handle.redeem() }, reason }
    }
}

/// A scheduler and the packets that wait in it. Those that it still has when it is dropped are lost
/// to their pool.
pub struct PacketScheduler(Box<dyn Scheduler<Token>>);

impl PacketScheduler {
    /// A scheduler of this configuration, if there can be one.
    pub fn new(config: &Config) -> Result<Self, sched::Error> {
        sched::build(config).map(Self)
    }

    /// The schedulers of so many workers: one, or where the configuration asks for that, a part of
    /// one tree for each.
    pub fn for_workers(config: &Config, workers: usize) -> Result<Vec<Self>, sched::Error> {
        Ok(sched::build_for(config, workers)?.into_iter().map(Self).collect())
    }

    /// Offers a packet. Every packet dropped because of it, itself or another, goes to `drops`.
    #[inline]
    pub fn enqueue(&mut self, now_ns: u64, offered: Offered, drops: &mut impl FnMut(Left)) {
        let _: sched::Verdict = self.0.enqueue(now_ns, offered.0, &mut |it| drops(Left::of(it)));
    }

    /// Offers what was handed over, up to a frame of packets; says how many they were.
    pub fn enqueue_handed(
        &mut self,
        now_ns: u64,
        from: &mut Handed,
        drops: &mut impl FnMut(Left),
    ) -> usize {
        from.ring.pop(VECTOR, &mut from.burst);
        self.0.enqueue_burst(now_ns, &from.burst, &mut |it| drops(Left::of(it)));
        let count = from.burst.len();
        from.burst.clear();
        count
    }

    /// What is due, up to `limit` packets. Those that are dropped on the way go to `drops`.
    #[inline]
    pub fn dequeue_burst(
        &mut self,
        now_ns: u64,
        limit: usize,
        into: &mut Released,
        drops: &mut impl FnMut(Left),
    ) -> Burst {
        self.0.dequeue_burst(now_ns, limit, &mut into.0, &mut |it| drops(Left::of(it)))
    }

    /// No tokens are left in it, as if bursts had just gone.
    pub fn spend(&mut self, now_ns: u64) {
        self.0.spend(now_ns);
    }

    /// How many packets wait.
    #[inline]
    pub fn waiting_packets(&self) -> u32 {
        self.0.waiting_packets()
    }

    /// Takes over what waits in `old`, in order; what there is no place for goes to `drops`.
    pub fn take_over(
        &mut self,
        old: &mut Self,
        now_ns: u64,
        drops: &mut impl FnMut(Left),
    ) -> Replaced {
        sched::take_over(&mut old.0, &mut self.0, now_ns, &mut |it| drops(Left::of(it)))
    }

    /// Takes every packet out that waits.
    pub fn drain(&mut self, now_ns: u64, out: &mut impl FnMut(PacketBuf)) {
        // SAFETY: a scheduler that gives a packet out has it no more.
        self.0.drain(now_ns, &mut |_, packet| out(unsafe { packet.handle.redeem() }));
    }

    /// Takes every packet out that waits, with what it was told of it: for another scheduler.
    pub fn drain_offered(&mut self, now_ns: u64, out: &mut impl FnMut(Offered)) {
        self.0.drain(now_ns, &mut |_, packet| out(Offered(packet)));
    }

    /// How it does.
    pub fn report(&self) -> Report {
        self.0.report()
    }
}

/// Packets that a scheduler let go.
pub struct Released(Vec<Sent<Token>>);

impl Default for Released {
    /// Room for a frame of them.
    fn default() -> Self {
        Self(Vec::with_capacity(VECTOR))
    }
}

impl Released {
    /// Takes them out in order, each with whether it is to be marked Congestion Experienced.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = (PacketBuf, bool)> + '_ {
        // SAFETY: a scheduler that lets a packet go has it no more, and none is in here twice.
        self.0.drain(..).map(|sent| (unsafe { sent.handle.redeem() }, sent.mark))
    }
}

/// The end of a ring between two workers at which packets go in.
pub struct Handing(Producer<Packet<Token>>);

/// The other end. What is still in the ring when it is dropped is lost.
pub struct Handed {
    ring: Consumer<Packet<Token>>,
    burst: Vec<Packet<Token>>,
}

/// A ring of at least so many places.
pub fn hand_over(places: usize) -> (Handing, Handed) {
    let (into, ring) = handoff(places);
    (Handing(into), Handed { ring, burst: Vec::with_capacity(VECTOR) })
}

impl Handing {
    /// Puts a packet in; it comes back where there is no room.
    #[inline]
    pub fn push(&mut self, offered: Offered) -> Result<(), Offered> {
        if self.0.push(&[offered.0]) == 0 { Err(offered) } else { Ok(()) }
    }

    /// Whether the other worker has taken all out.
    pub fn is_empty(&mut self) -> bool {
        self.0.is_empty()
    }
}

impl Handed {
    /// Takes every packet out.
    pub fn drain(&mut self, out: &mut impl FnMut(PacketBuf)) {
        self.ring.pop(usize::MAX, &mut self.burst);
        for packet in self.burst.drain(..) {
            // SAFETY: the ring gives each packet out once.
            out(unsafe { packet.handle.redeem() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeapPool, PacketCache, Pool};
    use sched::Shape;

    fn offered(cache: &mut dyn PacketCache, number: u8) -> Offered {
        Offered::new(cache.copy_of(&[number]).unwrap(), Packet::new((), 60, number.into()))
    }

    #[test]
    fn every_packet_comes_back_once_sent_dropped_or_drained() {
        let pool = HeapPool::new(16, 64).unwrap();
        let mut cache = pool.cache();
        let mut scheduler = PacketScheduler::new(&Config::of(Shape::pfifo(4))).unwrap();
        let (mut into, mut handed) = hand_over(2);
        let mut back = Vec::new();
        let mut drops = |left: Left| {
            assert_eq!(left.reason, DropReason::QueueFull);
            back.push((left.packet.bytes()[0], left.packet));
        };
        for number in 0..3 {
            scheduler.enqueue(0, offered(&mut *cache, number), &mut drops);
        }
        for number in 3..6 {
            match into.push(offered(&mut *cache, number)) {
                Ok(()) => assert!(number < 5),
                Err(refused) => cache.release_one(refused.into_packet()),
            }
        }
        // The queue holds four: the fifth is dropped.
        assert_eq!(scheduler.enqueue_handed(0, &mut handed, &mut drops), 2);
        let mut released = Released::default();
        scheduler.dequeue_burst(0, 2, &mut released, &mut drops);
        let mut next = PacketScheduler::new(&Config::of(Shape::pfifo(1))).unwrap();
        let replaced = next.take_over(&mut scheduler, 0, &mut drops);
        assert_eq!(replaced, Replaced { kept: 1, dropped: 1 });
        back.extend(released.drain().map(|(packet, mark)| {
            assert!(!mark);
            (packet.bytes()[0], packet)
        }));
        next.drain(0, &mut |packet| back.push((packet.bytes()[0], packet)));
        back.sort_by_key(|(number, _)| *number);
        let (numbers, mut packets): (Vec<_>, Vec<_>) = back.into_iter().unzip();
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        cache.release(crate::Burst::of(&mut packets));
        drop(cache);
        assert_eq!(pool.usage().free, 16);
    }
}
