//! What traffic is held to: octets, packets, or both.
//!
//! ```text
//!  packet ─▶ octets ─▶ red: red                    it takes no packet of the other
//!                   └▶ packets ─▶ none left: red   it has taken its octets
//!                              └▶ the colour that octets gave it
//! ```
//! As two policers of Linux one behind the other.

use crate::{Agreement, Colour, Held, Moment, PoliceError, Policer, Rate};

/// Packets a second, and how many may come at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketAgreement {
    /// [`Rate::of_packets`].
    pub rate: Rate,
    /// The burst.
    pub burst: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Limits {
    octets: Option<Policer>,
    /// Each packet is one byte to it.
    packets: Option<Policer>,
}

/// A time, as the rates see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moments {
    octets: Moment,
    packets: Moment,
}

impl From<Policer> for Limits {
    fn from(octets: Policer) -> Self {
        Self { octets: Some(octets), packets: None }
    }
}

impl Limits {
    /// All buckets full. Packets are no better than they say if `colour_aware`.
    pub fn new(
        octets: Option<Agreement>,
        packets: Option<PacketAgreement>,
        colour_aware: bool,
    ) -> Result<Self, PoliceError> {
        let octets = octets.map(|it| Policer::new(it, colour_aware)).transpose()?;
        // What octets found yellow is no worse for it.
        let is_aware = colour_aware && octets.is_none();
        let of_packets = |PacketAgreement { rate, burst }| {
            let agreement = Agreement::SingleRate { rate, burst_bytes: burst, excess_bytes: None };
            Policer::new(agreement, is_aware)
        };
        Ok(Self { octets, packets: packets.map(of_packets).transpose()? })
    }

    /// The policer of octets, where nothing else is to be asked.
    #[inline]
    pub fn octets_alone(&self) -> Option<&Policer> {
        self.octets.as_ref().filter(|_| self.packets.is_none())
    }

    /// Whether it wants to know what packets say of themselves.
    #[inline]
    pub fn is_colour_aware(&self) -> bool {
        let is_aware = |it: &Option<Policer>| it.as_ref().is_some_and(Policer::is_colour_aware);
        is_aware(&self.octets) || is_aware(&self.packets)
    }

    /// The tick `now` of their clock: once for a vector of packets.
    #[inline]
    pub fn at(&self, now: u64) -> Moments {
        let at = |it: &Option<Policer>| it.as_ref().map_or(Moment::default(), |it| it.at(now));
        Moments { octets: at(&self.octets), packets: at(&self.packets) }
    }

    /// The colour of a packet of `bytes` that was `before` already.
    #[inline(always)]
    pub fn colour(&self, at: Moments, bytes: u32, before: Colour) -> Colour {
        let colour = match &self.octets {
            Some(octets) => octets.colour(at.octets, bytes, before),
            None => Colour::Green,
        };
        match &self.packets {
            Some(packets)
                if colour != Colour::Red
                    && packets.colour(at.packets, 1, before) == Colour::Red =>
            {
                Colour::Red
            }
            _ => colour,
        }
    }

    /// The colour that it would have now, as [`Limits::colour`] gives it; nothing is taken.
    pub fn would_be(&self, at: Moments, bytes: u32, before: Colour) -> Colour {
        let octets = self.octets.as_ref();
        let colour = octets.map_or(Colour::Green, |it| it.would_be(at.octets, bytes, before));
        let packets = self.packets.as_ref();
        let is_over = packets.is_some_and(|it| it.would_be(at.packets, 1, before) == Colour::Red);
        if is_over { Colour::Red } else { colour }
    }

    /// What is in the buckets of octets, and how many packets may come.
    pub fn held(&self, at: Moments) -> (Held, u64) {
        let octets = self.octets.as_ref().map(|it| it.held(at.octets));
        let packets = self.packets.as_ref().map(|it| it.held(at.packets).committed);
        (octets.unwrap_or_default(), packets.unwrap_or_default())
    }

