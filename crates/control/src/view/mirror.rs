//! Mirrors.

use super::answer::*;

/// A mirror: copies of what ports carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Mirror {
    /// Its name.
    pub name: String,
    /// The port that copies leave by.
    pub destination: String,
    /// Octets of each frame that are copied at most; null: all.
    #[serde(default)]
    pub truncate: Option<u16>,
    /// One of so many frames is copied.
    #[serde(default)]
    pub sample: u32,
    /// Whose frames are copied.
    pub sources: Vec<MirrorSource>,
}

/// A port whose frames are copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MirrorSource {
    /// Its name.
    pub port: String,
    /// Which of its frames: `rx`, `tx` or `both`.
    pub direction: String,
    /// Copies made of what it received.
    pub received: u64,
    /// Copies made of what it sent.
    pub sent: u64,
    /// Copies not made for want of a buffer.
    pub lost: u64,
}

impl View for Mirror {
    view!("show mirror", "/v1/mirrors", All => Vec<Self>,
        "Mirrors: ports whose frames leave by another one as well");
    counters!("received", "sent", "lost");

    fn table(mirrors: &Vec<Self>) -> Table {
        let sources =
            mirrors.iter().flat_map(|mirror| mirror.sources.iter().map(move |s| (mirror, s)));
        table!(sources, (mirror, source) => {
            "mirror": mirror.name, "to": mirror.destination, "from": source.port,
            "copies": source.direction, "received": source.received, "sent": source.sent,
            "lost": source.lost,
            "bytes": mirror.truncate.map_or_else(|| "all".to_owned(), |most| most.to_string()),
            "one of": mirror.sample,
        })
    }
}
