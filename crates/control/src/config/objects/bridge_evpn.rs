//! `[bridge.NAME] evpn`: a routing daemon beside the router (FRR) tells it of the stations and
//! remotes of the bridge's VXLAN tunnel, and is told of the bridge's own (RFC 7432, RFC 8365).
//!
//! ```toml
//! evpn = true                    # in the router's own network namespace
//! evpn = { netns = "frr" }       # in the one where the daemons run
//! evpn = { routes = true }       # the VNI that routes (type 5) go by
//! ```

use std::time::Duration;

use super::Config;
use super::bridge::{Bridge, BridgeName};
use super::netns::NetnsName;
use super::port_kind::PortKind;
use super::port_name::PortName;
use super::vrf::VrfName;
use crate::config::declare::{as_field, object};
use crate::config::field::duration_text;
use crate::config::report::{Problem, Report};

/// Longest that what nobody means any more may stay.
const MAX_HOLD: Duration = Duration::from_secs(3600);

object! {
    /// Where the kernel's bridge is through which it goes, and what it is called
    #[derive(Hash)]
    pub struct Evpn {
        /// Its network namespace: where the routing daemons run; the router's own when left out
        pub netns: Option<NetnsName> as "frr" = None,
        /// Its name there; the bridge's when left out
        pub name: Option<PortName> as "lan" = None,
        /// Whether the bridge is there for routes (type 5) by its port of the kind `bvi`, not for
        /// stations
        pub routes: bool = false,
        /// How long what a daemon told stays when it does not mean it any more, having ended
        pub hold: Duration as "30s" = Duration::from_secs(60),
    }
}
as_field!(Evpn);

impl Evpn {
    /// What the kernel's bridge is called.
    pub fn name_for<'a>(&'a self, bridge: &'a BridgeName) -> &'a str {
        self.name.as_ref().map_or(bridge.as_str(), PortName::as_str)
    }

    /// Finds what is wrong with it.
    pub(super) fn check(
        &self,
        name: &BridgeName,
        bridge: &Bridge,
        config: &Config,
        report: &mut Report,
    ) {
        let field = format!("bridge.{name}.evpn");
        let second = Duration::from_secs(1);
        if !(second..=MAX_HOLD).contains(&self.hold) {
            let message =
                format!("what the daemon no longer says is kept for {}", duration_text(self.hold));
            let problem = Problem::new(format!("{field}.hold"), message);
            report.push(problem.expected("\"1s\" to \"1h\""));
        }
        let members = bridge.ports.iter().filter_map(|member| config.ports.get(&member.port));
        let (mut tunnels, mut inner) = (Vec::new(), Vec::new());
        for port in members {
            match &port.kind {
                PortKind::Vxlan(vxlan) if port.kind.has_remotes() => tunnels.push(vxlan),
                PortKind::Bvi => inner.push(port),
                _ => {}
            }
        }
        if tunnels.len() != 1 {
            let message =
                format!("bridge {name} has {} VXLAN ports with several remotes", tunnels.len());
            let problem = Problem::new(&field, message).expected("one such port");
            report.push(problem.help(
                "its remotes come from the daemon: `learn_remotes = false` instead of `remote`",
            ));
        }
        if let (true, [inner]) = (self.routes, &inner[..])
            && let Some((vrf, row)) =
                inner.vrf.as_ref().and_then(|it| Some((it, config.vrfs.get(it)?)))
            && row.twin.as_ref().is_none_or(|twin| twin.netns != self.netns)
            && !is_known_by_table(config, vrf, self)
        {
            let message = format!("its routes are those of VRF {vrf}, which has no twin there");
            let problem = Problem::new(format!("{field}.routes"), message);
            let netns = self.netns.as_ref().map(|netns| format!(", netns = \"{netns}\""));
            let twin = format!("twin = {{ table = 1001{} }}", netns.unwrap_or_default());
            report.push(
                problem
                    .expected(format!("[vrf.{vrf}] {twin}, or another table"))
                    .help("where others make the kernel's VRFs, `[fpm] vrfs` says the table"),
            );
        }
        if self.routes && inner.len() != 1 {
            let message = format!("bridge {name} has {} ports of the kind `bvi`", inner.len());
            let problem = Problem::new(format!("{field}.routes"), message);
            report.push(problem.expected("one, with `routing = true`: routes lead by it"));
        }
    }
}

