//! Whether a device does what its function says.

use serde::{Deserialize, Serialize};

use crate::Subject;

/// What came of a check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckRecord {
    /// What was checked.
    pub subject: Subject,
    /// When it began, since the campaign did.
    pub at_s: f64,
    /// Packets a second of each stream; 0 over capture files, which have no time.
    pub load_pps: f64,
    /// The streams, counted.
    pub streams: Vec<Checked>,
    /// Frames of others: ARP, errors by ICMP and the like.
    pub strangers: u64,
    /// The first thing that was wrong; none where all is as it must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

impl CheckRecord {
    /// Whether all was as it must be.
    pub fn passed(&self) -> bool {
        self.fault.is_none()
    }

    /// Packets that had to come out, and those that did; packets that were not to, and those that
    /// did.
    pub fn counts(&self) -> [u64; 4] {
        let of = |must: bool| {
            let streams = self.streams.iter().filter(|stream| stream.must_emerge == must);
            streams.fold((0, 0), |(sent, came), stream| (sent + stream.sent, came + stream.came))
        };
        let ((sent, came), (kept_out, slipped)) = (of(true), of(false));
        [sent, came, kept_out, slipped]
    }
}

/// One stream, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// Whether it must come out, or must not.
    pub must_emerge: bool,
    /// Packets sent.
    pub sent: u64,
    /// Packets that came out at the other end, as they had to or not.
    pub came: u64,
}

/// The first thing that was wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Of which stream.
    pub stream: String,
    /// Which packet of it, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<u64>,
    /// What, in words.
    pub reason: String,
    /// Where the packet is not what it must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// The first octets that are wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Offset in the frame.
    pub at: usize,
    /// What is there, in words.
    pub field: String,
    /// What should be there, hexadecimal.
    pub expected: String,
    /// What is there, hexadecimal.
    pub got: String,
}
