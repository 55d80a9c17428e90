//! Packets copied at a node's exit.

use super::answer::*;

/// Which packets to capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CaptureRequest {
    /// The node to capture at, by name, as in `ip4-lookup`.
    pub node: String,
    /// Exit of the node; without one, all its exits.
    #[serde(default)]
    pub exit: Option<String>,
    /// How many packets.
    #[schema(minimum = 1, maximum = 100000)]
    pub count: u32,
    /// Bytes kept of each packet.
    #[serde(default)]
    #[schema(minimum = 14, maximum = 16384)]
    pub snap_bytes: Option<u32>,
}

/// How a capture stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Capture {
    /// Whether packets are still being captured.
    pub running: bool,
    /// The node that is captured at; empty: none is.
    pub node: String,
    /// Exit, if only one.
    pub exit: Option<String>,
    /// Packets wanted.
    pub count: u32,
    /// Packets captured so far.
    pub captured: u32,
}

/// Packets that are handed out once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Taken {
    /// Whether more may come.
    pub running: bool,
    /// The packets, oldest first.
    pub packets: Vec<TakenPacket>,
}

/// A packet that was captured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TakenPacket {
    /// When, in nanoseconds since 1970-01-01 UTC.
    pub unix_ns: u64,
    /// Port that it came in by; absent where it came from the router itself, or its port is gone.
    pub port: Option<String>,
    /// Its length in bytes.
    pub bytes: u32,
    /// What is kept of it, in hexadecimal.
    pub hex: String,
}

impl View for Capture {
    view!("capture show", "/v1/capture", All => Self, "The state of the capture");
    const TAG: &'static str = "observe";

    fn text(capture: &Self, _: Style) -> String {
        let Self { running, node, exit, count, captured } = capture;
        if node.is_empty() {
            return "no capture\n".to_owned();
        }
        let exit = exit.as_ref().map(|exit| format!(" {exit}")).unwrap_or_default();
        let state = if *running { "running" } else { "stopped" };
        format!("{node}{exit}: {captured} of {count} packets, {state}\n")
    }
}
