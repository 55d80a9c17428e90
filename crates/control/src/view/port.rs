//! Ports.

use super::answer::*;
use crate::config::objects::vrf::DEFAULT_NAME;

/// A port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its kind, as in `af_packet`.
    pub kind: String,
    /// Whether it is configured to be up.
    pub admin_up: bool,
    /// Whether its link is up.
    pub link_up: bool,
    /// Why its device is away, what that cannot do, or why nobody is at the other end of a socket
    /// that it connects to; null when all is well.
    #[serde(default)]
    pub problem: Option<String>,
    /// The link's speed; 0 when unknown.
    pub link_mbps: u32,
    /// VRF that it is in.
    pub vrf: String,
    /// Longest packet without the Ethernet header.
    pub mtu: u16,
    /// Its MAC address.
    pub mac: String,
    /// Its addresses with prefix lengths.
    pub addresses: Vec<String>,
    /// How many receive queues it has, spread over the workers.
    pub rx_queues: u16,
    /// Counters of what it received.
    pub rx: PortCounters,
    /// Counters of what it sent.
    pub tx: PortCounters,
}

/// One direction's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortCounters {
    /// Packets that went through the port.
    pub packets: u64,
    /// Bytes, Ethernet header included, frame check sequence not.
    pub bytes: u64,
    /// Packets that the graph dropped; `errors` has the reasons.
    pub drops: u64,
    /// Packets that the device lost or refused.
    pub errors: u64,
}

impl View for Port {
    view!("show ports", "/v1/ports", All => Vec<Self>, "Ports, their state and counters");
    counters!("packets", "bytes", "drops", "errors");
    const METRICS: Option<Metrics<Self>> = Some((All, |ports, out| {
        let directions =
            ports.iter().flat_map(|port| [(port, "rx", port.rx), (port, "tx", port.tx)]);
        out.of(directions, |row| [("port", &row.0.name[..]), ("direction", row.1)])
            .counter("port_packets", "Packets.", |row| row.2.packets)
            .counter("port_bytes", "Bytes without the frame check sequence.", |row| row.2.bytes)
            .counter("port_drops", "Packets dropped by the graph.", |row| row.2.drops)
            .counter("port_errors", "Packets lost or refused by the device.", |row| row.2.errors);
        out.of(ports, |port| [("port", &port.name)]).gauge(
            "port_link_up",
            "Whether the link is up.",
            |port| u8::from(port.link_up),
        );
    }));

    fn table(ports: &Vec<Self>) -> Table {
        let up = |up| if up { "up" } else { "down" };
        table!(ports, port => {
            "port": port.name, "kind": port.kind, "vrf": port.vrf, "admin": up(port.admin_up),
            "link": up(port.link_up), "mtu": port.mtu, "mac": port.mac,
            "rx packets": port.rx.packets, "rx bytes": port.rx.bytes, "rx drops": port.rx.drops,
            "tx packets": port.tx.packets, "tx bytes": port.tx.bytes, "tx drops": port.tx.drops,
            "errors": port.rx.errors + port.tx.errors, "addresses": port.addresses,
            "problem": port.problem.as_deref().unwrap_or_default(),
        })
        .hide_where_all("vrf", DEFAULT_NAME)
        .hide_where_all("problem", "")
    }
}
