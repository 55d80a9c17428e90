//! The last packets that a worker dropped for each reason: their first octets, when, and where.
//!
//! ```text
//!  drop        ┐
//!  icmp4-error ├─ kept, at most 4 of a reason and millisecond ─▶ LastDropped ◀─ read ─ control thread
//!  icmp6-error ┘
//! ```
//! Who drops millions a second looks at one time stamp for each, and at nothing else. Memory is
//! taken once: some 200 kB a worker. Neither side waits: while the control thread reads, a packet
//! that would be kept is not.

use crate::tables::Setup;
use graph::{Reason, tsc_hz};
use packet::PacketView;
use std::sync::{Arc, Mutex, PoisonError};

/// A packet that was kept stays for so long at least, in microseconds, whatever comes after it.
const KEPT_FOR: u64 = 1_000;

/// Packets kept of each reason.
pub const KEPT_PACKETS: usize = 4;
/// Octets kept of each: link, network and transport headers.
pub const KEPT_BYTES: usize = 96;

/// A packet that was dropped, as it was then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DroppedPacket {
    /// When, by the time-stamp counter; 0: there is none yet.
    pub tsc: u64,
    /// The interface that it had come in by.
    pub rx: u16,
    /// The interface that it was to leave by, where that was known.
    pub tx: u16,
    /// Octets from the frame's start to the header that the last node looked at.
    pub consumed: u16,
    /// Octets in all.
    pub length: u32,
    kept: u8,
    bytes: [u8; KEPT_BYTES],
}

impl DroppedPacket {
    const NONE: Self =
        Self { tsc: 0, rx: 0, tx: 0, consumed: 0, length: 0, kept: 0, bytes: [0; KEPT_BYTES] };

    /// A packet that is dropped now.
    pub fn of(packet: &PacketView<'_>, tsc: u64) -> Self {
        let whole = packet.whole();
        let kept = whole.len().min(KEPT_BYTES);
        let mut bytes = [0; KEPT_BYTES];
        bytes[..kept].copy_from_slice(&whole[..kept]);
        Self {
            tsc,
            rx: packet.rx(),
            tx: packet.tx(),
            consumed: u16::try_from(packet.consumed()).unwrap_or(u16::MAX),
            length: whole.len() as u32,
            kept: kept as u8,
            bytes,
        }
    }

    /// Its first octets.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.kept)]
    }
}

/// A node that keeps the last packets of its reasons; no two nodes have the same.
pub struct Keeper {
    last: Arc<LastDropped>,
    /// By reason: when each kept packet came, and which is the oldest.
    kept: Box<[Kept]>,
    /// [`KEPT_FOR`], as the time-stamp counter counts.
    kept_for: u64,
}

/// When packets of a reason were kept.
#[derive(Clone, Copy, Default)]
struct Kept {
    tsc: [u64; KEPT_PACKETS],
    oldest: usize,
}

impl Keeper {
    /// None yet.
    pub fn new(setup: &Setup) -> Self {
        Self {
            last: Arc::clone(&setup.dropped),
            kept: vec![Kept::default(); setup.counters.outbound.len()].into(),
            kept_for: tsc_hz() * KEPT_FOR / 1_000_000,
        }
    }

    /// Keeps the packet, unless those that are kept are too young to go.
    #[inline]
    pub fn keep(&mut self, reason: u16, packet: impl FnOnce() -> DroppedPacket, now_tsc: u64) {
        let Some(kept) = self.kept.get_mut(usize::from(reason)) else { return };
        if now_tsc.wrapping_sub(kept.tsc[kept.oldest]) >= self.kept_for {
            keep(&self.last, kept, reason, packet(), now_tsc);
        }
    }
}

#[cold]
#[inline(never)]
fn keep(last: &LastDropped, kept: &mut Kept, reason: u16, packet: DroppedPacket, now_tsc: u64) {
    if last.keep(reason, kept.oldest, packet) {
        kept.tsc[kept.oldest] = now_tsc;
        kept.oldest = (kept.oldest + 1) % KEPT_PACKETS;
    }
}

/// What one worker dropped last. It writes, the control thread reads.
pub struct LastDropped(Mutex<Box<[[DroppedPacket; KEPT_PACKETS]]>>);

impl LastDropped {
    /// Nothing yet, of so many reasons.
    pub fn new(reasons: &[Reason]) -> Self {
        Self(Mutex::new(vec![[DroppedPacket::NONE; KEPT_PACKETS]; reasons.len()].into()))
    }

    /// For the worker: keeps a packet in a place of its reason. False while somebody reads.
    pub fn keep(&self, reason: u16, place: usize, packet: DroppedPacket) -> bool {
        let Ok(mut reasons) = self.0.try_lock() else { return false };
        if let Some(kept) = reasons.get_mut(usize::from(reason)) {
            kept[place % KEPT_PACKETS] = packet;
        }
        true
    }

    /// All that is kept, with the numbers of their reasons, in no order.
    pub fn read(&self) -> Vec<(u16, DroppedPacket)> {
        let reasons = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let numbered = (0..).zip(reasons.iter());
        let all =
            numbered.flat_map(|(reason, kept)| kept.iter().map(move |packet| (reason, *packet)));
        all.filter(|(_, packet)| packet.tsc != 0).collect()
    }
}
