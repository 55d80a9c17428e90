//! Traces and captures, asked for and shown.

use crate::aside::aside;
use crate::parts::observing::{Capturing, Traced, trace_channels};
use crate::router::Router;
use control::config::objects::port::PortName;
use control::engine::EngineError;
use control::view;
use graph::{ExitSet, Layout, TraceRequest, WalkWanted, Wants, tsc_hz};
use nodes::tables::{Link, Setup};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use wire::ethernet::ethertype;
use wire::pcap::{LINK_ETHERNET, Writer};
use wire::{arp, describe, ip, ipv4, ipv6, vlan};

/// Bytes shown of the header that a node looked at.
const SHOWN_BYTES: usize = 40;
/// Bytes of a packet that a capture keeps unless told otherwise.
const SNAP_BYTES: u32 = 2048;
/// The exit number that says that the node took the packet.
const TAKEN: u8 = u8::MAX;

/// What records are shown with.
struct Walks {
    layout: Arc<Layout<Setup>>,
    ports: HashMap<u16, PortName>,
}

impl Walks {
    fn walks(&self, steps: &[Traced], wanted: u32) -> Vec<view::TracedPacket> {
        let mut walks: BTreeMap<(usize, u32), Vec<&Traced>> = BTreeMap::new();
        for step in steps {
            walks.entry((step.worker, step.record.packet)).or_default().push(step);
        }
        let first = walks.values().filter_map(|walk| Some(walk.first()?.record.tsc)).min();
        let first = first.unwrap_or(0);
        let mut packets: Vec<_> = walks
            .into_iter()
            .filter_map(|((worker, _), walk)| self.walk(worker, &walk, first))
            .collect();
        packets.sort_by_key(|packet| packet.time_us);
        packets.truncate(wanted as usize);
        for (packet, number) in packets.iter_mut().zip(1..) {
            packet.number = number;
        }
        packets
    }

    fn walk(&self, worker: usize, walk: &[&Traced], first: u64) -> Option<view::TracedPacket> {
        let start = &walk.first()?.record;
        let port = self.ports.get(&start.rx).map(ToString::to_string);
        Some(view::TracedPacket {
            number: 0,
            port: port.unwrap_or_default(),
            worker: worker as u32,
            time_us: (start.tsc - first) / (tsc_hz() / 1_000_000).max(1),
            bytes: (start.consumed + start.length) as u32,
            steps: walk.iter().map(|step| self.step(step)).collect(),
        })
    }

    fn step(&self, Traced { record, decisions, .. }: &Traced) -> view::TraceStep {
        let node = &self.layout.nodes[record.slot];
        let exit = match record.exit {
            TAKEN => "taken".to_owned(),
            exit => node.edges.get(usize::from(exit)).map_or_else(String::new, |e| e.name.clone()),
        };
        let seen = &record.bytes[record.consumed.min(record.bytes.len())..];
        let detail = described(&record.bytes, record.consumed, record.length);
        let hex = seen.iter().take(SHOWN_BYTES).map(|byte| format!("{byte:02x}"));
        view::TraceStep {
            node: node.spec.name.to_owned(),
            exit,
            detail,
            hex: hex.collect::<Vec<_>>().join(" "),
            cycles: record.call_cycles as f64 / record.call_packets.max(1) as f64,
            decisions: decisions.to_vec(),
        }
    }
}

/// The first octets of a frame as a person reads them, from the header on that somebody looks at:
/// one of IP, or of a frame whose tag was taken out, or that came out of a tunnel.
pub(super) fn described(bytes: &[u8], consumed: usize, length: usize) -> String {
    let seen = &bytes[consumed.min(bytes.len())..];
    match consumed {
        0 if !is_frame(bytes) && is_packet(bytes, length) => describe::packet(bytes).to_string(),
        0 => describe::frame(bytes).to_string(),
        _ if is_frame(seen) => describe::frame(seen).to_string(),
        // Behind a frame's header, and no packet of IP.
        _ if arp::Packet::parse(seen).is_ok() => describe::frame(bytes).to_string(),
        _ => describe::packet(seen).to_string(),
    }
}

/// Whether a frame of IP or ARP begins there: behind its link header stands what its type says,
/// which no packet of IP has by chance.
fn is_frame(bytes: &[u8]) -> bool {
    let Some(walk) = vlan::walk(bytes) else { return false };
    let inside = &bytes[walk.offset..];
    match walk.ethertype {
        ethertype::IPV4 => ipv4::Header::new(inside).is_some_and(|it| it.is_sound()),
        ethertype::IPV6 => ip::version(inside) == 6,
        ethertype::ARP => arp::Packet::parse(inside).is_ok(),
        _ => false,
    }
}

