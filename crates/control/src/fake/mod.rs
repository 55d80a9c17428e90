//! A router without workers: applies configurations and shows made-up counters. For tests.

mod policers;
mod routes;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use fib::rib::{Source, SourceCount};
use fib::route_file::FilePrefix;

use crate::bulk::BulkRoute;
use crate::config::objects::acl;
use crate::config::objects::bridge::Member;
use crate::config::objects::mirror;
use crate::config::objects::neighbor::{Neighbor, NeighborKey};
use crate::config::objects::port::{Port, PortName};
use crate::config::objects::port_filters::Filters;
use crate::config::objects::port_kind::PortKind;
use crate::config::objects::port_twin::Twin;
use crate::config::objects::station::{Station, StationKey};
use crate::config::objects::vrf::{DEFAULT_NAME, name_of};
use crate::config::{Change, Config, Prefix};
use crate::engine::{ApplyError, Engine, EngineError};
use crate::view;

/// A router without workers.
pub struct FakeRouter {
    config: Config,
    refusals: u32,
    trace: Option<(bool, view::TraceRequest)>,
    capture: Option<(bool, view::CaptureRequest)>,
    cleared: bool,
    /// Loaded routes; one is refused where there are as many as `[memory]` has room for.
    bulk: BTreeMap<(String, Source, FilePrefix), Option<IpAddr>>,
}

impl FakeRouter {
    /// A router that runs `config`.
    pub fn new(config: &Config) -> Self {
        let (config, bulk) = (config.clone(), BTreeMap::new());
        Self { config, refusals: 0, trace: None, capture: None, cleared: false, bulk }
    }

    /// The configuration it runs.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Refuses so many changes from now on.
    pub fn refuse_next(&mut self, count: u32) {
        self.refusals = count;
    }

    fn count(&self, packets: u64) -> u64 {
        if self.cleared { 0 } else { packets }
    }

    fn has_port(&self, name: &str) -> bool {
        self.config.ports.iter().any(|(port, _)| port.as_str() == name)
    }
}

/// The made-up graph: node, exit, node it leads to, packets.
const EDGES: [(&str, &str, &str, u64); 6] = [
    ("port-rx", "ethernet", "ethernet-input", 1_000_000),
    ("ethernet-input", "ip4", "ip4-input", 999_000),
    ("ethernet-input", "unknown-type", "drop", 1_000),
    ("ip4-input", "lookup", "ip4-lookup", 998_500),
    ("ip4-input", "bad-checksum", "drop", 500),
    ("ip4-lookup", "rewrite", "port-tx", 998_500),
];

impl Engine for FakeRouter {
    fn apply(&mut self, _: &Config, new: &Config, _: &[Change]) -> Result<(), ApplyError> {
        let refuse =
            |field: String, message: String| Err(ApplyError { field, message, suggestion: None });
        if self.refusals > 0 {
            self.refusals -= 1;
            return refuse("test".to_owned(), "refused as asked".to_owned());
        }
        for (name, port) in new.ports.iter() {
            if let PortKind::AfPacket { device, .. } | PortKind::Tap { device } = &port.kind
                && device.as_str().starts_with("missing")
            {
                let message = format!("there is no device `{}`", device.as_str());
                return refuse(format!("port.{name}.device"), message);
            }
        }
        self.config = new.clone();
        Ok(())
    }

    fn tick(&mut self, _: Duration) -> Duration {
        Duration::from_secs(1)
    }

    fn ports(&self) -> Vec<view::Port> {
        let port = |(index, (name, port)): (usize, (&PortName, &Port))| {
            let mac = port.mac.unwrap_or(wire::MacAddr([2, 0, 0, 0, 0, index as u8]));
            view::Port {
                name: name.to_string(),
                kind: port.kind.name().word().to_owned(),
                admin_up: port.up,
                link_up: port.up,
                link_mbps: 10_000,
                vrf: name_of(port.vrf.as_ref()).to_owned(),
                mtu: port.mtu,
                mac: mac.to_string(),
                addresses: port.addresses.iter().map(ToString::to_string).collect(),
                rx_queues: port.rx_queues,
                rx: view::PortCounters {
                    packets: self.count(1_000_000),
                    bytes: self.count(64_000_000),
                    drops: self.count(1_500),
                    errors: 0,
                },
                tx: view::PortCounters {
                    packets: self.count(998_500),
                    bytes: self.count(63_904_000),
                    drops: 0,
                    errors: 0,
                },
            }
        };
        self.config.ports.iter().enumerate().map(port).collect()
    }

