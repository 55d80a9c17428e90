//! Does to a packet what flows say: sends copies, changes fields, tells the control side.
//!
//! ```text
//!  flow_input, flow_upcall ─▶ flow_act ┬▶ interface_output
//!       ▲                              ├▶ ethernet_input, interface_input   the router's own
//!       │                              ├▶ l2_learn, l2_forward              as an ordinary bridge
//!       └──────────────────────────────┘ again: more copies than a call may make
//! ```
//! The packet itself goes where the last step leads, copies where those before it do. Until it
//! leaves, `tx` is the step that comes next.

use crate::l2::l2_forward::hand_in;
use crate::tables::{
    BridgeId, FlowBridge, FlowBridges, FlowClock, FlowRow, FlowState, FlowTold, Interfaces, Punt,
    Setup, SlowPath, WorkerCounters, bridge_port,
};
use flow::{Found, MOST_GROWTH, Step, Verdict, push_vlan_into, write_field};
use graph::{Context, Exits, Handed, Node, Published};
use packet::{Frame, PacketView};
use std::sync::Arc;

/// See the module.
pub struct FlowAct {
    interfaces: Published<Interfaces>,
    bridges: Published<FlowBridges>,
    state: Handed<FlowState>,
    clock: FlowClock,
    slow_path: SlowPath,
    counters: Arc<WorkerCounters>,
}

graph::exits! {
    /// What becomes of a frame.
    pub enum Exit {
        /// By a port.
        Output => node "interface-output",
        /// To the router's own station.
        Own => node "ethernet-input",
        /// To the router's own station, which has features: these first.
        OwnFeatures => node "interface-input",
        /// As an ordinary bridge would.
        Normal => node "l2-learn",
        /// The same, where nothing is to be learned.
        NormalUnlearned => node "l2-forward",
        /// There are steps left, and no room for their copies in this call.
        Again => node "flow-act",
        /// What was done with it needed no packet any more: somebody was told.
        Told => drop "Nothing: the flow tells controllers, and sends it nowhere.",
        /// A meter had no room for it.
        Metered => drop "`ovs-ofctl -O OpenFlow13 meter-stats BRIDGE` tells of which meter; raise \
            its rate.",
        /// The control side has too much to do: nobody was told.
        NotTold => drop "Controllers ask for more packets than can be told: let fewer flows send \
            to them.",
        /// No buffer for a copy: ports behind that one do not get it.
        NoBuffer => drop "Raise `buffers` in [memory]: `volley show memory` tells how many are in \
            use.",
        /// No room for a tag in front of it.
        NoRoom => drop "The port's driver leaves no headroom: use another kind of port.",
        /// The flows changed while it was on its way, or its bridge is gone.
        Outdated => drop "Nothing, if it ends: flows changed just then.",
    }
}

impl Node for FlowAct {
    const NAME: &'static str = "flow-act";
    const ABOUT: &'static str = "does what flows say";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            bridges: setup.shared.flow_bridges.clone(),
            state: setup.flow.clone(),
            clock: setup.shared.flow_clock.clone(),
            slow_path: setup.shared.slow_path.clone(),
            counters: Arc::clone(&setup.counters),
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
            exits.all(Exit::Outdated);
            return;
        };
        for slot in 0..frame.len() {
            let packet = frame.view(slot);
            let port = bridge_port(interfaces, packet.rx());
            let found = Found(packet.adjacency());
            let bridge = port.and_then(|port| Some((port, bridges.get(port.bridge)?)));
            let exit = match bridge {
                Some((port, bridge)) => match state.cache(port.bridge).verdict(found) {
                    Some(verdict) => {
                        let verdict = Arc::clone(verdict);
                        let at = At { interfaces, bridge, id: port.bridge, learns: port.learn };
                        self.act(packet, &verdict, &at, context)
                    }
                    None => Exit::Outdated,
                },
                None => Exit::Outdated,
            };
            exits.set(slot, exit);
        }
    }
}

/// Where a packet is.
struct At<'a> {
    interfaces: &'a Interfaces,
    bridge: &'a FlowBridge,
    id: BridgeId,
    learns: bool,
}

/// Where a packet goes.
#[derive(Clone, Copy)]
enum Way {
    Port(FlowRow),
    Normal,
}