/// Whether a packet of IP of so many octets begins there: one that the router makes, which has no
/// link header yet.
fn is_packet(bytes: &[u8], length: usize) -> bool {
    let ip4 = ipv4::Header::new(bytes).filter(|it| it.is_sound());
    let ip6 = ipv6::Header::new(bytes).filter(|_| ip::version(bytes) == 6);
    ip4.is_some_and(|it| usize::from(it.total_len()) == length)
        || ip6.is_some_and(|it| ipv6::Header::LEN + usize::from(it.payload_len()) == length)
}

/// Octets as digits, without spaces.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Router {
    pub(super) fn start_trace(&mut self, request: &view::TraceRequest) -> Result<(), EngineError> {
        let request = self.trace_request(request)?;
        let count = request.count;
        let Self { core, parts, .. } = self;
        let (before, workers) = (parts.observing.forget_trace(), core.workers());
        let channels = aside(parts, core, move || {
            drop(before);
            trace_channels(workers, count)
        });
        parts.observing.start_trace(&core.dataplane, request, channels);
        Ok(())
    }

    /// What workers are to follow.
    fn trace_request(&self, asked: &view::TraceRequest) -> Result<TraceRequest, EngineError> {
        let choice = asked.choice()?;
        let wants: Wants = Arc::new(move |frame: &[u8]| choice.takes(frame));
        let mut request = TraceRequest {
            wants: (!choice.is_any()).then_some(wants),
            walk: WalkWanted { by: None, exits: self.drops_of(asked)? },
            count: asked.count,
            ..TraceRequest::default()
        };
        if let Some(name) = &asked.port {
            let id = self.id_of(name)?;
            // What is no device's own comes in by another, and by this one a few steps later.
            match self.core.dataplane.interfaces().get(id).map(|row| &row.link) {
                None | Some(Link::Port) => request.rx = Some(id),
                Some(_) => request.walk.by = Some(id),
            }
        }
        Ok(request)
    }

    /// The exits by which packets are dropped that are asked for; none, if no drop is.
    fn drops_of(&self, asked: &view::TraceRequest) -> Result<Option<ExitSet>, EngineError> {
        let view::TraceRequest { node, reason, .. } = asked;
        if node.is_none() && reason.is_none() {
            return Ok(None);
        }
        let layout = &self.core.dataplane.layout;
        let of_node = |name: &str| node.as_ref().is_none_or(|wanted| wanted == name);
        let mut reasons = layout.reasons.iter().filter(|it| of_node(it.node)).peekable();
        if let (Some(node), None) = (node, reasons.peek()) {
            let there = layout.reasons.iter().map(|it| it.node);
            return Err(EngineError::unknown("node that drops packets", node, there));
        }
        let reason = reason.as_deref().filter(|reason| *reason != view::ANY_REASON);
        let names: Vec<&str> = reasons.map(|it| &it.exit[..]).collect();
        if let Some(reason) = reason.filter(|reason| !names.contains(reason)) {
            return Err(EngineError::unknown("reason to drop packets", reason, names));
        }
        let exits = layout
            .reasons
            .iter()
            .filter(|it| of_node(it.node) && reason.is_none_or(|reason| reason == it.exit));
        let exits = exits.filter_map(|it| {
            let slot = layout.slot(it.node)?;
            let exit = layout.nodes[slot].edges.iter().position(|edge| edge.name == it.exit)?;
            Some((slot, exit as u8))
        });
        Ok(Some(exits.collect()))
    }

    fn id_of(&self, name: &str) -> Result<u16, EngineError> {
        self.core.port_named(name).map(|port| port.id)
    }

    pub(super) fn show_trace(&self) -> impl FnOnce() -> view::Trace + Send + 'static {
        let Self { core, parts, .. } = self;
        let steps = parts.observing.steps.clone();
        let (wanted, running) = (parts.observing.wanted(), parts.observing.is_tracing());
        let named = core.ports.iter();
        let named = named.flat_map(|(name, port)| port.rows().map(move |id| (id, name.clone())));
        let shown = Walks { layout: Arc::clone(&core.dataplane.layout), ports: named.collect() };
        move || view::Trace { running, packets: shown.walks(&steps, wanted) }
    }

    pub(super) fn start_capture(
        &mut self,
        request: &view::CaptureRequest,
    ) -> Result<(), EngineError> {
        let layout = &self.core.dataplane.layout;
        let slot = layout.slot(&request.node).ok_or_else(|| {
            let there = layout.nodes.iter().map(|node| node.spec.name);
            EngineError::unknown("node", &request.node, there)
        })?;
        let edges = &layout.nodes[slot].edges;
        let exit = match &request.exit {
            None => None,
            Some(name) => {
                let found = edges.iter().position(|edge| edge.name == *name);
                let there = || edges.iter().map(|edge| &edge.name[..]);
                Some(found.ok_or_else(|| EngineError::unknown("exit", name, there()))? as u8)
            }
        };
        let capturing = Capturing {
            node: request.node.clone(),
            exit: request.exit.clone(),
            count: request.count,
            copies: Vec::new(),
        };
        let snap_bytes = request.snap_bytes.unwrap_or(SNAP_BYTES) as usize;
        self.parts.observing.start_capture(&self.core.dataplane, capturing, slot, exit, snap_bytes);
        Ok(())
    }

    pub(super) fn show_capture(&self) -> view::Capture {
        let capturing = &self.parts.observing.capturing;
        view::Capture {
            running: self.parts.observing.is_capturing(),
            node: capturing.node.clone(),
            exit: capturing.exit.clone(),
            count: capturing.count,
            captured: capturing.copies.len() as u32,
        }
    }

    pub(super) fn take_captured(&mut self) -> impl FnOnce() -> view::Taken + Send + 'static {
        let time = Time::now();
        let running = self.parts.observing.is_capturing();
        let copies = self.parts.observing.take_captured();
        let named = copies.iter().map(|copy| copy.rx).collect::<BTreeSet<u16>>().into_iter();
        let named = named.filter_map(|id| Some((id, self.core.port_of(id)?.0.to_string())));
        let names: HashMap<u16, String> = named.collect();
        move || {
            let packets = copies.iter().map(|copy| view::TakenPacket {
                unix_ns: time.of(copy.tsc),
                port: names.get(&copy.rx).cloned(),
                bytes: copy.length as u32,
                hex: hex(&copy.bytes),
            });
            view::Taken { running, packets: packets.collect() }
        }
    }

    pub(super) fn captured_pcap(&self) -> impl FnOnce() -> Vec<u8> + Send + 'static {
        let time = Time::now();
        let copies = self.parts.observing.capturing.copies.clone();
        move || {
            let write = || -> Result<Vec<u8>, wire::Error> {
                let mut writer = Writer::new(Vec::new(), LINK_ETHERNET)?;
                for copy in &copies {
                    writer.write_part(time.of(copy.tsc), &copy.bytes, copy.length as u32)?;
                }
                writer.finish()
            };
            // Writing into memory cannot fail.
            write().unwrap_or_default()
        }
    }
}

