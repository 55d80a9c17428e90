//! What `cake` can be set to.

use super::isolation::Isolation;
use super::tin::Tin;
use super::tins::Tins;
use super::{Cake, Clock, Part};
use crate::codel_law::{CodelSettings, tick};
use crate::kind::Kind;
use crate::names::Names;
use crate::plan::{Asks, Plan};
use crate::pool::Backlog;
use crate::rate::{Link, Price};
use crate::said::Said;
use crate::settings::settings;
use crate::tc::ETHERNET_BYTES;
use crate::units::{Rate, Size, Time};
use crate::{ClassId, Error, LinkLayer};

/// Flows of a tin.
const FLOWS: u32 = 1024;
/// The least and the most that may wait, unless `memory_limit` says so, and what may at no rate.
const LEAST_BYTES: u64 = 4 << 20;
const MOST_BYTES: u64 = 64 << 20;
const UNLIMITED_BYTES: u64 = 10 << 20;
/// A packet takes no less of it than this: what waits is short of packets before it is of bytes.
const PACKET_BYTES: u64 = 1024;
/// A flow sends what takes this part of a second, within a packet.
const TURNS_PER_S: u64 = 1 << 12;
const LEAST_QUANTUM_BYTES: u64 = 300;
/// An acceptable delay is this part of a round trip.
const TARGET_PART: u64 = 20;
/// Without a rate a tin with the whole share sends so many packets in its turn.
const TIN_PACKETS: u64 = 16;

settings! {
    /// What `cake` can be set to.
    pub struct CakeShape: "cake" {
        /// Its name, as in `1:`; one is found if not given.
        handle: maybe ClassId, its_name();
        /// The rate; as fast as the link takes it if not given.
        bandwidth: maybe Rate, within(8000, u64::MAX, "8 kbit a second and more");
        /// How packets are told apart by their code points.
        tins: usual Tins = Tins::Diffserv3, tc(Tins::WORDS);
        /// What has a queue of its own, and among whom queues share.
        isolation: usual Isolation = Isolation::TripleIsolate, tc(Isolation::WORDS);
        /// Leave out acknowledgements of TCP that a later one makes needless.
        ack_filter: usual bool = false, tc(&["ack-filter"]), tc_off("no-ack-filter");
        /// A usual round trip: how long senders take to hear of a drop.
        rtt: usual Time = Time(100_000_000), within(1_000_000, 10_000_000_000, "1 ms to 10 s");
        /// Bytes that the link adds to every frame.
        overhead: usual u32 = 0, within(0, 256, "0 to 256");
        /// The least bytes that the link carries for a frame.
        mpu: usual u32 = 0, within(0, 256, "0 to 256");
        /// How the link carries a frame: `atm` in cells.
        linklayer: usual LinkLayer = LinkLayer::Ethernet;
        /// The most bytes that wait; by the rate if not given.
        memory_limit: maybe Size, within(1 << 14, 1 << 30, "16 KiB to 1 GiB"), tc(&["memlimit", "memory_limit"]);
    }
}

impl CakeShape {
    /// The most that waits.
    fn memory_bytes(&self) -> u64 {
        let by_rate =
            |rate: Rate| rate.bytes_in(self.rtt).saturating_mul(4).clamp(LEAST_BYTES, MOST_BYTES);
        let usual = || self.bandwidth.map_or(UNLIMITED_BYTES, by_rate);
        self.memory_limit.map_or_else(usual, |limit| limit.0)
    }

