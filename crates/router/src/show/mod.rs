//! Answers to every "show", as plain data.

mod explained;
mod forwarding;
mod graph;
mod observe;
mod system;
mod why_dropped;

use crate::bulk;
use crate::parts::qos::Shaping;
use crate::router::Router;
use control::bulk::BulkRoute;
use control::config::{Change, Config};
use control::engine::{ApplyError, Engine, EngineError, Later, Tell};
use control::{answers, view};
use fib::rib::{Source, SourceCount};
use fib::route_file::FilePrefix;
use std::time::Duration;
use system::show_process;

answers! { Router, router, filter;
    Port: router.show_ports(),
    DeviceCounter: router.show_device_counters(filter)?,
    Qos: Shaping::show(&mut router.core),
    Node: router.show_nodes(),
    Drop: router.show_errors(),
    Routes: router.show_routes(filter)?,
    Vrf: router.show_vrfs(),
    NeighborShare: router.show_neighbor_shares(),
    Bridge: router.parts.bridges.show(&router.core),
    Evpn: router.parts.bridges.show_evpn(),
    Snooping: router.parts.bridges.show_snooping(&mut router.core),
    SpanningTree: router.parts.bridges.show_spanning(&router.core),
    Groups: router.parts.bridges.show_groups(&mut router.core, filter)?,
    Bond: router.parts.bonds.show(&router.core),
    Controller: router.parts.bridges.show_controllers(),
    Policer: router.parts.policers.show(&router.core),
    Mirror: router.parts.mirrors.show(&router.core),
    Export: router.parts.exports.show(&router.core),
    Reassembly: router.parts.reassembly.show(),
    Twin: router.parts.twins.show(&router.core),
    Fpm: router.parts.fpm.show(&router.core),
    Flows: router.parts.flows.show(&router.core),
    Lisp: router.parts.lisp.show(&router.core),
    LispEntry: router.parts.lisp.show_cache(&router.core),
    LispRegistered: router.parts.lisp.show_sites(&router.core),
    Graph: router.show_graph(),
    Version: router.show_version(),
    Process: show_process(),
    Memory: router.show_memory(),
    Worker: router.show_workers(),
    Capture: router.show_capture(),
    Lookup: router.show_lookup(router.core.vrf_named(filter.vrf())?, filter.address),
    Explained: router.show_explained(filter)?,
    FlowTrace: router.parts.bridges.show_flow_trace(&router.core, filter)?,
; later:
    Neighbor: router.show_neighbors(),
    NextHops: router.show_next_hops(),
    Acl: router.parts.acls.show(&router.core),
    Connections: router.parts.nat.show(&router.core, filter)?,
    Drawing: router.show_drawing(*filter),
    Stations: router.parts.bridges.show_stations(&router.core, filter)?,
    Trace: router.show_trace(),
    Megaflows: router.parts.bridges.show_megaflows(&router.core, filter)?,
    WhyDropped: router.show_why_dropped(filter)?,
}

impl Engine for Router {
    fn apply(&mut self, _: &Config, _: &Config, changes: &[Change]) -> Result<(), ApplyError> {
        self.apply_all(changes)
    }

    fn tick(&mut self, _: Duration) -> Duration {
        self.turn_if_due()
    }

    fn is_well(&self) -> bool {
        self.parts.heartbeats.are_well()
    }

    fn add_routes(
        &mut self,
        vrf: &str,
        source: Source,
        routes: Vec<BulkRoute>,
    ) -> (usize, Result<(), EngineError>) {
        match self.core.vrf_named(vrf) {
            Ok(vrf) => bulk::add(&mut self.core, vrf, source, routes),
            Err(unknown) => (0, Err(unknown)),
        }
    }

    fn sweep_routes(
        &mut self,
        vrf: &str,
        source: Source,
        from: FilePrefix,
        wanted: &dyn Fn(FilePrefix) -> bool,
    ) -> Result<(usize, Option<FilePrefix>), EngineError> {
        let vrf = self.core.vrf_named(vrf)?;
        bulk::sweep(&mut self.core, vrf, source, from, wanted)
    }

    fn count_routes(&self, vrf: &str, source: Source) -> SourceCount {
        let vrf = self.core.vrf_named(vrf);
        vrf.map_or_else(|_| SourceCount::default(), |vrf| bulk::count(&self.core, vrf, source))
    }

    fn stations_flush(
        &mut self,
        request: &view::StationFlush,
    ) -> Result<Later<view::StationCount>, EngineError> {
        self.parts.bridges.flush_stations(&self.core, request)
    }

    fn stations_fill(
        &mut self,
        request: &view::StationFill,
    ) -> Result<Later<Result<view::StationCount, EngineError>>, EngineError> {
        self.parts.bridges.fill_stations(&self.core, request)
    }

    fn connections_clear(
        &mut self,
        request: &view::ConnectionClear,
    ) -> Result<Later<view::ConnectionCount>, EngineError> {
        Ok(Box::new(self.parts.nat.clear(&self.core, request)?))
    }

    fn trace_start(&mut self, request: &view::TraceRequest) -> Result<(), EngineError> {
        self.start_trace(request)
    }

    fn trace_stop(&mut self) {
        self.parts.observing.stop_trace(&self.core.dataplane);
    }

    fn capture_start(&mut self, request: &view::CaptureRequest) -> Result<(), EngineError> {
        self.start_capture(request)
    }

    fn capture_pcap(&self) -> Later<Vec<u8>> {
        Box::new(self.captured_pcap())
    }

    fn capture_take(&mut self) -> Later<view::Taken> {
        Box::new(self.take_captured())
    }

    fn capture_stop(&mut self) {
        self.parts.observing.stop_capture(&self.core.dataplane);
    }

    fn ping(
        &mut self,
        request: &view::PingRequest,
        tell: Tell<view::PingLine>,
    ) -> Result<(), EngineError> {
        self.parts.pings.ping(&mut self.core, request, tell)
    }

    fn traceroute(
        &mut self,
        request: &view::TracerouteRequest,
        tell: Tell<view::TracerouteLine>,
    ) -> Result<(), EngineError> {
        self.parts.pings.traceroute(&mut self.core, request, tell)
    }

    fn counters_clear(&mut self) {
        self.core.clear_counters();
    }
}
