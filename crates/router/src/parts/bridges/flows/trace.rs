//! What a bridge of flows would do with a packet, as Open vSwitch's `ofproto/trace` tells it.

use super::super::Bridges;
use super::{Open, locked};
use crate::core::Core;
use control::engine::EngineError;
use control::view::{FlowTrace, FlowTraceFilter, FlowTracePart};
use fib::mac::MacKey;
use flow::words::{self, Names, Normals};
use flow::{Frozen, Key, Snapshot, Step, Traced, Tracked, What, extract};
use nodes::flow::part_for_normal;
use nodes::tables::{BridgeId, bridge_port};
use openflow::{Field, PortNumber};
use std::collections::VecDeque;
use std::sync::Arc;

/// Parts of a way, at most: copies make more of them.
const MOST_PARTS: usize = 64;

impl Bridges {
    /// The bridge of flows of a name, in Open vSwitch's words if there is none.
    fn open(&self, name: &str) -> Result<&Open, EngineError> {
        let unknown = || EngineError::Wrong(format!("{name}: unknown bridge"));
        let id = BridgeId(self.bridge_id(name).map_err(|_| unknown())?);
        self.flows.open.get(&id).ok_or_else(unknown)
    }

    pub(crate) fn show_flow_trace(
        &self,
        core: &Core,
        filter: &FlowTraceFilter,
    ) -> Result<FlowTrace, EngineError> {
        let open = self.open(&filter.bridge)?;
        let all: Names =
            open.numbers.iter().map(|(name, number)| (*number, name.to_string())).collect();
        let wrong = EngineError::Wrong;
        let mut key = words::read_flow(&filter.flow, &all)
            .map_err(|why| wrong(format!("Bad openflow flow syntax: {why}")))?;
        if let Some(packet) = &filter.packet {
            let frame = octets(packet).map_err(|why| wrong(why.to_owned()))?;
            let in_port = key.get(Field::InPort) as PortNumber;
            extract(&frame, in_port, &mut key);
        }
        let states = filter.ct_next.iter().flat_map(|text| text.split(';'));
        let states = states.map(words::read_ct_state).collect::<Result<_, _>>().map_err(wrong)?;
        let names = if filter.names { all } else { Names::new() };
        let snapshot = locked(&open.hub).bridge.snapshot();
        let it = Tracing { core, bridge: &filter.bridge, open, names, snapshot: &snapshot, states };
        Ok(FlowTrace { parts: it.parts(key) })
    }
}

/// A frame from digits, in the words that Open vSwitch has for what is wrong with them.
fn octets(digits: &str) -> Result<Vec<u8>, &'static str> {
    let digits: Vec<char> = digits.chars().filter(|it| !it.is_whitespace()).collect();
    let octet = |pair: &[char]| {
        let mut value = 0;
        for digit in pair {
            value = value << 4 | digit.to_digit(16)? as u8;
        }
        (pair.len() == 2).then_some(value)
    };
    let octets: Option<Vec<u8>> = digits.chunks(2).map(octet).collect();
    let octets = octets.ok_or("Trailing garbage in packet data")?;
    if octets.len() < 14 { Err("Packet data too short for Ethernet") } else { Ok(octets) }
}

/// What is traced, and what connection tracking is to say of it.
struct Tracing<'a> {
    core: &'a Core,
    bridge: &'a str,
    open: &'a Open,
    names: Names,
    snapshot: &'a Snapshot,
    states: VecDeque<u8>,
}

/// What begins again.
struct Again {
    number: u32,
    key: Key,
    frozen: Arc<Frozen>,
    zone: u16,
}