    fn qos(&mut self) -> Vec<view::Qos> {
        let shaped = self.config.ports.iter().filter_map(|(name, port)| {
            let scheduler = sched::build::<u64>(&port.qos.as_ref()?.scheduler(port.mtu)).ok()?;
            Some(view::Qos { port: name.to_string(), root: scheduler.report().into() })
        });
        shaped.collect()
    }

    fn nodes(&self) -> Vec<view::Node> {
        let mut nodes: Vec<view::Node> = Vec::new();
        for (name, exit, to, packets) in EDGES {
            let packets = self.count(packets);
            if nodes.last().is_none_or(|node| node.name != name) {
                nodes.push(view::Node {
                    name: name.to_owned(),
                    calls: 0,
                    packets: 0,
                    packets_per_call: 0.0,
                    cycles_per_packet: 0.0,
                    exits: Vec::new(),
                });
            }
            let Some(node) = nodes.last_mut() else { continue };
            node.packets += packets;
            node.calls = node.packets / 200;
            node.packets_per_call = if node.calls == 0 { 0.0 } else { 200.0 };
            node.cycles_per_packet = if node.calls == 0 { 0.0 } else { 12.5 };
            node.exits.push(view::Exit { name: exit.to_owned(), to: to.to_owned(), packets });
        }
        nodes
    }

    fn errors(&self) -> Vec<view::Drop> {
        let port = self.config.ports.iter().next().map(|(name, _)| name.to_string());
        EDGES
            .into_iter()
            .filter(|(_, _, to, packets)| *to == "drop" && self.count(*packets) > 0)
            .map(|(node, reason, _, packets)| view::Drop {
                node: node.to_owned(),
                reason: reason.to_owned(),
                port: port.clone(),
                packets,
            })
            .collect()
    }

    fn routes(&self, filter: &view::RouteFilter) -> Result<view::Routes, EngineError> {
        let within = match &filter.within {
            Some(text) => Some(
                text.parse::<Prefix>()
                    .map_err(|_| EngineError::Unknown { what: "prefix", name: text.clone() })?,
            ),
            None => None,
        };
        let vrf = filter.vrf.as_deref().unwrap_or(DEFAULT_NAME);
        let all = self.routes_of(vrf)?;
        let total = all.len();
        let routes = all
            .into_iter()
            .filter(|(prefix, route)| {
                within.is_none_or(|w| w.contains(prefix.address()) && w.length() <= prefix.length())
                    && filter.source.is_none_or(|source| route.source == source)
            })
            .map(|(_, route)| route)
            .take(filter.limit.unwrap_or(usize::MAX))
            .collect();
        Ok(view::Routes { total, routes })
    }

    fn add_routes(
        &mut self,
        vrf: &str,
        source: Source,
        routes: Vec<BulkRoute>,
    ) -> (usize, Result<(), EngineError>) {
        let (room, count) = (self.config.memory.routes as usize, routes.len());
        for (added, (prefix, route)) in routes.into_iter().enumerate() {
            let key = (vrf.to_owned(), source, prefix);
            if self.bulk.len() >= room && !self.bulk.contains_key(&key) {
                let full = EngineError::Conflict(format!("there is room for {room} routes"));
                return (added, Err(full));
            }
            self.bulk.insert(key, route.hops().first().and_then(|hop| hop.address));
        }
        (count, Ok(()))
    }

    fn sweep_routes(
        &mut self,
        vrf: &str,
        source: Source,
        _: FilePrefix,
        wanted: &dyn Fn(FilePrefix) -> bool,
    ) -> Result<(usize, Option<FilePrefix>), EngineError> {
        let before = self.bulk.len();
        self.bulk.retain(|(name, of, prefix), _| {
            (name.as_str(), *of) != (vrf, source) || wanted(*prefix)
        });
        Ok((before - self.bulk.len(), None))
    }

