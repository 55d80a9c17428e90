//! The headers of copies that go to an analyser far away (ERSPAN, draft-foschiano-erspan-03),
//! between the outer IP header and the frame.
//!
//! ```text
//!  │ GRE, with a sequence number  8 │ ERSPAN type II 8, type III 12 │ frame …
//!
//!  II   │ 1 (4) │ VLAN (12) │ COS (3) │ En (2)  │ T (1) │ session (10) │ 0 (12) │ index (20) │
//!  III  │ 2 (4) │ VLAN (12) │ COS (3) │ BSO (2) │ T (1) │ session (10) │ time (32)           │
//!       │ SGT (16) │ P (1) │ FT (5) │ hardware (6) │ D (1) │ Gra (2) │ O (1) │
//! ```
//! Who copies tells what a frame does not say of itself, in its adjacency ([`CopyTold`]). The
//! sequence goes on when the tables of interfaces are written anew.

use crate::tables::{Erspan, ErspanVersion};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wire::{gre, vlan};

/// Octets of the GRE header.
const GRE_BYTES: usize = gre::Header::LEN + 4;
/// GRE's type of what is inside.
const TYPE_II: u16 = 0x88be;
const TYPE_III: u16 = 0x22eb;
/// Time stamps a second: 100 us each (section 4.3.1.3, Gra 0).
const STAMPS_PER_SECOND: u64 = 10_000;

/// What is told of a copy, beside the frame itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CopyTold {
    /// Only the beginning of the frame was copied.
    pub truncated: bool,
    /// The port sent the frame; else it received it.
    pub sent: bool,
    /// The VLAN whose tag the frame has on the wire, and not here.
    pub vlan: Option<u16>,
}

impl CopyTold {
    /// As a packet's adjacency says it.
    pub fn to_bits(self) -> u32 {
        let vlan = self.vlan.map_or(0, |vlan| u32::from(vlan) << 16 | 4);
        vlan | u32::from(self.sent) << 1 | u32::from(self.truncated)
    }

    /// What an adjacency says.
    pub fn of_bits(bits: u32) -> Self {
        let vlan = (bits & 4 != 0).then_some((bits >> 16) as u16 & 0x0fff);
        Self { truncated: bits & 1 != 0, sent: bits & 2 != 0, vlan }
    }
}

/// The number of the next copy, of all workers.
#[derive(Clone, Debug, Default)]
pub struct Sequence(pub Arc<AtomicU32>);

impl PartialEq for Sequence {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Writes a tunnel's headers of copies.
#[derive(Clone, Debug)]
pub(super) struct CopyHeaders {
    shape: Erspan,
    sequence: Sequence,
    tsc_per_stamp: u64,
}

impl CopyHeaders {
    pub(super) fn new(shape: Erspan, sequence: Sequence) -> Self {
        let tsc_per_stamp = (graph::tsc_hz() / STAMPS_PER_SECOND).max(1);
        Self { shape, sequence, tsc_per_stamp }
    }

