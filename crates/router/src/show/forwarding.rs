//! Ports, routes, neighbours, lookups.

use crate::devices::Device;
use crate::interfaces::OpenPort;
use crate::router::Router;
use crate::routing::{Family, InUse, Routes, VrfRoutes};
use control::config::Prefix;
use control::config::objects::port::PortName;
use control::config::objects::vrf::name_of;
use control::engine::EngineError;
use control::view;
use fib::Forward;
use fib::neighbor::{NeighborKey, NeighborState, NeighborView};
use fib::rib::{NextHop, Path, Protocol, Resolved, Rib, Route, RouteView, Target};
use fib::route_file::FilePrefix;
use nodes::ip::MOST_LED_ON;
use nodes::tables::{Kind, VrfId};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use wire::MacAddr;

/// Prefixes that are looked at in one turn.
const SLICE: usize = 512;

/// Which routes are shown.
struct Wanted<'a> {
    within: Option<Prefix>,
    filter: &'a view::RouteFilter,
}

impl Router {
    pub(crate) fn show_ports(&self) -> Vec<view::Port> {
        self.core.ports.iter().map(|(name, port)| self.show_port(name, port)).collect()
    }

    fn show_port(&self, name: &PortName, port: &OpenPort) -> view::Port {
        let (totals, dropped) = (self.core.carried(port), self.core.dropped(port));
        let drops = |outbound: bool| {
            // Where the sender is told, a packet of ours leaves in place of that one.
            let counts =
                dropped.iter().filter(|count| count.outbound == outbound && !count.answered);
            counts.map(|count| count.packets).sum()
        };
        let [rx_errors, tx_errors] = self.core.device_errors(port);
        view::Port {
            name: name.as_str().to_owned(),
            kind: port.config.kind.name().word().to_owned(),
            admin_up: port.config.up,
            link_up: port.link.up,
            problem: port.problem.clone().or_else(|| port.alone()),
            link_mbps: port.link.mbps,
            vrf: name_of(port.config.vrf.as_ref()).to_owned(),
            mtu: port.config.mtu,
            mac: MacAddr(port.mac).to_string(),
            addresses: port.config.addresses.iter().map(ToString::to_string).collect(),
            rx_queues: port.config.rx_queues,
            rx: view::PortCounters {
                packets: totals.rx_packets,
                bytes: totals.rx_bytes,
                drops: drops(false),
                errors: rx_errors,
            },
            tx: view::PortCounters {
                packets: totals.tx_packets,
                bytes: totals.tx_bytes,
                drops: drops(true),
                errors: tx_errors,
            },
        }
    }

    /// Ports without a device have none.
    pub(super) fn show_device_counters(
        &self,
        filter: &view::DeviceCounterFilter,
    ) -> Result<Vec<view::DeviceCounter>, EngineError> {
        if let Some(name) = &filter.port {
            self.core.port_named(name)?;
        }
        let wanted = |name: &PortName| filter.port.as_deref().is_none_or(|it| it == name.as_str());
        let ports = self.core.ports.iter().filter(|(name, _)| wanted(name));
        let counters = ports.flat_map(|(name, port)| {
            let told = match &port.device {
                Some(Device::Dpdk(device)) => device.extended_stats().unwrap_or_default(),
                Some(Device::Given(_) | Device::Memory | Device::Virtual) | None => Vec::new(),
            };
            told.into_iter().map(|(counter, value)| view::DeviceCounter {
                port: name.to_string(),
                counter,
                value,
            })
        });
        Ok(counters.collect())
    }

    pub(super) fn show_routes(
        &self,
        filter: &view::RouteFilter,
    ) -> Result<view::Routes, EngineError> {
        let within = filter.within.as_deref().map(str::parse::<Prefix>).transpose();
        let within = within.map_err(|error| EngineError::Conflict(error.to_string()))?;
        let mut shown = view::Routes::default();
        let vrf = self.core.vrf_named(filter.vrf())?;
        let Routes { ip4, ip6, .. } = &self.core.routing;
        let wanted = Wanted { within, filter };
        // IPv6 comes after IPv4.
        shown.next = match filter.from.unwrap_or(FilePrefix::first()) {
            FilePrefix::V4(from) => {
                let next = self.add_routes(vrf, ip4.vrf(vrf), from, &wanted, &mut shown);
                Some(next.map_or(FilePrefix::V6(fib::Prefix::all()), FilePrefix::V4))
            }
            FilePrefix::V6(from) => {
                let next = self.add_routes(vrf, ip6.vrf(vrf), from, &wanted, &mut shown);
                next.map(FilePrefix::V6)
            }
        };
        Ok(shown)
    }

