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
use control::view::{self, Answer, Answered, View};
use fib::rib::{Source, SourceCount};
use fib::route_file::FilePrefix;
use std::time::Duration;

/// Says who of the router answers which view.
macro_rules! answers {
    ($router:ident, $filter:ident; $($View:ident: $answer:expr,)*) => {$(
        impl Answer<view::$View> for Router {
            fn answer(&mut self, filter: &<view::$View as View>::Filter) -> Answered<view::$View> {
                let ($router, $filter) = (self, filter);
                let _ = $filter;
                Ok($answer)
            }
        }
    )*};
}

answers! { router, filter;
    Port: router.show_ports(),
    Qos: router.show_qos(),
    Node: router.show_nodes(),
    Drop: router.show_errors(),
    Routes: router.show_routes(filter)?,
    Vrf: router.show_vrfs(),
    Neighbor: router.show_neighbors(),
    Bridge: router.show_bridges(),
    Acl: router.show_acls(),
    Policer: router.show_policers(),
    Mirror: router.show_mirrors(),
    Reassembly: router.show_reassembly(),
    Twin: router.show_twins(),
    Fpm: router.show_fpm(),
    Graph: router.show_graph(),
    Version: router.show_version(),
    Memory: router.show_memory(),
    Worker: router.show_workers(),
    Stations: router.show_stations(filter)?,
    Trace: router.show_trace(),
    Capture: router.show_capture(),
    Lookup: router.show_lookup(router.vrf_named(filter.vrf())?, filter.address),
}

impl Engine for Router {
    fn apply(&mut self, _: &Config, _: &Config, changes: &[Change]) -> Result<(), ApplyError> {
        self.apply_all(changes)
    }

    fn tick(&mut self, _: Duration) -> Duration {
        self.turn()
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

    fn draw(&self, format: view::GraphFormat) -> String {
        let layout = &self.dataplane.layout;
        match format {
            view::GraphFormat::Text => ::graph::draw_text(layout),
            view::GraphFormat::Dot => ::graph::draw_dot(layout),
            view::GraphFormat::Svg => ::graph::draw_svg(layout),
        }
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

    fn trace_stop(&mut self) {
        self.observing.stop_trace(&self.dataplane);
    }

    fn capture_start(&mut self, request: &view::CaptureRequest) -> Result<(), EngineError> {
        self.start_capture(request)
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
