//! Does to a packet what flows say: sends copies, changes fields, tells the control side.
//!
//! ```text
//!  flow_input, flow_upcall ─▶ flow_act ┬▶ interface_output
//!       ▲                              ├▶ ethernet_input, interface_input   the router's own
//!       │                              ├▶ l2_learn, l2_forward, flow_normal as an ordinary bridge
//!       └──────────────────────────────┘ again: copies of packets that have steps left
//! ```
//! The packet itself goes where the last step leads, copies where those before it do. Until it
//! leaves, `tx` is the step that comes next. A packet that passes connection tracking begins again
//! in a table: what that comes to is found, or worked out, here. Connections of some tens of
//! packets of one port are asked for before the first of them is looked at.

use crate::flow::asking::{Asking, IN_FRONT, TOGETHER, ask_for_steps};
use crate::flow::flow_normal::has_vlans_for_normal;
use crate::flow::headers;
use crate::flow::held::Held;
use crate::flow::rewriting::rewrite;
use crate::flow::said_before::{last_queue, own_before};
use crate::flow::tracking::{Now, Untracked, track, track_known};
use crate::interface::{run_of, told};
use crate::l2::l2_forward::hand_in;
use crate::tables::{
    BridgeId, BridgePort, FlowBridge, FlowBridges, FlowClock, FlowPort, FlowRow, FlowState,
    FlowTold, Interfaces, Punt, Setup, SlowPath, WorkerCounters, bridge_port, tell_own,
};
use conntrack::{Asked, translate_usual4};
use export::Place;
use flow::{
    Cache, Found, InTunnel, Key, Plain, Step, Track, Tracked, Verdict, ct_state, extract,
    translate_again, write_field,
};
use graph::{Context, Exits, Handed, Node, Published, tsc_hz};
use openflow::action::Sample;
use openflow::action::sample::Direction;
use openflow::port;
use packet::{Frame, PacketView};
use std::sync::Arc;

/// See the module.
pub struct FlowAct {
    interfaces: Published<Interfaces>,
    bridges: Published<FlowBridges>,
    state: Handed<FlowState>,
    asking: Asking,
    acts: Acts,
}

/// What packets are acted on with.
struct Acts {
    clock: FlowClock,
    slow_path: SlowPath,
    counters: Arc<WorkerCounters>,
    /// The key at hand.
    key: Key,
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
        /// The same, where it hangs on the frame's VLAN.
        NormalOfVlan => node "flow-normal",
        /// There are steps left: of a copy, or because there was no room for more in this call.
        Again => node "flow-act",
        /// Behind connection tracking the flows do nothing with it, or no flow is for it.
        NoAction => drop "`ovs-ofctl dump-flows BRIDGE` tells which flows there are and what they \
            took.",
        /// Flows behind connection tracking lead to each other without an end.
        TooDeep => drop "Look for flows whose `ct` leads to their own table: `ovs-ofctl \
            dump-flows BRIDGE`.",
        /// There is room for no more connections, and none that could make room.
        NoConnection => drop "Raise `max` of `[connections]`, or have flows commit fewer.",
        /// No address and port of a flow's `nat` is free for another connection.
        NoPort => drop "Give the flow's `nat` more addresses or more ports.",
        /// Another worker was making a connection at that moment.
        Busy => drop "Nothing: whoever sent it will send it again.",
        /// What was done with it needed no packet any more: somebody was told.
        Told => drop "Nothing: the flow tells controllers or collectors, and sends it nowhere.",
        /// A meter had no room for it.
        Metered => drop "`ovs-ofctl -O OpenFlow13 meter-stats BRIDGE` tells of which meter; raise \
            its rate.",
        /// The control side has too much to do: nobody was told.
        NotTold => drop "Controllers ask for more packets than can be told: let fewer flows send \
            to them.",
        /// No buffer for a copy: ports behind that one do not get it.
        NoBuffer => drop "Raise `buffers` in [memory]: `volley show memory` tells how many are in \
            use.",
        /// No room for a tag or a label in front of it.
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
            asking: Asking::new(),
            acts: Acts {
                clock: setup.shared.flow_clock.clone(),
                slow_path: setup.shared.slow_path.clone(),
                counters: Arc::clone(&setup.counters),
                key: Key::default(),
            },
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
        let second = (context.now_tsc / tsc_hz()) as u32;
        let now = Now { second, only_looks: fib::only_looks() };
        let mut held = Held::default();
        let mut start = 0;
        while start < frame.len() {
            let (rx, end) = run_of(&frame.rx()[..frame.len().min(start + TOGETHER)], start);
            let slots = start..end;
            start = end;
            let port = bridge_port(interfaces, rx);
            let of = port.and_then(|port| Some((port, bridges.of(&port)?)));
            let Some((port, (FlowPort { bridge: id, number }, bridge))) = of else {
                exits.run(slots, Exit::Outdated);
                continue;
            };
            let normal = exit_of_normal(interfaces, rx, &port);
            let at = At { interfaces, bridge, id, normal, number, now };
            let cache = state.cache(id);
            ask_for_steps(frame, slots.clone(), cache);
            let rewritten = rewrite(frame, slots.clone(), bridge, cache);
            if rewritten.count_ones() as usize == slots.len() {
                exits.run(slots, Exit::Output);
                continue;
            }
            self.asking.ask(frame, slots.clone(), bridge.tracking.as_deref(), cache);
            for (nth, slot) in slots.enumerate() {
                let asked = self.asking.of(nth);
                let known = Known { cache: &mut *cache, held: &mut held };
                let exit = match rewritten >> nth & 1 {
                    0 => self.acts.act(frame, slot, &at, known, asked, context),
                    _ => Exit::Output,
                };
                exits.set(slot, exit);
            }
        }
    }
}