    /// Writes them at the start of `packet`, for the frame behind them.
    #[inline(never)]
    pub(super) fn write(&self, packet: &mut [u8], told: CopyTold, now_tsc: u64) {
        let Some((headers, frame)) = packet.split_at_mut_checked(erspan_bytes(self.shape.version))
        else {
            return;
        };
        let (gre, erspan) = headers.split_at_mut(GRE_BYTES);
        let (version, kind) = match self.shape.version {
            ErspanVersion::II => (1, TYPE_II),
            ErspanVersion::III => (2, TYPE_III),
        };
        if let Some(mut header) = gre::HeaderMut::new(gre) {
            header.set_flags(gre::SEQUENCE);
            header.set_ethertype(kind);
        }
        let sequence = match fib::only_looks() {
            false => self.sequence.0.fetch_add(1, Ordering::Relaxed),
            true => self.sequence.0.load(Ordering::Relaxed),
        };
        gre[gre::Header::LEN..].copy_from_slice(&sequence.to_be_bytes());
        let (vlan, class, encap) = vlan_of(frame, told, self.shape.version);
        let word = version << 28
            | u32::from(vlan) << 16
            | u32::from(class) << 13
            | encap << 11
            | u32::from(told.truncated) << 10
            | u32::from(self.shape.session);
        erspan[..4].copy_from_slice(&word.to_be_bytes());
        match self.shape.version {
            ErspanVersion::II => {
                erspan[4..8].copy_from_slice(&self.shape.index.to_be_bytes());
            }
            ErspanVersion::III => {
                let stamp = (now_tsc / self.tsc_per_stamp) as u32;
                erspan[4..8].copy_from_slice(&stamp.to_be_bytes());
                // P: an Ethernet frame is inside, of the type 0; Gra 0: stamps of 100 us.
                let word = 0x8000 | self.shape.index << 4 | u32::from(told.sent) << 3;
                erspan[8..12].copy_from_slice(&word.to_be_bytes());
            }
        }
    }
}

/// VLAN and class of a frame, and whether its tag is in it (3), was taken off (2), or there was
/// none (0). Type III has no place for that.
fn vlan_of(frame: &[u8], told: CopyTold, version: ErspanVersion) -> (u16, u8, u32) {
    let tag = vlan::walk(frame).and_then(|walk| walk.tags().first().copied());
    let (vlan, class, encap) = match (tag, told.vlan) {
        (_, Some(vlan)) => (vlan, tag.map_or(0, |tag| tag.pcp()), 2),
        (Some(tag), None) => (tag.vid(), tag.pcp(), 3),
        (None, None) => (0, 0, 0),
    };
    (vlan, class, if version == ErspanVersion::II { encap } else { 0 })
}

/// Octets between the outer IP header and the frame.
pub(crate) fn erspan_bytes(version: ErspanVersion) -> usize {
    GRE_BYTES
        + match version {
            ErspanVersion::II => 8,
            ErspanVersion::III => 12,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    const FRAME: [u8; 60] = [2; 60];

    fn written(shape: Erspan, frame: &[u8], told: CopyTold, now_tsc: u64) -> Vec<u8> {
        let sequence = Sequence(Arc::new(AtomicU32::new(0x0102_0304)));
        let mut packet = vec![0xff; erspan_bytes(shape.version)];
        packet.extend_from_slice(frame);
        CopyHeaders::new(shape, sequence).write(&mut packet, told, now_tsc);
        assert!(packet.ends_with(frame));
        packet.truncate(erspan_bytes(shape.version));
        packet
    }

    fn two() -> Erspan {
        Erspan { session: 0x3fe, version: ErspanVersion::II, index: 0xabcde }
    }

    #[test]
    fn what_is_told_of_a_copy_goes_through_an_adjacency() {
        for vlan in [None, Some(0), Some(4094)] {
            for (truncated, sent) in [(false, false), (true, false), (false, true), (true, true)] {
                let told = CopyTold { truncated, sent, vlan };
                assert_eq!(CopyTold::of_bits(told.to_bits()), told);
            }
        }
    }

    #[test]
    fn a_copy_of_type_ii_says_session_index_and_its_number() {
        let plain = CopyTold::default();
        let gre = [0x10, 0, 0x88, 0xbe, 1, 2, 3, 4];
        let wanted = [&gre[..], &[0x10, 0, 0x03, 0xfe, 0, 0x0a, 0xbc, 0xde]].concat();
        assert_eq!(written(two(), &FRAME, plain, 0), wanted);
        let truncated = CopyTold { truncated: true, ..plain };
        assert_eq!(written(two(), &FRAME, truncated, 0)[8..12], [0x10, 0, 0x07, 0xfe]);
    }

    #[test]
    fn the_vlan_is_the_tags_in_the_frame_or_that_which_was_taken_off() {
        let mut tagged = craft::ethernet([2; 6], [4; 6]).vlan(100).ethertype(0x88b5).build();
        tagged[14] |= 5 << 5;
        tagged.resize(60, 0);
        let plain = CopyTold::default();
        // VLAN 100, class 5, in the frame.
        let word = 1 << 28 | 100 << 16 | 5 << 13 | 3 << 11 | 0x3fe_u32;
        assert_eq!(written(two(), &tagged, plain, 0)[8..12], word.to_be_bytes());
        let word = 1 << 28 | 7 << 16 | 2 << 11 | 0x3fe_u32;
        let off = CopyTold { vlan: Some(7), ..plain };
        assert_eq!(written(two(), &FRAME, off, 0)[8..12], word.to_be_bytes());
    }

    #[test]
    fn a_copy_of_type_iii_says_when_and_in_which_direction() {
        let shape = Erspan { session: 5, version: ErspanVersion::III, index: 0x2a };
        let sent = CopyTold { sent: true, vlan: Some(7), ..CopyTold::default() };
        let now = graph::tsc_hz() / STAMPS_PER_SECOND * 77;
        let wanted = [
            &[0x10, 0, 0x22, 0xeb, 1, 2, 3, 4][..],
            &[0x20, 7, 0, 5, 0, 0, 0, 77],
            &[0, 0, 0x82, 0xa8],
        ];
        assert_eq!(written(shape, &FRAME, sent, now), wanted.concat());
        let received = written(shape, &FRAME, CopyTold::default(), now);
        assert_eq!(received[16..20], [0, 0, 0x82, 0xa0]);
    }

    #[test]
    fn numbers_go_on_whoever_counts_and_wrap() {
        let sequence = Sequence(Arc::new(AtomicU32::new(u32::MAX)));
        let headers = || CopyHeaders::new(two(), sequence.clone());
        let number = |headers: &CopyHeaders| {
            let mut packet = [0; 76];
            headers.write(&mut packet, CopyTold::default(), 0);
            u32::from_be_bytes([packet[4], packet[5], packet[6], packet[7]])
        };
        assert_eq!([number(&headers()), number(&headers()), number(&headers())], [u32::MAX, 0, 1]);
        assert!(sequence == sequence.clone() && sequence != Sequence::default());
    }
}
