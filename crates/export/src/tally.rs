//! What one worker has noted of packets since it was last asked: flows, or packets' first octets.
//!
//! ```text
//!  index   ▯▯2▯▯▯1▯   twice as long as there may be flows, by a hash with a seed of our own
//!             ╲  ╱
//!  counted   1  2      flows, in the order in which they came: who tells reads them so
//! ```
//! Of fixed size, made beforehand; what finds no room is said, never waited for. A worker writes
//! it alone, and who tells exchanges it for an empty one. A packet costs a line of the index and
//! two of what is counted; a flow takes 96 octets and 8 of the index.

use crate::flow::Packet;
use crate::sflow::Begins;

/// What was counted of a flow; times are the processor's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Its key ([`crate::Key::words`]).
    pub words: [u64; 7],
    /// Packets.
    pub packets: u64,
    /// Their octets.
    pub bytes: u64,
    /// When the first came.
    pub first: u64,
    /// When the last.
    pub last: u64,
    /// All flags of TCP that they had.
    pub tcp_flags: u8,
}

/// A packet of which first octets were kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampled {
    /// The interface that it was seen at.
    pub source: u16,
    /// The interface that it came in by; 0: unknown.
    pub input: u16,
    /// The interface that it leaves by; 0: unknown.
    pub output: u16,
    /// Packets that were seen there since the last that was kept, this one among them.
    pub of: u32,
    /// What they begin with.
    pub begins: Begins,
    /// Its octets in all.
    pub length: u32,
    /// How many of them were kept.
    pub kept: u16,
}

/// See the module.
#[derive(Debug)]
pub struct Tally {
    seed: [u64; 2],
    index: Box<[u32]>,
    counted: Vec<Counted>,
    most_counted: usize,
    sampled: Vec<Sampled>,
    octets: Vec<u8>,
    most_sampled: usize,
    /// Samples that no room was for.
    unsampled: u32,
}

impl Tally {
    /// One for so many flows. Nobody outside knows the seed.
    pub fn of_flows(most: usize, seed: u64) -> Self {
        let slots = (most.max(1) * 2).next_power_of_two();
        let index = vec![0; slots].into();
        Self { index, counted: Vec::with_capacity(most), ..Self::none(most, 0, seed) }
    }

    /// One for so many packets, of each so many octets.
    pub fn of_samples(most: usize, octets: usize) -> Self {
        let sampled = Vec::with_capacity(most);
        Self { sampled, octets: Vec::with_capacity(most * octets), ..Self::none(0, most, 0) }
    }

    fn none(most_counted: usize, most_sampled: usize, seed: u64) -> Self {
        let (index, counted, sampled, octets) = Default::default();
        let seed = [seed | 1, seed.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15];
        Self { seed, index, counted, most_counted, sampled, octets, most_sampled, unsampled: 0 }
    }

    /// Counts a packet; false where its flow is new and there is no room for it.
    #[inline]
    pub fn count(&mut self, now: u64, packet: &Packet) -> bool {
        self.count_as(now, packet, 1)
    }

    /// The same of a packet that stands for so many, itself among them.
    #[inline]
    pub fn count_as(&mut self, now: u64, packet: &Packet, many: u32) -> bool {
        let (many, octets) = (many.into(), u64::from(packet.bytes) * u64::from(many));
        let words = packet.key.words();
        let mask = self.index.len().wrapping_sub(1);
        let mut at = hash(self.seed, &words) as usize & mask;
        loop {
            let Some(slot) = self.index.get_mut(at) else { return false };
            let Some(flow) = self.counted.get_mut((*slot).wrapping_sub(1) as usize) else {
                if self.counted.len() >= self.most_counted {
                    return false;
                }
                *slot = self.counted.len() as u32 + 1;
                let (packets, bytes, tcp_flags) = (many, octets, packet.tcp_flags);
                let (first, last) = (now, now);
                self.counted.push(Counted { words, packets, bytes, first, last, tcp_flags });
                return true;
            };
            if flow.words == words {
                flow.packets += many;
                flow.bytes += octets;
                flow.last = now;
                flow.tcp_flags |= packet.tcp_flags;
                return true;
            }
            at = (at + 1) & mask;
        }
    }

    /// Keeps a packet's first octets; false where there is no room, which is counted.
    #[inline]
    pub fn sample(&mut self, sampled: Sampled, octets: &[u8]) -> bool {
        let fits = self.octets.len() + octets.len() <= self.octets.capacity();
        if self.sampled.len() >= self.most_sampled || !fits {
            self.unsampled = self.unsampled.saturating_add(1);
            return false;
        }
        self.sampled.push(Sampled { kept: octets.len() as u16, ..sampled });
        self.octets.extend_from_slice(octets);
        true
    }

    /// The flows.
    pub fn counted(&self) -> &[Counted] {
        &self.counted
    }

