//! Where frames leave that all features of their interface have let pass; now they are counted.
//!
//! ```text
//!  (the last feature) ─▶ interface_leave ─▶ (a departure)
//! ```

use crate::interface::{Departure, departures};
use crate::tables::{Interfaces, Setup, WorkerCounters};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, Groups};
use std::sync::Arc;

/// See the module.
pub struct InterfaceLeave {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
}

departures! {
    /// By what the interface stands on.
    pub enum Exit {}
}

impl Node for InterfaceLeave {
    const NAME: &'static str = "interface-leave";
    const ABOUT: &'static str = "ends the features of what interfaces send, and counts it";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, counters: Arc::clone(&setup.counters) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut groups = Groups::all();
        while let Some((tx, group)) = groups.next(frame.tx()) {
            // An interface that is gone, port_tx says so.
            let leave = |row: &_| Departure::of(row, tx, frame, &group, &self.counters);
            let departure = interfaces.get(tx).map_or(Departure::Transmit, leave);
            exits.group(&group, Exit::from(departure));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shaped;
    use crate::testing::{GRE, OWN_STATION, ROUTED_VLAN, World};
    use graph::harness::NodeHarness;
    use std::sync::atomic::Ordering;

    #[test]
    fn frames_leave_by_what_their_interface_stands_on_and_are_counted() {
        let mut world = World::new();
        world.change_interface(1, |row| row.put(Some(Shaped)));
        let mut node = NodeHarness::<InterfaceLeave>::new(&world.setup).unwrap();
        let ids = [0, 0, 1, ROUTED_VLAN, GRE, OWN_STATION, 99];
        let out = node.run_prepared(&ids.map(|_| vec![0; 60]), 9, 0, |frame| {
            frame.tx_mut().copy_from_slice(&ids);
        });
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        let expected = ["transmit", "transmit", "shape", "tag", "encap", "bridge", "transmit"];
        assert_eq!(exits, expected);
        let sent = |id: usize| {
            let row = &world.setup.counters.interfaces[id];
            (row.tx_packets.load(Ordering::Relaxed), row.tx_bytes.load(Ordering::Relaxed))
        };
        assert_eq!([0, 1, usize::from(GRE)].map(sent), [(2, 120), (0, 0), (0, 0)]);
    }
}
