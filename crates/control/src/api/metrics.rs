//! `/metrics`: everything countable in OpenMetrics text, for Prometheus and its kin.

use std::fmt::Write;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::problem::{Refusal, Refused};
use crate::control_loop::Handle;
use crate::engine::Engine;

/// The media type of OpenMetrics 1.0.
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Every counter in OpenMetrics text.
#[utoipa::path(get, path = "/metrics", tag = "show",
    responses(
        (status = 200, description = "OpenMetrics 1.0.", body = String,
            content_type = "application/openmetrics-text"),
        Refused))]
pub(super) async fn metrics(State(handle): State<Handle>) -> Result<Response, Refusal> {
    let text = handle.call(|control, _| render(control.engine.as_mut())).await?;
    Ok(([(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}

/// A document in the making.
#[derive(Default)]
struct Exposition {
    text: String,
}

/// Labels of a sample.
type Labels<'a> = &'a [(&'a str, &'a str)];

impl Exposition {
    /// Begins a family; its samples follow.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# TYPE volley_{name} {kind}\n# HELP volley_{name} {help}");
    }

    fn counter(&mut self, name: &str, labels: Labels<'_>, value: u64) {
        self.sample(&format!("{name}_total"), labels, &value.to_string());
    }

    fn gauge(&mut self, name: &str, labels: Labels<'_>, value: f64) {
        self.sample(name, labels, &value.to_string());
    }

    fn sample(&mut self, name: &str, labels: Labels<'_>, value: &str) {
        let labels: Vec<String> =
            labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
        let _ = match labels[..] {
            [] => writeln!(self.text, "volley_{name} {value}"),
            _ => writeln!(self.text, "volley_{name}{{{}}} {value}", labels.join(",")),
        };
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn render(engine: &mut dyn Engine) -> String {
    let mut out = Exposition::default();
    qos(&mut out, &engine.qos());
    policers(&mut out, &engine.policers());
    ports(&mut out, engine);
    nodes(&mut out, engine);
    workers(&mut out, engine);
    bridges(&mut out, engine);
    vrfs(&mut out, engine);
    reassembly(&mut out, &engine.reassembly());
    twins(&mut out, &engine.twins());
    fpm(&mut out, &engine.fpm());
    memory(&mut out, engine);
    out.text.push_str("# EOF\n");
    out.text
}

fn ports(out: &mut Exposition, engine: &dyn Engine) {
    let ports = engine.ports();
    type Pick = fn(&crate::view::PortCounters) -> u64;
    let families: [(&str, &str, Pick); 4] = [
        ("port_packets", "Packets.", |counters| counters.packets),
        ("port_bytes", "Bytes without the frame check sequence.", |counters| counters.bytes),
        ("port_drops", "Packets dropped by the graph.", |counters| counters.drops),
        ("port_errors", "Packets lost or refused by the device.", |counters| counters.errors),
    ];
    for (name, help, pick) in families {
        out.family(name, "counter", help);
        for port in &ports {
            for (direction, counters) in [("rx", &port.rx), ("tx", &port.tx)] {
                out.counter(
                    name,
                    &[("port", &port.name), ("direction", direction)],
                    pick(counters),
                );
            }
        }
    }
    out.family("port_link_up", "gauge", "Whether the link is up.");
    for port in &ports {
        out.gauge("port_link_up", &[("port", &port.name)], f64::from(u8::from(port.link_up)));
    }
}

fn qos(out: &mut Exposition, shaped: &[crate::view::Qos]) {
    type Pick = fn(&crate::view::QosNode) -> u64;
    let counters: [(&str, &str, Pick); 5] = [
        ("qos_sent_packets", "Packets sent by a class.", |node| node.sent_packets),
        ("qos_sent_bytes", "Bytes sent by a class.", |node| node.sent_bytes),
        ("qos_dropped_packets", "Packets dropped by a class.", |node| node.dropped),
        ("qos_marked_packets", "Packets marked by a class.", |node| node.marked),
        ("qos_overlimits", "Times that a class had to wait for tokens.", |node| node.overlimits),
    ];
    let gauges: [(&str, &str, Pick); 2] = [
        ("qos_backlog_packets", "Packets that wait.", |node| node.backlog_packets.into()),
        ("qos_backlog_bytes", "Bytes that wait.", |node| node.backlog_bytes),
    ];
    let nodes: Vec<_> = shaped
        .iter()
        .flat_map(|port| port.root.walk().into_iter().map(|(path, node)| (&port.port, path, node)))
        .collect();
    for (name, help, pick) in counters {
        out.family(name, "counter", help);
        for (port, path, node) in &nodes {
            out.counter(name, &[("port", port), ("class", path)], pick(node));
        }
    }
    for (name, help, pick) in gauges {
        out.family(name, "gauge", help);
        for (port, path, node) in &nodes {
            out.gauge(name, &[("port", port), ("class", path)], pick(node) as f64);
        }
    }
}

fn policers(out: &mut Exposition, policers: &[crate::view::Policer]) {
    type Pick = fn(&crate::view::PolicerColour) -> u64;
    let counters: [(&str, &str, Pick); 2] = [
        ("policer_packets", "Packets that a policer gave a colour.", |colour| colour.packets),
        ("policer_bytes", "Bytes that a policer gave a colour.", |colour| colour.bytes),
    ];
    for (name, help, pick) in counters {
        out.family(name, "counter", help);
        for policer in policers {
            for colour in &policer.colours {
                let labels = [("policer", &*policer.name), ("colour", &*colour.colour)];
                out.counter(name, &labels, pick(colour));
            }
        }
    }
}

fn reassembly(out: &mut Exposition, reassembly: &crate::view::Reassembly) {
    out.family(
        "reassembly_outcomes",
        "counter",
        "Pieces of packets to ourselves, and what became of them.",
    );
    for (outcome, count) in reassembly.counters() {
        out.counter("reassembly_outcomes", &[("outcome", outcome)], count);
    }
    out.family(
        "reassembly_held_bytes",
        "gauge",
        "Bytes held of packets of which pieces are missing.",
    );
    out.gauge("reassembly_held_bytes", &[], reassembly.bytes as f64);
}

fn twins(out: &mut Exposition, twins: &[crate::view::Twin]) {
    type Pick = fn(&crate::view::TwinClass) -> u64;
    let counters: [(&str, &str, Pick); 2] = [
        ("twin_passed_packets", "Packets handed to a port's twin.", |class| class.passed),
        ("twin_limited_packets", "Packets not handed over: too many.", |class| class.limited),
    ];
    for (name, help, pick) in counters {
        out.family(name, "counter", help);
        for twin in twins {
            for class in &twin.classes {
                out.counter(name, &[("port", &twin.port), ("class", &class.class)], pick(class));
            }
        }
    }
    out.family("twin_sent_packets", "counter", "Packets that the kernel sent on a twin.");
    for twin in twins {
        out.counter("twin_sent_packets", &[("port", &twin.port)], twin.from_kernel);
    }
    out.family("twin_present", "gauge", "Whether the kernel has the twin.");
    for twin in twins {
        let present = f64::from(u8::from(twin.index.is_some()));
        out.gauge("twin_present", &[("port", &twin.port)], present);
    }
}

fn fpm(out: &mut Exposition, fpm: &crate::view::Fpm) {
    if fpm.listen.is_none() {
        return;
    }
    out.family("fpm_connected", "gauge", "Whether zebra is connected.");
    out.gauge("fpm_connected", &[], f64::from(u8::from(fpm.peer.is_some())));
    out.family("fpm_routes", "gauge", "Routes that zebra brought.");
    out.gauge("fpm_routes", &[], fpm.routes as f64);
    out.family("fpm_refused_routes", "counter", "Routes of zebra's that could not be taken.");
    out.counter("fpm_refused_routes", &[], fpm.refused);
}

fn nodes(out: &mut Exposition, engine: &dyn Engine) {
    let nodes = engine.nodes();
    out.family("node_calls", "counter", "Calls of a node.");
    for node in &nodes {
        out.counter("node_calls", &[("node", &node.name)], node.calls);
    }
    out.family("node_packets", "counter", "Packets a node decided about.");
    for node in &nodes {
        out.counter("node_packets", &[("node", &node.name)], node.packets);
    }
    out.family("node_cycles_per_packet", "gauge", "Cycles a packet, on average.");
    for node in &nodes {
        out.gauge("node_cycles_per_packet", &[("node", &node.name)], node.cycles_per_packet);
    }
    out.family("exit_packets", "counter", "Packets that took an exit.");
    for node in &nodes {
        for exit in &node.exits {
            out.counter(
                "exit_packets",
                &[("node", &node.name), ("exit", &exit.name)],
                exit.packets,
            );
        }
    }
    out.family("drop_packets", "counter", "Packets dropped, by reason and port.");
    for drop in engine.errors() {
        let port = drop.port.as_deref().unwrap_or("");
        let labels = [("node", &drop.node[..]), ("reason", &drop.reason), ("port", port)];
        out.counter("drop_packets", &labels, drop.packets);
    }
}

fn workers(out: &mut Exposition, engine: &dyn Engine) {
    let workers = engine.workers();
    out.family("worker_loops", "counter", "Rounds of the graph.");
    for worker in &workers {
        out.counter("worker_loops", &[("worker", &worker.id.to_string())], worker.loops);
    }
    out.family("worker_packets", "counter", "Packets received.");
    for worker in &workers {
        out.counter("worker_packets", &[("worker", &worker.id.to_string())], worker.packets);
    }
    out.family("worker_busy_ratio", "gauge", "Share of the time with packets at hand.");
    for worker in &workers {
        out.gauge("worker_busy_ratio", &[("worker", &worker.id.to_string())], worker.busy);
    }
    out.family(
        "worker_stalls",
        "counter",
        "Rounds that took longer than 200 us and 4 us a packet.",
    );
    for worker in &workers {
        out.counter("worker_stalls", &[("worker", &worker.id.to_string())], worker.stalls.count);
    }
    out.family("worker_stalled_seconds", "counter", "Time that those rounds took.");
    for worker in &workers {
        let seconds = (worker.stalls.total_us / 1e6).to_string();
        let labels: Labels<'_> = &[("worker", &worker.id.to_string())];
        out.sample("worker_stalled_seconds_total", labels, &seconds);
    }
    out.family("worker_longest_stall_seconds", "gauge", "Time that the longest of them took.");
    for worker in &workers {
        let seconds = worker.stalls.longest_us / 1e6;
        let labels: Labels<'_> = &[("worker", &worker.id.to_string())];
        out.gauge("worker_longest_stall_seconds", labels, seconds);
    }
}

fn bridges(out: &mut Exposition, engine: &dyn Engine) {
    let bridges = engine.bridges();
    out.family("bridge_stations", "gauge", "Stations that a bridge knows.");
    for bridge in &bridges {
        out.gauge("bridge_stations", &[("bridge", &bridge.name)], bridge.stations.into());
    }
    type Pick = fn(&crate::view::BridgePort) -> u64;
    let families: [(&str, &str, Pick); 3] = [
        ("bridge_learned", "Stations learned behind a port.", |port| port.learned),
        ("bridge_moved", "Stations that came from another port.", |port| port.moved),
        ("bridge_not_learned", "Frames whose station had no room.", |port| port.not_learned),
    ];
    for (name, help, pick) in families {
        out.family(name, "counter", help);
        for bridge in &bridges {
            for port in &bridge.ports {
                let labels = [("bridge", &bridge.name[..]), ("port", &port.port)];
                out.counter(name, &labels, pick(port));
            }
        }
    }
}

fn vrfs(out: &mut Exposition, engine: &dyn Engine) {
    let vrfs = engine.vrfs();
    type Pick = fn(&crate::view::VrfRoutes) -> u64;
    let families: [(&str, &str, Pick); 3] = [
        ("vrf_routes", "Routes of all sources in a VRF.", |routes| routes.routes),
        ("vrf_forwarded", "Prefixes that a VRF forwards by.", |routes| routes.forwarded),
        ("vrf_capacity", "Prefixes that a VRF has room for.", |routes| routes.capacity),
    ];
    for (name, help, pick) in families {
        out.family(name, "gauge", help);
        for vrf in &vrfs {
            for (family, routes) in [("ip4", &vrf.ip4), ("ip6", &vrf.ip6)] {
                out.gauge(name, &[("vrf", &vrf.name), ("family", family)], pick(routes) as f64);
            }
        }
    }
}

fn memory(out: &mut Exposition, engine: &dyn Engine) {
    let memory = engine.memory();
    out.family("memory_used", "gauge", "Entries in use.");
    for part in &memory.parts {
        out.gauge("memory_used", &[("part", &part.name)], part.used as f64);
    }
    out.family("memory_capacity", "gauge", "Entries there is room for.");
    for part in &memory.parts {
        out.gauge("memory_capacity", &[("part", &part.name)], part.capacity as f64);
    }
    out.family("memory_bytes", "gauge", "Bytes of a pool or table.");
    for part in &memory.parts {
        out.gauge("memory_bytes", &[("part", &part.name)], part.bytes as f64);
    }
    out.family("resident_bytes", "gauge", "Resident memory of the process.");
    out.gauge("resident_bytes", &[], memory.resident_bytes as f64);
}