impl At<'_> {
    fn exit(&self, way: Way) -> Exit {
        match way {
            Way::Port(row) if !row.is_own => Exit::Output,
            Way::Port(row) if self.interfaces.has_input_features(row.interface) => {
                Exit::OwnFeatures
            }
            Way::Port(_) => Exit::Own,
            Way::Normal if self.learns => Exit::Normal,
            Way::Normal => Exit::NormalUnlearned,
        }
    }
}

/// The queue of what is sent behind these.
fn last_queue(steps: &[Step]) -> Option<u32> {
    let queue = |step: &Step| if let Step::Queue(queue) = step { Some(*queue) } else { None };
    steps.iter().rev().find_map(queue).flatten()
}

impl FlowAct {
    fn act(
        &self,
        mut packet: PacketView<'_>,
        verdict: &Verdict,
        at: &At<'_>,
        context: &mut Context<'_>,
    ) -> Exit {
        let steps = verdict.steps.get(usize::from(packet.tx())..).unwrap_or_default();
        let first = verdict.steps.len() - steps.len();
        let mut queue = last_queue(&verdict.steps[..first]);
        for (offset, step) in steps.iter().enumerate() {
            let is_last = offset + 1 == steps.len();
            let way = match step {
                Step::Output(number) => match at.bridge.rows.get(number) {
                    Some(row) => Way::Port(*row),
                    None if is_last => return Exit::Outdated,
                    None => continue,
                },
                Step::Normal => Way::Normal,
                Step::Queue(number) => {
                    queue = *number;
                    continue;
                }
                other => {
                    if let Some(exit) = self.change(&mut packet, other, at, is_last, context) {
                        return exit;
                    }
                    continue;
                }
            };
            if is_last {
                if let Some(queue) = queue {
                    packet.set_queue(queue, context.now_tsc);
                }
                return self.leave(packet, way, at);
            }
            if context.room() == 0 {
                packet.set_tx((first + offset) as u16);
                return Exit::Again;
            }
            let Some(copy) = context.cache.copy_of(packet.header()) else { return Exit::NoBuffer };
            let now_tsc = context.now_tsc;
            if let Ok(mut copy) = context.emit(copy, packet.rx(), at.exit(way)) {
                if let Some(queue) = queue {
                    copy.set_queue(queue, now_tsc);
                }
                self.leave(copy, way, at);
            }
        }
        Exit::Told
    }

    /// Leads a packet its way.
    fn leave(&self, mut packet: PacketView<'_>, way: Way, at: &At<'_>) -> Exit {
        if let Way::Port(row) = way {
            packet.set_tx(row.interface);
            if row.is_own {
                hand_in(&self.counters, packet, row.interface);
            }
        }
        at.exit(way)
    }

    /// A step that sends nothing; an exit where the packet's way ends.
    fn change(
        &self,
        packet: &mut PacketView<'_>,
        step: &Step,
        at: &At<'_>,
        is_last: bool,
        context: &mut Context<'_>,
    ) -> Option<Exit> {
        match step {
            Step::Set(field, value, mask) => {
                write_field(packet.header_mut(), *field, *value, *mask);
            }
            Step::PushVlan(tpid, tci) => {
                if !packet.prepend(MOST_GROWTH) {
                    return Some(Exit::NoRoom);
                }
                push_vlan_into(packet.header_mut(), *tpid, *tci);
            }
            Step::PopVlan => {
                if let Some(head) = packet.header_mut().get_mut(..16) {
                    head.copy_within(..12, 4);
                    packet.advance(4);
                    packet.start_here();
                }
            }
            Step::Meter(number) => {
                let meter = at.bridge.snapshot.meters.get(number);
                let now_ns = self.clock.now_ns();
                // Who only looks takes nothing from a meter: to it, all have room.
                let meter = meter.filter(|_| !fib::only_looks());
                if meter.is_some_and(|meter| !meter.passes(packet.length(), now_ns)) {
                    return Some(Exit::Metered);
                }
            }
            Step::Tell(told) => {
                let told = Arc::clone(told);
                let Some(copy) = context.cache.copy_of(packet.header()) else {
                    return Some(Exit::NoBuffer);
                };
                let (bridge, interface) = (at.id, packet.rx());
                let punt = Punt::FlowTold(FlowTold { bridge, interface, told, packet: copy });
                if let Err(punt) = self.slow_path.tell(punt) {
                    if let Some(copy) = punt.into_packet() {
                        context.cache.release_one(copy);
                    }
                    if is_last {
                        return Some(Exit::NotTold);
                    }
                }
            }
            Step::Queue(_) | Step::Output(_) | Step::Normal => {}
        }
        None
    }
}
