//! Asks the tables what becomes of a packet, and remembers it for those like it.
//!
//! ```text
//!  flow_input ─▶ flow_upcall ┬▶ flow_act
//!                            └▶ drop
//! ```

use crate::tables::{
    FlowBridges, FlowClock, FlowPort, FlowState, Interfaces, Setup, bridge_port, own_of,
};
use flow::{Key, extract, translate};
use graph::{Context, Exits, Handed, Node, Published};
use packet::Frame;

/// See the module.
pub struct FlowUpcall {
    interfaces: Published<Interfaces>,
    bridges: Published<FlowBridges>,
    state: Handed<FlowState>,
    clock: FlowClock,
}

graph::exits! {
    /// What becomes of a frame.
    pub enum Exit {
        /// Something is to be done.
        Act => node "flow-act",
        /// The flows say so, or no flow is for it.
        NoAction => drop "`ovs-ofctl dump-flows BRIDGE` tells which flows there are and what they \
            took.",
        /// Flows lead to each other without an end, or to what is not done here.
        TooDeep => drop "Look for flows that resubmit to their own table: `ovs-ofctl dump-flows \
            BRIDGE`.",
        /// The bridge is gone, or its port.
        NoBridge => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

impl Node for FlowUpcall {
    const NAME: &'static str = "flow-upcall";
    const ABOUT: &'static str = "asks tables of flows what becomes of frames";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            bridges: setup.shared.flow_bridges.clone(),
            state: setup.flow.clone(),
            clock: setup.shared.flow_clock.clone(),
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
        let (mut key, now_ns) = (Key::default(), self.clock.now_ns());
        frame.each(|mut packet| {
            let slot = packet.index();
            let port = bridge_port(interfaces, packet.rx());
            let of = port.and_then(|port| bridges.of(&port));
            let Some((FlowPort { bridge: id, number: in_port }, bridge)) = of else {
                exits.set(slot, Exit::NoBridge);
                return;
            };
            let cache = state.cache(id);
            cache.follow(bridge.snapshot.generation, now_ns);
            let own = bridge.tunnel(in_port).map(|tunnel| own_of(&packet, tunnel));
            bridge.tell_tunnel(in_port, own.unwrap_or_default(), &mut key);
            extract(packet.header(), in_port, &mut key);
            // One before it in this vector may have been like it.
            let found = cache
                .find(&key)
                .unwrap_or_else(|| cache.insert(&key, translate(&bridge.snapshot, &key), now_ns));
            cache.count(found, packet.length());
            packet.set_adjacency(found.0);
            packet.set_tx(0);
            let exit = match cache.verdict(found) {
                Some(verdict) if !verdict.steps.is_empty() => Exit::Act,
                Some(verdict) if verdict.is_cut => Exit::TooDeep,
                _ => Exit::NoAction,
            };
            exits.set(slot, exit);
        });
    }
}