    /// Of the next routes, counts those that are wanted, and adds them as far as there is room;
    /// says where to go on.
    fn add_routes<A: Family>(
        &self,
        vrf: VrfId,
        routes: Option<&VrfRoutes<A>>,
        from: fib::Prefix<A>,
        Wanted { within, filter }: &Wanted<'_>,
        shown: &mut view::Routes,
    ) -> Option<fib::Prefix<A>> {
        let wanted = |route: &RouteView<'_, A>| {
            let inside = within.is_none_or(|within| {
                let network = route.prefix.address().plain().to_ip();
                within.contains(network) && within.length() <= route.prefix.length()
            });
            let source = source_of(route.source.protocol);
            inside && filter.source.is_none_or(|wanted| wanted == source)
        };
        let limit = filter.limit.unwrap_or(usize::MAX);
        let rib = &routes?.rib;
        let (routes, next) = rib.routes_from(from, SLICE);
        for route in routes.filter(wanted) {
            shown.total += 1;
            if shown.routes.len() < limit {
                shown.routes.push(self.show_route(vrf, rib, &route, filter.counters));
            }
        }
        next
    }

    fn show_route<A: Family>(
        &self,
        vrf: VrfId,
        rib: &Rib<A>,
        route: &RouteView<'_, A>,
        counters: bool,
    ) -> view::Route {
        let through = |table: u16| format!("via vrf {}", self.core.vrfs.name(VrfId(table)));
        let action = match &route.route.target {
            Target::Via(_) => None,
            Target::Shared(_) if !route.hops.is_empty() => None,
            Target::Shared(_) => Some(match route.active {
                Some(Resolved::Unreachable) => "unreachable".to_owned(),
                Some(Resolved::Prohibit) => "prohibit".to_owned(),
                Some(_) => "blackhole".to_owned(),
                None => "waits for its next hop".to_owned(),
            }),
            Target::Table(table) => Some(through(*table)),
            Target::Local => Some("local".to_owned()),
            Target::Blackhole => Some("blackhole".to_owned()),
            Target::Unreachable => Some("unreachable".to_owned()),
            Target::Prohibit => Some("prohibit".to_owned()),
        };
        let prefix = &route.prefix;
        view::Route {
            prefix: format!("{}/{}", prefix.address().plain().to_ip(), prefix.length()),
            vrf: self.core.vrfs.name(vrf).to_owned(),
            source: source_of(route.source.protocol),
            origin: format!("{}/{}", route.source.protocol, route.source.preference),
            active: route.active.is_some(),
            action,
            next_hops: route
                .hops
                .iter()
                .map(|hop| {
                    let paths = paths_of(rib, route, hop);
                    self.show_next_hop(hop, &paths, (A::BITS == 32, counters))
                })
                .collect(),
        }
    }

    fn show_next_hop(
        &self,
        hop: &NextHop,
        paths: &[Path],
        (is_ip4, counters): (bool, bool),
    ) -> view::NextHop {
        // One that another route leads to by several ports leaves by none of its own.
        let interface = one_link(paths).or(hop.interface);
        let port = interface.and_then(|id| self.core.port_of(id));
        view::NextHop {
            address: hop.address.map(|address| address.to_string()),
            port: port.map(|(name, _)| name.as_str().to_owned()),
            weight: hop.weight,
            usable: !paths.is_empty(),
            left: match paths {
                [path] if counters => self.left_by_path(is_ip4, path),
                _ => None,
            },
        }
    }

    /// What left by a path, if that is counted.
    fn left_by_path(&self, is_ip4: bool, path: &Path) -> Option<view::Left> {
        if !self.core.dataplane.counts_next_hops.load(Ordering::Relaxed) {
            return None;
        }
        let key = NeighborKey { interface: path.interface, address: path.address? };
        let [packets, octets] = self.core.left_by(self.core.routing.next_hop(is_ip4, key)?);
        Some(view::Left { packets, octets })
    }

    /// Next hops of both families, with what left by them where that is counted.
    pub(super) fn show_next_hops(&self) -> impl FnOnce() -> view::NextHops + Send + 'static {
        let (names, core) = (self.names(), &self.core);
        let counted = core.dataplane.counts_next_hops.load(Ordering::Relaxed);
        let (all, ip4) = (core.routing.next_hops(), core.routing.ip4_next_hops());
        let cleared = core.cleared.next_hops.clone();
        let counters = core.dataplane.next_hop_counters();
        move || {
            let total = |id: u32| {
                let each = counters.iter().map(|worker| worker.read(id));
                let now = each.fold([0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
                let then = cleared.get(&id).copied().unwrap_or_default();
                [now[0].wrapping_sub(then[0]), now[1].wrapping_sub(then[1])]
            };
            let show = |(at, next_hop): (usize, InUse)| {
                let port = names.get(&next_hop.key.interface);
                let [packets, octets] = total(next_hop.id.0);
                view::CountedNextHop {
                    address: next_hop.key.address.to_string(),
                    port: port.map_or_else(String::new, |(name, _)| name.to_string()),
                    vrf: port.map_or_else(String::new, |(_, vrf)| vrf.clone()),
                    family: if at < ip4 { "ip4" } else { "ip6" }.to_owned(),
                    users: next_hop.users as u64,
                    packets,
                    octets,
                }
            };
            view::NextHops { counted, next_hops: all.into_iter().enumerate().map(show).collect() }
        }
    }

    pub(super) fn show_neighbors(&self) -> impl FnOnce() -> Vec<view::Neighbor> + Send + 'static {
        let (now_ns, names) = (self.core.now_ns(), self.names());
        let (mut list, held) =
            (self.core.neighborhood.machine.unsorted(), self.core.neighborhood.held_of_each());
        move || {
            list.sort_unstable_by_key(|neighbor| neighbor.key);
            let show = |neighbor: NeighborView| {
                let port = names.get(&neighbor.key.interface);
                view::Neighbor {
                    address: neighbor.key.address.to_string(),
                    port: port.map_or_else(String::new, |(name, _)| name.to_string()),
                    vrf: port.map_or_else(String::new, |(_, vrf)| vrf.clone()),
                    mac: neighbor.mac.map(|mac| MacAddr(mac).to_string()),
                    state: match neighbor.state {
                        NeighborState::Incomplete => view::NeighborState::Incomplete,
                        NeighborState::Reachable => view::NeighborState::Reachable,
                        NeighborState::Stale => view::NeighborState::Stale,
                        NeighborState::Probing => view::NeighborState::Probe,
                        NeighborState::Failed => view::NeighborState::Failed,
                        NeighborState::Static => view::NeighborState::Static,
                    },
                    age_ms: now_ns.saturating_sub(neighbor.heard_ns) / 1_000_000,
                    held_packets: held.get(&neighbor.key).copied().unwrap_or_default() as u32,
                }
            };
            list.into_iter().map(show).collect()
        }
    }

    /// Ports and their VRFs by the numbers of interfaces, for who shows them elsewhere.
    fn names(&self) -> HashMap<u16, (PortName, String)> {
        let named = self.core.ports.iter().flat_map(|(name, port)| {
            let vrf = name_of(port.config.vrf.as_ref());
            port.rows().map(move |id| (id, (name.clone(), vrf.to_owned())))
        });
        named.collect()
    }

    /// Of all ports that take part in IP, or did.
    pub(super) fn show_neighbor_shares(&self) -> Vec<view::NeighborShare> {
        let shares = self.core.neighborhood.machine.shares().into_iter();
        let shown = shares.filter_map(|it| {
            let (name, _) = self.core.port_of(it.share.interface)?;
            Some(view::NeighborShare {
                port: name.as_str().to_owned(),
                family: if it.share.is_ip6 { "ip6" } else { "ip4" }.to_owned(),
                neighbors: it.neighbors as u64,
                most: it.most as u64,
                unresolved: it.unresolved as u64,
                most_unresolved: it.most_unresolved as u64,
                evicted: it.evicted,
                refused: it.refused,
                no_buffer: it.no_buffer,
            })
        });
        shown.collect()
    }

    pub(super) fn show_lookup(&self, vrf: VrfId, address: IpAddr) -> view::Lookup {
        let mut lookup = view::Lookup {
            address: address.to_string(),
            vrf: self.core.vrfs.name(vrf).to_owned(),
            route: match address {
                IpAddr::V4(address) => {
                    self.route_to(vrf, self.core.routing.ip4.vrf(vrf), address.into())
                }
                IpAddr::V6(address) => {
                    self.route_to(vrf, self.core.routing.ip6.vrf(vrf), address.into())
                }
            },
            outcome: String::new(),
            depth: 0,
            cache_lines: 0,
        };
        let mut tables = self.core.dataplane.vrfs().get(vrf);
        for _ in 0..=MOST_LED_ON {
            let found = match (tables, address) {
                (None, _) => (Forward::NONE, 0, 0),
                (Some(tables), IpAddr::V4(address)) => {
                    let found = tables.ip4.explain(address.into());
                    (found.to, found.depth.into(), found.cache_lines.into())
                }
                (Some(tables), IpAddr::V6(address)) => {
                    let found = tables.ip6.explain(address.into());
                    // Each step is one cache line.
                    let steps = found.steps.len() as u32;
                    (found.forward, steps, steps)
                }
            };
            lookup.depth += found.1;
            lookup.cache_lines += found.2;
            lookup.outcome += &self.outcome(found.0);
            if found.0.kind() != Kind::Vrf as u8 {
                return lookup;
            }
            tables = self.core.dataplane.vrfs().get(VrfId(found.0.id() as u16));
        }
        lookup.outcome += "and so on: dropped, as routes lead from VRF to VRF";
        lookup
    }

    pub(super) fn show_vrfs(&self) -> Vec<view::Vrf> {
        let there = (0..=u16::MAX).map(VrfId).filter_map(|id| {
            let (tables, ip4) =
                (self.core.dataplane.vrfs().get(id)?, self.core.routing.ip4.vrf(id)?);
            Some((id, tables, ip4, self.core.routing.ip6.vrf(id)?))
        });
        let shown = there.map(|(id, tables, ip4, ip6)| {
            let memory = tables.ip4.memory();
            let name = self.core.vrfs.name(id).to_owned();
            let twin = self.parts.vrfs.twin_of(&name);
            view::Vrf {
                name,
                table: twin.map(|(table, _)| table),
                twin: twin.and_then(|(_, link)| link),
                ports: self.core.ports_in(id).iter().map(ToString::to_string).collect(),
                ip4: view::VrfRoutes {
                    routes: ip4.rib.len() as u64,
                    forwarded: memory.routes as u64,
                    capacity: memory.max_routes as u64,
                },
                ip6: view::VrfRoutes {
                    routes: ip6.rib.len() as u64,
                    forwarded: tables.ip6.len() as u64,
                    capacity: tables.ip6.max_routes() as u64,
                },
            }
        });
        shown.collect()
    }

    /// The route that packets to `address` follow.
    fn route_to<A: Family>(
        &self,
        vrf: VrfId,
        routes: Option<&VrfRoutes<A>>,
        address: A,
    ) -> Option<view::Route> {
        let rib = &routes?.rib;
        let (prefix, source, _) = rib.lookup(address)?;
        rib.route(prefix, source).map(|route| self.show_route(vrf, rib, &route, false))
    }

    fn outcome(&self, forward: Forward) -> String {
        let port = |id: u16| {
            self.core
                .port_of(id)
                .map_or_else(|| id.to_string(), |(name, _)| name.as_str().to_owned())
        };
        let is = |kind: Kind| forward.kind() == kind as u8;
        if is(Kind::Rewrite) {
            let entry =
                self.core.dataplane.adjacencies.entry(fib::adjacency::AdjacencyId(forward.id()));
            return entry.map_or_else(String::new, |entry| {
                let (fields, to) = (entry.fields(), MacAddr(entry.destination()));
                let mac =
                    if fields.is_complete() { to.to_string() } else { "not yet known".into() };
                format!(
                    "out of {}, next hop {}, MAC {mac}",
                    port(fields.interface()),
                    entry.next_hop()
                )
            });
        }
        if is(Kind::Vrf) {
            return format!("as VRF {} says: ", self.core.vrfs.name(VrfId(forward.id() as u16)));
        }
        if is(Kind::Glean) {
            return format!("on the link of {}: its MAC is asked for", port(forward.id() as u16));
        }
        if is(Kind::Group) {
            let members = self.core.dataplane.groups.members(fib::ecmp::GroupId(forward.id()));
            let all: usize = members.iter().map(|(_, buckets)| buckets).sum();
            let ways: Vec<String> = members
                .iter()
                .map(|(to, buckets)| format!("{buckets} of {all} flows {}", self.outcome(*to)))
                .collect();
            return format!("shared: {}", ways.join("; "));
        }
        let words = [
            (Kind::Local, "one of our own addresses"),
            (Kind::Blackhole, "dropped without a word"),
            (Kind::Unreachable, "dropped: the sender is told that the host is unreachable"),
            (Kind::Prohibit, "dropped: the sender is told that this is prohibited"),
            (Kind::Martian, "dropped: no router forwards to this address"),
            (Kind::Link, "not routed: an address of one link alone, or a group"),
        ];
        let word = words.iter().find(|(kind, _)| is(*kind)).map(|(_, word)| *word);
        word.unwrap_or("no route: the sender is told that the network is unreachable").to_owned()
    }
}

