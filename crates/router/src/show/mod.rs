//! Answers to every "show", as plain data.

mod bridging;
mod forwarding;
mod graph;
mod observe;
mod system;

use crate::router::Router;
use control::bulk::BulkRoute;
use control::config::{Change, Config};
use control::engine::{ApplyError, Engine, EngineError};
use control::view;
use fib::rib::{Source, SourceCount};
use fib::route_file::FilePrefix;
use std::net::IpAddr;
use std::time::Duration;

impl Engine for Router {
    fn apply(&mut self, _: &Config, _: &Config, changes: &[Change]) -> Result<(), ApplyError> {
        self.apply_all(changes)
    }

    fn tick(&mut self, _: Duration) -> Duration {
        self.turn()
    }

    fn ports(&self) -> Vec<view::Port> {
        self.show_ports()
    }

    fn qos(&mut self) -> Vec<view::Qos> {
        self.show_qos()
    }

    fn nodes(&self) -> Vec<view::Node> {
        self.show_nodes()
    }

    fn errors(&self) -> Vec<view::Drop> {
        self.show_errors()
    }

    fn routes(&self, filter: &view::RouteFilter) -> Result<view::Routes, EngineError> {
        self.show_routes(filter)
    }

    fn add_routes(
        &mut self,
        vrf: &str,
        source: Source,
        routes: Vec<BulkRoute>,
    ) -> (usize, Result<(), EngineError>) {
        match self.vrf_named(vrf) {
            Ok(vrf) => self.add_bulk(vrf, source, routes),
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
        self.sweep_bulk(self.vrf_named(vrf)?, source, from, wanted)
    }

    fn count_routes(&self, vrf: &str, source: Source) -> SourceCount {
        let vrf = self.vrf_named(vrf);
        vrf.map_or_else(|_| SourceCount::default(), |vrf| self.count_bulk(vrf, source))
    }

    fn neighbors(&self) -> Vec<view::Neighbor> {
        self.show_neighbors()
    }

    fn graph(&self) -> view::Graph {
        self.show_graph()
    }

    fn draw(&self, format: view::GraphFormat) -> String {
        let layout = &self.dataplane.layout;
        match format {
            view::GraphFormat::Text => ::graph::draw_text(layout),
            view::GraphFormat::Dot => ::graph::draw_dot(layout),
            view::GraphFormat::Svg => ::graph::draw_svg(layout),
        }
    }

    fn version(&self) -> view::Version {
        self.show_version()
    }

    fn memory(&self) -> view::Memory {
        self.show_memory()
    }

    fn workers(&self) -> Vec<view::Worker> {
        self.show_workers()
    }

    fn lookup(&self, vrf: &str, address: IpAddr) -> Result<view::Lookup, EngineError> {
        Ok(self.show_lookup(self.vrf_named(vrf)?, address))
    }

    fn vrfs(&self) -> Vec<view::Vrf> {
        self.show_vrfs()
    }

    fn bridges(&self) -> Vec<view::Bridge> {
        self.show_bridges()
    }

    fn acls(&self) -> Vec<view::Acl> {
        self.show_acls()
    }

    fn policers(&self) -> Vec<view::Policer> {
        self.show_policers()
    }

    fn reassembly(&self) -> view::Reassembly {
        self.show_reassembly()
    }

    fn twins(&self) -> Vec<view::Twin> {
        self.show_twins()
    }

    fn fpm(&self) -> view::Fpm {
        self.show_fpm()
    }

    fn mirrors(&self) -> Vec<view::Mirror> {
        self.show_mirrors()
    }

    fn stations(&self, filter: &view::StationFilter) -> Result<view::Stations, EngineError> {
        self.show_stations(filter)
    }

    fn stations_flush(
        &mut self,
        request: &view::StationFlush,
    ) -> Result<view::StationCount, EngineError> {
        self.flush_stations(request)
    }

    fn stations_fill(
        &mut self,
        request: &view::StationFill,
    ) -> Result<view::StationCount, EngineError> {
        self.fill_stations(request)
    }

    fn trace_start(&mut self, request: &view::TraceRequest) -> Result<(), EngineError> {
        self.start_trace(request)
    }

    fn trace(&self) -> view::Trace {
        self.show_trace()
    }

    fn trace_stop(&mut self) {
        self.observing.stop_trace(&self.dataplane);
    }

    fn capture_start(&mut self, request: &view::CaptureRequest) -> Result<(), EngineError> {
        self.start_capture(request)
    }

    fn capture(&self) -> view::Capture {
        self.show_capture()
    }

    fn capture_pcap(&self) -> Vec<u8> {
        self.captured_pcap()
    }

    fn capture_stop(&mut self) {
        self.observing.stop_capture(&self.dataplane);
    }

    fn counters_clear(&mut self) {
        self.clear_counters();
    }
}