    /// So much was in the buckets at a moment, or all that they hold: they go on from there. For
    /// whoever makes it, before packets come.
    pub fn go_on(&self, at: Moments, held: Held, packets: u64) {
        if let Some(it) = &self.octets {
            it.go_on(at.octets, held);
        }
        if let Some(it) = &self.packets {
            it.go_on(at.packets, Held { committed: packets, beyond: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Colour::{Green, Red, Yellow};

    /// A clock of a thousand ticks a second.
    fn limits(octets: Option<(u64, u64, Option<u64>)>, packets: Option<(u64, u64)>) -> Limits {
        let octets = octets.map(|(bits, burst_bytes, excess_bytes)| {
            let rate = Rate::new(bits, 1000).unwrap();
            Agreement::SingleRate { rate, burst_bytes, excess_bytes }
        });
        let packets = packets.map(|(rate, burst)| PacketAgreement {
            rate: Rate::of_packets(rate, 1000).unwrap(),
            burst,
        });
        Limits::new(octets, packets, false).unwrap()
    }

    fn colours(limits: &Limits, now: u64, bytes: u32, count: usize) -> Vec<Colour> {
        let one = |_| {
            let would = limits.would_be(limits.at(now), bytes, Green);
            assert_eq!(limits.would_be(limits.at(now), bytes, Green), would);
            let colour = limits.colour(limits.at(now), bytes, Green);
            assert_eq!(colour, would);
            colour
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn packets_are_counted_whatever_their_length() {
        let it = limits(None, Some((100, 3)));
        assert_eq!(colours(&it, 0, 9000, 4), [Green, Green, Green, Red]);
        // One in ten ticks, and never more than the burst.
        assert_eq!(colours(&it, 9, 60, 1), [Red]);
        assert_eq!(colours(&it, 10, 60, 2), [Green, Red]);
        assert_eq!(colours(&it, 100_000, 60, 4), [Green, Green, Green, Red]);
    }

    #[test]
    fn what_octets_refuse_takes_no_packet() {
        let it = limits(Some((8, 100, None)), Some((1, 3)));
        assert_eq!(colours(&it, 0, 101, 5), [Red; 5]);
        assert_eq!(colours(&it, 0, 10, 4), [Green, Green, Green, Red]);
        // The fourth has taken its octets: 60 of 100 are left.
        let (held, packets) = it.held(it.at(0));
        assert_eq!((held.committed, packets), (60, 0));
    }

    #[test]
    fn yellow_packets_stay_yellow_within_the_packets_that_there_are() {
        let it = limits(Some((8, 60, Some(120))), Some((1, 2)));
        assert_eq!(colours(&it, 0, 60, 3), [Green, Yellow, Red]);
        let aware = Limits::new(
            None,
            Some(PacketAgreement { rate: Rate::of_packets(1, 1000).unwrap(), burst: 2 }),
            true,
        );
        let aware = aware.unwrap();
        assert!(aware.is_colour_aware());
        assert_eq!([Red, Green].map(|before| aware.colour(aware.at(0), 60, before)), [Red, Green]);
    }

    #[test]
    fn they_go_on_where_others_were() {
        let both = || limits(Some((8000, 1000, None)), Some((10, 5)));
        let first = both();
        assert_eq!(colours(&first, 0, 100, 3), [Green; 3]);
        let (held, packets) = first.held(first.at(0));
        assert_eq!((held.committed, packets), (700, 2));
        let next = both();
        next.go_on(next.at(50_000), held, packets);
        assert_eq!(next.held(next.at(50_000)), (held, packets));
        assert_eq!(colours(&next, 50_000, 100, 3), [Green, Green, Red]);
        // What is not limited has nothing to go on with.
        let octets = Limits::from(
            Policer::new(
                Agreement::SingleRate {
                    rate: Rate::new(8, 1000).unwrap(),
                    burst_bytes: 9,
                    excess_bytes: None,
                },
                false,
            )
            .unwrap(),
        );
        octets.go_on(octets.at(0), Held { committed: 1, beyond: 0 }, 7);
        assert_eq!(octets.held(octets.at(0)), (Held { committed: 1, beyond: 0 }, 0));
    }
}
