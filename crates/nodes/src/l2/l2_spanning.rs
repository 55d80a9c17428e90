//! Holds ports of a spanning tree to what that has them do, and hears what other bridges say of it
//! (IEEE 802.1D-2004 sections 7.12 and 17.5).
//!
//! ```text
//!  (an entrance) ─▶ l2_spanning ┬▶ l2_learn, l2_forward   it learns, or forwards
//!                               ├▶ flow_input             the same in a bridge of flows
//!                               ├▶ (control thread)       messages of the tree, whatever it does
//!                               └▶ drop
//! ```
//! Where a port does not forward, the bridge sends nothing out of it: `BridgePort::forward` is off.

use crate::tables::{
    BpduHeard, Interfaces, MOST_INTERFACES, Punt, RateLimits, Setup, SlowPath, Spanning,
    bridge_port,
};
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::Frame;

/// Messages that are heard a second, of each port: a bridge sends one, and ten when much happens.
const MESSAGES_PER_SECOND: u32 = 20;
/// The group of bridges, to which spanning tree protocols speak (section 7.12.3).
const GROUP: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 0];

/// See the module.
pub struct L2Spanning {
    interfaces: Published<Interfaces>,
    slow_path: SlowPath,
    limits: RateLimits,
}

graph::exits! {
    /// What becomes of a frame.
    pub enum Exit {
        /// To be learned from; and forwarded, where the port does.
        Learn => node "l2-learn",
        /// To be forwarded, and nothing is to be learned from it.
        Unlearned => node "l2-forward",
        /// To the flows of the bridge.
        Flow => node "flow-input",
        /// The spanning tree has the port discard, or not forward yet.
        Discarding => drop "Nothing: another way leads there, or the port waits until it is sure \
            that there is no loop. `volley show spanning-tree` tells which.",
        /// More messages of the spanning tree than a port has to hear.
        TooManyMessages => drop "Somebody floods spanning tree messages on the port: capture some \
            and look who it is.",
        /// The interface left its bridge, or the bridge its tree, while the frame was under way.
        NotSpanning => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

impl Node for L2Spanning {
    const NAME: &'static str = "l2-spanning";
    const ABOUT: &'static str = "holds ports to what their spanning tree says";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            slow_path: setup.shared.slow_path.clone(),
            limits: RateLimits::new(MOST_INTERFACES, MESSAGES_PER_SECOND),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let Self { interfaces, slow_path, limits } = self;
        let interfaces = interfaces.get(context);
        let mut rx = frame.rx()[0];
        let mut way = way_of(interfaces, rx);
        exits.each(frame, |packet| {
            if packet.rx() != rx {
                rx = packet.rx();
                way = way_of(interfaces, rx);
            }
            if packet.header().first_chunk() != Some(&GROUP) || matches!(way, Exit::NotSpanning) {
                return way.into();
            }
            let heard = BpduHeard::new(rx, packet.header());
            let told = limits.take(rx.into(), context.now_tsc)
                && slow_path.tell(Punt::Bpdu(heard)).is_ok();
            if !told {
                return Exit::TooManyMessages.into();
            }
            packet.release(context.cache);
            ExitIndex::TAKEN
        });
    }
}

/// Where frames go that come in by a port.
fn way_of(interfaces: &Interfaces, id: u16) -> Exit {
    let Some(port) = bridge_port(interfaces, id) else { return Exit::NotSpanning };
    match port.spanning {
        Spanning::None => Exit::NotSpanning,
        // Flows do not learn without forwarding.
        Spanning::Learning if port.flow.is_none() && port.learn => Exit::Learn,
        Spanning::Discarding | Spanning::Learning => Exit::Discarding,
        Spanning::Forwarding if port.flow.is_some() => Exit::Flow,
        Spanning::Forwarding if port.learn => Exit::Learn,
        Spanning::Forwarding => Exit::Unlearned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Mode;
    use crate::testing::{HOST_MAC, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    /// A bridge whose port 6 is in this state.
    fn world(spanning: Spanning, flow: Option<u16>) -> World {
        let mut world = World::new();
        world.change_interface(6, |row| {
            if let Mode::Bridged(port) = &mut row.mode {
                port.spanning = spanning;
                *port = flow.map_or(*port, |number| port.with_flows(number));
            }
        });
        world
    }

    fn to(group: [u8; 6]) -> Vec<u8> {
        craft::ethernet(HOST_MAC, group)
            .ethertype(0x27)
            .payload(&[0x42, 0x42, 3])
            .pad_to(60)
            .build()
    }

    fn run(world: &World, frames: &[Vec<u8>]) -> Vec<String> {
        let mut node = NodeHarness::<L2Spanning>::new(&world.setup).unwrap();
        node.run(frames, 6, 0).into_iter().map(|out| out.exit).collect()
    }

    #[test]
    fn what_the_tree_says_of_a_port_becomes_of_its_frames() {
        let data = [to([0xff; 6]), to([2; 6]), vec![1; 3]];
        for (spanning, flow, exit) in [
            (Spanning::Discarding, None, "discarding"),
            (Spanning::Learning, None, "learn"),
            (Spanning::Forwarding, None, "learn"),
            (Spanning::Discarding, Some(1), "discarding"),
            (Spanning::Learning, Some(1), "discarding"),
            (Spanning::Forwarding, Some(1), "flow"),
            (Spanning::None, None, "not-spanning"),
        ] {
            assert_eq!(run(&world(spanning, flow), &data), [exit; 3], "{spanning:?} {flow:?}");
        }
        let mut unlearned = world(Spanning::Forwarding, None);
        unlearned.change_interface(6, |row| {
            if let Mode::Bridged(port) = &mut row.mode {
                port.learn = false;
            }
        });
        assert_eq!(run(&unlearned, &data), ["unlearned"; 3]);
    }

    #[test]
    fn messages_are_heard_whatever_the_port_does_and_of_other_groups_none() {
        for spanning in [Spanning::Discarding, Spanning::Learning, Spanning::Forwarding] {
            let world = world(spanning, None);
            let mut long = to(GROUP);
            long.extend([9; 40]);
            let exits = run(&world, &[to(GROUP), long.clone(), to([1, 0x80, 0xc2, 0, 0, 1])]);
            assert_eq!(exits[..2], ["taken", "taken"]);
            assert_ne!(exits[2], "taken");
            let punts = world.all_punts();
            let [Punt::Bpdu(one), Punt::Bpdu(other)] = &punts[..] else { panic!("{punts:?}") };
            assert_eq!((one.interface, one.frame()), (6, &to(GROUP)[..]));
            assert_eq!(other.frame(), &long[..BpduHeard::SEEN]);
        }
    }

    #[test]
    fn a_flood_of_messages_is_cut() {
        let world = world(Spanning::Forwarding, None);
        let mut node = NodeHarness::<L2Spanning>::new(&world.setup).unwrap();
        let out = node.run(&vec![to(GROUP); 100], 6, 0);
        let cut = out.iter().filter(|out| out.exit == "too-many-messages").count();
        assert!((80..100).contains(&cut), "{cut}");
    }
}
