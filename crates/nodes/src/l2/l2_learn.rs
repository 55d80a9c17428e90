//! Notes behind which port of its bridge each station is (IEEE 802.1Q section 8.7).
//!
//! ```text
//!  port_rx ─▶ l2_learn ─┬─▶ l2_forward
//!                       └─▶ interface_output   all are known, and only to be sent
//! ```
//! Of a vector whose senders are all known where they are, the stations are looked up that it is
//! to, too, while its headers are at hand: if all frames are only to be sent, `l2_forward` has
//! nothing to say about them, and is left out. While packets are followed or copied it is not.
//!
//! A station that is known to be there and was seen in this second costs a look at one cache line
//! and no store, so workers that hear the same stations do not fight over them.
//!
//! A port by which our own frames come back ([`ComesBack`](crate::tables::ComesBack)) takes no
//! station over from another port: such a frame is our own, and goes nowhere. A station that moved
//! there says so by a gratuitous ARP, which is believed, unless it was heard behind another port a
//! moment ago: then that is what came back.

use crate::l2::came_back::{may_come_back, stop};
use crate::l2::keys::{Whose, read_both, read_keys};
use crate::l2::l2_forward::{are_all_to_be_sent, find_ports};
use crate::pause::Pause;
use crate::tables::{
    Interfaces, Punt, RateLimit, Setup, SlowPath, StationMoved, Stations, WorkerCounters,
    bridge_port,
};
use fib::mac::{Learned, Sought};
use graph::{Context, Exits, Node, Published, add};
use packet::{Frame, VECTOR};
use std::sync::Arc;
use wire::ethernet;

/// Moves told a second and worker: enough to see that a station flaps.
const MOVES_PER_SECOND: u32 = 20;

/// See the module.
pub struct L2Learn {
    interfaces: Published<Interfaces>,
    stations: Stations,
    counters: Arc<WorkerCounters>,
    slow_path: SlowPath,
    limit: RateLimit,
    sought: Box<Sought>,
    /// Whom the frames are to.
    receivers: Box<Sought>,
    found: [u32; VECTOR],
    pause: Pause,
    /// What was not known, by slot.
    changed: Vec<(usize, Learned)>,
}

