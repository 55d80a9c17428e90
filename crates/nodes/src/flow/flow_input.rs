//! Finds what flows came to for packets like this one.
//!
//! ```text
//!  port_rx, interface_output (of the router's own station) ─▶ flow_input ┬▶ interface_output
//!                                                                        ├▶ flow_act
//!                                                                        ├▶ flow_upcall
//!                                                                        └▶ drop
//! ```
//! Counts are added to flows every 10 ms: until then they are this worker's.

use crate::tables::{FlowBridges, FlowClock, FlowState, Interfaces, Setup, bridge_port};
use flow::{Key, extract};
use graph::{Context, Exits, Handed, Node, Published, Role, tsc_hz};
use packet::Frame;

/// See the module.
pub struct FlowInput {
    interfaces: Published<Interfaces>,
    bridges: Published<FlowBridges>,
    state: Handed<FlowState>,
    clock: FlowClock,
    key: Key,
    flush_tsc: u64,
    period: u64,
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
            key: Key::default(),
            flush_tsc: 0,
            period: tsc_hz() / 100,
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
        let key = &mut self.key;
        frame.each(|mut packet| {
            let slot = packet.index();
            let port = bridge_port(interfaces, packet.rx());
            let bridge =
                port.and_then(|port| Some((port.flow?, port.bridge, bridges.get(port.bridge)?)));
            let Some((in_port, id, bridge)) = bridge else {
                exits.set(slot, Exit::NoBridge);
                return;
            };
            let cache = state.cache(id);
            cache.follow(bridge.snapshot.generation, 0);
            extract(packet.header(), in_port, key);
            let Some(found) = cache.find(key) else {
                exits.set(slot, Exit::Upcall);
                return;
            };
            cache.count(found, packet.length());
            let Some(verdict) = cache.verdict(found) else {
                exits.set(slot, Exit::Upcall);
                return;
            };
            let row = verdict.sole_output().and_then(|port| bridge.rows.get(&port));
            let exit = match row {
                Some(row) if !row.is_own => {
                    packet.set_tx(row.interface);
                    Exit::Output
                }
                _ if verdict.steps.is_empty() => Exit::NoAction,
                _ => {
                    packet.set_adjacency(found.0);
                    packet.set_tx(0);
                    Exit::Act
                }
            };
            exits.set(slot, exit);
        });
        if context.now_tsc >= self.flush_tsc && !fib::only_looks() {
            state.flush(self.clock.now_ns());
            state.retain(|bridge| bridges.get(bridge).is_some());
            self.flush_tsc = context.now_tsc + self.period;
        }
        if state.is_dirty() {
            context.call_at(self.flush_tsc);
        }
    }
}