/// Where a packet is.
struct At<'a> {
    interfaces: &'a Interfaces,
    bridge: &'a FlowBridge,
    id: BridgeId,
    /// Where `NORMAL` leads.
    normal: Exit,
    /// The port's number.
    number: u16,
    now: Now,
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
            Way::Normal => self.normal,
        }
    }
}

fn exit_of_normal(interfaces: &Interfaces, rx: u16, port: &BridgePort) -> Exit {
    match has_vlans_for_normal(interfaces, rx, port) {
        true => Exit::NormalOfVlan,
        false if port.learn => Exit::Normal,
        false => Exit::NormalUnlearned,
    }
}

/// What packets came to.
struct Known<'a> {
    cache: &'a mut Cache,
    held: &'a mut Held,
}

/// A packet at connection tracking.
struct Tracks<'a> {
    /// What it said.
    said: Tracked,
    /// Its connection, if that was asked for: by its first step.
    asked: Option<&'a Asked>,
}

/// What becomes of a packet that has come through its steps.
enum Next {
    Leaves(Exit),
    /// It has other steps now.
    BeginsAgain,
}

impl Acts {
    fn act(
        &mut self,
        frame: &mut Frame,
        slot: usize,
        at: &At<'_>,
        known: Known<'_>,
        asked: Option<&Asked>,
        context: &mut Context<'_>,
    ) -> Exit {
        let Known { cache, held } = known;
        let mut tracks = Tracks { said: Tracked::default(), asked };
        // It ends: each time that it begins again its verdict knows how often it has.
        loop {
            let packet = frame.view(slot);
            let Some(verdict) = held.verdict(cache, Found(packet.adjacency())) else {
                return Exit::Outdated;
            };
            if verdict.steps.is_empty() {
                return if verdict.is_cut { Exit::TooDeep } else { Exit::NoAction };
            }
            match self.take(packet, verdict, at, cache, &mut tracks, context) {
                Next::Leaves(exit) => return exit,
                Next::BeginsAgain => {}
            }
        }
    }

