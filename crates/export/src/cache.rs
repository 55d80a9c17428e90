//! Flows that are under way, and those that ended (RFC 7011 section 2, RFC 5470 section 5.1.1).
//!
//! ```text
//!  packet ─▶ a flow ── silent for so long ─────▶ ended, told
//!                   ── under way for so long ──▶ told, and begun anew
//!                   ── FIN or RST of TCP ──────▶ ended, told
//!                   ── no room for others ─────▶ those of one packet are told, or all
//! ```
//! Bytes: some 150 a flow; as many as there is room for.

use crate::flow::{Key, Packet};
use std::collections::HashMap;

/// How long flows are waited for, and how many there are at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// One that is under way is told after so long.
    pub active_ms: u64,
    /// One that is silent has ended after so long.
    pub inactive_ms: u64,
    /// Most flows.
    pub most: usize,
}

/// What was counted of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Packets.
    pub packets: u64,
    /// Their octets.
    pub bytes: u64,
    /// All flags of TCP that they had.
    pub tcp_flags: u8,
    /// When the first was seen, since the exporter began.
    pub first_ms: u64,
    /// When the last.
    pub last_ms: u64,
}

/// Why a flow is told; its number is IPFIX's (flowEndReason).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It was silent.
    Silent = 1,
    /// It goes on.
    Active = 2,
    /// Its packets said so.
    Finished = 3,
    /// Nobody counts any more.
    Stopped = 4,
    /// There was no room.
    NoRoom = 5,
}

/// A flow that is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Which.
    pub key: Key,
    /// What was counted.
    pub flow: Flow,
    /// Why.
    pub end: End,
}

/// The flags of TCP that end a connection: FIN and RST.
const ENDS: u8 = 0x05;

/// See the module.
#[derive(Debug)]
pub struct Cache {
    times: Times,
    flows: HashMap<Key, Flow>,
    /// Told because there was no room.
    pushed: Vec<Ended>,
    /// Flows that were told because there was no room.
    pub early: u64,
}

/// Of all flows one of so many must go, or all are told: else each new one would look at all.
const ROOM: usize = 16;

impl Cache {
    /// An empty one.
    pub fn new(times: Times) -> Self {
        Self { times, flows: HashMap::new(), pushed: Vec::new(), early: 0 }
    }

    /// Flows under way.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Counts a packet.
    pub fn count(&mut self, now_ms: u64, packet: &Packet) {
        let Packet { key, bytes, tcp_flags } = *packet;
        let (bytes, times) = (u64::from(bytes), (now_ms, now_ms));
        self.add(key, Flow { packets: 1, bytes, tcp_flags, first_ms: times.0, last_ms: times.1 });
    }

    /// Counts what was counted of a flow elsewhere.
    pub fn add(&mut self, key: Key, more: Flow) {
        if let Some(flow) = self.flows.get_mut(&key) {
            flow.packets += more.packets;
            flow.bytes += more.bytes;
            flow.tcp_flags |= more.tcp_flags;
            flow.first_ms = flow.first_ms.min(more.first_ms);
            flow.last_ms = flow.last_ms.max(more.last_ms);
            return;
        }
        if self.flows.len() >= self.times.most {
            self.make_room();
        }
        self.flows.insert(key, more);
    }

    /// Tells the flows of one packet each (who scans fills it with those), or all.
    fn make_room(&mut self) {
        let Self { flows, pushed, early, times } = self;
        let before = pushed.len();
        let tell = |(key, flow): (Key, Flow)| Ended { key, flow, end: End::NoRoom };
        pushed.extend(flows.extract_if(|_, flow| flow.packets == 1).map(tell));
        if flows.len() > times.most - times.most.div_ceil(ROOM) {
            pushed.extend(flows.drain().map(tell));
        }
        *early += (pushed.len() - before) as u64;
    }

