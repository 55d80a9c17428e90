//! sFlow 5 (sflow.org, version 5): packets' first octets, and counters of interfaces.
//!
//! ```text
//!  │ 5 │ 1: IPv4, 2: IPv6 │ agent │ sub-agent │ sequence │ uptime │ samples │ …
//!  a packet    │ 1 │ length │ sequence │ source │ rate │ pool │ drops │ in │ out │ 1 │ header: 1 │ length │ Ethernet │ …
//!  counters    │ 2 │ length │ sequence │ source │ 1 │ 1 │ 88 │ of the interface …
//! ```

use crate::out::Out;
use crate::{MOST_BYTES, Now};
use std::collections::HashMap;
use std::net::IpAddr;

/// What a packet begins with (header_protocol).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begins {
    /// The header of a frame of Ethernet.
    Ethernet = 1,
    /// That of IPv4.
    Ip4 = 11,
    /// That of IPv6.
    Ip6 = 12,
}

/// A packet that was seen.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// The interface that it was seen at.
    pub source: u32,
    /// The interface that it came in by; 0: unknown.
    pub input: u32,
    /// The interface that it leaves by; 0: unknown.
    pub output: u32,
    /// Packets that could have been seen there so far.
    pub pool: u32,
    /// Packets that should have been and were not.
    pub drops: u32,
    /// What its first octets are a header of.
    pub begins: Begins,
    /// Its octets in all, without the frame check sequence.
    pub length: u32,
    /// The first of them.
    pub header: &'a [u8],
}

/// Counters of an interface.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counters {
    /// Which.
    pub interface: u32,
    /// Bits a second.
    pub speed: u64,
    /// Whether it is to be up.
    pub admin_up: bool,
    /// Whether it is.
    pub is_up: bool,
    /// Octets, packets, drops and errors of what is received.
    pub received: [u64; 4],
    /// Of what is sent.
    pub sent: [u64; 4],
}

/// What has been told to a collector.
#[derive(Debug)]
pub struct Samples {
    agent: IpAddr,
    sub_agent: u32,
    rate: u32,
    sequence: u32,
    /// Samples of each source, of packets and of counters.
    sources: HashMap<u32, (u32, u32)>,
    waiting: Out,
    count: u32,
    /// Samples told.
    pub told: u64,
}

/// Unknown (its counters).
const UNKNOWN: u32 = u32::MAX;

impl Samples {
    /// Nothing was told yet: who tells, and that one of `rate` packets is seen.
    pub fn new(agent: IpAddr, sub_agent: u32, rate: u32) -> Self {
        let (sources, waiting) = (HashMap::new(), Out::default());
        Self { agent, sub_agent, rate, sequence: 0, sources, waiting, count: 0, told: 0 }
    }

    /// Puts a packet behind those that are to be told; what was full before is a datagram.
    pub fn packet(&mut self, now: Now, seen: &Seen<'_>) -> Option<Vec<u8>> {
        let padded = seen.header.len().next_multiple_of(4);
        let full = self.make_room(now, 8 + 32 + 8 + 16 + padded);
        let (packets, _) = self.sources.entry(seen.source).or_default();
        *packets = packets.wrapping_add(1);
        let sequence = *packets;
        let out = &mut self.waiting;
        let record = 16 + padded as u32;
        for word in [1, 32 + 8 + record, sequence, seen.source, self.rate, seen.pool, seen.drops] {
            out.u32(word);
        }
        for word in [seen.input, seen.output, 1, 1, record, seen.begins as u32] {
            out.u32(word);
        }
        // A frame has a check sequence, whose four octets are left out.
        let stripped = if seen.begins == Begins::Ethernet { 4 } else { 0 };
        for word in [seen.length + stripped, stripped, seen.header.len() as u32] {
            out.u32(word);
        }
        out.bytes(seen.header);
        out.bytes(&[0; 3][..padded - seen.header.len()]);
        self.count += 1;
        full
    }