    fn count_routes(&self, vrf: &str, source: Source) -> SourceCount {
        let is_meant = |(name, of, _): &&(String, Source, FilePrefix)| name == vrf && *of == source;
        let routes = self.bulk.keys().filter(is_meant).count();
        SourceCount { routes, active: routes }
    }

    fn neighbors(&self) -> Vec<view::Neighbor> {
        let neighbor = |(key, neighbor): (&NeighborKey, &Neighbor)| view::Neighbor {
            address: key.address.to_string(),
            port: key.port.to_string(),
            vrf: name_of(self.config.ports.get(&key.port).and_then(|port| port.vrf.as_ref()))
                .to_owned(),
            mac: Some(neighbor.mac.to_string()),
            state: view::NeighborState::Static,
            age_ms: 0,
            held_packets: 0,
        };
        self.config.neighbors.iter().map(neighbor).collect()
    }

    fn graph(&self) -> view::Graph {
        let nodes = self.nodes();
        let edge = |(from, exit, to, _): (&str, &str, &str, u64)| view::GraphEdge {
            from: from.to_owned(),
            exit: exit.to_owned(),
            to: to.to_owned(),
        };
        view::Graph {
            nodes: nodes
                .into_iter()
                .map(|node| view::GraphNode {
                    about: format!("The {}.", node.name),
                    name: node.name,
                })
                .collect(),
            edges: EDGES.into_iter().map(edge).collect(),
        }
    }

    fn draw(&self, format: view::GraphFormat) -> String {
        let edges = EDGES.into_iter();
        match format {
            view::GraphFormat::Text => {
                edges.map(|(from, exit, to, _)| format!("{from} -- {exit} --> {to}\n")).collect()
            }
            view::GraphFormat::Dot => {
                let lines: String = edges
                    .map(|(from, exit, to, _)| {
                        format!("  \"{from}\" -> \"{to}\" [label=\"{exit}\"];\n")
                    })
                    .collect();
                format!("digraph volley {{\n{lines}}}\n")
            }
            view::GraphFormat::Svg => {
                "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n".to_owned()
            }
        }
    }

    fn version(&self) -> view::Version {
        view::Version {
            volley: env!("CARGO_PKG_VERSION").to_owned(),
            dpdk: None,
            pid: std::process::id(),
            uptime_s: 1,
            abilities: vec!["no workers: a fake".to_owned()],
        }
    }

    fn memory(&self) -> view::Memory {
        let memory = &self.config.memory;
        let part = |name: &str, used, capacity, bytes| view::MemoryUse {
            name: name.to_owned(),
            used,
            capacity,
            bytes,
            page_bytes: (bytes > 0).then_some(4096),
        };
        let buffers = u64::from(memory.buffers);
        view::Memory {
            resident_bytes: 0,
            parts: vec![
                part("buffers", 0, buffers, buffers * u64::from(memory.frame_bytes)),
                part("ip4 routes", self.all_routes().len() as u64, memory.routes.into(), 0),
            ],
        }
    }

    fn workers(&self) -> Vec<view::Worker> {
        let worker = |id| view::Worker {
            id,
            core: None,
            loops: self.count(5_000),
            packets: self.count(1_000_000),
            busy: 0.5,
            sleeps: 0,
            stalls: view::Stalls {
                count: 2,
                total_us: 1500.0,
                longest_us: 1200.0,
                latest: [(1.0, 300.0), (2.0, 1200.0)]
                    .map(|(ended_unix_s, length_us)| view::Stall { ended_unix_s, length_us })
                    .to_vec(),
            },
            queues: self.config.ports.iter().map(|(name, _)| format!("{name}:0")).collect(),
        };
        (0..self.config.workers.count() as u32).map(worker).collect()
    }

    fn vrfs(&self) -> Vec<view::Vrf> {
        let vrf = |name: &str| {
            let of = |(_, port): &(&PortName, &Port)| name_of(port.vrf.as_ref()) == name;
            let routes = |routes| view::VrfRoutes { routes, ..view::VrfRoutes::default() };
            let count = self.routes_of(name).map_or(0, |routes| routes.len() as u64);
            view::Vrf {
                name: name.to_owned(),
                ports: self
                    .config
                    .ports
                    .iter()
                    .filter(of)
                    .map(|(port, _)| port.to_string())
                    .collect(),
                ip4: routes(count),
                ip6: routes(0),
            }
        };
        let named = self.config.vrfs.iter().map(|(name, _)| name.as_str());
        std::iter::once(DEFAULT_NAME).chain(named).map(vrf).collect()
    }

