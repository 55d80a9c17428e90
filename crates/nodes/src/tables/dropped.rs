//! The last packets that a worker dropped for each reason: their first octets, when, and where.
//!
//! ```text
//!  drop ── kept, at most 4 of a reason and millisecond ──▶ LastDropped ◀── read ── control thread
//! ```
//! Who drops millions a second looks at one time stamp for each, and at nothing else. Memory is
//! taken once: some 200 kB a worker. Neither side waits: while the control thread reads, a packet
//! that would be kept is not.

use graph::Reason;
use packet::PacketView;
use std::sync::{Mutex, PoisonError};

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
