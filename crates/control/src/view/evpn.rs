//! Bridges that routing daemons tell of stations, and are told of.

use super::answer::*;

/// What a routing daemon and a bridge tell each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Evpn {
    /// The bridge.
    pub bridge: String,
    /// The kernel's bridge through which it goes.
    pub name: String,
    /// Its network namespace; none: the router's own.
    pub netns: Option<String>,
    /// The network identifier; none while it is not there.
    pub vni: Option<u32>,
    /// Whether it is for routes, not for stations.
    pub routes: bool,
    /// Why it is not there.
    pub problem: Option<String>,
    /// Stations of the bridge that the daemon was told of.
    pub told_stations: usize,
    /// Addresses of theirs that it was told.
    pub told_addresses: usize,
    /// Stations that the daemon tells of.
    pub stations: usize,
    /// Addresses that it tells.
    pub addresses: usize,
    /// Ends of tunnels that frames to groups and unknown stations go to, as it tells.
    pub flooded_to: Vec<String>,
    /// Stations and addresses that there was no room for, or that the kernel did not take.
    pub refused: u64,
    /// Messages of the kernel's that could not be read, of all bridges.
    pub malformed: u64,
}

impl View for Evpn {
    view!("show evpn", "/v1/evpn", All => Vec<Self>,
        "Bridges that routing daemons tell of stations (EVPN), and are told of");
    counters!("refused", "malformed");
    const METRICS: Option<Metrics<Self>> = Some((All, |bridges, out| {
        out.of(bridges, |evpn| [("bridge", &evpn.bridge)])
            .gauge(
                "evpn_present",
                "Whether a routing daemon can tell a bridge of stations.",
                |it| u8::from(it.vni.is_some()),
            )
            .gauge("evpn_told_stations", "Stations that the routing daemon was told of.", |it| {
                it.told_stations
            })
            .gauge("evpn_stations", "Stations that the routing daemon tells of.", |it| it.stations)
            .gauge("evpn_remotes", "Ends of tunnels that are flooded to.", |it| it.flooded_to.len())
            .counter("evpn_refused", "Stations and addresses without room.", |it| it.refused)
            .counter("evpn_malformed", "Messages that could not be read.", |it| it.malformed);
    }));

    fn text(bridges: &Vec<Self>, style: Style) -> String {
        let table = table!(bridges, evpn => {
            "bridge": evpn.bridge, "vni": evpn.vni.map_or("-".to_owned(), |vni| vni.to_string()),
            "kernel's": evpn.name, "netns": evpn.netns,
            "for": if evpn.routes { "routes" } else { "stations" },
            "told": evpn.told_stations, "addresses told": evpn.told_addresses,
            "stations": evpn.stations, "addresses": evpn.addresses,
            "flooded to": evpn.flooded_to, "refused": evpn.refused,
        });
        let problems = bridges.iter().filter_map(|evpn| {
            let problem = evpn.problem.as_ref()?;
            Some(format!("{}: {problem}\n", evpn.bridge))
        });
        table.render(style) + &problems.collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_is_a_line_with_its_problem_below() {
        let evpn = Evpn {
            bridge: "lan".into(),
            name: "lan".into(),
            netns: Some("frr".into()),
            vni: None,
            routes: false,
            problem: Some("its tunnel is down".into()),
            told_stations: 0,
            told_addresses: 0,
            stations: 2,
            addresses: 0,
            flooded_to: vec!["192.0.2.8".into(), "192.0.2.9".into()],
            refused: 0,
            malformed: 3,
        };
        let text = Evpn::text(&vec![evpn.clone()], Style::new(false));
        assert!(text.ends_with("lan: its tunnel is down\n"), "{text}");
        assert!(text.contains("192.0.2.8"), "{text}");
        let (_, tell) = Evpn::METRICS.unwrap();
        let mut out = crate::view::Exposition::default();
        tell(&vec![evpn], &mut out);
        let text = out.finish();
        assert!(text.contains("volley_evpn_present{bridge=\"lan\"} 0\n"), "{text}");
        assert!(text.contains("volley_evpn_malformed_total{bridge=\"lan\"} 3\n"), "{text}");
    }
}
