//! A spanning tree among the ports of a bridge, as the control thread has it: what they hear
//! decides what they do.

use dataplane::Dataplane;
use fib::mac::MacFlush;
use nodes::tables::{BpduHeard, BridgeId, Interface, Mode, Spanning};
use rstp::{Action, Bpdu, Bridge, Configuration, PortSettings, Settings, State};
use std::collections::BTreeMap;

use super::topology;

const COST: u32 = 20_000;
const SECOND_NS: u64 = 1_000_000_000;
/// After that a port that hears nothing forwards.
const QUIET_S: u64 = 5;
/// Messages of a port at once, and in each second behind.
const MOST_AT_ONCE: u64 = 6;

pub(super) struct Tree {
    machine: Bridge,
    /// As workers know them.
    states: BTreeMap<u16, State>,
}

impl Tree {
    /// One whose ports, those of the drawing's first bridge, forward: nobody was heard for long
    /// enough.
    pub(super) fn new(now_ns: u64, ports: impl Iterator<Item = u16>) -> Self {
        let began_ns = now_ns - QUIET_S * SECOND_NS;
        let mut machine = Bridge::new(Settings::new(topology::our_mac(6)), began_ns);
        for id in ports {
            machine.set_port(id, PortSettings::new(id, COST), true);
        }
        machine.turn(now_ns);
        machine.take_actions();
        let states = states_of(&machine);
        assert!(states.values().all(|state| *state == State::Forwarding), "{states:?}");
        Self { machine, states }
    }

    /// Whether the row of an interface is one of a port that takes part.
    pub(super) fn is_of(row: &Interface) -> bool {
        matches!(row.mode, Mode::Bridged(port) if port.bridge == BridgeId(topology::BRIDGE))
    }

    /// Takes in what a port heard.
    pub(super) fn hear(&mut self, dataplane: &mut Dataplane, heard: &BpduHeard, now_ns: u64) {
        self.machine.turn(now_ns);
        self.machine.receive_frame(heard.interface, heard.frame());
        self.follow(dataplane, 0);
    }

    /// Time has passed.
    pub(super) fn turn(&mut self, dataplane: &mut Dataplane, now_ns: u64, seconds: u64) {
        self.machine.turn(now_ns);
        self.follow(dataplane, seconds);
    }

    /// What the machines want is done, but that nothing is sent: what would be reads back.
    fn follow(&mut self, dataplane: &mut Dataplane, seconds: u64) {
        let mut sent = 0;
        for action in self.machine.take_actions() {
            match action {
                Action::Flush(id) => {
                    dataplane.stations.table.flush(MacFlush::Port(id.into()));
                }
                Action::Send(id, bpdu) => {
                    // What came as far as it is believed is told no more by the old protocol.
                    let is_far = matches!(bpdu, Bpdu::Configuration(told)
                        if told.times.message_age >= told.times.max_age);
                    let frame = bpdu.frame(topology::our_mac(id));
                    assert!(is_far || Bpdu::read_frame(&frame).is_ok(), "{bpdu:?}");
                    if let Bpdu::Configuration(Configuration { times, .. }) = bpdu {
                        assert!(times.message_age <= times.max_age, "{bpdu:?}");
                    }
                    sent += 1;
                }
            }
        }
        let most = self.states.len() as u64 * (MOST_AT_ONCE + 3 * seconds);
        assert!(sent <= most, "{sent} messages in {seconds} s");
        let states = states_of(&self.machine);
        if states == self.states {
            return;
        }
        let rows = states.iter().map(|(id, state)| {
            let mut row = dataplane.interfaces().get(*id).cloned();
            row.iter_mut().for_each(|row| has_do(row, *state));
            (*id, row)
        });
        let rows = rows.collect();
        dataplane.set_interfaces(rows);
        self.states = states;
    }
}

fn states_of(machine: &Bridge) -> BTreeMap<u16, State> {
    machine.ports().map(|(id, port)| (id, port.state())).collect()
}

/// Has a row say what its port may do.
pub(super) fn has_do(row: &mut Interface, state: State) {
    let Mode::Bridged(port) = &mut row.mode else { return };
    port.spanning = match state {
        State::Discarding => Spanning::Discarding,
        State::Learning => Spanning::Learning,
        State::Forwarding => Spanning::Forwarding,
    };
    port.forward = state == State::Forwarding;
}