/// The wall clock, by the time-stamp counter.
struct Time {
    unix_ns: u64,
    tsc: u64,
}

impl Time {
    fn now() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { unix_ns: unix.as_nanos() as u64, tsc: graph::tsc() }
    }

    /// When that was, in nanoseconds.
    fn of(&self, tsc: u64) -> u64 {
        let ns_per_cycle = 1e9 / tsc_hz() as f64;
        let age_ns = (self.tsc.saturating_sub(tsc) as f64 * ns_per_cycle) as u64;
        self.unix_ns.saturating_sub(age_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    #[test]
    fn a_frame_whose_tag_was_taken_out_reads_as_a_frame() {
        // The station's address begins as a header of IP does.
        let (to, from) = ([0x45, 0, 0, 28, 0, 1], [2; 6]);
        let frame = craft::ethernet(to, from).ipv4([10, 0, 7, 2], [10, 0, 2, 2]).udp(5, 6).build();
        let read = "IPv4 10.0.7.2 > 10.0.2.2 ttl 64 len 28 UDP 5 > 6 len 0";
        assert_eq!(described(&[&[0; 4][..], &frame].concat(), 4, 42), read);
        assert_eq!([described(&frame, 0, 42), described(&frame, 14, 28)], [read; 2]);
        assert_eq!(described(&frame[..20], 14, 28), "IPv4 [cut short, 6 octets]");
    }

    #[test]
    fn what_the_router_makes_reads_as_a_packet_while_it_has_no_link_header() {
        let ip4 = craft::ipv4([10, 0, 7, 2], [10, 0, 2, 2]).udp(5, 6).build();
        let read = "IPv4 10.0.7.2 > 10.0.2.2 ttl 64 len 28 UDP 5 > 6 len 0";
        assert_eq!(described(&ip4, 0, ip4.len()), read);
        let ip6 = craft::ipv6(1, 2).udp(5, 6).payload(&[7; 200]).build();
        assert!(described(&ip6[..96], 0, ip6.len()).starts_with("IPv6 ::1 > ::2 "));
        // Who has a longer frame than it says is a station of such an address.
        assert!(described(&ip4, 0, 60).contains(" ethertype "));
    }
}
