//! Policers against the RFCs' own words, and what must hold of any of them.

use crate::{Agreement, Colour, Policer, Rate};
use proptest::prelude::*;

/// The algorithms as the RFCs tell them, tick by tick, for rates that earn whole bytes a tick.
struct Naive {
    agreement: Agreement,
    /// Bytes a tick.
    committed_rate: u64,
    peak_rate: u64,
    committed: u64,
    /// E or P.
    other: u64,
}

const CLOCK_HZ: u64 = 1000;

fn rate(bytes_per_tick: u64) -> Rate {
    Rate::new(bytes_per_tick * 8 * CLOCK_HZ, CLOCK_HZ).unwrap()
}

impl Naive {
    fn tick(&mut self) {
        match self.agreement {
            Agreement::SingleRate { burst_bytes, excess_bytes, .. } => {
                for _ in 0..self.committed_rate {
                    if self.committed < burst_bytes {
                        self.committed += 1;
                    } else if self.other < excess_bytes.unwrap_or(0) {
                        self.other += 1;
                    }
                }
            }
            Agreement::TwoRate { burst_bytes, peak_bytes, .. } => {
                self.committed = (self.committed + self.committed_rate).min(burst_bytes);
                self.other = (self.other + self.peak_rate).min(peak_bytes);
            }
        }
    }

    fn colour(&mut self, bytes: u64, before: Colour) -> Colour {
        let green = before == Colour::Green && bytes <= self.committed;
        let other = before != Colour::Red && bytes <= self.other;
        match self.agreement {
            Agreement::SingleRate { .. } if green => {
                self.committed -= bytes;
                Colour::Green
            }
            Agreement::SingleRate { .. } if other => {
                self.other -= bytes;
                Colour::Yellow
            }
            Agreement::TwoRate { .. } if other => {
                self.other -= bytes;
                self.committed -= if green { bytes } else { 0 };
                if green { Colour::Green } else { Colour::Yellow }
            }
            _ => Colour::Red,
        }
    }
}

/// An agreement and its naive twin.
fn both(kind: u8, speed: (u64, u64), bursts: (u64, u64)) -> (Agreement, Naive) {
    let (burst_bytes, other) = bursts;
    let agreement = match kind {
        0 => Agreement::SingleRate { rate: rate(speed.0), burst_bytes, excess_bytes: None },
        1 => Agreement::SingleRate { rate: rate(speed.0), burst_bytes, excess_bytes: Some(other) },
        _ => Agreement::TwoRate {
            rate: rate(speed.0),
            burst_bytes,
            peak: rate(speed.0 + speed.1),
            peak_bytes: other,
        },
    };
    let naive = Naive {
        agreement,
        committed_rate: speed.0,
        peak_rate: speed.0 + speed.1,
        committed: burst_bytes,
        other: if kind == 0 { 0 } else { other },
    };
    (agreement, naive)
}

proptest! {
    #[test]
    fn every_policer_colours_as_its_rfc_says(
        kind in 0u8..3,
        speed in (1u64..40, 0u64..40),
        bursts in (1u64..3000, 1u64..3000),
        aware: bool,
        packets in prop::collection::vec((0u64..60, 1u64..1600, 0usize..3), 1..200),
        another in 0usize..200,
        ahead in 0u64..5000,
    ) {
        let (agreement, mut naive) = both(kind, speed, bursts);
        let mut policer = Policer::new(agreement, aware).unwrap();
        let mut now = 0;
        for (count, (ticks, bytes, before)) in packets.into_iter().enumerate() {
            (0..ticks).for_each(|_| naive.tick());
            now += ticks;
            if count == another {
                // One of another process goes on with what was in this one, on a clock of its own.
                let next = Policer::new(agreement, aware).unwrap();
                next.go_on(next.at(now + ahead), policer.held(policer.at(now)));
                prop_assert_eq!(next.held(next.at(now + ahead)), policer.held(policer.at(now)));
                (policer, now) = (next, now + ahead);
            }
            let said = Colour::ALL[before];
            let expected = naive.colour(bytes, if aware { said } else { Colour::Green });
            // Asking changes nothing, however often.
            prop_assert_eq!(policer.would_be(policer.at(now), bytes as u32, said), expected);
            prop_assert_eq!(policer.would_be(policer.at(now), bytes as u32, said), expected);
            prop_assert_eq!(policer.colour(policer.at(now), bytes as u32, said), expected);
        }
    }

    #[test]
    fn the_rate_is_exact_within_a_packet_however_long_it_runs(
        bits in 1_000u64..100_000_000_000,
        clock_hz in 1_000_000u64..5_000_000_000,
        years in 0u64..40,
        burst_bytes in 1500u64..1 << 20,
        gaps in prop::collection::vec(1u64..1 << 34, 1..100),
    ) {
        let rate = Rate::new(bits, clock_hz).unwrap();
        let agreement = Agreement::SingleRate { rate, burst_bytes, excess_bytes: None };
        let policer = Policer::new(agreement, false).unwrap();
        let packet = 1500u32;
        let begin = years * 365 * 86_400 * clock_hz;
        // Whoever takes all there is at every step gets the burst, then the rate: no gap is longer
        // than fills the bucket.
        let full = ((u128::from(burst_bytes - 1499) * 8 * u128::from(clock_hz)) / u128::from(bits)) as u64;
        let (mut now, mut taken) = (begin, 0u64);
        for gap in gaps {
            while policer.colour(policer.at(now), packet, Colour::Green) == Colour::Green {
                taken += u64::from(packet);
            }
            let earned = u128::from(now - begin) * u128::from(bits) / (8 * u128::from(clock_hz));
            let most = u128::from(burst_bytes) + earned + 1;
            prop_assert!(u128::from(taken) <= most);
            prop_assert!(u128::from(taken) + u128::from(packet) + 1 > most - 1, "{} of {}", taken, most);
            now += gap.min(full);
        }
    }
}

#[test]
fn silence_of_years_brings_the_burst_and_no_more() {
    let rate = Rate::new(100_000_000_000, 3_000_000_000).unwrap();
    let two = Agreement::TwoRate { rate, burst_bytes: 3000, peak: rate, peak_bytes: 6000 };
    let one = Agreement::SingleRate { rate, burst_bytes: 3000, excess_bytes: Some(3000) };
    for agreement in [one, two] {
        let policer = Policer::new(agreement, false).unwrap();
        for years in [0, 1, 9, 40] {
            let now = policer.at(years * 365 * 86_400 * 3_000_000_000);
            let colours = [(); 5].map(|()| policer.colour(now, 1500, Colour::Green));
            use Colour::{Green, Red, Yellow};
            assert_eq!(colours, [Green, Green, Yellow, Yellow, Red], "after {years} years");
        }
    }
}

#[test]
fn an_agreement_with_a_peak_below_its_rate_is_none() {
    let agreement =
        Agreement::TwoRate { rate: rate(2), burst_bytes: 1, peak: rate(1), peak_bytes: 1 };
    let error = Policer::new(agreement, false).unwrap_err();
    assert!(error.to_string().contains("8000 bits a second below the committed 16000"));
}