impl Tracing<'_> {
    fn parts(mut self, key: Key) -> Vec<FlowTracePart> {
        let mut waiting = VecDeque::new();
        let mut numbers = 1..;
        let first = flow::trace(self.snapshot, &key);
        let mut parts = vec![self.part(String::new(), &key, first, &mut waiting, &mut numbers)];
        while let Some(Again { number, mut key, frozen, zone }) = waiting.pop_front() {
            if parts.len() >= MOST_PARTS {
                break;
            }
            let in_port = key.get(Field::InPort);
            if frozen.tracked().is_some() {
                // Nothing is asked of tracking: it was behind labels.
                let again = format!("recirc(0x{number:x}) - resume mpls");
                key.begin_again(&frozen, number, &Tracked::default());
                key.set(Field::InPort, in_port, 0xffff);
                let traced = flow::trace_again(self.snapshot, &key, &frozen);
                parts.push(self.part(again, &key, traced, &mut waiting, &mut numbers));
                continue;
            }
            let (state, said) = match self.states.pop_front() {
                Some(state) => (state, format!("with ct_state={}", words::state_words(state))),
                None => {
                    (0x21, "with default ct_state=trk|new (use --ct-next to customize)".to_owned())
                }
            };
            let again = format!("recirc(0x{number:x}) - resume conntrack {said}");
            key.begin_again(&frozen, number, &Tracked { state, zone, ..Tracked::default() });
            key.set(Field::InPort, in_port, 0xffff);
            let traced = flow::trace_again(self.snapshot, &key, &frozen);
            parts.push(self.part(again, &key, traced, &mut waiting, &mut numbers));
        }
        parts
    }

    fn part(
        &self,
        again: String,
        key: &Key,
        traced: Traced,
        waiting: &mut VecDeque<Again>,
        numbers: &mut std::ops::RangeFrom<u32>,
    ) -> FlowTracePart {
        let Traced { verdict, events, key: last, queue, forks } = traced;
        let mut steps = verdict.steps.to_vec();
        let (mut forks, mut zone) = (forks.into_iter(), 0);
        for step in &mut steps {
            match step {
                Step::Track(track) => zone = track.zone,
                Step::Recirculate(number, _) => {
                    *number = numbers.next().unwrap_or(0);
                    let fork = forks.next();
                    let again = |(key, frozen)| Again { number: *number, key, frozen, zone };
                    waiting.extend(fork.map(again));
                }
                _ => {}
            }
        }
        let in_port = key.get(Field::InPort) as PortNumber;
        let normals = events.iter().filter_map(|event| match event.what {
            What::Normal { to, tci } => Some(self.normal(to, tci, in_port).1),
            _ => None,
        });
        let normals: Normals = normals.collect();
        let chosen = steps.iter().any(|step| matches!(step, Step::Queue(_))).then_some(0);
        // Where an action set leads is a field of the flow there, which is not told.
        let has_set = events.iter().any(|it| matches!(it.what, What::Set));
        let is_same = *key == last && queue.is_none() && !has_set;
        let fault = |what: &What| match what {
            What::Fault(why) if why.contains("depth") => Some("Recursion too deep"),
            What::Fault(_) => Some("Too many resubmits"),
            _ => None,
        };
        let problem = events.iter().find_map(|event| fault(&event.what));
        let problem = problem.or(verdict.is_cut.then_some("An action is not done here"));
        FlowTracePart {
            again,
            flow: words::flow(key, None, &self.names),
            walk: words::walk(self.bridge, &events, &self.names, &|to, tci| {
                self.normal(to, tci, in_port).0
            }),
            final_flow: (!is_same).then(|| words::flow(&last, queue, &self.names)),
            megaflow: words::fields(key, &seen(key, &verdict.mask), chosen, &self.names),
            actions: words::actions(&steps, key, &self.names, Some(normals)),
            problem: problem.map(str::to_owned),
        }
    }

    /// What an ordinary bridge would do with a packet to a station that has this tag, and by which
    /// ports it would leave.
    fn normal(&self, to: u128, tci: u16, in_port: PortNumber) -> (String, Vec<PortNumber>) {
        let [_, _, mac @ ..] = (to as u64).to_be_bytes();
        let numbers = &self.open.numbers;
        let interfaces = self.core.dataplane.interfaces();
        let port = numbers.iter().find(|(_, number)| **number == in_port);
        let rx = port.and_then(|(name, _)| Some((name, self.core.ports.id_of(name)?)));
        let found = rx.and_then(|(name, rx)| Some((name, rx, bridge_port(interfaces, rx)?)));
        let Some((name, rx, port)) = found else {
            let why = format!(">>>> received packet on unknown port {in_port} <<<<");
            return (why, Vec::new());
        };
        let Ok(part) = part_for_normal(interfaces, rx, &port, &head(mac, tci)) else {
            let vid = tci & 0xfff;
            let why = format!(
                ">>>> dropping VLAN {vid} packet received on port {name} not configured for \
                 trunking VLAN {vid} <<<<"
            );
            return (why, Vec::new());
        };
        let bridge = bridge_port(interfaces, part.interface).map_or(port.bridge, |it| it.bridge);
        let all = || {
            let members = interfaces.members(bridge).iter();
            let members = members.filter_map(|id| self.number_of(*id));
            members.filter(|number| *number != in_port).collect()
        };
        if mac[0] & 1 != 0 {
            return ("-> multicast traffic, flooding".to_owned(), all());
        }
        let stations = &self.core.dataplane.stations;
        let known = stations.table.lookup(MacKey::new(bridge.0, mac), stations.now());
        let Some(station) = known else {
            return ("-> no learned MAC for destination, flooding".to_owned(), all());
        };
        match self.number_of(station.port as u16) {
            Some(number) if number == in_port => {
                (">> learned port is input port, dropping".to_owned(), Vec::new())
            }
            number => ("-> forwarding to learned port".to_owned(), number.into_iter().collect()),
        }
    }

    /// The number of a port, or of what an interface is a VLAN of.
    fn number_of(&self, interface: u16) -> Option<PortNumber> {
        let (name, port) = self.core.port_of(interface)?;
        self.open.numbers.get(port.parent().unwrap_or(name)).copied()
    }
}

/// The beginning of a frame to a station, with this tag if it is one.
fn head(to: [u8; 6], tci: u16) -> Vec<u8> {
    let mut frame = [&to[..], &[0; 6]].concat();
    if tci & 0x1000 != 0 {
        frame.extend([0x81, 0]);
        frame.extend((tci & 0xefff).to_be_bytes());
    }
    frame.extend([8, 0]);
    frame
}

/// The bits that decided, less those of what such a packet does not have.
fn seen(key: &Key, mask: &Key) -> Key {
    let mut mask = mask.clone();
    if !matches!(key.get(Field::EthType), 0x0800 | 0x86dd) {
        mask.set(Field::IpFrag, 0, Field::IpFrag.ones());
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_digits_and_long_enough() {
        assert_eq!(octets("zz11"), Err("Trailing garbage in packet data"));
        assert_eq!(octets("123"), Err("Trailing garbage in packet data"));
        assert_eq!(octets("1234"), Err("Packet data too short for Ethernet"));
        assert_eq!(octets("0600000000 02 0600000000010800").map(|it| it.len()), Ok(14));
    }
}
