//! Whether what tunnels carry fits the ways that they have now: told when a tunnel, a route or an
//! MTU comes that makes it too long, and when that is over.
//!
//! ```text
//!  routes, ports change ─▶ … a look a second … ─▶ too narrow? ─▶ event, once
//! ```
//! The ways are those that workers go. `config check` tells the same of the configuration alone.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::objects::port::PortName;
use fib::Forward;
use fib::adjacency::AdjacencyId;
use fib::ecmp::GroupId;
use nodes::tables::{Kind, Link};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Between two looks.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Default)]
pub(crate) struct TunnelMtu {
    next_look: Option<Instant>,
    /// Tunnels that are wider than their ways, as was told, and other ends to which.
    told: BTreeSet<(PortName, IpAddr)>,
}

impl Part for TunnelMtu {
    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        if self.next_look.is_none_or(|next| now >= next) {
            self.next_look = Some(now + LOOK_PERIOD);
            self.look(core);
        }
        false
    }
}

impl TunnelMtu {
    fn look(&mut self, core: &Core) {
        let mut narrow = BTreeSet::new();
        // Copies have no senders that could be told, and may be truncated.
        let senders = core.ports.iter().filter(|(_, port)| !port.config.kind.is_for_copies());
        for (name, port) in senders {
            let Some(around) = port.config.kind.tunnel_bytes() else { continue };
            for (remote, takes) in ways(core, port) {
                let (mtu, left) = (port.config.mtu, takes.saturating_sub(around));
                if mtu <= left {
                    continue;
                }
                if !self.told.contains(&(name.clone(), remote)) {
                    tracing::warn!(
                        fault = "tunnel-mtu", port = %name, %remote, mtu, takes, left,
                        "a tunnel's packets do not fit the way to its other end: senders are told what does"
                    );
                }
                narrow.insert((name.clone(), remote));
            }
        }
        for (name, remote) in self.told.difference(&narrow) {
            if core.ports.get(name).is_some() {
                tracing::info!(port = %name, %remote, "a tunnel's packets fit the way to its other end");
            }
        }
        self.told = narrow;
    }
}

/// The other ends of a tunnel that there is a way to, and what that takes.
fn ways(core: &Core, port: &OpenPort) -> Vec<(IpAddr, u16)> {
    let interfaces = core.dataplane.interfaces();
    let tunnels = port.rows().filter_map(|id| match interfaces.get(id)?.link {
        Link::Tunnel(tunnel) => Some(tunnel),
        Link::Port | Link::Vlan(_) | Link::Bond | Link::Bridge | Link::Lisp(_) => None,
    });
    let way = |tunnel: nodes::tables::Tunnel| {
        let takes = takes(core, tunnel.way(core.dataplane.vrfs()))?;
        Some((tunnel.key.ends.remote(), takes))
    };
    tunnels.filter_map(way).filter(|(remote, _)| !remote.is_unspecified()).collect()
}

/// The longest packet that goes this way.
fn takes(core: &Core, to: Forward) -> Option<u16> {
    let is = |kind: Kind| to.kind() == kind as u8;
    if is(Kind::Rewrite) {
        let entry = core.dataplane.adjacencies.entry(AdjacencyId(to.id()))?;
        return Some(entry.fields().mtu());
    }
    if is(Kind::Glean) {
        return Some(core.dataplane.interfaces().get(to.id() as u16)?.mtu_bytes);
    }
    if is(Kind::Group) {
        let members = core.dataplane.groups.members(GroupId(to.id()));
        return members.into_iter().filter_map(|(member, _)| takes(core, member)).min();
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::router::Router;
    use control::config::{Config, Host, Source, edit, parse};
    use control::engine::Engine;
    use std::sync::Arc;

    const START: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
port.lan = { kind = "memory", addresses = ["192.0.2.1/24"] }
port.wan = { kind = "memory", mtu = 1600, addresses = ["198.51.100.1/24"] }
port.east = { kind = "vxlan", vni = 5, local = "192.0.2.1", remote = "10.0.0.9" }
route = [{ prefix = "10.0.0.0/8", via = "198.51.100.9" }]
"#;

    #[test]
    fn a_route_that_makes_a_tunnels_way_too_narrow_is_told_and_one_that_does_not() {
        let start = parse(&Source::new("file", START), &Host::any()).unwrap();
        let mut router = Router::start(&start, Arc::new(|| ())).unwrap();
        let before = Config {
            workers: start.workers.clone(),
            memory: start.memory.clone(),
            ..Config::default()
        };
        router.apply(&before, &start, &Config::diff(&before, &start)).unwrap();
        let mut running = start;
        let mut told = |commands: &str| {
            let new = edit(&running, &Source::new("commands", commands), &Host::any()).unwrap();
            router.apply(&running, &new, &Config::diff(&running, &new)).unwrap();
            running = new;
            router.parts.tunnel_mtu.look(&router.core);
            let told = router.parts.tunnel_mtu.told.iter();
            told.map(|(name, remote)| format!("{name} {remote}")).collect::<Vec<_>>()
        };
        let none: [&str; 0] = [];
        assert_eq!(told("icmp set echo off"), none);
        let narrow = ["east 10.0.0.9"];
        assert_eq!(told("route add 10.0.0.0/24 via 192.0.2.9"), narrow);
        assert_eq!(told("port set east mtu 1450"), none);
        assert_eq!(told("port set east mtu 1451"), narrow);
        assert_eq!(told("route del 10.0.0.0/24"), none);
        let both = "route del 10.0.0.0/8\nroute add 10.0.0.0/8 via 198.51.100.9 via 192.0.2.9";
        assert_eq!(told(both), narrow);
        assert_eq!(told("port del east"), none);
    }
}