/// Others make the kernel's VRF, and put the bridge into it.
fn is_known_by_table(config: &Config, vrf: &VrfName, evpn: &Evpn) -> bool {
    let listen = config.fpm.0.as_ref().filter(|listen| listen.netns == evpn.netns);
    listen.is_some_and(|listen| listen.vrfs.iter().any(|known| known.vrf == *vrf))
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Host, Source, edit, parse, render};

    const PORTS: &str = "port.p1 = { kind = \"memory\", addresses = [\"192.0.2.1/24\"] }\n\
        port.vx = { kind = \"vxlan\", vni = 7, local = \"192.0.2.1\", learn_remotes = false }\n\
        port.one = { kind = \"vxlan\", vni = 8, local = \"192.0.2.1\", remote = \"192.0.2.9\" }\n\
        port.in = { kind = \"bvi\", routing = true }\n";

    fn with(bridge: &str) -> Result<Config, String> {
        let text = format!("{PORTS}bridge.lan = {bridge}\n");
        parse(&Source::new("test", text), &Host::any()).map_err(|error| error.to_string())
    }

    #[test]
    fn it_is_wanted_or_not_or_somewhere_else() {
        let evpn = |config: &Config| {
            let bridge = config.bridges.iter().next().unwrap().1;
            bridge.evpn.as_deref().map(|it| (it.netns.as_deref().map(str::to_owned), it.routes))
        };
        assert_eq!(evpn(&with("{ ports = [\"vx\"], evpn = true }").unwrap()), Some((None, false)));
        let mut config =
            with("{ ports = [\"vx\", \"in\"], evpn = { netns = \"frr\", routes = true } }")
                .unwrap();
        assert_eq!(evpn(&config), Some((Some("frr".to_owned()), true)));
        let reads_back = |config: &Config| {
            let again = parse(&Source::new("test", render(config)), &Host::any()).unwrap();
            assert_eq!(again.bridges, config.bridges);
        };
        reads_back(&config);
        let set = |config: &Config, command: &str| {
            edit(config, &Source::new("test", command), &Host::any()).unwrap()
        };
        config = set(&config, "bridge set lan evpn off");
        assert_eq!(evpn(&config), None);
        config = set(&config, "bridge set lan evpn on netns other hold 5s");
        assert_eq!(evpn(&config), Some((Some("other".to_owned()), false)));
        let hold = config.bridges.iter().next().unwrap().1.evpn.as_deref().unwrap().hold;
        assert_eq!(hold, std::time::Duration::from_secs(5));
        reads_back(&config);
    }

    #[test]
    fn a_bridge_that_cannot_do_it_is_told_why() {
        let wrong = |bridge: &str| with(bridge).unwrap_err();
        let none = wrong("{ ports = [\"one\"], evpn = true }");
        assert!(none.contains("bridge lan has 0 VXLAN ports with several remotes"), "{none}");
        assert!(none.contains("learn_remotes = false"), "{none}");
        let routes = wrong("{ ports = [\"vx\"], evpn = { routes = true } }");
        assert!(routes.contains("bridge lan has 0 ports of the kind `bvi`"), "{routes}");
        let of_vrf = |twin: &str| {
            let text = PORTS.replace("routing", "vrf = \"red\", routing");
            let lan = "{ ports = [\"vx\", \"in\"], evpn = { netns = \"frr\", routes = true } }";
            let text = format!("vrf.red = {twin}\n{text}bridge.lan = {lan}\n");
            parse(&Source::new("test", text), &Host::any()).map_err(|error| error.to_string())
        };
        for twin in ["{}", "{ twin = { table = 1001 } }"] {
            let unknown = of_vrf(twin).unwrap_err();
            assert!(unknown.contains("VRF red, which has no twin there"), "{unknown}");
            assert!(unknown.contains("twin = { table = 1001, netns = \"frr\" }"), "{unknown}");
        }
        of_vrf("{ twin = { table = 1001, netns = \"frr\" } }").unwrap();
        of_vrf("{}\nfpm = { netns = \"frr\", vrfs = [\"red=1001\"] }").unwrap();
        of_vrf("{}\nfpm = { vrfs = [\"red=1001\"] }").unwrap_err();
        let hold = wrong("{ ports = [\"vx\"], evpn = { hold = \"2h\" } }");
        assert!(hold.contains("what the daemon no longer says is kept for 2h"), "{hold}");
    }
}
