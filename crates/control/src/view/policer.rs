//! Policers.

use super::answer::*;

/// A policer, with what it counted since it was last changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Policer {
    /// Its name.
    pub name: String,
    /// The committed rate; null where octets are not counted.
    pub rate: Option<String>,
    /// The committed burst.
    pub burst: Option<String>,
    /// What more may come after silence.
    pub excess_burst: Option<String>,
    /// The peak rate.
    pub peak_rate: Option<String>,
    /// The peak burst.
    pub peak_burst: Option<String>,
    /// Packets a second; null where packets are not counted.
    #[serde(default)]
    pub packet_rate: Option<u32>,
    /// Packets that may come at once.
    #[serde(default)]
    pub packet_burst: Option<u32>,
    /// Whether packets are no better than their DSCP says.
    pub colour_aware: bool,
    /// The ports that hold what they receive to it.
    pub ports_in: Vec<String>,
    /// The ports that hold what they send to it.
    pub ports_out: Vec<String>,
    /// Its colours, the best first.
    pub colours: Vec<PolicerColour>,
}

/// A colour of a policer's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PolicerColour {
    /// `green`, `yellow` or `red`.
    pub colour: String,
    /// What becomes of its packets.
    pub action: String,
    /// How many there were.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl PolicerColour {
    /// The colours, the best first.
    pub const NAMES: [&'static str; 3] = ["green", "yellow", "red"];
}

impl View for Policer {
    view!("show policers", "/v1/policers", All => Vec<Self>,
        "Policers, and what they counted since they were last changed");
    counters!("packets", "bytes");
    const METRICS: Option<Metrics<Self>> = Some((All, |policers, out| {
        out.of(colours(policers), |row| [("policer", &row.0.name), ("colour", &row.1.colour)])
            .counter("policer_packets", "Packets that a policer gave a colour.", |row| {
                row.1.packets
            })
            .counter("policer_bytes", "Bytes that a policer gave a colour.", |row| row.1.bytes);
    }));

    fn table(policers: &Vec<Self>) -> Table {
        table!(colours(policers), (policer, colour) => {
            "policer": policer.name, "agreed": policer.agreed(), "in": policer.ports_in,
            "out": policer.ports_out, "colour": colour.colour, "action": colour.action,
            "packets": colour.packets, "bytes": colour.bytes,
        })
    }
}

fn colours(policers: &[Policer]) -> impl Iterator<Item = (&Policer, &PolicerColour)> {
    policers.iter().flat_map(|policer| policer.colours.iter().map(move |colour| (policer, colour)))
}

impl Policer {
    /// Rates with their bursts.
    fn agreed(&self) -> String {
        let more = match (&self.excess_burst, &self.peak_rate, &self.peak_burst) {
            (Some(excess), ..) => format!(" +{excess}"),
            (_, Some(rate), Some(burst)) => format!(", {rate} {burst}"),
            _ => String::new(),
        };
        let octets = self.rate.as_ref().zip(self.burst.as_ref());
        let octets = octets.map(|(rate, burst)| format!("{rate} {burst}{more}"));
        let packets = self.packet_rate.zip(self.packet_burst);
        let packets = packets.map(|(rate, burst)| format!("{rate}/s {burst} packets"));
        octets.into_iter().chain(packets).collect::<Vec<_>>().join(", ")
    }
}