fn source_of(protocol: Protocol) -> view::RouteSource {
    match protocol {
        Protocol::Connected => view::RouteSource::Connected,
        Protocol::Static => view::RouteSource::Static,
        _ => view::RouteSource::Dynamic,
    }
}

/// The paths that a next hop of a route takes: its own, or those of the route that leads to it.
fn paths_of<A: Family>(rib: &Rib<A>, route: &RouteView<'_, A>, hop: &NextHop) -> Vec<Path> {
    // Most routes have one, which takes all their paths.
    if route.paths.is_empty() || route.hops.len() == 1 {
        return route.paths.to_vec();
    }
    let alone = Route { target: Target::Via([*hop].into()) };
    match rib.resolve(route.prefix, &alone) {
        Some(Resolved::Paths(paths)) => paths.to_vec(),
        _ => Vec::new(),
    }
}

/// The link by which all of them leave, if it is one.
fn one_link(paths: &[Path]) -> Option<u16> {
    let first = paths.first()?.interface;
    paths.iter().all(|path| path.interface == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fib::Ip4Prefix;
    use fib::rib::SharedId;

    fn hop(address: &str, interface: Option<u16>) -> NextHop {
        NextHop { address: address.parse().ok(), interface, weight: 1 }
    }

    fn via(hops: &[NextHop]) -> Route {
        Route { target: Target::Via(hops.into()) }
    }

    fn prefix(text: &str) -> Ip4Prefix {
        text.parse().unwrap()
    }

    /// For each next hop of a route, how many paths it takes, and by which link.
    fn ways(rib: &Rib<u32>, of: &str) -> Vec<(usize, Option<u16>)> {
        let route = rib.routes().find(|route| route.prefix == prefix(of)).unwrap();
        let paths = route.hops.iter().map(|hop| paths_of(rib, &route, hop));
        paths.map(|paths| (paths.len(), one_link(&paths))).collect()
    }

    #[test]
    fn each_next_hop_is_shown_with_the_link_that_it_leaves_by_itself() {
        let (mut rib, mut changes) = (Rib::<u32>::new(), Vec::new());
        let mut add = |of, route| {
            rib.add(prefix(of), Protocol::Static.into(), route, &mut changes);
        };
        add("10.0.1.0/24", Route::connected(1));
        add("10.0.2.0/24", Route::connected(2));
        let (one, two) = (hop("10.0.1.9", None), hop("10.0.2.9", None));
        add("20.0.0.0/16", via(&[two, one]));
        add("30.0.0.0/16", via(&[two]));
        add("40.0.0.0/16", via(&[hop("10.0.1.7", None), hop("10.0.1.8", None)]));
        let over = ["30.0.0.1", "20.0.0.1", "40.0.0.1", "99.0.0.1"].map(|via| hop(via, None));
        let beside = [hop("10.0.1.9", Some(1)), hop("", Some(2)), one];
        add("50.0.0.0/16", via(&[&over[..], &beside].concat()));
        // The second leads by both links: it has none, whichever of them comes first.
        let recursive = [(1, Some(2)), (2, None), (2, Some(1)), (0, None)];
        let all = [&recursive[..], &[(1, Some(1)), (1, Some(2)), (1, Some(1))]].concat();
        assert_eq!(ways(&rib, "50.0.0.0/16"), all);
        assert_eq!(ways(&rib, "20.0.0.0/16"), [(1, Some(2)), (1, Some(1))]);
        // A link that is gone takes its next hops with it, and no other is shown for them.
        rib.set_interface(1, false, &mut changes);
        assert_eq!(ways(&rib, "20.0.0.0/16"), [(1, Some(2)), (0, None)]);
        let left = [(1, Some(2)), (1, Some(2)), (0, None), (0, None)];
        let all = [&left[..], &[(0, None), (1, Some(2)), (0, None)]].concat();
        assert_eq!(ways(&rib, "50.0.0.0/16"), all);
    }

    #[test]
    fn next_hops_of_a_group_are_shown_as_those_of_a_route() {
        let (mut rib, mut changes) = (Rib::<u32>::new(), Vec::new());
        rib.add(
            prefix("10.0.2.0/24"),
            Protocol::Connected.into(),
            Route::connected(2),
            &mut changes,
        );
        let hops = [hop("10.0.2.9", None), hop("10.0.3.9", Some(3)), hop("99.0.0.1", None)];
        let id = SharedId(7);
        rib.set_shared(id, Some(via(&hops).target), &mut changes);
        let route = Route { target: Target::Shared(id) };
        rib.add(prefix("60.0.0.0/16"), Protocol::Ebgp.into(), route, &mut changes);
        assert_eq!(ways(&rib, "60.0.0.0/16"), [(1, Some(2)), (1, Some(3)), (0, None)]);
    }
}