graph::exits! {
    /// What becomes of a bridged frame.
    pub enum Exit {
        /// To be forwarded.
        Forward => node "l2-forward",
        /// Each to the port that its station is behind.
        Output => node "interface-output",
        /// Shorter than an Ethernet header.
        Runt => drop "A link or a device on the way damages packets: look at the error counters \
            along it.",
        /// IEEE 802.3 section 3.2.3: the source is a group of stations, or none.
        BadSource => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// The source is configured to be behind another port.
        FixedElsewhere => drop "Somebody uses the address of a station that is configured, or it \
            moved: `volley mac show`, then `volley mac del`.",
        /// The station is behind another port: what it sent came back by a bond, whose other end
        /// knows of none.
        CameBack => drop "Nothing, if few: a switch sends back by one member what it got by \
            another. If the station moved, have it announce itself: `volley mac show`.",
        /// The interface left its bridge while the frame was under way.
        NotBridged => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

impl Node for L2Learn {
    const NAME: &'static str = "l2-learn";
    const ABOUT: &'static str = "learns which stations are behind which port";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            stations: setup.shared.stations.clone(),
            counters: Arc::clone(&setup.counters),
            slow_path: setup.shared.slow_path.clone(),
            limit: RateLimit::new(MOVES_PER_SECOND),
            sought: Box::default(),
            receivers: Box::default(),
            found: [0; VECTOR],
            pause: Pause::default(),
            changed: Vec::with_capacity(VECTOR),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let Self { stations, sought, receivers, found, pause, changed, .. } = self;
        let count = frame.len();
        let are_both_read = !context.is_observed
            && !frame.is_traced()
            && pause.is_over()
            && read_both(frame, interfaces, [sought.keys_mut(), receivers.keys_mut()]);
        if are_both_read {
            stations.table.seek(receivers, count);
        } else {
            read_keys(frame, interfaces, Whose::Source, sought.keys_mut());
        }
        stations.table.seek(sought, count);
        if may_come_back(frame, interfaces) {
            stop(frame, interfaces, stations, sought);
        }
        let now = stations.now();
        stations.table.learn_sought(sought, frame.rx(), now, |slot, learned| {
            changed.push((slot, learned));
        });
        if changed.is_empty() {
            let mut are_sent = false;
            if are_both_read {
                find_ports(frame, stations, receivers, found);
                are_sent = are_all_to_be_sent(frame, interfaces);
                pause.note(are_sent);
            }
            exits.all(if are_sent { Exit::Output } else { Exit::Forward });
            return;
        }
        (0..count).for_each(|slot| exits.set(slot, Exit::Forward));
        for (slot, learned) in self.changed.drain(..) {
            let rx = frame.rx()[slot];
            let Some(counters) = self.counters.bridged.get(usize::from(rx)) else { continue };
            match learned {
                Learned::Known => {}
                Learned::New => add(&counters.learned, 1),
                Learned::Moved { from } => {
                    add(&counters.moved, 1);
                    if self.limit.take(context.now_tsc) {
                        let moved =
                            StationMoved { station: self.sought.keys()[slot], from, to: rx };
                        // A control thread with too much to do misses one of many.
                        let _missed = self.slow_path.tell(Punt::Moved(moved));
                    }
                }
                Learned::DomainFull | Learned::TableFull => add(&counters.not_learned, 1),
                Learned::Fixed { .. } => exits.set(slot, Exit::FixedElsewhere),
                Learned::NoStation => {
                    let bridged = bridge_port(interfaces, rx).is_some();
                    let packet = frame.view(slot);
                    let header = ethernet::Header::new(packet.header());
                    exits.set(
                        slot,
                        match (bridged, header.map(|header| header.source())) {
                            (false, _) => Exit::NotBridged,
                            (_, None) => Exit::Runt,
                            // It is sought for nobody, as it came back.
                            (_, Some(source)) if source.is_unicast() => Exit::CameBack,
                            _ => Exit::BadSource,
                        },
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{ComesBack, Mode};
    use crate::testing::{BRIDGE, HOST_MAC, World};
    use fib::mac::{MacEntry, MacKey};
    use graph::harness::NodeHarness;
    use std::slice::from_ref;
    use std::sync::atomic::Ordering;
    use wire::craft;

    fn frame_from(source: [u8; 6]) -> Vec<u8> {
        craft::ethernet(source, [4; 6]).ethertype(0x88b5).pad_to(60).build()
    }

    fn run(world: &World, frames: &[Vec<u8>], rx: u16) -> Vec<String> {
        let mut node = NodeHarness::<L2Learn>::new(&world.setup).unwrap();
        node.run(frames, rx, 0).into_iter().map(|out| out.exit).collect()
    }

    #[test]
    fn a_station_is_learned_where_it_is_heard_and_moves_with_it() {
        let world = World::new();
        let stations = &world.setup.shared.stations;
        let place = || stations.table.lookup(MacKey::new(BRIDGE, HOST_MAC), 0);
        for port in [6, 7] {
            assert_eq!(run(&world, &vec![frame_from(HOST_MAC); 2], port), ["forward"; 2]);
            assert_eq!(place(), Some(MacEntry { port: port.into(), is_static: false }));
        }
        let counted = |port: usize| {
            let counters = &world.setup.counters.bridged[port];
            let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
            (read(&counters.learned), read(&counters.moved), read(&counters.not_learned))
        };
        assert_eq!((counted(6), counted(7)), ((1, 0, 0), (0, 1, 0)));
    }

    #[test]
    fn what_comes_back_is_dropped_and_a_station_moves_there_by_announcing_itself() {
        const BOND: u16 = 7;
        let mut world = World::new();
        for (id, comes_back) in [(6, ComesBack::Elsewhere), (BOND, ComesBack::Here)] {
            world.change_interface(id, |row| {
                if let Mode::Bridged(port) = &mut row.mode {
                    port.comes_back = comes_back;
                }
            });
        }
        let arp = |sender: [u8; 4], target: [u8; 4]| {
            craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, sender, target)
        };
        let announcement = arp([10, 0, 0, 1], [10, 0, 0, 1]).build();
        let question = arp([10, 0, 0, 1], [10, 0, 0, 2]).build();
        let reply = arp([10, 0, 0, 1], [10, 0, 0, 2]).operation(2).build();
        let in_vlan = [&announcement[..12], &[0x81, 0, 0, 7], &announcement[12..]].concat();
        let place = || {
            let stations = &world.setup.shared.stations;
            stations.table.lookup(MacKey::new(BRIDGE, HOST_MAC), stations.now()).unwrap().port
        };
        // Nobody else has it: it is learned there, and moves away as any other.
        assert_eq!(run(&world, &[frame_from(HOST_MAC)], BOND), ["forward"]);
        assert_eq!((place(), run(&world, from_ref(&question), 6)), (7, vec!["forward".to_owned()]));
        assert_eq!(place(), 6);
        // Then what comes by the bond is its own, but for what says that it moved.
        let back = [question.clone(), frame_from(HOST_MAC), frame_from([0x0e; 6])];
        assert_eq!(run(&world, &back, BOND), ["came-back", "came-back", "forward"]);
        assert_eq!(place(), 6);
        for moves in [announcement.clone(), reply, in_vlan] {
            assert_eq!(run(&world, &[frame_from(HOST_MAC)], 6), ["forward"]);
            assert_eq!((run(&world, &[moves], BOND), place()), (vec!["forward".to_owned()], 7));
        }
        // An announcement that was made here comes back, and is none for some seconds.
        assert_eq!(run(&world, from_ref(&announcement), 6), ["forward"]);
        for (tick, exit, port) in [(0, "came-back", 6), (5, "came-back", 6), (6, "forward", 7)] {
            world.setup.shared.stations.set_now(tick);
            assert_eq!(run(&world, from_ref(&announcement), BOND), [exit], "{tick}");
            assert_eq!(place(), port);
        }
        // Who is configured to be elsewhere does not come by it either; where nothing comes back,
        // all is as ever.
        let fixed = MacKey::new(BRIDGE, [0x0c; 6]);
        world.setup.shared.stations.table.insert_static(fixed, 6).unwrap();
        assert_eq!(run(&world, &[frame_from([0x0c; 6])], BOND), ["came-back"]);
        assert_eq!(run(&world, &[frame_from(HOST_MAC)], 8), ["forward"]);
        assert_eq!(place(), 8);
    }

    #[test]
    fn who_only_looks_announces_nothing() {
        let mut world = World::new();
        world.change_interface(6, |row| {
            if let Mode::Bridged(port) = &mut row.mode {
                port.comes_back = ComesBack::Elsewhere;
            }
        });
        let own = [10, 0, 0, 1];
        let request = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, own, own).build();
        let is_noted = |world: &World| {
            world.setup.shared.stations.announced.is_recent(MacKey::new(BRIDGE, HOST_MAC), 0)
        };
        let looks = fib::Onlooker::new();
        run(&world, from_ref(&request), 6);
        assert!(!is_noted(&world));
        drop(looks);
        run(&world, &[request], 6);
        assert!(is_noted(&world));
    }

    #[test]
    fn a_full_bridge_forwards_what_it_cannot_learn() {
        let world = World::new();
        world.setup.shared.stations.table.set_domain_limit(BRIDGE, Some(1));
        let frames = [frame_from([2; 6]), frame_from([6; 6])];
        assert_eq!(run(&world, &frames, 6), ["forward"; 2]);
        assert_eq!(world.setup.shared.stations.table.len(), 1);
        let refused = &world.setup.counters.bridged[6].not_learned;
        assert_eq!(refused.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn each_frame_is_judged_by_itself() {
        let world = World::new();
        let fixed = MacKey::new(BRIDGE, [0x0e; 6]);
        world.setup.shared.stations.table.insert_static(fixed, 7).unwrap();
        let frames = [
            frame_from([0xff; 6]),
            frame_from(HOST_MAC),
            frame_from(HOST_MAC)[..13].to_vec(),
            frame_from([0; 6]),
            frame_from([0x0e; 6]),
        ];
        let exits = run(&world, &frames, 6);
        assert_eq!(exits, ["bad-source", "forward", "runt", "bad-source", "fixed-elsewhere"]);
        assert_eq!(run(&world, &[frame_from([0x0e; 6])], 7), ["forward"]);
        assert_eq!(run(&world, &[frame_from(HOST_MAC)], 0), ["not-bridged"]);
    }
}
