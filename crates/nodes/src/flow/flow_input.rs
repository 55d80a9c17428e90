//! Finds what flows came to for packets like this one.
//!
//! ```text
//!  port_rx, interface_output (of the router's own station) ─▶ flow_input ┬▶ interface_output
//!                                                                        ├▶ flow_act
//!                                                                        ├▶ flow_upcall
//!                                                                        └▶ drop
//! ```
//! Some tens of packets of one port are looked up in turns: the bytes of all are read, then what
//! each is remembered by, then its megaflow, each asked for while the one before is looked at.
//! Counts are added to flows every 10 ms: until then they are this worker's.
//!
//! What flows see of a tunnel follows from its port, but for the number and the other end of a
//! packet whose tunnel lets flows say them: those it was told ([`crate::tables::own_of`]).

use crate::interface::run_of;
use crate::tables::{
    FlowAsked, FlowBridge, FlowBridges, FlowClock, FlowPort, FlowState, FlowTelling, Interfaces,
    Setup, bridge_port, own_of,
};
use flow::{Cache, CameBy, Does, Found, Key, Plain, extract};
use graph::{Context, Exits, Handed, Node, Published, Role, tsc_hz};
use packet::{Frame, prefetch_read};
use std::ops::Range;
use std::sync::Arc;

/// Packets that are looked up together.
const TOGETHER: usize = 32;

/// See the module.
pub struct FlowInput {
    interfaces: Published<Interfaces>,
    bridges: Published<FlowBridges>,
    state: Handed<FlowState>,
    clock: FlowClock,
    group: Box<Group>,
    flush_tsc: u64,
    period: u64,
    asked: Arc<FlowAsked>,
    telling: FlowTelling,
}

