//! Next hops, and what left by them.

use super::answer::*;
use crate::config::objects::vrf::DEFAULT_NAME;

/// Most next hops that metrics are made of: series are not without a price.
const MOST_METRICS: usize = 1000;

/// Next hops, whether routes lead over them or they are destinations themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NextHops {
    /// Whether packets are counted, as `[next_hops]` says.
    pub counted: bool,
    /// All of them, those of IPv4 first.
    pub next_hops: Vec<CountedNextHop>,
}

/// A next hop. It counts since it is there, and anew since its first route is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CountedNextHop {
    /// Its address.
    pub address: String,
    /// The port that it is behind.
    pub port: String,
    /// The VRF of that port.
    pub vrf: String,
    /// What it is handed: `ip4` or `ip6`.
    pub family: String,
    /// Routes and groups of next hops that lead over it.
    pub users: u64,
    /// Packets that left by it.
    pub packets: u64,
    /// Their octets, from the IP header on.
    pub octets: u64,
}

impl View for NextHops {
    view!("show next-hops", "/v1/next-hops", All => Self,
        "Next hops, and the packets that left by them");
    counters!("packets", "octets");
    const METRICS: Option<Metrics<Self>> = Some((All, |shown, out| {
        if !shown.counted {
            return;
        }
        let left_out = shown.next_hops.len().saturating_sub(MOST_METRICS);
        out.one(left_out).gauge(
            "next_hops_left_out",
            "Next hops that no metrics are made of: there are too many.",
            |left_out| *left_out,
        );
        let labels = |next_hop: &&CountedNextHop| {
            [
                ("address", next_hop.address.clone()),
                ("port", next_hop.port.clone()),
                ("family", next_hop.family.clone()),
            ]
        };
        out.of(shown.next_hops.iter().take(MOST_METRICS), labels)
            .counter("next_hop_packets", "Packets that left by a next hop.", |it| it.packets)
            .counter("next_hop_octets", "Their octets, from the IP header on.", |it| it.octets);
    }));

    fn text(shown: &Self, style: Style) -> String {
        let table = table!(&shown.next_hops, next_hop => {
            "address": next_hop.address, "port": next_hop.port, "vrf": next_hop.vrf,
            "family": next_hop.family, "users": next_hop.users, "packets": next_hop.packets,
            "octets": next_hop.octets,
        });
        let note = match shown.counted {
            true => "",
            false => "nothing is counted: volley next_hops set counters\n",
        };
        table.hide_where_all("vrf", DEFAULT_NAME).render(style) + note
    }
}
