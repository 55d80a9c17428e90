//! Sends a frame out of every port of its bridge that may want it, without copying its payload.
//!
//! ```text
//!  l2_forward ─▶ l2_flood ┬▶ interface_output   the buffer itself by the last port, one more
//!                 ▲       │                      reference of it by each other
//!                 │       ├▶ ethernet_input      a copy for the router's own station
//!                 └───────┘ again: more copies than a call may make
//! ```
//! How, `copies` has.

use crate::l2::copies::{self, Target};
use crate::tables::{Interfaces, MOST_INTERFACES, RateLimit, Setup, WorkerCounters, bridge_port};
use graph::{Context, Exits, Node, Published};
use packet::Frame;
use std::sync::Arc;

/// See the module.
pub struct L2Flood {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    /// Ports that the frame at hand leaves by, those that need a copy first.
    targets: Vec<Target<Exit>>,
    /// How much each port may still flood, where that is limited.
    storms: Vec<Option<RateLimit>>,
}

graph::exits! {
    /// What becomes of a flooded frame.
    pub enum Exit {
        /// To the last of its ports.
        Output => node "interface-output",
        /// To the router's own station.
        Own => node "ethernet-input",
        /// To the router's own station, which has features: these first.
        OwnFeatures => node "interface-input",
        /// There are ports left, and no room for their copies in this call.
        Again => node "l2-flood",
        /// No port may have it.
        Nowhere => drop "Nothing, if the bridge has one port that is up; else look at \
            `flood_unknown`, `flood_groups` and `isolated` of its ports.",
        /// The port has flooded more than it may in this second.
        Storm => drop "Look for a loop or a broken host behind that port; raise its `storm_pps` \
            where so much is wanted.",
        /// No buffer for a copy: the ports behind that one do not get it.
        NoBuffer => drop "Raise `buffers` in [memory]: `volley show memory` tells how many are in \
            use.",
    }
}

copies::usual_ways!(Exit);

impl Node for L2Flood {
    const NAME: &'static str = "l2-flood";
    const ABOUT: &'static str = "sends bridged frames out of all ports that may want them";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            counters: Arc::clone(&setup.counters),
            targets: Vec::with_capacity(MOST_INTERFACES),
            storms: (0..MOST_INTERFACES).map(|_| None).collect(),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut chosen_for = None;
        let mut storm_pps = 0;
        for slot in 0..frame.len() {
            let packet = frame.view(slot);
            let rx = packet.rx();
            // The group bit is the lowest of the first byte (IEEE 802.3 section 3.2.3).
            let to_group = packet.header().first().is_some_and(|first| first & 1 != 0);
            if chosen_for != Some((rx, to_group)) {
                chosen_for = Some((rx, to_group));
                choose(&mut self.targets, interfaces, rx, to_group);
                storm_pps = bridge_port(interfaces, rx).map_or(0, |port| port.storm_pps);
            }
            let starts = packet.tx() == 0;
            let exit =
                if starts && storm_pps != 0 && !self.may_flood(rx, storm_pps, context.now_tsc) {
                    Exit::Storm
                } else {
                    copies::send(packet, &self.targets, &self.counters, context)
                };
            exits.set(slot, exit);
        }
    }
}

impl L2Flood {
    fn may_flood(&mut self, rx: u16, pps: u32, now_tsc: u64) -> bool {
        let Some(storm) = self.storms.get_mut(usize::from(rx)) else { return true };
        let limit = storm.get_or_insert_with(|| RateLimit::new(pps));
        limit.follow(pps);
        limit.take(now_tsc)
    }
}

/// The ports that a frame from `rx` is flooded to.
fn choose(targets: &mut Vec<Target<Exit>>, interfaces: &Interfaces, rx: u16, to_group: bool) {
    targets.clear();
    let Some(from) = bridge_port(interfaces, rx) else { return };
    let target = |&id: &u16| {
        let to = bridge_port(interfaces, id)?;
        let floods = if to_group { to.flood_groups } else { to.flood_unknown };
        let row = interfaces.get(id)?;
        (id != rx && floods && from.reaches(&to)).then(|| Target::new(id, row))
    };
    targets.extend(interfaces.members(from.bridge).iter().filter_map(target));
    copies::sort(targets);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shaped;
    use crate::testing::{BESIDE_TUNNELS, BRIDGED_VLAN, GRE, OWN_STATION, VXLAN, VXLAN6, World};
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
    fn an_interface_that_wraps_its_frames_gets_one_of_its_own() {
        let broadcast = [vec![0xff; 60]];
        let tunnels = (vec![output(VXLAN6)], vec![output(VXLAN), output(GRE)]);
        assert_eq!(run(BESIDE_TUNNELS, &broadcast), tunnels);
        assert_eq!(run(BRIDGED_VLAN, &broadcast), (vec![("own".to_owned(), 0)], Vec::new()));
        assert_eq!(run(OWN_STATION, &broadcast).0, [output(BRIDGED_VLAN)]);
    }

    #[test]
    fn a_port_whose_frames_wait_gets_one_of_its_own() {
        let mut world = World::new();
        world.change_interface(8, |row| row.put(Some(Shaped)));
        let mut node = NodeHarness::<L2Flood>::new(&world.setup).unwrap();
        let out = node.run(&[vec![0xff; 60]], 7, 0);
        // Copies are made before anybody else holds the buffer.
        let copies: Vec<_> = node.emitted().iter().map(|copy| copy.tx).collect();
        assert_eq!((copies, out[0].tx), (vec![8, 6], 9));
    }

    #[test]
    fn a_number_that_flows_gave_goes_along() {
        let mut node = NodeHarness::<L2Flood>::new(&World::new().setup).unwrap();
        let numbered = |frame: &mut Frame| frame.adjacencies_mut()[0] = 0x64;
        let out = node.run_prepared(&[vec![0xff; 60]], BESIDE_TUNNELS, 0, numbered);
        let copies = node.emitted();
        let all = copies.iter().chain(&out).map(|it| (it.tx, it.adjacency));
        assert_eq!(all.collect::<Vec<_>>(), [(VXLAN, 0x64), (GRE, 0x64), (VXLAN6, 0x64)]);
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