    /// The flows that were told early since the last call.
    pub fn take_early(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.pushed)
    }

    /// The flows that are to be told now. It looks at all.
    pub fn take_ended(&mut self, now_ms: u64) -> Vec<Ended> {
        let mut ended = self.take_early();
        let Times { active_ms, inactive_ms, .. } = self.times;
        self.flows.retain(|key, flow| {
            let end = if flow.tcp_flags & ENDS != 0 {
                End::Finished
            } else if now_ms >= flow.last_ms + inactive_ms {
                End::Silent
            } else if now_ms >= flow.first_ms + active_ms {
                End::Active
            } else {
                return true;
            };
            ended.push(Ended { key: *key, flow: *flow, end });
            false
        });
        ended
    }

    /// All that are under way: nobody counts any more.
    pub fn take_all(&mut self) -> Vec<Ended> {
        let mut ended = self.take_early();
        let all = self.flows.drain();
        ended.extend(all.map(|(key, flow)| Ended { key, flow, end: End::Stopped }));
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Hosts, Place};
    use proptest::prelude::*;

    const TIMES: Times = Times { active_ms: 60_000, inactive_ms: 15_000, most: 3 };

    fn packet(last: u8, tcp_flags: u8) -> Packet {
        let place = Place { input: 1, output: 0, is_sent: false };
        let key = Key {
            place,
            vlan: 0,
            stations: ([0; 6], [0; 6]),
            hosts: Hosts::V4([10, 0, 0, last].into(), [10, 0, 0, 9].into()),
            protocol: 6,
            class: 0,
            source_port: 1,
            destination_port: 2,
            observed: (0, 0),
        };
        Packet { key, bytes: 100, tcp_flags }
    }

    fn told(ended: &[Ended]) -> Vec<(End, u64, u64)> {
        ended.iter().map(|it| (it.end, it.flow.packets, it.flow.bytes)).collect()
    }

    #[test]
    fn a_flow_is_told_when_it_is_silent_and_when_it_lasts() {
        let mut cache = Cache::new(TIMES);
        cache.count(0, &packet(1, 0));
        cache.count(10_000, &packet(1, 0));
        assert_eq!(cache.take_ended(24_999), []);
        assert_eq!(told(&cache.take_ended(25_000)), [(End::Silent, 2, 200)]);
        assert!(cache.is_empty());
        (0..=6).for_each(|ten| cache.count(30_000 + ten * 10_000, &packet(1, 0)));
        assert_eq!(told(&cache.take_ended(90_000)), [(End::Active, 7, 700)]);
        cache.count(90_001, &packet(1, 0x11));
        let ended = cache.take_ended(90_001);
        assert_eq!((told(&ended), ended[0].flow.tcp_flags), (vec![(End::Finished, 1, 100)], 0x11));
        cache.count(90_002, &packet(2, 0));
        assert_eq!(told(&cache.take_all()), [(End::Stopped, 1, 100)]);
    }

    #[test]
    fn where_there_is_no_room_flows_are_told_early() {
        let mut cache = Cache::new(TIMES);
        cache.count(0, &packet(1, 0));
        cache.count(0, &packet(1, 0));
        (2..=4).for_each(|last| cache.count(0, &packet(last, 0)));
        assert_eq!((cache.len(), cache.early), (2, 2));
        assert_eq!(told(&cache.take_ended(0)), [(End::NoRoom, 1, 100); 2]);
        // All have more than one packet: all are told.
        (4..=5).for_each(|last| (0..2).for_each(|_| cache.count(200, &packet(last, 0))));
        cache.count(400, &packet(6, 0));
        assert_eq!((cache.len(), cache.early), (1, 5));
        let mut early = told(&cache.take_ended(400));
        early.sort_unstable_by_key(|(_, packets, _)| *packets);
        let all = [(End::NoRoom, 2, 200), (End::NoRoom, 2, 200), (End::NoRoom, 3, 300)];
        assert_eq!(early, all);
    }

    proptest! {
        /// No packet is told twice, and none is lost.
        #[test]
        fn all_packets_are_told_once(
            packets in prop::collection::vec((0u64..2_000, 0u8..6, any::<bool>()), 1..200),
        ) {
            let mut cache = Cache::new(TIMES);
            let (mut now_ms, mut told, mut octets) = (0, 0, 0);
            let mut sum = |ended: Vec<Ended>| {
                told += ended.iter().map(|it| it.flow.packets).sum::<u64>();
                octets += ended.iter().map(|it| it.flow.bytes).sum::<u64>();
            };
            for (after_ms, last, ends) in &packets {
                now_ms += after_ms;
                cache.count(now_ms, &packet(*last, if *ends { 1 } else { 0 }));
                assert!(cache.len() <= TIMES.most);
                if after_ms % 3 == 0 {
                    sum(cache.take_ended(now_ms));
                }
            }
            sum(cache.take_all());
            assert!(cache.is_empty());
            assert_eq!(told, packets.len() as u64);
            assert_eq!(octets, told * 100);
        }
    }
}