graph::exits! {
    /// What becomes of a frame.
    pub enum Exit {
        /// All that is done: it leaves by a port.
        Output => node "interface-output",
        /// More is to be done.
        Act => node "flow-act",
        /// Tables are to be asked.
        Upcall => node "flow-upcall",
        /// The flows say so, or no flow is for it.
        NoAction => drop "`ovs-ofctl dump-flows BRIDGE` tells which flows there are and what they \
            took.",
        /// The bridge is gone, or its port.
        NoBridge => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

impl Node for FlowInput {
    const NAME: &'static str = "flow-input";
    const ABOUT: &'static str = "finds what flows do with frames";
    const ROLE: Role = Role::Timed;
    const BEGINS_AGAIN: bool = true;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            bridges: setup.shared.flow_bridges.clone(),
            state: setup.flow.clone(),
            clock: setup.shared.flow_clock.clone(),
            group: Box::new(Group::new()),
            flush_tsc: 0,
            period: tsc_hz() / 100,
            asked: Arc::clone(&setup.flow_asked),
            telling: FlowTelling::default(),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let (interfaces, bridges) = (self.interfaces.get(context), self.bridges.get(context));
        let Some(mut state) = self.state.take() else {
            exits.all(Exit::NoBridge);
            return;
        };
        let mut start = 0;
        while start < frame.len() {
            let (rx, end) = run_of(&frame.rx()[..frame.len().min(start + TOGETHER)], start);
            let slots = start..end;
            start = end;
            let port = bridge_port(interfaces, rx);
            let of = port.and_then(|port| bridges.of(&port));
            let Some((FlowPort { bridge: id, number: in_port }, bridge)) = of else {
                exits.run(slots, Exit::NoBridge);
                continue;
            };
            let cache = state.cache(id);
            cache.follow(bridge.snapshot.generation, 0);
            match bridge.tunnel(in_port) {
                None => self.group.find::<false>(frame, slots.clone(), (in_port, None), cache),
                tunnel => self.group.find::<true>(frame, slots.clone(), (in_port, tunnel), cache),
            }
            self.group.lead(frame, slots, bridge, cache, exits);
        }
        if context.now_tsc >= self.flush_tsc && !fib::only_looks() {
            state.flush(self.clock.now_ns());
            state.retain(|bridge| bridges.get(bridge).is_some());
            self.flush_tsc = context.now_tsc + self.period;
        }
        if state.is_dirty() {
            context.call_at(self.flush_tsc);
        }
        if self.telling.go_on(&self.asked, &mut state, bridges, &self.clock) {
            context.call_at(context.now_tsc);
        }
    }
}

/// Packets of one port that are looked up together.
struct Group {
    plains: [Plain; TOGETHER],
    hashes: [u64; TOGETHER],
    /// Bits: which have the usual form.
    usual: u32,
    lengths: [u32; TOGETHER],
    /// Numbers of their megaflows, 0 where there is none.
    ids: [u64; TOGETHER],
    keys: Box<[Key]>,
    /// Which of them the keys are of.
    of: Vec<usize>,
}

impl Group {
    fn new() -> Self {
        Self {
            plains: Default::default(),
            hashes: [0; TOGETHER],
            usual: 0,
            lengths: [0; TOGETHER],
            ids: [0; TOGETHER],
            keys: vec![Key::default(); TOGETHER].into(),
            of: Vec::with_capacity(TOGETHER),
        }
    }

    /// Finds the megaflows of packets; `TUNNEL`: of a tunnel, which may let each have a number or
    /// an end of its own.
    /// Its loops have all registers: no part of a longer function.
    #[inline(never)]
    fn find<const TUNNEL: bool>(
        &mut self,
        frame: &mut Frame,
        slots: Range<usize>,
        by: (u16, Option<&CameBy>),
        cache: &mut Cache,
    ) {
        let (start, count) = (slots.start, slots.len());
        let in_port = by.0;
        let telling = by.1.filter(|tunnel| TUNNEL && tunnel.is_told_by_packets());
        self.usual = 0;
        let looks = cache.looks_exactly();
        frame.each_of(slots.clone(), |packet| {
            let at = packet.index() - start;
            self.lengths[at] = packet.length() as u32;
            if looks && let Some(plain) = Plain::of(packet.header(), in_port) {
                let plain = match telling {
                    Some(tunnel) if TUNNEL => match plain.told(own_of(&packet, tunnel)) {
                        Some(plain) => plain,
                        None => return,
                    },
                    _ => plain,
                };
                let hash = plain.hash();
                prefetch_read(cache.place_of(hash));
                (self.plains[at], self.hashes[at]) = (plain, hash);
                self.usual |= 1 << at;
            }
        });
        for at in 0..count {
            let is_usual = self.usual >> at & 1 != 0;
            let id = match is_usual {
                true => cache.find_plain(&self.plains[at], self.hashes[at]),
                false => 0,
            };
            prefetch_read(cache.line_of(id));
            self.ids[at] = id;
        }
        let mut missing = 0;
        for (at, id) in self.ids[..count].iter().enumerate() {
            missing |= u32::from(!cache.is_there(*id)) << at;
        }
        if looks {
            let missed = missing & self.usual;
            cache.looked_exactly(self.usual.count_ones(), missed.count_ones());
        }
        if missing != 0 {
            // All of those that nobody looked for are found by their keys, together.
            let together = if looks { self.usual } else { u32::MAX };
            self.find_by_keys(frame, start, by, cache, (missing, together));
        }
    }

    /// Of those that are not known by their bytes.
    #[inline(never)]
    fn find_by_keys(
        &mut self,
        frame: &mut Frame,
        start: usize,
        (in_port, tunnel): (u16, Option<&CameBy>),
        cache: &mut Cache,
        (mut missing, together): (u32, u32),
    ) {
        self.of.clear();
        while missing != 0 {
            let at = missing.trailing_zeros() as usize;
            missing &= missing - 1;
            let key = &mut self.keys[self.of.len()];
            let packet = frame.view(start + at);
            if let Some(tunnel) = tunnel {
                tunnel.tell(own_of(&packet, tunnel), key);
            }
            extract(packet.header(), in_port, key);
            if together >> at & 1 != 0 {
                self.of.push(at);
            } else {
                self.ids[at] = cache.find_id(key).unwrap_or(0);
            }
        }
        let (keys, mut found) = (&self.keys[..self.of.len()], [0; TOGETHER]);
        cache.find_all(keys, &mut found[..keys.len()], prefetch_read);
        if tunnel.is_some() {
            // Those of other ports know of none.
            self.keys.iter_mut().take(self.of.len() + 1).for_each(Key::forget_tunnel);
        }
        for (at, id) in self.of.iter().zip(found) {
            self.ids[*at] = id;
            if id != 0 && self.usual >> at & 1 != 0 {
                cache.remember(&self.plains[*at], self.hashes[*at], id);
            }
        }
    }

    /// Counts packets and leads them where their megaflows say.
    fn lead(
        &self,
        frame: &mut Frame,
        slots: Range<usize>,
        bridge: &FlowBridge,
        cache: &mut Cache,
        exits: &mut Exits<'_, Exit>,
    ) {
        let (mut at, mut last) = (0, None);
        while at < slots.len() {
            // Packets of one megaflow in a row are counted at once.
            let (id, first) = (self.ids[at], at);
            let mut bytes = 0;
            while at < slots.len() && self.ids[at] == id {
                bytes += u64::from(self.lengths[at]);
                at += 1;
            }
            let run = slots.start + first..slots.start + at;
            let exit = match cache.count_of(id, run.len() as u32, bytes) {
                Some(Does::Sends(port)) => {
                    let row = match last {
                        Some((own, row)) if own == port => row,
                        _ => bridge.rows.get(&port).filter(|row| !row.is_own).copied(),
                    };
                    last = Some((port, row));
                    match row {
                        Some(row) => {
                            run.clone().for_each(|slot| frame.view(slot).set_tx(row.interface));
                            Exit::Output
                        }
                        None => Exit::Act,
                    }
                }
                Some(Does::Nothing) => Exit::NoAction,
                Some(Does::More) => Exit::Act,
                None => Exit::Upcall,
            };
            if matches!(exit, Exit::Act) {
                for slot in run.clone() {
                    let mut packet = frame.view(slot);
                    packet.set_adjacency(Found::of(id).0);
                    packet.set_tx(0);
                }
            }
            exits.run(run, exit);
        }
    }
}