    fn lookup(&self, vrf: &str, address: IpAddr) -> Result<view::Lookup, EngineError> {
        let matching =
            self.routes_of(vrf)?.into_iter().filter(|(prefix, _)| prefix.contains(address));
        let route = matching.max_by_key(|(prefix, _)| prefix.length()).map(|(_, route)| route);
        let outcome = match &route {
            None => "no route".to_owned(),
            Some(view::Route { action: Some(action), .. }) => action.clone(),
            Some(_) => "forwarded".to_owned(),
        };
        let (address, vrf) = (address.to_string(), vrf.to_owned());
        Ok(view::Lookup { address, vrf, route, outcome, depth: 1, cache_lines: 1 })
    }

    fn bridges(&self) -> Vec<view::Bridge> {
        let port = |member: &Member| view::BridgePort {
            port: member.port.to_string(),
            up: true,
            flags: vec!["learn".to_owned(), "forward".to_owned()],
            group: member.group,
            isolated: member.isolated,
            learned: self.count(3),
            moved: self.count(1),
            not_learned: 0,
        };
        let bridges = self.config.bridges.iter();
        bridges
            .map(|(name, bridge)| view::Bridge {
                name: name.to_string(),
                stations: 3,
                mac_limit: bridge.mac_limit,
                ageing_s: bridge.ageing.as_secs(),
                bindings: bridge.answer_arp.then_some(bridge.bindings.len()),
                nd_bindings: bridge.answer_nd.then_some(bridge.bindings.len()),
                ports: bridge.ports.iter().map(port).collect(),
            })
            .collect()
    }

    fn acls(&self) -> Vec<view::Acl> {
        let rule = |rule: &acl::Rule| view::AclRule {
            rule: rule.to_string(),
            packets: self.count(3),
            bytes: self.count(180),
        };
        let named = |name: &acl::AclName, of: fn(&Filters) -> Option<&acl::AclName>| {
            let ports = self.config.ports.iter();
            let named = ports.filter(|(_, port)| of(&port.filters) == Some(name));
            named.map(|(port, _)| port.to_string()).collect()
        };
        let acl = |(name, acl): (&acl::AclName, &acl::Acl)| view::Acl {
            name: name.to_string(),
            ports_in: named(name, |filters| filters.acl_in.as_ref()),
            ports_out: named(name, |filters| filters.acl_out.as_ref()),
            default: acl.default.word().to_owned(),
            rules: acl.rules.iter().map(rule).collect(),
            other_packets: self.count(1),
            other_bytes: self.count(60),
            memory_bytes: 64 * acl.rules.len(),
        };
        self.config.acls.iter().map(acl).collect()
    }

    fn policers(&self) -> Vec<view::Policer> {
        self.show_policers()
    }

    fn mirrors(&self) -> Vec<view::Mirror> {
        let source = |source: &mirror::Source| view::MirrorSource {
            port: source.port.to_string(),
            direction: source.direction.word().to_owned(),
            received: self.count(5),
            sent: self.count(4),
            lost: 0,
        };
        let mirror = |(name, mirror): (&mirror::MirrorName, &mirror::Mirror)| view::Mirror {
            name: name.to_string(),
            destination: mirror.destination.to_string(),
            sources: mirror.sources.iter().map(source).collect(),
        };
        self.config.mirrors.iter().map(mirror).collect()
    }

    fn reassembly(&self) -> view::Reassembly {
        let pieces = self.count(6);
        view::Reassembly {
            pieces,
            whole: self.count(2),
            answered: self.count(1),
            ..Default::default()
        }
    }