    /// Takes a packet through its steps.
    fn take(
        &mut self,
        mut packet: PacketView<'_>,
        verdict: &Verdict,
        at: &At<'_>,
        cache: &mut Cache,
        tracks: &mut Tracks<'_>,
        context: &mut Context<'_>,
    ) -> Next {
        let steps = &verdict.steps;
        let mut next = usize::from(packet.tx());
        let mut queue = last_queue(steps.get(..next).unwrap_or_default());
        let mut own = own_before(steps, next);
        let mut tells = false;
        let ends = |at: usize| matches!(steps.get(at), None | Some(Step::End));
        while let Some(step) = steps.get(next) {
            let is_last = ends(next + 1);
            let way = match step {
                Step::End => break,
                Step::Output(number) => match at.bridge.rows.get(number) {
                    Some(row) => Way::Port(*row),
                    None if is_last => return Next::Leaves(Exit::Outdated),
                    None => {
                        next += 1;
                        continue;
                    }
                },
                Step::Normal => Way::Normal,
                // What nothing comes behind is done to the packet itself.
                Step::Fork(steps_of_copy) if ends(next + steps_of_copy) => {
                    next += 1;
                    continue;
                }
                Step::Fork(steps_of_copy) => {
                    let found = packet.adjacency();
                    match emit(&packet, found, next + 1, context) {
                        Ok(()) => next += steps_of_copy,
                        Err(Exit::Again) => {
                            packet.set_tx(next as u16);
                            return Next::Leaves(Exit::Again);
                        }
                        Err(exit) => return Next::Leaves(exit),
                    }
                    continue;
                }
                Step::Track(step) => {
                    // What has passed it is not to pass it again, for want of room behind it.
                    let makes_copy = matches!(steps.get(next + 1), Some(Step::Recirculate(..)))
                        && !ends(next + 2);
                    if makes_copy && context.room() == 0 {
                        packet.set_tx(next as u16);
                        return Next::Leaves(Exit::Again);
                    }
                    if let Err(exit) = self.track(&mut packet, step, at, tracks) {
                        return Next::Leaves(exit);
                    }
                    next += 1;
                    continue;
                }
                Step::Recirculate(number, frozen) => {
                    if let Some(tracked) = frozen.tracked() {
                        tracks.said = *tracked;
                    }
                    let found = self.begin_again(&packet, *number, at, cache, &tracks.said);
                    let Some(found) = found else { return Next::Leaves(Exit::Outdated) };
                    if is_last {
                        packet.set_adjacency(found.0);
                        packet.set_tx(0);
                        return Next::BeginsAgain;
                    }
                    if let Err(exit) = emit(&packet, found.0, 0, context) {
                        packet.set_tx(next as u16);
                        return Next::Leaves(exit);
                    }
                    next += 1;
                    continue;
                }
                Step::Tunnel(it) => {
                    own = Some(*it);
                    next += 1;
                    continue;
                }
                Step::Queue(number) => {
                    queue = *number;
                    next += 1;
                    continue;
                }
                other => {
                    tells |= matches!(other, Step::Tell(_) | Step::Sample(_));
                    if let Some(exit) = self.change(&mut packet, other, at, is_last, context) {
                        return Next::Leaves(exit);
                    }
                    next += 1;
                    continue;
                }
            };
            if is_last {
                if let Some(queue) = queue {
                    packet.set_queue(queue, context.now_tsc);
                }
                return Next::Leaves(self.leave(packet, way, own, at));
            }
            if context.room() == 0 {
                packet.set_tx(next as u16);
                return Next::Leaves(Exit::Again);
            }
            let Some(copy) = context.cache.copy_of(packet.header()) else {
                return Next::Leaves(Exit::NoBuffer);
            };
            let now_tsc = context.now_tsc;
            if let Ok(mut copy) = context.emit(copy, packet.rx(), at.exit(way)) {
                if let Some(queue) = queue {
                    copy.set_queue(queue, now_tsc);
                }
                self.leave(copy, way, own, at);
            }
            own = None;
            next += 1;
        }
        Next::Leaves(if tells { Exit::Told } else { Exit::NoAction })
    }

    /// Through connection tracking.
    fn track(
        &self,
        packet: &mut PacketView<'_>,
        step: &Track,
        at: &At<'_>,
        tracks: &mut Tracks<'_>,
    ) -> Result<(), Exit> {
        let Some(tracking) = &at.bridge.tracking else { return Err(Exit::Outdated) };
        let (asked, had) = (tracks.asked.take(), &tracks.said);
        let was = if had.zone == step.zone { had.state } else { 0 };
        let was = was & (ct_state::SNAT | ct_state::DNAT);
        if let Some(asked) = asked.filter(|it| was == 0 && it.tuple.zone() == step.zone)
            && let Some((said, to)) = track_known(asked, step, tracking, at.now)
        {
            if let Some(to) = to.filter(|to| *to != asked.tuple) {
                let bytes = packet.header_mut().get_mut(IN_FRONT..).unwrap_or_default();
                translate_usual4(bytes, &asked.tuple, &to);
            }
            tracks.said = said;
            return Ok(());
        }
        let said = track(packet.header(), step, was, tracking, at.now);
        let (said, change) = said.map_err(|why| match why {
            Untracked::Full => Exit::NoConnection,
            Untracked::NoPort => Exit::NoPort,
            Untracked::Busy => Exit::Busy,
        })?;
        if let Some(change) = change {
            let (growth, length) = (change.growth(), packet.length());
            if growth > 0 && !packet.extend(growth.unsigned_abs()) {
                return Err(Exit::NoRoom);
            }
            change.apply(packet.header_mut());
            if growth < 0 {
                packet.truncate(length.saturating_add_signed(growth));
            }
        }
        tracks.said = said;
        Ok(())
    }

