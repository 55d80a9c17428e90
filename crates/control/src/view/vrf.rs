//! VRFs.

use super::answer::*;

/// A VRF.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Vrf {
    /// Its name.
    pub name: String,
    /// Ports that are in it.
    pub ports: Vec<String>,
    /// The table of the kernel's VRF that stands for it, if one is to.
    pub table: Option<u32>,
    /// The number of that one's link; none: it is not there.
    pub twin: Option<u32>,
    /// Its IPv4 routes.
    pub ip4: VrfRoutes,
    /// Its IPv6 routes.
    pub ip6: VrfRoutes,
}

/// A VRF's routes of one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VrfRoutes {
    /// Of all sources.
    pub routes: u64,
    /// Prefixes that its table forwards by.
    pub forwarded: u64,
    /// The most that it forwards by.
    pub capacity: u64,
}

impl View for Vrf {
    view!("show vrfs", "/v1/vrfs", All => Vec<Self>, "VRFs, their ports and routes");
    const METRICS: Option<Metrics<Self>> = Some((All, |vrfs, out| {
        let families = vrfs.iter().flat_map(|vrf| [(vrf, "ip4", vrf.ip4), (vrf, "ip6", vrf.ip6)]);
        out.of(families, |row| [("vrf", &row.0.name[..]), ("family", row.1)])
            .gauge("vrf_routes", "Routes of all sources in a VRF.", |row| row.2.routes)
            .gauge("vrf_forwarded", "Prefixes that a VRF forwards by.", |row| row.2.forwarded)
            .gauge("vrf_capacity", "Prefixes that a VRF has room for.", |row| row.2.capacity);
    }));

    fn table(vrfs: &Vec<Self>) -> Table {
        table!(vrfs, vrf => {
            "vrf": vrf.name, "ip4 routes": vrf.ip4.routes, "forwarded": vrf.ip4.forwarded,
            "ip6 routes": vrf.ip6.routes, "forwarded": vrf.ip6.forwarded,
            "table": vrf.table, "twin": vrf.twin, "ports": vrf.ports,
        })
    }
}
