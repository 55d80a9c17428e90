//! LISP: instances, our own networks, what was asked and heard.

use super::answer::*;

/// What LISP does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Lisp {
    /// Its ports.
    pub instances: Vec<LispInstance>,
    /// Our own networks at each map server.
    pub registrations: Vec<LispRegistration>,
    /// Endpoints that are being asked for.
    pub pending: u64,
    /// Packets that wait for them.
    pub held_packets: u64,
    /// Messages and what became of them, by what they are.
    pub messages: Vec<LispCount>,
}

/// A port of LISP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LispInstance {
    /// Its name.
    pub port: String,
    /// The instance.
    pub instance_id: u32,
    /// The VRF that endpoints are in.
    pub vrf: String,
    /// The VRF of packets between locators.
    pub underlay_vrf: String,
    /// Our locators.
    pub locators: Vec<String>,
    /// Our own networks.
    pub eids: Vec<String>,
}

/// Our own networks at a map server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LispRegistration {
    /// The map server.
    pub server: String,
    /// `registered`, `asking`, `refused` (nothing is heard of it) or `nothing to tell`.
    pub state: String,
    /// Seconds since it was last heard; none: never.
    pub age_s: Option<u64>,
}

/// Messages of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LispCount {
    /// What they are, as in `map-request sent`.
    pub message: String,
    /// How many.
    pub count: u64,
}

impl View for Lisp {
    view!("show lisp", "/v1/lisp", All => Self,
        "Instances of LISP, map servers, and what was asked and heard");
    counters!("count");
    const METRICS: Option<Metrics<Self>> = Some((All, |lisp, out| {
        if lisp.messages.is_empty() {
            return;
        }
        out.of(&lisp.messages, |row| [("message", &row.message)]).counter(
            "lisp_messages",
            "Messages of LISP's control plane.",
            |row| row.count,
        );
        out.one(lisp)
            .gauge("lisp_pending", "Endpoints that are being asked for.", |lisp| lisp.pending)
            .gauge("lisp_held_packets", "Packets that wait for an endpoint.", |lisp| {
                lisp.held_packets
            });
        out.of(&lisp.registrations, |row| [("server", &row.server)]).gauge(
            "lisp_registered",
            "Whether a map server heard of our networks.",
            |row| u8::from(row.state == "registered"),
        );
    }));

    fn text(lisp: &Self, style: Style) -> String {
        if lisp.instances.is_empty() && lisp.messages.is_empty() {
            return "there is no LISP: no port is of the kind lisp, and this is no map server\n"
                .to_owned();
        }
        let instances = table!(&lisp.instances, it => {
            "port": it.port, "instance": it.instance_id, "vrf": it.vrf,
            "underlay": it.underlay_vrf, "locators": it.locators, "eids": it.eids,
        });
        let servers = table!(&lisp.registrations, it => {
            "map server": it.server, "state": it.state, "heard s ago": it.age_s,
        });
        let messages = table!(&lisp.messages, it => { "message": it.message, "count": it.count });
        let waits = format!("{} asked for, {} packets wait\n", lisp.pending, lisp.held_packets);
        [instances, servers, messages].map(|table| table.render(style)).join("\n") + "\n" + &waits
    }
}
