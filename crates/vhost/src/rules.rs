//! What a front end may say, and when: so that all rings lie whole in memory that is there, and the
//! library has made room for what it counts in them before they begin.
//!
//! ```text
//!  features ─▶ memory ─▶ of each ring: size ─▶ addresses ─▶ kick … stop ─▶ size …
//! ```
//! QEMU, DPDK's `virtio_user` and the rest say it in this order. A ring's size is not told anew
//! between its addresses and its stop; features stay while a ring has a size.

use crate::Refusal;
use crate::behind::Behind;
use crate::message::{Addresses, Bell, Message, Region};

/// The features of the protocol that may be negotiated: several queues, a log of written pages by
/// descriptor, RARP, answers to everything, the MTU, the device's status. The others are for what
/// is refused.
pub const PROTOCOL_FEATURES: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 16;
/// Features of a device that may not be: addresses by another table, `IOMMU_PLATFORM`; datagrams
/// that are cut into fragments, `GUEST_UFO` and `HOST_UFO`.
pub const NOT_OFFERED: u64 = 1 << 33 | 1 << 10 | 1 << 14;

/// `VIRTIO_NET_F_GUEST_TSO4`: the machine takes large frames of TCP over IPv4.
pub const GUEST_TSO4: u64 = 1 << 7;
/// `VIRTIO_NET_F_GUEST_TSO6`: of TCP over IPv6.
pub const GUEST_TSO6: u64 = 1 << 8;
/// `VHOST_F_LOG_ALL`, which comes and goes while rings run.
const LOG_ALL: u64 = 1 << 26;
/// `VIRTIO_NET_F_MQ`: more than one pair of rings.
const SEVERAL_PAIRS: u64 = 1 << 22;
/// `VIRTIO_RING_F_EVENT_IDX`: two more bytes behind each ring.
const EVENT_INDEX: u64 = 1 << 29;
/// `VIRTIO_F_RING_PACKED`.
const PACKED: u64 = 1 << 34;
const LARGEST_RING: u32 = 32_768;

/// What is to be done with a message that may be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The library hears it.
    Pass,
    /// It does not, and nothing comes of it.
    Ignore,
}

/// What one front end has said so far.
#[derive(Debug)]
pub struct Rules {
    features: u64,
    regions: Vec<Region>,
    rings: Vec<Ring>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ring {
    /// Since it was stopped, if ever.
    size: Option<u32>,
    at: Option<Addresses>,
}

impl Rules {
    /// Of a port with so many rings.
    pub fn new(rings: u32) -> Self {
        let rings = vec![Ring::default(); rings as usize];
        Self { features: 0, regions: Vec::new(), rings }
    }

    /// The next message, and what stands behind the descriptors that came with it.
    pub fn take(
        &mut self,
        request: u32,
        message: &Message,
        behind: &[Behind],
    ) -> Result<Verdict, Refusal> {
        let descriptors = match message {
            Message::Memory(regions) => regions.len(),
            Message::Log { .. } | Message::LogBell => 1,
            Message::Kick(bell) | Message::Call(bell) | Message::Error(bell) => {
                usize::from(bell.comes)
            }
            _ => 0,
        };
        if behind.len() != descriptors {
            return Err(Refusal::Descriptors { request, there: behind.len() });
        }
        match message {
            Message::Plain => {}
            Message::ResetOwner => return Ok(Verdict::Ignore),
            Message::Features(features) => self.set_features(*features)?,
            Message::ProtocolFeatures(features) => {
                if features & !PROTOCOL_FEATURES != 0 {
                    return Err(Refusal::ProtocolFeatures(*features));
                }
            }
            Message::Memory(regions) => self.set_memory(regions, behind)?,
            Message::Log { bytes, offset } => {
                // The library maps it from its begin, and counts the offset on top.
                let fits = matches!(behind[0], Behind::Memory { bytes: there } if *bytes <= there);
                if !fits || *bytes == 0 || *offset != 0 {
                    return Err(Refusal::Log);
                }
            }
            Message::LogBell => is_bell(0, behind)?,
            Message::RingSize { ring, size } => self.set_size(*ring, *size)?,
            Message::RingPlace { ring, at } => {
                let size = self.ring(*ring)?.size.ok_or(Refusal::RingUnknown(*ring))?;
                self.check_place(*ring, size, at)?;
                self.ring(*ring)?.at = Some(*at);
            }
            Message::Ring(ring) => {
                self.ring(*ring)?;
            }
            Message::StopRing(ring) => *self.ring(*ring)? = Ring::default(),
            Message::Kick(Bell { ring, .. }) => {
                if self.ring(*ring)?.at.is_none() {
                    return Err(Refusal::RingUnknown(*ring));
                }
                is_bell(*ring, behind)?;
            }
            Message::Call(Bell { ring, .. }) | Message::Error(Bell { ring, .. }) => {
                self.ring(*ring)?;
                is_bell(*ring, behind)?;
            }
        }
        Ok(Verdict::Pass)
    }

