//! Where rules lead packets: `action = "route"`, of the list that a port's `policy` names.

use super::{Action, Rule};
use crate::config::Config;
use crate::config::field::word_field;
use crate::config::listed::check_exists;
use crate::config::report::{Problem, Report};

word_field! {
    /// What becomes of packets whose next hop is not to be had, or whose VRF has no route.
    Fallback {
        /// They go where their destination says.
        Usual = "usual",
        /// They are dropped.
        Drop = "drop",
    }
}

impl Rule {
    /// Whether it asks for what is not known any more where packets are routed: the stations of
    /// their frames, and the VLAN behind the outer one.
    pub(in crate::config::objects) fn asks_for_frames(&self) -> Option<&'static str> {
        let asked = [
            ("source_mac", self.source_mac.is_some()),
            ("destination_mac", self.destination_mac.is_some()),
            ("inner_vlan", self.inner_vlan.is_some()),
        ];
        asked.into_iter().find_map(|(name, is_asked)| is_asked.then_some(name))
    }

    /// Whether it says, rightly or not, where packets go.
    pub(super) fn says_way(&self) -> bool {
        let said = self.vrf.is_some() || self.via.is_some() || self.port.is_some();
        said || self.fallback.is_some() || self.action == Action::Route
    }

    pub(super) fn check_way(&self, field: &str, config: &Config, report: &mut Report) {
        let mut refuse = |name: &str, message: String, expected: &str| {
            let problem = Problem::new(format!("{field}.{name}"), message);
            report.push(problem.expected(expected));
        };
        let said = [
            ("vrf", self.vrf.is_some()),
            ("via", self.via.is_some()),
            ("port", self.port.is_some()),
            ("fallback", self.fallback.is_some()),
        ];
        if self.action != Action::Route {
            for (name, _) in said.into_iter().filter(|(_, is_said)| *is_said) {
                let message =
                    format!("`{name}` says where packets go, and the rule's action is not `route`");
                refuse(name, message, "action = \"route\" beside it");
            }
            return;
        }
        match (&self.vrf, self.via) {
            (Some(_), Some(_)) => {
                let message = "a VRF and a next hop: packets go to one of them".to_owned();
                refuse("vrf", message, "`vrf`, or `via` and `port`");
            }
            (None, None) => {
                let message = "the rule routes, and says not where to".to_owned();
                refuse("action", message, "`vrf`, or `via` and `port`, beside it");
            }
            (None, Some(_)) if self.port.is_none() => {
                let message = "the rule says not behind which port that is".to_owned();
                refuse("via", message, "`port` beside it");
            }
            _ => {}
        }
        if self.port.is_some() && self.via.is_none() {
            refuse("port", "`port` without a next hop".to_owned(), "`via` beside it");
        }
        if let Some(via) = self.via {
            if via.is_unspecified() || via.is_multicast() {
                refuse("via", format!("{via} is no router's address"), "a neighbour's address");
            }
            let networks = [("source", self.source), ("destination", self.destination)];
            for (name, network) in networks {
                if let Some(network) = network.filter(|it| it.address().is_ipv4() != via.is_ipv4())
                {
                    let message = format!("{network} is not of the family of {via}");
                    refuse(name, message, "networks and next hop of one family");
                }
            }
        }
        if let Some(vrf) = &self.vrf {
            check_exists(&format!("{field}.vrf"), vrf, &config.vrfs, report);
        }
        if let Some(port) = &self.port {
            check_exists(&format!("{field}.port"), port, &config.ports, report);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::tests::read;
    use crate::config::{Host, Source, edit, render};

    const PORTS: &str = "[vrf.red]\n[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n\
                         policy = \"ways\"\n[acl.ways]\ndefault = \"permit\"\n";

    fn with(rule: &str) -> Result<crate::config::Config, String> {
        read(&format!("{PORTS}[[acl.ways.rule]]\n{rule}\n"))
    }

    #[test]
    fn rules_lead_to_a_vrf_or_to_a_next_hop() {
        for rule in [
            "action = \"route\"\nvrf = \"red\"",
            "action = \"route\"\nvia = \"192.0.2.9\"\nport = \"p0\"\nfallback = \"drop\"",
            "action = \"route\"\nsource = \"2001:db8::/32\"\nvia = \"fe80::1\"\nport = \"p0\"",
        ] {
            let config = with(rule).unwrap();
            assert_eq!(read(&render(&config)).unwrap(), config);
        }
        let config = with("action = \"route\"\nvrf = \"red\"").unwrap();
        let command = "acl append ways route source 10.0.0.0/8 via 192.0.2.9 port p0 fallback drop";
        let edited = edit(&config, &Source::new("test", command), &Host::any()).unwrap();
        let (_, acl) = edited.acls.iter().next().unwrap();
        assert_eq!(acl.rules[1].via, "192.0.2.9".parse().ok());
        assert_eq!(acl.rules[1].fallback, Some(super::Fallback::Drop));
    }

    #[test]
    fn what_says_too_little_or_too_much_is_refused() {
        let wrong = |rule: &str| with(rule).unwrap_err();
        let route = |rest: &str| wrong(&format!("action = \"route\"\n{rest}"));
        assert!(route("").contains("says not where to"));
        assert!(route("via = \"192.0.2.9\"").contains("behind which port"));
        assert!(route("port = \"p0\"\nvrf = \"red\"").contains("`port` without a next hop"));
        assert!(route("vrf = \"red\"\nvia = \"192.0.2.9\"\nport = \"p0\"").contains("one of them"));
        assert!(route("vrf = \"rad\"").contains("did you mean `red`?"));
        assert!(route("via = \"192.0.2.9\"\nport = \"p9\"").contains("p9"));
        assert!(route("via = \"224.0.0.9\"\nport = \"p0\"").contains("no router's address"));
        let families = "source = \"2001:db8::/32\"\nvia = \"192.0.2.9\"\nport = \"p0\"";
        assert!(route(families).contains("is not of the family"));
        assert!(route("vrf = \"red\"\nsource_mac = \"02:00:00:00:00:07\"").contains("source_mac"));
        assert!(wrong("action = \"permit\"\nvrf = \"red\"").contains("action is not `route`"));
        assert!(wrong("action = \"deny\"\nfallback = \"drop\"").contains("action is not `route`"));
    }

    #[test]
    fn a_list_that_routes_is_a_policys_and_lets_others_pass() {
        let route = "[[acl.ways.rule]]\naction = \"route\"\nvrf = \"red\"\n";
        let filter = PORTS.replace("policy", "acl_in");
        assert!(read(&format!("{filter}{route}")).unwrap_err().contains("`policy`"));
        let denies = PORTS.replace("default = \"permit\"", "default = \"deny\"");
        assert!(read(&format!("{denies}{route}")).unwrap_err().contains("would be dropped"));
        let routes = PORTS.replace("default = \"permit\"", "default = \"route\"");
        assert!(read(&routes).unwrap_err().contains("says not where packets go"));
        let unknown = PORTS.replace("policy = \"ways\"", "policy = \"way\"");
        assert!(read(&unknown).unwrap_err().contains("did you mean `ways`?"));
        let bridged = "[bridge.lan]\nports = [\"p0\"]\n";
        let bridged = format!("{}{bridged}", PORTS.replace("addresses = [\"192.0.2.1/24\"]\n", ""));
        assert!(read(&bridged).unwrap_err().contains("p0 routes nothing: it is in a bridge"));
    }
}
