//! What is asked of the router: routes by a routing daemon, views, traces, captures and pings.

use crate::check::Since;
use crate::messages;
use crate::play::Run;
use control::bulk::{Via, routes_in_a_row};
use control::engine::Engine;
use control::view;
use fib::rib::Source;
use fib::route_file::FilePrefix;
use serde_json::json;
use std::collections::BTreeMap;
use std::net::IpAddr;

impl Run {
    /// A routing daemon brings routes, or is gone and they are swept.
    pub(crate) fn speak(&mut self) {
        let (vrf, source) = ("default", Source::from(fib::rib::Protocol::Ebgp));
        if self.chance.one_in(3) {
            let mut from = Some(FilePrefix::first());
            while let Some(next) = from {
                from = match self.stage.router.sweep_routes(vrf, source, next, &|_| false) {
                    Ok((_, next)) => next,
                    Err(_) => None,
                };
            }
            self.say(|| "the routing daemon dies, its routes are swept".to_owned());
            return;
        }
        let (first, count) = (self.chance.below(200), 1 + self.chance.below(500) as u32);
        let via = *self.chance.pick(&["10.12.0.9", "10.1.0.2", "10.13.0.7", "100.64.2.9"]);
        let prefix = format!("{}.{}.0.0/24", 110 + first / 100, first % 100);
        let Ok(via_hop) = Via::of(Some(via), false) else { return };
        let Ok(routes) = routes_in_a_row(&prefix, count, &via_hop) else { return };
        let (added, outcome) = self.stage.router.add_routes(vrf, source, routes);
        self.say(|| format!("the routing daemon brings {added} routes via {via}: {outcome:?}"));
    }

    /// A controller speaks with the bridge of flows, if there is one: it is answered, and answers
    /// are whole.
    pub(crate) fn control(&mut self) -> Result<(), String> {
        for _ in 0..1 + self.chance.below(6) {
            let host = self.hosts[2 + self.chance.below(self.hosts.len() - 2)].clone();
            let (what, said) = messages::message(&mut self.chance, &host);
            let router = &mut self.stage.router;
            // Whoever greets again says nothing.
            if router.controller_says("fl", &messages::greeting()).is_none() {
                self.say(|| "a controller finds no bridge".to_owned());
                return Ok(());
            }
            let answers = router.controller_says("fl", &said).unwrap_or_default();
            for answer in &answers {
                let told = answer.get(2..4).map(|it| usize::from(it[0]) << 8 | usize::from(it[1]));
                if told != Some(answer.len()) {
                    return Err(format!("a controller is told {answer:?}"));
                }
            }
            let asks = said.get(1) == Some(&16);
            // What only looks like a question may be refused.
            let is_answer = |it: &Vec<u8>| match it.get(1) {
                Some(17) => true,
                Some(1) => what == "bytes",
                _ => false,
            };
            if asks && !answers.iter().any(is_answer) {
                return Err(format!("{what} is not answered: {answers:?}"));
            }
            let refused = answers.iter().filter(|it| it.get(1) == Some(&1)).count();
            self.say(|| format!("a controller says: {what}, {refused} times refused"));
        }
        Ok(())
    }

    /// A routing daemon tells of the tunnel's remotes, as EVPN has it.
    pub(crate) fn tell_remotes(&mut self) {
        let some = [
            ([10, 12, 0, 7], true),
            ([10, 12, 0, 9], false),
            ([10, 1, 0, 2], true),
            ([172, 16, 0, 1], false),
        ];
        let remotes: BTreeMap<IpAddr, bool> = some
            .into_iter()
            .filter(|_| self.chance.one_in(2))
            .map(|(address, floods)| (IpAddr::from(address), floods))
            .collect();
        self.say(|| format!("a routing daemon tells of remotes: {remotes:?}"));
        self.stage.router.daemon_tells_remotes("vx", remotes);
    }

    /// Somebody looks.
    pub(crate) fn ask(&mut self) -> Result<(), String> {
        macro_rules! one_of {
            ($($View:ident)*) => {{
                let views = [$(stringify!($View)),*];
                let chosen = *self.chance.pick(&views);
                self.say(|| format!("somebody asks for {chosen}"));
                $(if chosen == stringify!($View) {
                    return self.stage.shows::<view::$View>(json!({})).map(drop);
                })*
            }};
        }
        one_of!(Port Qos Node Drop Routes Vrf Neighbor NeighborShare Bridge Bond Acl Policer Mirror
            Reassembly Twin Flows NextHops Lisp LispEntry LispRegistered Memory Worker Stations Trace
            Capture SpanningTree Connections);
        Ok(())
    }

    /// Traces, captures, counters and stations.
    pub(crate) fn observe(&mut self) {
        let router = &mut self.stage.router;
        let what = match self.chance.below(9) {
            0 => {
                router.trace_start(&view::TraceRequest { count: 50, ..Default::default() }).is_ok()
            }
            1 => {
                router.trace_stop();
                true
            }
            2 => {
                let node = "ip4-lookup".to_owned();
                let request =
                    view::CaptureRequest { node, exit: None, count: 50, snap_bytes: None };
                router.capture_start(&request).is_ok()
            }
            3 => {
                router.capture_stop();
                true
            }
            4 => {
                router.counters_clear();
                self.since = Since::now(&self.stage);
                true
            }
            5 => {
                let flushed =
                    router.stations_flush(&view::StationFlush { bridge: None, port: None });
                flushed.map(|work| work()).is_ok()
            }
            6 => {
                let all = view::ConnectionClear::default();
                router.connections_clear(&all).map(|work| work()).is_ok()
            }
            7 => !router.capture_pcap()().is_empty() && router.capture_take()().packets.len() <= 50,
            _ => {
                let address = json!({ "address": "10.12.0.9", "count": 3, "interval_ms": 100 });
                match serde_json::from_value(address) {
                    Ok(request) => router.ping(&request, Box::new(|_| true)).is_ok(),
                    Err(_) => false,
                }
            }
        };
        self.say(|| format!("a call of tracing, capturing, clearing, flushing or pinging: {what}"));
    }
}
