//! A router without workers: applies configurations and shows made-up counters. For tests.

mod bridging;
mod policers;
mod routes;
mod shows;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use fib::rib::{Source, SourceCount};
use fib::route_file::FilePrefix;

use crate::bulk::BulkRoute;
use crate::config::objects::port_kind::{AfPacket, PortKind, Tap};
use crate::config::{Change, Config};
use crate::engine::{ApplyError, Engine, EngineError, Later, Tell};
use crate::view;

/// A router without workers.
pub struct FakeRouter {
    config: Config,
    refusals: u32,
    trace: view::Trace,
    capture: view::Capture,
    cleared: bool,
    /// Loaded routes; one is refused where there are as many as `[memory]` has room for.
    bulk: BTreeMap<(String, Source, FilePrefix), Option<IpAddr>>,
}

impl FakeRouter {
    /// A router that runs `config`.
    pub fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            refusals: 0,
            trace: view::Trace::default(),
            capture: view::Capture::default(),
            cleared: false,
            bulk: BTreeMap::new(),
        }
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

    fn find_port(&self, name: Option<&str>) -> Result<(), EngineError> {
        match name.filter(|name| !self.has_port(name)) {
            Some(name) => Err(EngineError::unknown("port", name, [])),
            None => Ok(()),
        }
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
            if let PortKind::AfPacket(AfPacket { device, .. }) | PortKind::Tap(Tap { device, .. }) =
                &port.kind
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

    fn is_well(&self) -> bool {
        true
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

    fn stations_flush(
        &mut self,
        _: &view::StationFlush,
    ) -> Result<Later<view::StationCount>, EngineError> {
        Ok(Box::new(|| view::StationCount { stations: 3 }))
    }

    fn stations_fill(
        &mut self,
        request: &view::StationFill,
    ) -> Result<Later<Result<view::StationCount, EngineError>>, EngineError> {
        if !self.has_port(&request.port) {
            return Err(EngineError::unknown("port", &request.port, []));
        }
        let stations = request.count as usize;
        Ok(Box::new(move || Ok(view::StationCount { stations })))
    }

    fn connections_clear(
        &mut self,
        request: &view::ConnectionClear,
    ) -> Result<Later<view::ConnectionCount>, EngineError> {
        if let Some(port) = request.port.as_ref().filter(|port| !self.has_port(port)) {
            return Err(EngineError::unknown("port", port, []));
        }
        Ok(Box::new(|| view::ConnectionCount { connections: 2 }))
    }

    fn trace_start(&mut self, request: &view::TraceRequest) -> Result<(), EngineError> {
        if let Some(port) = request.port.as_ref().filter(|port| !self.has_port(port)) {
            return Err(EngineError::unknown("port", port, []));
        }
        request.choice()?;
        let steps = EDGES.into_iter().filter(|(_, _, to, _)| *to != "drop");
        let step = |(node, exit, ..): (&str, &str, &str, u64)| view::TraceStep {
            node: node.to_owned(),
            exit: exit.to_owned(),
            detail: "192.0.2.9 > 10.0.0.1 ttl 64".to_owned(),
            hex: "45000054".to_owned(),
            cycles: 12.5,
            decisions: match node {
                "ip4-lookup" => vec![view::Decision {
                    what: "route".to_owned(),
                    said: "static 10.0.0.0/8, via 192.0.2.9".to_owned(),
                }],
                _ => Vec::new(),
            },
        };
        let packet = view::TracedPacket {
            number: 1,
            port: request.port.clone().unwrap_or_else(|| "p0".to_owned()),
            worker: 0,
            time_us: 17,
            bytes: 98,
            steps: steps.map(step).collect(),
        };
        self.trace = view::Trace { running: true, packets: vec![packet] };
        Ok(())
    }

    fn trace_stop(&mut self) {
        self.trace.running = false;
    }

    fn capture_start(&mut self, request: &view::CaptureRequest) -> Result<(), EngineError> {
        if !EDGES.iter().any(|(node, ..)| *node == request.node) {
            return Err(EngineError::unknown("node", &request.node, []));
        }
        let view::CaptureRequest { node, exit, count, .. } = request.clone();
        self.capture = view::Capture { running: true, node, exit, count, captured: 0 };
        Ok(())
    }

    fn capture_pcap(&self) -> Later<Vec<u8>> {
        // The header of a capture without packets.
        let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
        file.extend([0; 8]);
        file.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
        Box::new(move || file)
    }

    fn capture_take(&mut self) -> Later<view::Taken> {
        let running = self.capture.running;
        Box::new(move || view::Taken { running, packets: Vec::new() })
    }

    fn capture_stop(&mut self) {
        self.capture.running = false;
    }

    /// Whoever is asked answers at once, but for those of 198.51.100.0/24, who never do.
    fn ping(
        &mut self,
        request: &view::PingRequest,
        mut tell: Tell<view::PingLine>,
    ) -> Result<(), EngineError> {
        self.find_port(request.port.as_deref())?;
        let (target, source) = (request.address.to_string(), "192.0.2.1".to_owned());
        let (port, vrf) = (request.port.clone(), request.vrf().to_owned());
        let is_there = !target.starts_with("198.51.100.");
        let mut tally = view::PingTally::default();
        let mut say = |line: view::PingLine| {
            tally.count(&line);
            tell(line)
        };
        say(view::PingLine::Begun {
            target: target.clone(),
            source,
            vrf,
            port,
            size: request.size,
        });
        for sequence in 1..=request.count.unwrap_or(1) {
            say(view::PingLine::Sent { sequence });
            let (from, ttl, time_ns) = (target.clone(), 63, 123_456);
            let goes_on = say(match is_there {
                true => view::PingLine::Reply {
                    sequence,
                    from,
                    bytes: request.size + 8,
                    ttl,
                    time_ns,
                    duplicate: false,
                },
                false => view::PingLine::Silence { sequence },
            });
            if !goes_on {
                return Ok(());
            }
        }
        let summary = tally.summary(Duration::from_millis(7));
        tell(view::PingLine::Done(summary));
        Ok(())
    }

    fn traceroute(
        &mut self,
        request: &view::TracerouteRequest,
        mut tell: Tell<view::TracerouteLine>,
    ) -> Result<(), EngineError> {
        self.find_port(request.port.as_deref())?;
        let (target, source) = (request.address.to_string(), "192.0.2.1".to_owned());
        let (port, vrf) = (request.port.clone(), request.vrf().to_owned());
        let (max_hops, size) = (request.max_hops, request.size);
        let answer = view::HopAnswer {
            from: Some(target.clone()),
            time_ns: Some(123_456),
            ..view::HopAnswer::default()
        };
        tell(view::TracerouteLine::Begun { target, source, vrf, port, max_hops, size });
        let answers = vec![answer; request.count as usize];
        tell(view::TracerouteLine::Hop { hop: 1, answers });
        tell(view::TracerouteLine::Done { reached: true, hops: 1 });
        Ok(())
    }

    fn counters_clear(&mut self) {
        self.cleared = true;
    }
}