    /// The packets, with their first octets.
    pub fn sampled(&self) -> impl Iterator<Item = (&Sampled, &[u8])> {
        let mut rest = &self.octets[..];
        self.sampled.iter().map(move |sampled| {
            let (octets, behind) = rest.split_at_checked(sampled.kept.into()).unwrap_or_default();
            rest = behind;
            (sampled, octets)
        })
    }

    /// Packets whose first octets found no room.
    pub fn unsampled(&self) -> u32 {
        self.unsampled
    }

    /// How full it is, of 100.
    pub fn percent(&self) -> usize {
        let of = |many: usize, most: usize| many * 100 / most.max(1);
        of(self.counted.len(), self.most_counted).max(of(self.sampled.len(), self.most_sampled))
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.index.fill(0);
        self.counted.clear();
        self.sampled.clear();
        self.octets.clear();
        self.unsampled = 0;
    }
}

/// Products of pairs of words, folded: who does not know the seed makes no two the same.
#[inline]
fn hash(seed: [u64; 2], [a, b, c, d, e, f, g]: &[u64; 7]) -> u64 {
    let fold = |one: u64, other: u64| {
        let product = u128::from(one) * u128::from(other);
        (product >> 64) as u64 ^ product as u64
    };
    let [one, other] = seed;
    let first = fold(a ^ one, b ^ other);
    let second = fold(c ^ other, d ^ one.rotate_left(17));
    let third = fold(e ^ one.rotate_left(41), f ^ other.rotate_left(29));
    fold(first ^ one ^ g, second ^ third.rotate_left(7) ^ other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Hosts, Key, Place};
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn packet(number: u16, bytes: u32, tcp_flags: u8) -> Packet {
        let place = Place { input: 1, output: 0, is_sent: false };
        let key = Key {
            hosts: Hosts::V4([10, 0, 0, 1].into(), [10, 0, 0, 9].into()),
            protocol: 6,
            source_port: number,
            ..Key::from_words([0; 7])
        };
        Packet { key: Key { place, ..key }, bytes, tcp_flags }
    }

    #[test]
    fn flows_add_up_and_new_ones_are_refused_where_it_is_full() {
        let mut tally = Tally::of_flows(2, 7);
        assert!(tally.count(5, &packet(1, 100, 2)) && tally.count(6, &packet(2, 100, 0)));
        assert!(tally.count(9, &packet(1, 60, 16)) && !tally.count(9, &packet(3, 1, 0)));
        let words = packet(1, 0, 0).key.words();
        let first = Counted { words, packets: 2, bytes: 160, first: 5, last: 9, tcp_flags: 18 };
        assert_eq!((tally.counted()[0], tally.counted().len(), tally.percent()), (first, 2, 100));
        // One that stands for others.
        assert!(tally.count_as(9, &packet(1, 10, 0), 100));
        assert_eq!(
            (tally.counted()[0].packets, tally.counted()[0].bytes),
            (first.packets + 100, first.bytes + 1000)
        );
        tally.clear();
        assert!(tally.counted().is_empty() && tally.count(1, &packet(3, 1, 0)));
        assert_eq!((tally.counted()[0].packets, tally.percent()), (1, 50));
        assert!(!Tally::of_samples(1, 1).count(1, &packet(1, 1, 1)));
    }

    #[test]
    fn first_octets_are_kept_while_there_is_room() {
        let mut tally = Tally::of_samples(2, 4);
        let (begins, length) = (Begins::Ethernet, 99);
        let some = Sampled { source: 1, input: 1, output: 0, of: 3, begins, length, kept: 0 };
        assert!(tally.sample(some, &[1, 2, 3, 4]) && tally.sample(some, &[5]));
        assert!(!tally.sample(some, &[6]));
        let kept: Vec<_> = tally.sampled().map(|(it, octets)| (it.kept, octets.to_vec())).collect();
        assert_eq!(kept, [(4, vec![1, 2, 3, 4]), (1, vec![5])]);
        assert_eq!((tally.unsampled(), tally.percent()), (1, 100));
        tally.clear();
        assert_eq!((tally.sampled().count(), tally.unsampled()), (0, 0));
    }

    proptest! {
        /// A table that is written down in the plainest way counts the same.
        #[test]
        fn it_counts_as_a_plain_table_does(
            seed in any::<u64>(), most in 1usize..20,
            packets in prop::collection::vec((0u16..24, 1u32..2000), 0..200),
        ) {
            let mut tally = Tally::of_flows(most, seed);
            let mut plain: HashMap<[u64; 7], (u64, u64)> = HashMap::new();
            for (number, bytes) in packets {
                let packet = packet(number, bytes, 0);
                let words = packet.key.words();
                let has_room = plain.len() < most || plain.contains_key(&words);
                prop_assert_eq!(tally.count(1, &packet), has_room);
                if has_room {
                    let (packets, octets) = plain.entry(words).or_default();
                    (*packets, *octets) = (*packets + 1, *octets + u64::from(bytes));
                }
            }
            let counted = tally.counted().iter().map(|it| (it.words, (it.packets, it.bytes)));
            prop_assert_eq!(counted.collect::<HashMap<_, _>>(), plain);
        }
    }
}
