//! Flows that are under way, and those that ended (RFC 7011 section 2, RFC 5470 section 5.1.1).
//!
//! ```text
//!  packet ─▶ a flow ── silent for so long ─────▶ ended, told
//!                   ── under way for so long ──▶ told, and begun anew
//!                   ── FIN or RST of TCP ──────▶ ended, told
//!                   ── no room for others ─────▶ those of one packet are told
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
    /// When room was made last.
    made_room_ms: Option<u64>,
    /// Packets that no flow had room for.
    pub refused: u64,
}

/// Room is made this often at most: it looks at all flows.
const ROOM_MS: u64 = 100;

impl Cache {
    /// An empty one.
    pub fn new(times: Times) -> Self {
        let flows = HashMap::new();
        Self { times, flows, pushed: Vec::new(), made_room_ms: None, refused: 0 }
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
        let Packet { key, bytes, tcp_flags } = packet;
        if let Some(flow) = self.flows.get_mut(key) {
            flow.packets += 1;
            flow.bytes += u64::from(*bytes);
            flow.tcp_flags |= tcp_flags;
            flow.last_ms = now_ms;
            return;
        }
        if self.flows.len() >= self.times.most && !self.make_room(now_ms) {
            self.refused += 1;
            return;
        }
        let (tcp_flags, bytes) = (*tcp_flags, u64::from(*bytes));
        let flow = Flow { packets: 1, bytes, tcp_flags, first_ms: now_ms, last_ms: now_ms };
        self.flows.insert(*key, flow);
    }

    /// Tells the flows of one packet each: who scans fills it with those.
    fn make_room(&mut self, now_ms: u64) -> bool {
        if self.made_room_ms.is_some_and(|last| now_ms < last + ROOM_MS) {
            return false;
        }
        self.made_room_ms = Some(now_ms);
        let pushed = &mut self.pushed;
        self.flows.retain(|key, flow| {
            if flow.packets == 1 {
                pushed.push(Ended { key: *key, flow: *flow, end: End::NoRoom });
            }
            flow.packets > 1
        });
        self.flows.len() < self.times.most
    }

    /// The flows that are to be told now.
    pub fn take_ended(&mut self, now_ms: u64) -> Vec<Ended> {
        let mut ended = std::mem::take(&mut self.pushed);
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
        let mut ended = std::mem::take(&mut self.pushed);
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
    fn where_there_is_no_room_flows_of_one_packet_are_told() {
        let mut cache = Cache::new(TIMES);
        cache.count(0, &packet(1, 0));
        cache.count(0, &packet(1, 0));
        (2..=4).for_each(|last| cache.count(0, &packet(last, 0)));
        assert_eq!(cache.len(), 2);
        assert_eq!(told(&cache.take_ended(0)), [(End::NoRoom, 1, 100); 2]);
        // All have more than one packet: what is new is not counted, and that is.
        (4..=5).for_each(|last| (0..2).for_each(|_| cache.count(200, &packet(last, 0))));
        cache.count(400, &packet(6, 0));
        cache.count(400, &packet(7, 0));
        assert_eq!((cache.len(), cache.refused), (3, 2));
    }

    proptest! {
        /// No packet is told twice, none is lost but those that are said to be.
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
            assert_eq!(told + cache.refused, packets.len() as u64);
            assert_eq!(octets, told * 100);
        }
    }
}
