//! What nearly every frame is: without tags, an IPv4 header without options, no fragment, TCP or
//! UDP. Its key is made without a branch, since nobody can predict which of the two it is.
//!
//! ```text
//!  0       6         12      14         20         22     23     26    30     34      47
//!  ┌───────┬─────────┬───────┬────┬─────┬──────────┬──────┬──────┬─────┬──────┬───────┬───────┐
//!  │ to MAC│ from MAC│ 08 00 │ 45 │     │ fragment │ hops │ prot.│ from│  to  │ ports │ flags │
//!  └───────┴─────────┴───────┴────┴─────┴──────────┴──────┴──────┴─────┴──────┴───────┴───────┘
//!                                                  └──── four cells of a key ─────────┘
//! ```

#![allow(unsafe_code)] // Compiled once more for AVX2.

use super::Asked;
use acl::{CELLS4, Key};
use packet::Frame;
use std::ops::Range;
use wire::ethernet::{self, ethertype};
use wire::ip::protocol;
use wire::{ipv4, tcp};

const IP: usize = ethernet::Header::LEN;
const BEHIND: usize = IP + ipv4::Header::LEN;
/// What is looked at.
pub(super) const FRONT: usize = BEHIND + tcp::Header::LEN;
/// Hops left, in the header of the packet.
const HOPS: usize = IP + 8;
const FRAGMENT: usize = IP + 6;
const PROTOCOL: usize = IP + 9;
const FLAGS: usize = BEHIND + 13;
/// Ethertype, version and header length, and type of service.
const KIND: u32 = (ethertype::IPV4 as u32) << 16 | 0x4500;

/// Asks about those frames that are plain; about none where one is too short to be looked at so.
/// The VLAN is that which was taken off; none where the list asks neither for it nor for stations.
pub(super) fn ask(
    asked: &mut Asked<CELLS4>,
    frame: &Frame,
    slots: Range<usize>,
    vlan: Option<u16>,
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { ask_avx2(asked, frame, slots, vlan) };
    }
    ask_by(asked, frame, slots, vlan);
}

#[cfg(target_arch = "x86_64")]
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn ask_avx2(
    asked: &mut Asked<CELLS4>,
    frame: &Frame,
    slots: Range<usize>,
    vlan: Option<u16>,
) {
    ask_by(asked, frame, slots, vlan);
}

#[inline(always)]
fn ask_by(asked: &mut Asked<CELLS4>, frame: &Frame, slots: Range<usize>, vlan: Option<u16>) {
    match vlan {
        Some(vlan) => ask_each(asked, frame, slots, |front| (vlan, source_mac(front))),
        None => ask_each(asked, frame, slots, |_| (0, [0; 6])),
    }
}

#[inline(always)]
fn ask_each(
    asked: &mut Asked<CELLS4>,
    frame: &Frame,
    slots: Range<usize>,
    station: impl Fn(&[u8; FRONT]) -> (u16, [u8; 6]),
) {
    let Some(fronts) = frame.fronts_of(slots) else { return };
    for (slot, front) in fronts {
        let (key, is_plain) = read(front, station(front));
        asked.put(slot, key, is_plain);
    }
}

#[inline(always)]
fn source_mac(front: &[u8; FRONT]) -> [u8; 6] {
    std::array::from_fn(|at| front[6 + at])
}

/// The key of a frame that is plain, and whether it is.
#[inline(always)]
fn read(front: &[u8; FRONT], (vlan, mac): (u16, [u8; 6])) -> (Key<CELLS4>, bool) {
    let word =
        |at: usize| u32::from_be_bytes([front[at], front[at + 1], front[at + 2], front[at + 3]]);
    let half = |at: usize| u16::from_be_bytes([front[at], front[at + 1]]);
    let number = front[PROTOCOL];
    let is_tcp = number == protocol::TCP;
    let is_plain = (word(IP - 2) & !0xff == KIND)
        & (half(FRAGMENT) & 0x3fff == 0)
        & (is_tcp | (number == protocol::UDP));
    let flags = is_tcp.then_some(front[FLAGS]);
    let headers = std::array::from_fn(|at| front[HOPS + at]);
    (Key::plain(&headers, flags, vlan, mac), is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Question;
    use proptest::prelude::*;
    use wire::craft;

    proptest! {
        #[test]
        fn a_plain_packet_is_read_as_any_other(
            change in 6..FRONT,
            to: u8,
            tcp: bool,
            vlan in 0..4096u16,
        ) {
            let packet = craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2]);
            let mut frame = match tcp {
                true => packet.tcp(5, 443).payload_len(28).build(),
                false => packet.udp(5, 443).payload_len(28).build(),
            };
            frame[change] = to;
            let front: &[u8; FRONT] = frame.first_chunk().unwrap();
            let (key, is_plain) = read(front, (vlan, source_mac(front)));
            let Question::Ip4(fields) = Question::about_any(&frame, Some(vlan)) else {
                prop_assert!(!is_plain);
                return Ok(());
            };
            prop_assert!(!is_plain || key == Key::new(&fields));
            // It is what all but few are.
            prop_assert!(is_plain || (12..16).contains(&change) || [20, 21, 23].contains(&change));
        }
    }
}
