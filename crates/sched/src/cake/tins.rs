//! Into which tin a packet goes by its code point, and what each tin may have.
//!
//! ```text
//!  tin       share of the rate within which it goes before those above it
//!   0  ████████████████  1        diffserv4: best effort
//!   1  █                 1/16                background
//!   2  ████████          1/2                 video
//!   3  ████              1/4                 voice
//! ```
//! Beyond its share a tin waits for those that are within theirs; what nobody wants, anybody has.
//! Code points by name as in RFC 2474, 2597, 3246, 5865 and 8622.

use serde::{Deserialize, Serialize};

use crate::units::Rate;
use crate::word::words;

words! {
    /// How packets are told apart by their code points.
    pub enum Tins: "tins" {
        /// Not at all.
        Besteffort = "besteffort",
        /// By the three bits of IP precedence: eight tins.
        Precedence = "precedence",
        /// Background, best effort, voice.
        #[default]
        Diffserv3 = "diffserv3",
        /// Background, best effort, video, voice.
        Diffserv4 = "diffserv4",
        /// Eight kinds of traffic.
        Diffserv8 = "diffserv8",
    }
}

/// Code points are six bits.
pub(super) const CODE_POINTS: usize = 64;

const LE: u8 = 1;
const CS1: u8 = 8;
const CS2: u8 = 16;
const CS3: u8 = 24;
const CS4: u8 = 32;
const CS5: u8 = 40;
const VA: u8 = 44;
const EF: u8 = 46;
const CS6: u8 = 48;
const CS7: u8 = 56;
/// Of RFC 1349's type of service: high throughput, low delay.
const TOS2: u8 = 2;
const TOS4: u8 = 4;

/// A code point of assured forwarding: class and any precedence.
fn is_af(code_point: u8, class: u8) -> bool {
    code_point >> 3 == class && matches!(code_point & 7, 2 | 4 | 6)
}

/// A tin: its name, and its share of the rate as a fraction.
pub(super) struct Tin {
    pub(super) name: &'static str,
    pub(super) share: (u64, u64),
}

impl Tin {
    pub(super) fn of(self, rate: Rate) -> Rate {
        let (numerator, denominator) = self.share;
        let bits = u128::from(rate.0) * u128::from(numerator) / u128::from(denominator);
        Rate(u64::try_from(bits).unwrap_or(u64::MAX).max(1))
    }
}

fn tin(name: &'static str, numerator: u64, denominator: u64) -> Tin {
    Tin { name, share: (numerator, denominator) }
}

impl Tins {
    /// The tins, those that go first last.
    pub(super) fn all(self) -> Vec<Tin> {
        // Each has seven eighths of what the one before it has.
        let eight = |names: [&'static str; 8]| {
            let shares = (0..8).map(|at| (7u64.pow(at), 8u64.pow(at)));
            names.into_iter().zip(shares).map(|(name, (of, all))| tin(name, of, all)).collect()
        };
        match self {
            Self::Besteffort => vec![tin("best effort", 1, 1)],
            Self::Diffserv3 => {
                vec![tin("best effort", 1, 1), tin("background", 1, 16), tin("voice", 1, 4)]
            }
            Self::Diffserv4 => vec![
                tin("best effort", 1, 1),
                tin("background", 1, 16),
                tin("video", 1, 2),
                tin("voice", 1, 4),
            ],
            Self::Precedence => eight(["0", "1", "2", "3", "4", "5", "6", "7"]),
            Self::Diffserv8 => eight([
                "background",
                "high throughput",
                "best effort",
                "video",
                "transactions",
                "shells",
                "minimum latency",
                "network control",
            ]),
        }
    }

    /// The tin of each code point.
    pub(super) fn by_code_point(self) -> [u8; CODE_POINTS] {
        std::array::from_fn(|code_point| self.of_code_point(code_point as u8))
    }

    fn of_code_point(self, code_point: u8) -> u8 {
        let background = matches!(code_point, LE | CS1);
        match self {
            Self::Besteffort => 0,
            Self::Precedence => code_point >> 3,
            Self::Diffserv3 => match code_point {
                _ if background => 1,
                CS7 | CS6 | EF | VA | TOS4 => 2,
                _ => 0,
            },
            Self::Diffserv4 => match code_point {
                _ if background => 1,
                CS7 | CS6 | EF | VA | CS5 | CS4 => 3,
                CS3 | CS2 | TOS4 => 2,
                _ if [2, 3, 4].iter().any(|&class| is_af(code_point, class)) => 2,
                _ => 0,
            },
            Self::Diffserv8 => match code_point {
                _ if background => 0,
                TOS2 => 1,
                CS3 => 3,
                TOS4 => 4,
                CS2 => 5,
                EF | VA | CS5 | CS4 => 6,
                CS7 | CS6 => 7,
                _ if is_af(code_point, 1) => 1,
                _ if is_af(code_point, 2) => 4,
                _ if is_af(code_point, 3) || is_af(code_point, 4) => 3,
                _ => 2,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code points of each tin by its name, of those that are not best effort.
    fn marked(tins: Tins) -> Vec<(&'static str, Vec<u8>)> {
        let map = tins.by_code_point();
        let of =
            |at: usize| (0..64).filter(|&it| usize::from(map[usize::from(it)]) == at).collect();
        let all = tins.all().into_iter().enumerate();
        all.map(|(at, tin)| (tin.name, of(at))).filter(|it| it.0 != "best effort").collect()
    }

    #[test]
    fn code_points_go_where_their_names_say() {
        assert_eq!(
            marked(Tins::Diffserv3),
            [("background", vec![1, 8]), ("voice", vec![4, 44, 46, 48, 56])]
        );
        assert_eq!(
            marked(Tins::Diffserv4),
            [
                ("background", vec![1, 8]),
                ("video", vec![4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38]),
                ("voice", vec![32, 40, 44, 46, 48, 56]),
            ]
        );
        assert_eq!(
            marked(Tins::Diffserv8),
            [
                ("background", vec![1, 8]),
                ("high throughput", vec![2, 10, 12, 14]),
                ("video", vec![24, 26, 28, 30, 34, 36, 38]),
                ("transactions", vec![4, 18, 20, 22]),
                ("shells", vec![16]),
                ("minimum latency", vec![32, 40, 44, 46]),
                ("network control", vec![48, 56]),
            ]
        );
        assert!(marked(Tins::Besteffort).is_empty());
        assert_eq!(Tins::Precedence.by_code_point()[46], 5);
    }

    #[test]
    fn shares_are_of_the_whole_rate() {
        let rates = |tins: Tins| {
            tins.all().into_iter().map(|tin| tin.of(Rate(16_000_000)).0).collect::<Vec<_>>()
        };
        assert_eq!(rates(Tins::Diffserv4), [16_000_000, 1_000_000, 8_000_000, 4_000_000]);
        assert_eq!(rates(Tins::Precedence)[..3], [16_000_000, 14_000_000, 12_250_000]);
    }
}