    fn ring(&mut self, ring: u32) -> Result<&mut Ring, Refusal> {
        self.rings.get_mut(ring as usize).ok_or(Refusal::NoRing(ring))
    }

    fn set_features(&mut self, features: u64) -> Result<(), Refusal> {
        let set_up = self.rings.iter().any(|ring| ring.size.is_some());
        if set_up && (features ^ self.features) & !LOG_ALL != 0 {
            return Err(Refusal::Features(features));
        }
        self.features = features;
        Ok(())
    }

    fn set_size(&mut self, number: u32, size: u32) -> Result<(), Refusal> {
        let packed = self.features & PACKED != 0;
        // The library forgets what there is beyond the first pair if there are not to be several.
        let several = self.features & SEVERAL_PAIRS != 0;
        let ring = self.ring(number)?;
        if number > 1 && !several {
            return Err(Refusal::NoRing(number));
        }
        if !(1..=LARGEST_RING).contains(&size) || !(packed || size.is_power_of_two()) {
            return Err(Refusal::RingSize(size));
        }
        if ring.at.is_some() {
            return Err(Refusal::RingInUse(number));
        }
        ring.size = Some(size);
        Ok(())
    }

    fn set_memory(&mut self, regions: &[Region], behind: &[Behind]) -> Result<(), Refusal> {
        for (number, (region, behind)) in regions.iter().zip(behind).enumerate() {
            let Behind::Memory { bytes: there } = *behind else {
                return Err(Refusal::Region(number));
            };
            let ends = |start: u64| start.checked_add(region.bytes);
            let fits = ends(region.offset).is_some_and(|end| end <= there);
            let can_be = ends(region.guest).is_some() && ends(region.front).is_some();
            let apart = regions[..number].iter().all(|before| {
                are_apart(before.guest, before.bytes, region.guest, region.bytes)
                    && are_apart(before.front, before.bytes, region.front, region.bytes)
            });
            if region.bytes == 0 || !fits || !can_be || !apart {
                return Err(Refusal::Region(number));
            }
        }
        self.regions = regions.to_vec();
        // Memory that comes or goes leaves rings where they are.
        for (number, ring) in (0..).zip(&self.rings) {
            if let Ring { size: Some(size), at: Some(at) } = ring {
                self.check_place(number, *size, at)?;
            }
        }
        Ok(())
    }

    /// Whether a ring of that size lies there whole, and where its words are read at once.
    fn check_place(&self, ring: u32, size: u32, at: &Addresses) -> Result<(), Refusal> {
        let size = u64::from(size);
        let more = if self.features & EVENT_INDEX != 0 { 2 } else { 0 };
        let parts = if self.features & PACKED != 0 {
            [(at.descriptors, 16 * size, 16), (at.available, 4, 4), (at.used, 4, 4)]
        } else {
            [
                (at.descriptors, 16 * size, 16),
                (at.available, 4 + 2 * size + more, 2),
                (at.used, 4 + 8 * size + more, 4),
            ]
        };
        let lies = |(start, bytes, steps): (u64, u64, u64)| {
            self.regions.iter().any(|region| {
                let Some(within) = start.checked_sub(region.front) else { return false };
                within.checked_add(bytes).is_some_and(|end| end <= region.bytes)
                    && (region.offset + within).is_multiple_of(steps)
            })
        };
        if parts.into_iter().all(lies) { Ok(()) } else { Err(Refusal::RingOutside(ring)) }
    }
}

/// Of two that end before the last address.
fn are_apart(a: u64, a_bytes: u64, b: u64, b_bytes: u64) -> bool {
    a + a_bytes <= b || b.checked_add(b_bytes).is_none_or(|end| end <= a)
}

/// What came, if something did, is an eventfd: closing another kind of thing might wait, and
/// writing it do anything.
fn is_bell(ring: u32, behind: &[Behind]) -> Result<(), Refusal> {
    let is = behind.iter().all(|behind| *behind == Behind::Eventfd);
    if is { Ok(()) } else { Err(Refusal::NoEventfd(ring)) }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
