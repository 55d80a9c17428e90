//! Exporters: who is told of packets.

use super::answer::*;

/// An exporter, with what it told since it was last changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// How it tells, as in `ipfix`.
    pub protocol: String,
    /// One of so many packets is looked at.
    pub sample: u32,
    /// The ports whose packets it tells of.
    pub ports: Vec<ExportPort>,
    /// Packets that passed there.
    pub packets: u64,
    /// Those of them that were looked at.
    pub noted: u64,
    /// Those that would have been, and no worker had room for.
    pub missed: u64,
    /// Flows under way.
    pub flows: u64,
    /// Flows told, or packets of sFlow and counters.
    pub told: u64,
    /// Flows told early, as there was no room for all.
    pub early: u64,
    /// Flows that the protocol has no words for.
    pub left_out: u64,
    /// Who is told.
    pub collectors: Vec<Collector>,
}

/// A port whose packets are told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExportPort {
    /// Its name.
    pub port: String,
    /// The number that collectors know it by.
    pub number: u32,
    /// Whether what it receives is told of.
    pub received: bool,
    /// Whether what it sends is.
    pub sent: bool,
}

/// A collector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Collector {
    /// Where it is.
    pub address: String,
    /// Datagrams sent to it.
    pub datagrams: u64,
    /// Datagrams that could not be, or that nobody was there for.
    pub lost: u64,
    /// What is wrong; null when all is well.
    pub problem: Option<String>,
}

impl View for Export {
    view!("show export", "/v1/exports", All => Vec<Self>,
        "Exporters of flows, what they told since they were last changed, and whom");
    counters!("packets", "noted", "missed", "told", "early", "left_out", "datagrams", "lost");
    const METRICS: Option<Metrics<Self>> = Some((All, |exports, out| {
        out.of(exports, |export| [("export", &export.name)])
            .counter("export_packets", "Packets that passed where an exporter looks.", |it| {
                it.packets
            })
            .counter("export_noted", "Packets that an exporter looked at.", |it| it.noted)
            .counter("export_missed", "Packets that an exporter had no room for.", |it| it.missed)
            .gauge("export_flows", "Flows under way.", |it| it.flows)
            .counter("export_told", "Flows or packets told to collectors.", |it| it.told)
            .counter("export_early", "Flows told early for want of room.", |it| it.early)
            .counter("export_left_out", "Flows that the protocol has no words for.", |it| {
                it.left_out
            });
        out.of(collectors(exports), |row| [("export", &row.0.name), ("collector", &row.1.address)])
            .counter("export_datagrams", "Datagrams sent to a collector.", |row| row.1.datagrams)
            .counter("export_lost", "Datagrams that a collector did not get.", |row| row.1.lost);
    }));

    fn table(exports: &Vec<Self>) -> Table {
        table!(collectors(exports), (export, collector) => {
            "export": export.name, "protocol": export.protocol, "one of": export.sample,
            "in": export.named(|port| port.received), "out": export.named(|port| port.sent),
            "packets": export.packets, "noted": export.noted, "missed": export.missed,
            "flows": export.flows, "told": export.told, "early": export.early,
            "left out": export.left_out, "collector": collector.address,
            "datagrams": collector.datagrams, "lost": collector.lost,
            "problem": collector.problem.as_deref().unwrap_or_default(),
        })
        .hide_where_all("problem", "")
    }
}

fn collectors(exports: &[Export]) -> impl Iterator<Item = (&Export, &Collector)> {
    exports.iter().flat_map(|export| export.collectors.iter().map(move |it| (export, it)))
}

impl Export {
    /// Ports of one direction, with the numbers that collectors know them by.
    fn named(&self, is_one: fn(&ExportPort) -> bool) -> Vec<String> {
        let ports = self.ports.iter().filter(|port| is_one(port));
        ports.map(|port| format!("{}={}", port.port, port.number)).collect()
    }
}
