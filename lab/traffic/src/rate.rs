//! How much to send, in the unit that the user thinks in.
//!
//! ```text
//! 1Mpps       packets a second
//! 10Gbps      bits of frames a second, checksum included        (layer 2)
//! 50%         of the link, with preamble and gap: 20 octets a frame more  (layer 1)
//! max         as fast as it goes
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// Preamble, start of frame, gap between frames: on the wire, but no part of the frame.
pub const OVERHEAD_BYTES: f64 = 20.0;

/// A rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Rate {
    /// Packets a second.
    Pps(f64),
    /// Bits of frames a second.
    BitsPerS(f64),
    /// Share of the link, in percent.
    LinkPercent(f64),
    /// Whatever the generator and the port can do.
    Max,
}

impl Rate {
    /// In packets a second, for frames of this mean size on a link of this speed; none for the
    /// largest.
    pub fn pps(self, mean_frame_bytes: f64, link_bps: f64) -> Option<f64> {
        match self {
            Self::Pps(pps) => Some(pps),
            Self::BitsPerS(bps) => Some(bps / 8.0 / mean_frame_bytes),
            Self::LinkPercent(percent) => {
                Some(percent / 100.0 * line_pps(mean_frame_bytes, link_bps))
            }
            Self::Max => None,
        }
    }
}

/// Most frames of this mean size that a link carries in a second.
pub fn line_pps(mean_frame_bytes: f64, link_bps: f64) -> f64 {
    link_bps / 8.0 / (mean_frame_bytes + OVERHEAD_BYTES)
}

impl FromStr for Rate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::Text {
            what: "rate",
            text: text.to_owned(),
            allowed: "like 1Mpps, 2.5Gbps, 50% or max".into(),
        };
        if text == "max" {
            return Ok(Self::Max);
        }
        let (digits, make): (&str, fn(f64) -> Self) = if let Some(digits) = text.strip_suffix("pps")
        {
            (digits, Self::Pps)
        } else if let Some(digits) = text.strip_suffix("bps").or_else(|| text.strip_suffix("bit/s"))
        {
            (digits, Self::BitsPerS)
        } else if let Some(digits) = text.strip_suffix('%') {
            (digits, Self::LinkPercent)
        } else {
            (text, Self::Pps)
        };
        let value = with_prefix(digits.trim()).filter(|&value| value > 0.0);
        value.map(make).ok_or_else(refuse)
    }
}

/// 14.88M is 14,880,000.
pub fn with_prefix(text: &str) -> Option<f64> {
    let (digits, factor) = match text.chars().last()? {
        'k' => (&text[..text.len() - 1], 1e3),
        'M' => (&text[..text.len() - 1], 1e6),
        'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    let value = digits.trim().parse::<f64>().ok()? * factor;
    value.is_finite().then_some(value)
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pps(pps) => write!(f, "{pps}pps"),
            Self::BitsPerS(bps) => write!(f, "{bps}bps"),
            Self::LinkPercent(percent) => write!(f, "{percent}%"),
            Self::Max => f.write_str("max"),
        }
    }
}

impl TryFrom<String> for Rate {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_in_the_users_unit() {
        let read = |text: &str| text.parse::<Rate>().unwrap();
        assert_eq!(read("14.88M"), Rate::Pps(14.88e6));
        assert_eq!(read("1 kpps"), Rate::Pps(1e3));
        assert_eq!(read("2.5Gbps"), Rate::BitsPerS(2.5e9));
        assert_eq!(read("50%"), Rate::LinkPercent(50.0));
        assert_eq!(read("max"), Rate::Max);
        for text in ["", "pps", "-1pps", "0%", "much", "NaN", "1e308G"] {
            assert!(text.parse::<Rate>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_link_carries_14_88_million_of_the_smallest_frames_at_10_gigabit() {
        let pps = Rate::LinkPercent(100.0).pps(64.0, 10e9).unwrap();
        assert!((pps - 14_880_952.4).abs() < 1.0);
        assert_eq!(Rate::BitsPerS(8e6).pps(1_000.0, 1.0), Some(1_000.0));
        assert_eq!(Rate::Max.pps(64.0, 10e9), None);
    }

    #[test]
    fn a_rate_is_written_as_it_is_read() {
        for rate in [Rate::Pps(1.5), Rate::BitsPerS(1e9), Rate::LinkPercent(3.0), Rate::Max] {
            assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
        }
    }
}