    /// The same with the counters of an interface.
    pub fn counters(&mut self, now: Now, it: &Counters) -> Option<Vec<u8>> {
        let full = self.make_room(now, 8 + 12 + 8 + 88);
        let (_, counters) = self.sources.entry(it.interface).or_default();
        *counters = counters.wrapping_add(1);
        let sequence = *counters;
        let out = &mut self.waiting;
        for word in [2, 12 + 8 + 88, sequence, it.interface, 1, 1, 88, it.interface, 6] {
            out.u32(word);
        }
        out.u64(it.speed);
        // Of two directions; the lower bits: to be up, and up.
        out.u32(1);
        out.u32(u32::from(it.admin_up) | u32::from(it.is_up) << 1);
        let [octets, packets, drops, errors] = it.received;
        out.u64(octets);
        for word in [packets as u32, UNKNOWN, UNKNOWN, drops as u32, errors as u32, UNKNOWN] {
            out.u32(word);
        }
        let [octets, packets, drops, errors] = it.sent;
        out.u64(octets);
        for word in [packets as u32, UNKNOWN, UNKNOWN, drops as u32, errors as u32, 0] {
            out.u32(word);
        }
        self.count += 1;
        full
    }

    fn make_room(&mut self, now: Now, octets: usize) -> Option<Vec<u8>> {
        const HEADER: usize = 40;
        if HEADER + self.waiting.len() + octets > MOST_BYTES { self.flush(now) } else { None }
    }

    /// The datagram of what waits.
    pub fn flush(&mut self, now: Now) -> Option<Vec<u8>> {
        if self.count == 0 {
            return None;
        }
        let mut out = Out::default();
        out.u32(5);
        match self.agent {
            IpAddr::V4(agent) => {
                out.u32(1);
                out.bytes(&agent.octets());
            }
            IpAddr::V6(agent) => {
                out.u32(2);
                out.bytes(&agent.octets());
            }
        }
        self.sequence = self.sequence.wrapping_add(1);
        for word in [self.sub_agent, self.sequence, now.uptime_ms as u32, self.count] {
            out.u32(word);
        }
        out.bytes(&std::mem::take(&mut self.waiting).0);
        self.told += u64::from(std::mem::take(&mut self.count));
        Some(out.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now { unix_ms: 0, uptime_ms: 5000 };

    fn words(bytes: &[u8]) -> Vec<u32> {
        let (words, rest) = bytes.as_chunks::<4>();
        assert!(rest.is_empty());
        words.iter().map(|word| u32::from_be_bytes(*word)).collect()
    }

    #[test]
    fn a_packet_is_told_with_its_first_octets() {
        let mut samples = Samples::new([10, 0, 0, 9].into(), 7, 64);
        let header = [9; 61];
        let seen = Seen {
            source: 3,
            input: 3,
            output: 0,
            pool: 640,
            drops: 2,
            begins: Begins::Ethernet,
            length: 1514,
            header: &header,
        };
        assert_eq!(samples.packet(NOW, &seen), None);
        let datagram = samples.flush(NOW).unwrap();
        let words = words(&datagram);
        assert_eq!(words[..7], [5, 1, 0x0a00_0009, 7, 1, 5000, 1]);
        assert_eq!(words[7..16], [1, 32 + 8 + 80, 1, 3, 64, 640, 2, 3, 0]);
        assert_eq!(words[16..22], [1, 1, 80, 1, 1518, 4]);
        assert_eq!((words[22], datagram.len()), (61, 23 * 4 + 64));
        assert_eq!((samples.flush(NOW), samples.told), (None, 1));
        let packet = Seen { begins: Begins::Ip6, length: 1500, ..seen };
        assert_eq!(samples.packet(NOW, &packet), None);
        let datagram = samples.flush(NOW).unwrap();
        assert_eq!(self::words(&datagram)[18..22], [80, 12, 1500, 0].map(|it| it)[..]);
    }

    #[test]
    fn counters_are_told_and_full_datagrams_are_given_out() {
        let mut samples = Samples::new([10, 0, 0, 9].into(), 0, 1);
        let counters = Counters {
            interface: 3,
            speed: 10_000_000_000,
            admin_up: true,
            is_up: true,
            received: [1 << 32, 2, 3, 4],
            sent: [5, 6, 7, 8],
        };
        assert_eq!(samples.counters(NOW, &counters), None);
        let words = words(&samples.flush(NOW).unwrap());
        assert_eq!(words[7..16], [2, 108, 1, 3, 1, 1, 88, 3, 6]);
        assert_eq!(words[16..20], [2, 1_410_065_408, 1, 3]);
        assert_eq!(words[20..23], [1, 0, 2]);
        assert_eq!(words.len(), 7 + 2 + 3 + 2 + 22);
        let full: Vec<_> = (0..100).filter_map(|_| samples.counters(NOW, &counters)).collect();
        assert!(full.len() >= 8 && full.iter().all(|it| it.len() <= MOST_BYTES));
    }
}