    /// What it is set to, as `tc` shows it.
    fn told(&self) -> String {
        let rate = self.bandwidth.map_or("unlimited".into(), |it| Said(it).to_string());
        let acks = if self.ack_filter { "ack-filter" } else { "no-ack-filter" };
        let (tins, isolation, rtt) = (self.tins, self.isolation, Said(self.rtt));
        let mut text =
            format!("bandwidth {rate} {tins} {isolation} nonat nowash {acks} split-gso rtt {rtt}");
        let cells = self.linklayer == LinkLayer::Atm;
        if (self.overhead, self.mpu, cells) == (0, 0, false) {
            text += " raw";
        } else {
            let overhead = self.overhead + ETHERNET_BYTES;
            text += &format!(" {} overhead {overhead}", if cells { "atm" } else { "noatm" });
        }
        if self.mpu != 0 {
            text += &format!(" mpu {}", self.mpu);
        }
        text + &format!(" memlimit {}", Said(Size(self.memory_bytes())))
    }

    /// A tin with this rate; CoDel waits for at least a packet and a half of it.
    fn part(&self, tin: super::tins::Tin, mtu_bytes: u32) -> Part {
        let (name, (numerator, denominator)) = (tin.name, tin.share);
        let rate = self.bandwidth.map(|whole| tin.of(whole));
        let price = rate.map(|rate| Price::new(rate, self.link()));
        let packets_ns =
            rate.map_or(0, |rate| u64::from(mtu_bytes) * 3 / 2 * 8_000_000_000 / rate.0.max(1));
        let target_ns = (self.rtt.0 / TARGET_PART).max(packets_ns);
        let interval_ns = self.rtt.0.max(target_ns.saturating_mul(2));
        let codel = CodelSettings {
            target: tick(target_ns),
            interval: tick(interval_ns),
            ce_threshold: None,
            mtu_bytes,
            ecn: true,
        };
        let mtu = u64::from(mtu_bytes);
        let by_rate = |rate: Rate| (rate.0 / 8 / TURNS_PER_S).max(LEAST_QUANTUM_BYTES).min(mtu);
        let quantum = rate.map_or(mtu, by_rate);
        let told = rate.map_or(String::new(), |rate| {
            let [target, interval] = [target_ns, interval_ns].map(|ns| Said(Time(ns)));
            format!("thresh {} target {target} interval {interval}", Said(rate))
        });
        let share = mtu * TIN_PACKETS * numerator / denominator;
        Part {
            name,
            told,
            tin: Tin::new(self.isolation, FLOWS, quantum as u32, codel),
            clock: price.map(Clock::new),
            quantum_bytes: share.max(1) as u32,
            deficit: 0,
        }
    }

    fn link(&self) -> Link {
        Link::new(self.overhead, self.mpu, self.linklayer)
    }
}

impl Plan for CakeShape {
    fn handle(&self) -> Option<ClassId> {
        self.handle
    }

    fn limit_packets(&self) -> u64 {
        self.memory_bytes() / PACKET_BYTES
    }

    fn state_bytes(&self) -> u64 {
        144 * u64::from(FLOWS) * self.tins.all().len() as u64
    }

    fn holds_back(&self) -> bool {
        self.bandwidth.is_some()
    }

    fn asks(&self) -> Asks {
        Asks { hosts: self.isolation.asks_for_hosts(), acks: self.ack_filter }
    }

    fn check(&self, names: &mut Names) -> Result<(), Error> {
        // Filters may name tins, by the number that they have.
        if let Some(handle) = self.handle {
            let tins = 1..=self.tins.all().len() as u16;
            tins.for_each(|tin| names.add_leaf(ClassId::new(handle.major(), tin)));
        }
        Ok(())
    }

    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error> {
        let cake = Cake {
            parts: self.tins.all().into_iter().map(|tin| self.part(tin, mtu_bytes)).collect(),
            major: self.handle.map(ClassId::major),
            by_code_point: self.tins.by_code_point(),
            clock: self.bandwidth.map(|rate| Clock::new(Price::new(rate, self.link()))),
            turn: 0,
            limit_packets: self.limit_packets() as u32,
            memory_limit_bytes: self.memory_bytes(),
            filters_acks: self.ack_filter,
            backlog: Backlog::default(),
            overlimits: 0,
            over_memory: 0,
            told: self.told(),
        };
        Ok(Kind::Cake(Box::new(cake)))
    }
}