    fn twins(&self) -> Vec<view::Twin> {
        let class = |class: &str| view::TwinClass {
            class: class.to_owned(),
            limit_pps: 2_000,
            passed: self.count(3),
            limited: 0,
        };
        let ports = self.config.ports.iter();
        let twins = ports.filter_map(|(name, port)| Some((name, port.twin.as_deref()?)));
        let twin = |(name, twin): (&PortName, &Twin)| view::Twin {
            port: name.to_string(),
            name: twin.name_for(name).to_owned(),
            netns: twin.netns.clone(),
            index: Some(7),
            problem: None,
            to_kernel: self.count(6),
            refused: 0,
            from_kernel: self.count(5),
            lost: 0,
            classes: ["neighbors", "routing", "tcp", "rest"].map(class).into(),
        };
        twins.map(twin).collect()
    }

    fn fpm(&self) -> view::Fpm {
        let listen = self.config.fpm.0.as_ref();
        view::Fpm {
            listen: listen.map(|fpm| fpm.listen.to_string()),
            netns: listen.and_then(|fpm| fpm.netns.clone()),
            ..view::Fpm::default()
        }
    }

    fn stations(&self, filter: &view::StationFilter) -> Result<view::Stations, EngineError> {
        let station = |(key, station): (&StationKey, &Station)| view::Station {
            bridge: key.bridge.to_string(),
            mac: key.address.to_string(),
            port: station.port.to_string(),
            remote: station.remote.map(|remote| remote.to_string()),
            is_static: true,
            age_s: 0,
        };
        let all: Vec<_> = self.config.stations.iter().map(station).collect();
        let stations = all.iter().take(filter.limit.unwrap_or(usize::MAX)).cloned().collect();
        Ok(view::Stations { total: all.len(), stations })
    }

    fn stations_flush(
        &mut self,
        _: &view::StationFlush,
    ) -> Result<view::StationCount, EngineError> {
        Ok(view::StationCount { stations: 3 })
    }

    fn stations_fill(
        &mut self,
        request: &view::StationFill,
    ) -> Result<view::StationCount, EngineError> {
        if !self.has_port(&request.port) {
            return Err(EngineError::Unknown { what: "port", name: request.port.clone() });
        }
        Ok(view::StationCount { stations: request.count as usize })
    }

    fn trace_start(&mut self, request: &view::TraceRequest) -> Result<(), EngineError> {
        if let Some(port) = request.port.as_ref().filter(|port| !self.has_port(port)) {
            return Err(EngineError::Unknown { what: "port", name: port.clone() });
        }
        self.trace = Some((true, request.clone()));
        Ok(())
    }

    fn trace(&self) -> view::Trace {
        let Some((running, request)) = &self.trace else { return view::Trace::default() };
        let steps = EDGES
            .into_iter()
            .filter(|(_, _, to, _)| *to != "drop")
            .map(|(node, exit, _, _)| view::TraceStep {
                node: node.to_owned(),
                exit: exit.to_owned(),
                detail: "192.0.2.9 > 10.0.0.1 ttl 64".to_owned(),
                hex: "45000054".to_owned(),
                cycles: 12.5,
            })
            .collect();
        let packet = view::TracedPacket {
            number: 1,
            port: request.port.clone().unwrap_or_else(|| "p0".to_owned()),
            worker: 0,
            time_us: 17,
            bytes: 98,
            steps,
        };
        view::Trace { running: *running, packets: vec![packet] }
    }

    fn trace_stop(&mut self) {
        if let Some((running, _)) = &mut self.trace {
            *running = false;
        }
    }

    fn capture_start(&mut self, request: &view::CaptureRequest) -> Result<(), EngineError> {
        if !EDGES.iter().any(|(node, ..)| *node == request.node) {
            return Err(EngineError::Unknown { what: "node", name: request.node.clone() });
        }
        self.capture = Some((true, request.clone()));
        Ok(())
    }

    fn capture(&self) -> view::Capture {
        let Some((running, request)) = self.capture.clone() else {
            return view::Capture::default();
        };
        let view::CaptureRequest { node, exit, count, .. } = request;
        view::Capture { running, node, exit, count, captured: 0 }
    }

    fn capture_pcap(&self) -> Vec<u8> {
        // The header of a capture without packets.
        let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
        file.extend([0; 8]);
        file.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
        file
    }

    fn capture_stop(&mut self) {
        if let Some((running, _)) = &mut self.capture {
            *running = false;
        }
    }

    fn counters_clear(&mut self) {
        self.cleared = true;
    }
}