    /// What the tables come to for a packet that begins again; none where they changed meanwhile.
    fn begin_again(
        &mut self,
        packet: &PacketView<'_>,
        number: u32,
        at: &At<'_>,
        cache: &mut Cache,
        tracked: &Tracked,
    ) -> Option<Found> {
        let plain = Plain::of(packet.header(), at.number).and_then(|it| it.again(number, tracked));
        let bytes = packet.length() as u64;
        if let Some(plain) = &plain {
            let id = cache.find_again(number, plain);
            if cache.count_of(id, 1, bytes).is_some() {
                return Some(Found::of(id));
            }
        }
        let plain = plain.map(|plain| (plain, plain.hash()));
        if let Some((plain, hash)) = &plain {
            let id = cache.find_plain(plain, *hash);
            if cache.count_of(id, 1, bytes).is_some() {
                cache.remember_again(number, plain, id);
                return Some(Found::of(id));
            }
        }
        let snapshot = &at.bridge.snapshot;
        let key = &mut self.key;
        if !cache.begin_again(number, tracked, key) {
            return None;
        }
        extract(packet.header(), at.number, key);
        let id = match cache.find_id(key) {
            Some(id) => id,
            None => {
                let frozen = Arc::clone(cache.frozen(number)?);
                let now_ns = self.clock.now_ns();
                cache.insert_id(key, translate_again(snapshot, key, &frozen), now_ns)
            }
        };
        cache.count_of(id, 1, bytes);
        // Who began a connection is none of the bytes that it would be known by.
        let hangs_on_origin =
            cache.verdict(Found::of(id)).is_some_and(|verdict| verdict.mask.has_origin());
        if let Some((plain, hash)) = plain.as_ref().filter(|_| !hangs_on_origin) {
            cache.remember(plain, *hash, id);
            cache.remember_again(number, plain, id);
        }
        Some(Found::of(id))
    }

    /// Has a packet noted for collectors, if it is one of those.
    fn sample(&self, packet: &PacketView<'_>, sample: &Sample, at: &At<'_>, context: &Context<'_>) {
        // Who only asks where a packet would go is not told of.
        let exporter = at.bridge.collectors.get(&sample.set).filter(|_| !fib::only_looks());
        let Some(exporter) = exporter else { return };
        let row = at.bridge.rows.get(&sample.port);
        let place = Place {
            input: told(packet.rx()),
            output: row.map_or(0, |row| told(row.interface)),
            is_sent: match sample.direction {
                Direction::Unsaid => sample.port != port::NONE,
                Direction::Ingress => false,
                Direction::Egress => true,
            },
        };
        let now = context.now_tsc;
        exporter.sample(context.worker, packet.header(), place, sample, now);
    }

    /// Leads a packet its way, and tells what it is in a tunnel that lets flows say it.
    fn leave(
        &self,
        mut packet: PacketView<'_>,
        way: Way,
        own: Option<InTunnel>,
        at: &At<'_>,
    ) -> Exit {
        if let Some(own) = own {
            tell_own(&mut packet, own);
        }
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
            Step::PushVlan(..) | Step::PopVlan | Step::PushMpls { .. } | Step::PopMpls { .. } => {
                if !headers::change(packet, step) {
                    return Some(Exit::NoRoom);
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
            Step::Sample(sample) => self.sample(packet, sample, at, context),
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
            // Those are not for here.
            Step::Queue(_)
            | Step::Tunnel(_)
            | Step::Output(_)
            | Step::Normal
            | Step::Track(_)
            | Step::Recirculate(..)
            | Step::Fork(_)
            | Step::End => {}
        }
        None
    }
}

/// A copy of a packet, that goes on with a step of what was found.
fn emit(
    packet: &PacketView<'_>,
    found: u32,
    step: usize,
    context: &mut Context<'_>,
) -> Result<(), Exit> {
    if context.room() == 0 {
        return Err(Exit::Again);
    }
    let copy = context.cache.copy_of(packet.header()).ok_or(Exit::NoBuffer)?;
    if let Ok(mut copy) = context.emit(copy, packet.rx(), Exit::Again) {
        copy.set_adjacency(found);
        copy.set_tx(step as u16);
    }
    Ok(())
}
