//! The last look at a frame before its port: is the interface up, does the frame fit, count it.
//!
//! ```text
//!  interface_output ┬▶ (a departure)   by what the interface stands on
//!                   ├▶ (a feature)     or it has some for what it sends
//!                   └▶ drop
//! ```

use crate::interface::{Departure, Turns, departures};
use crate::tables::{Interface, Interfaces, Link, Setup, WorkerCounters};
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, Group, Groups, Selection};
use std::sync::Arc;

/// A link header with two VLAN tags is this much longer than a plain one: such frames pass too.
const TAG_BYTES: u32 = 8;
const LINK_HEADER_BYTES: u32 = 14;

/// See the module.
pub struct InterfaceOutput {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    turns: Turns,
}

departures! {
    /// What becomes of a frame that wants to leave.
    pub enum Exit {
        /// The interface is administratively down, or gone.
        InterfaceDown => drop "`volley port set NAME up`, or lead the route elsewhere: `volley \
            show ports`.",
        /// Longer than the interface's MTU allows.
        TooBig => drop "Make the MTU alike on all ports of the bridge or cross-connect; a bridge \
            does not cut packets.",
    }
}

impl Node for InterfaceOutput {
    const NAME: &'static str = "interface-output";
    const ABOUT: &'static str = "checks and counts what interfaces send";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        let (counters, turns) = (Arc::clone(&setup.counters), Turns::new());
        Self { interfaces, counters, turns }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.turns.attach(key, exit);
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut groups = Groups::all();
        while let Some((tx, mut group)) = groups.next(frame.tx()) {
            let Some(interface) = interfaces.get(tx).filter(|interface| interface.up) else {
                exits.group(&group, Exit::InterfaceDown);
                continue;
            };
            let most = limit(interface);
            if frame.longest_of(&group) > most {
                let (fitting, too_big) = by_length(frame, group, most);
                exits.group(&too_big, Exit::TooBig);
                group = fitting;
            }
            exits.group(&group, self.exit_of(interface, tx, frame, &group));
        }
    }
}

/// Those of a group that are this long at most, or cut to it where they leave, and the others.
#[cold]
fn by_length(frame: &mut Frame, group: Group, most: u32) -> (Group, Group) {
    let (mut fitting, mut too_big) = (Selection::default(), Selection::default());
    for slot in group.slots(frame.len()).slots() {
        let fits = frame.lengths()[slot] <= most || frame.view(slot).is_cut_to(most as usize);
        if fits { fitting.insert(slot) } else { too_big.insert(slot) }
    }
    (Group::Some(fitting), Group::Some(too_big))
}

impl InterfaceOutput {
    #[inline(always)]
    fn exit_of(
        &self,
        interface: &Interface,
        tx: u16,
        frame: &mut Frame,
        group: &Group,
    ) -> ExitIndex {
        self.turns.next(&interface.output).unwrap_or_else(|| {
            Exit::from(Departure::of(interface, tx, frame, group, &self.counters)).into()
        })
    }
}

