//! Sends a frame out of every port of its bridge that may want it, without copying it.
//!
//! ```text
//!  l2_forward ─▶ l2_flood ┬▶ interface_output   the buffer itself by the last port,
//!                 ▲       │                      one more reference of it by each other
//!                 └───────┘ again: more copies than a call may make
//! ```
//! All references show the same bytes, so nobody behind this node may change them: ports send them
//! as they are.

use crate::plumbing::{Interfaces, Setup, bridge_port};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};

/// See the module.
pub struct L2Flood {
    interfaces: Published<Interfaces>,
    /// Ports that the frame at hand leaves by.
    targets: Vec<u16>,
}

graph::exits! {
    /// What becomes of a flooded frame.
    pub enum Exit {
        /// To the last of its ports.
        Output => node "interface-output",
        /// There are ports left, and no room for their copies in this call.
        Again => node "l2-flood",
        /// No port may have it.
        Nowhere => drop,
    }
}

impl Node for L2Flood {
    const NAME: &'static str = "l2-flood";
    const ABOUT: &'static str = "sends bridged frames out of all ports that may want them";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone(), targets: Vec::with_capacity(64) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut chosen_for = None;
        for slot in 0..frame.len() {
            let packet = frame.view(slot);
            // The group bit is the lowest of the first byte (IEEE 802.3 section 3.2.3).
            let to_group = packet.header().first().is_some_and(|first| first & 1 != 0);
            if chosen_for != Some((packet.rx(), to_group)) {
                chosen_for = Some((packet.rx(), to_group));
                choose(&mut self.targets, interfaces, packet.rx(), to_group);
            }
            exits.set(slot, flood(packet, &self.targets, context));
        }
    }
}

/// The ports that a frame from `rx` is flooded to.
fn choose(targets: &mut Vec<u16>, interfaces: &Interfaces, rx: u16, to_group: bool) {
    targets.clear();
    let Some(from) = bridge_port(interfaces, rx) else { return };
    let wants = |id: &u16| {
        bridge_port(interfaces, *id).is_some_and(|to| {
            let floods = if to_group { to.flood_groups } else { to.flood_unknown };
            *id != rx && floods && from.reaches(&to)
        })
    };
    targets.extend(interfaces.members(from.bridge).iter().copied().filter(wants));
}

/// Sends a reference by each target but the last, as far as there is room; the packet's adjacency
/// tells how many have theirs already.
fn flood(mut packet: PacketView<'_>, targets: &[u16], context: &mut Context<'_>) -> Exit {
    let Some((&last, others)) = targets.split_last() else { return Exit::Nowhere };
    let others = others.get(packet.adjacency() as usize..).unwrap_or_default();
    let (now, later) = others.split_at(others.len().min(context.room()));
    if !now.is_empty() {
        let rx = packet.rx();
        let shared = packet.share(now.len() as u16);
        for &target in now {
            if let Ok(mut copy) = context.emit_shared(shared, rx, Exit::Output) {
                copy.set_tx(target);
            }
        }
    }
    if later.is_empty() {
        packet.set_tx(last);
        return Exit::Output;
    }
    let done = packet.adjacency() + now.len() as u32;
    packet.set_adjacency(done);
    Exit::Again
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::testing::World;
    use graph::harness::NodeHarness;

    /// Exit and interface of each packet.
    type Ways = Vec<(String, u16)>;

    /// Ports 6 to 9 are one bridge, and 6 and 9 of one group.
    fn run(rx: u16, frames: &[Vec<u8>]) -> (Ways, Ways) {
        let mut node = NodeHarness::<L2Flood>::new(&World::new().setup).unwrap();
        let before = node.free_buffers();
        let out = node.run(frames, rx, 0).into_iter().map(|out| (out.exit, out.tx)).collect();
        let emitted = node.emitted();
        assert!(emitted.iter().all(|copy| frames.contains(&copy.header)));
        assert_eq!(node.free_buffers(), before, "a reference is lost");
        (out, emitted.into_iter().map(|copy| (copy.exit, copy.tx)).collect())
    }

    fn output(tx: u16) -> (String, u16) {
        ("output".to_owned(), tx)
    }

    #[test]
    fn a_frame_leaves_by_every_port_but_its_own_and_those_of_its_group() {
        let broadcast = [vec![0xff; 60]];
        assert_eq!(run(7, &broadcast), (vec![output(9)], vec![output(6), output(8)]));
        assert_eq!(run(6, &broadcast), (vec![output(8)], vec![output(7)]));
    }

    #[test]
    fn a_port_that_wants_no_unknown_stations_gets_groups_alone() {
        let unknown = [vec![2; 60]];
        assert_eq!(run(7, &unknown), (vec![output(9)], vec![output(6)]));
        assert_eq!(run(0, &unknown).0[0].0, "nowhere");
    }

    #[test]
    fn copies_that_do_not_fit_are_made_again_later() {
        let frames: Vec<_> = (0..200u8).map(|n| vec![0xff, n]).collect();
        let (out, emitted) = run(7, &frames);
        assert_eq!(emitted.len(), packet::VECTOR);
        let again = out.iter().filter(|(exit, _)| exit == "again").count();
        assert_eq!((again, out[127].0.as_str()), (72, "output"));
    }
}
