//! The last packets dropped for each reason.

use super::answer::*;

/// Which of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct WhyDroppedFilter {
    /// Only packets of this port.
    #[serde(default)]
    #[param(format = "name")]
    pub port: Option<String>,
    /// Only what this node dropped, as in `ip4-lookup`.
    #[serde(default)]
    #[param(format = "name")]
    pub node: Option<String>,
    /// Only drops for this reason, as in `no-route`.
    #[serde(default)]
    #[param(format = "name")]
    pub reason: Option<String>,
}

/// What was dropped for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyDropped {
    /// Node that decided so.
    pub node: String,
    /// Its exit: the reason.
    pub reason: String,
    /// What the reason means.
    pub meaning: String,
    /// What whoever wants it otherwise can do.
    pub help: String,
    /// How many were dropped, of the ports asked for.
    pub packets: u64,
    /// The last of them, newest first: 4 a worker at most, and none that was kept less than a
    /// millisecond behind four others.
    pub last: Vec<DroppedPacket>,
}

/// A packet that was dropped, as it was then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DroppedPacket {
    /// When, in milliseconds since 1970-01-01 UTC.
    pub unix_ms: u64,
    /// How long ago, in milliseconds.
    pub age_ms: u64,
    /// Port that it came in by; absent where it came from the router itself, or its port is gone.
    pub port: Option<String>,
    /// Port that it was to leave by, where the reason is one of sending.
    pub to: Option<String>,
    /// Worker that had it.
    pub worker: u32,
    /// Its length in bytes.
    pub bytes: u32,
    /// Its headers, as a person reads them.
    pub detail: String,
    /// Its first octets in hexadecimal, 96 at most.
    pub hex: String,
}

impl View for WhyDropped {
    view!("why-dropped", "/v1/why-dropped", WhyDroppedFilter => Vec<Self>,
        "The last packets dropped, by reason");
    const TAG: &'static str = "observe";

    fn text(reasons: &Vec<Self>, style: Style) -> String {
        if reasons.is_empty() {
            return style.dim("nothing was dropped\n");
        }
        let mut text = String::new();
        for Self { node, reason, meaning, help, packets, last } in reasons {
            let head = style.bold(&format!("{node} {reason}"));
            text += &format!("{head}  {}: {meaning}\n  help: {help}\n", counted(*packets));
            for packet in last {
                let to = packet.to.as_ref().map(|port| format!(" to {port}"));
                let port = packet.port.as_deref().unwrap_or("the router");
                text += &format!(
                    "  {}  from {port}{}  {} bytes  {}\n",
                    ago(packet.age_ms),
                    to.unwrap_or_default(),
                    packet.bytes,
                    packet.detail
                );
            }
        }
        text
    }
}

/// How many, as a person says it.
fn counted(packets: u64) -> String {
    format!("{packets} packet{}", if packets == 1 { "" } else { "s" })
}

/// How long ago, as a person says it.
fn ago(age_ms: u64) -> String {
    match age_ms {
        ..10_000 => format!("{}.{:03} s ago", age_ms / 1000, age_ms % 1000),
        10_000..600_000 => format!("{} s ago", age_ms / 1000),
        600_000..36_000_000 => format!("{} min ago", age_ms / 60_000),
        _ => format!("{} h ago", age_ms / 3_600_000),
    }
}

#[cfg(test)]
mod tests {
    use super::{ago, counted};

    #[test]
    fn one_packet_is_no_packets() {
        assert_eq!([0, 1, 2].map(counted), ["0 packets", "1 packet", "2 packets"]);
    }

    #[test]
    fn times_are_told_as_exactly_as_anybody_wants() {
        let told = [7, 9_999, 599_999, 600_000, 35_999_999, 36_000_000].map(ago);
        let expected = ["0.007 s", "9.999 s", "599 s", "10 min", "599 min", "10 h"];
        assert_eq!(told, expected.map(|time| format!("{time} ago")));
    }
}