fn limit(interface: &Interface) -> u32 {
    let tags = match interface.link {
        Link::Vlan(vlan) => TAG_BYTES - vlan.tag_bytes() as u32,
        // There is no link header.
        Link::Tunnel(_) | Link::Lisp(_) if interface.carries_packets() => {
            return interface.mtu_bytes.into();
        }
        Link::Port | Link::Bond | Link::Bridge | Link::Tunnel(_) | Link::Lisp(_) => TAG_BYTES,
    };
    u32::from(interface.mtu_bytes) + LINK_HEADER_BYTES + tags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shaped;
    use crate::testing::{ROUTED_VLAN, World, make_large};
    use graph::harness::NodeHarness;
    use packet::Large;
    use std::sync::atomic::Ordering;

    /// The exits of frames of these lengths that leave by these interfaces, and what was counted
    /// on interface 0.
    fn run(frames: &[(u16, usize)]) -> (Vec<String>, (u64, u64)) {
        run_in(&World::new(), frames)
    }

    fn run_in(world: &World, frames: &[(u16, usize)]) -> (Vec<String>, (u64, u64)) {
        let bytes: Vec<_> = frames.iter().map(|&(_, length)| vec![0; length]).collect();
        let mut node = NodeHarness::<InterfaceOutput>::new(&world.setup).unwrap();
        let out = node.run_prepared(&bytes, 9, 0, |vector| {
            for (tx, frame) in vector.tx_mut().iter_mut().zip(frames) {
                *tx = frame.0;
            }
        });
        let counted = &world.setup.counters.interfaces[0];
        let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let counted = (read(&counted.tx_packets), read(&counted.tx_bytes));
        (out.into_iter().map(|out| out.exit).collect(), counted)
    }

    #[test]
    fn frames_that_leave_are_counted() {
        let (exits, counted) = run(&[(0, 60), (0, 100)]);
        assert_eq!((exits, counted), (vec!["transmit".to_owned(); 2], (2, 160)));
    }

    #[test]
    fn frames_of_a_shaped_interface_wait_uncounted() {
        let mut world = World::new();
        world.change_interface(1, |row| row.put(Some(Shaped)));
        assert_eq!(run_in(&world, &[(1, 60), (1, 60)]), (vec!["shape".to_owned(); 2], (0, 0)));
        let (exits, counted) = run_in(&world, &[(1, 60), (0, 60)]);
        assert_eq!((exits, counted), (vec!["shape".to_owned(), "transmit".to_owned()], (1, 60)));
    }

    #[test]
    fn frames_of_a_vlan_of_a_shaped_port_are_tagged_uncounted() {
        let mut world = World::new();
        world.change_interface(ROUTED_VLAN, |row| row.put(Some(Shaped)));
        let frames = [(ROUTED_VLAN, 60), (ROUTED_VLAN, 60)];
        assert_eq!(run_in(&world, &frames).0, ["tag"; 2]);
        assert_eq!(run_in(&world, &[(ROUTED_VLAN, 60), (0, 60)]).0, ["tag", "transmit"]);
        let counted = &world.setup.counters.interfaces[usize::from(ROUTED_VLAN)];
        assert_eq!(counted.tx_packets.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_down_interface_sends_nothing_and_a_missing_one_neither() {
        assert_eq!(run(&[(4, 60)]).0, ["interface-down"]);
        let (exits, counted) = run(&[(0, 60), (4, 60), (99, 60)]);
        assert_eq!(exits, ["transmit", "interface-down", "interface-down"]);
        assert_eq!(counted, (1, 60));
    }

    #[test]
    fn a_frame_may_have_the_mtu_behind_a_link_header_with_two_tags() {
        let longest = 1500 + 14 + 8;
        let (exits, counted) = run(&[(0, longest), (0, longest + 1)]);
        assert_eq!((exits[0].as_str(), exits[1].as_str()), ("transmit", "too-big"));
        assert_eq!(counted, (1, longest as u64));
    }

    #[test]
    fn what_is_too_big_is_refused_among_frames_of_several_interfaces() {
        let (fits, too_big) = (1500 + 14 + 8, 1500 + 14 + 9);
        let (exits, counted) =
            run(&[(0, fits), (1, 60), (0, too_big), (4, 60), (1, too_big), (0, 60), (1, 61)]);
        let (sent, refused, down) = ("transmit", "too-big", "interface-down");
        assert_eq!(exits, [sent, sent, refused, down, refused, sent, sent]);
        assert_eq!(counted, (2, fits as u64 + 60));
    }

    #[test]
    fn a_large_frame_leaves_where_what_it_is_cut_into_does() {
        let longest = 1500 + 14 + 8;
        for (size, exit) in [(longest - 54, "transmit"), (longest - 53, "too-big")] {
            let mut node = NodeHarness::<InterfaceOutput>::new(&World::new().setup).unwrap();
            let out = node.run_prepared(&[vec![0; 5000], vec![0; 60]], 9, 0, |frame| {
                frame.tx_mut().fill(0);
                make_large(frame, Large { transport: 34, payload: 54, size });
            });
            assert_eq!((out[0].exit.as_str(), out[1].exit.as_str()), (exit, "transmit"));
        }
    }
}
