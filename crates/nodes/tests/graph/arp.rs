//! Neighbours are found while packets wait: the test plays the control thread with `fib`'s machine.

use crate::rig::*;
use fib::adjacency::{Adjacency, AdjacencyId};
use fib::neighbor::{Action, Heard, HoldQueue, Need, NeighborConfig, NeighborKey, Neighbors};
use nodes::tables::{ArpHeard, Injected, Punt, Unresolved};
use packet::{PacketBuf, Pool};
use std::net::{IpAddr, Ipv4Addr};
use wire::craft;

const NEIGHBOR: [u8; 4] = [198, 51, 100, 77];
const NEIGHBOR_MAC: [u8; 6] = [0x0a, 0, 0, 0, 0, 77];
const SECOND_NS: u64 = 1_000_000_000;

/// A control thread that knows nothing but neighbours.
struct Control {
    rig: Rig,
    machine: Neighbors,
    held: HoldQueue<(u32, PacketBuf)>,
    now_ns: u64,
}

impl Control {
    fn new() -> Self {
        let machine = Neighbors::new(NeighborConfig::default());
        Self { rig: Rig::new(), machine, held: HoldQueue::new(2, 8), now_ns: SECOND_NS }
    }

    /// Reads the punts, does what the machine says, and lets the graph run on.
    fn work(&mut self) {
        let mut actions = Vec::new();
        for punt in self.rig.punts() {
            match punt {
                Punt::Unresolved(Unresolved { adjacency, next_hop, interface, packet }) => {
                    self.hold(adjacency, next_hop, interface, packet, &mut actions);
                }
                Punt::Arp(punt) => self.hear(punt, &mut actions),
                punt => panic!("{punt:?}"),
            }
        }
        let adjacencies = std::sync::Arc::clone(&self.rig.dataplane.adjacencies);
        self.machine.tick(self.now_ns, &|id| adjacencies.take_used(id), &mut actions);
        actions.into_iter().for_each(|action| self.act(action));
        self.rig.run();
    }

    fn hold(
        &mut self,
        adjacency: Option<u32>,
        next_hop: IpAddr,
        interface: u16,
        packet: PacketBuf,
        actions: &mut Vec<Action>,
    ) {
        let key = NeighborKey { interface, address: next_hop };
        let known = self.machine.get(key).and_then(|known| known.adjacency);
        let id = known.or(adjacency.map(AdjacencyId)).unwrap_or_else(|| self.adjacency(key));
        if let Some((_, pushed_out)) = self.held.hold(key, (id.0, packet)) {
            let rx = pushed_out.rx();
            self.rig.inject_packet(Injected::Discard { rx, packet: pushed_out });
        }
        self.machine.need(self.now_ns, key, id, Need::Packet, actions).unwrap();
    }

    fn adjacency(&self, key: NeighborKey) -> AdjacencyId {
        let mut rewrite = [0; 22];
        rewrite[6..12].copy_from_slice(&our_mac(key.interface));
        rewrite[12] = 8;
        let NeighborKey { interface, address: next_hop } = key;
        let made = Adjacency { interface, mtu: 1500, next_hop, rewrite, rewrite_len: 14 };
        self.rig.dataplane.adjacencies.allocate(&made).unwrap()
    }

    fn hear(&mut self, punt: ArpHeard, actions: &mut Vec<Action>) {
        let heard = match (punt.is_for_us, punt.is_reply) {
            (true, true) => Heard::Reply,
            (true, false) => Heard::Request,
            _ => Heard::Gratuitous,
        };
        let address = IpAddr::from(Ipv4Addr::from(punt.address));
        let key = NeighborKey { interface: punt.interface, address };
        self.machine.learned(self.now_ns, key, punt.mac, heard, actions);
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::SendRequest { key, to } => self.ask(key, to),
            Action::Complete { adjacency, mac } => {
                self.rig.dataplane.adjacencies.complete(adjacency, mac);
            }
            Action::ReleaseHeld { key } => {
                for (adjacency, packet) in self.held.release(key).collect::<Vec<_>>() {
                    let rx = packet.rx();
                    self.rig.inject_packet(Injected::Resolved { adjacency, rx, packet });
                }
            }
            Action::DropHeld { key, .. } => {
                for (_, packet) in self.held.release(key).collect::<Vec<_>>() {
                    let rx = packet.rx();
                    self.rig.inject_packet(Injected::Unreachable { rx, packet });
                }
            }
            Action::Incomplete { adjacency } => {
                self.rig.dataplane.adjacencies.incomplete(adjacency);
            }
            other => panic!("{other:?}"),
        }
    }

    fn ask(&mut self, key: NeighborKey, to: Option<[u8; 6]>) {
        let interface = key.interface;
        let own = self.rig.dataplane.interfaces().get(interface).unwrap().clone();
        let IpAddr::V4(target) = key.address else { panic!("{key:?}") };
        let frame = craft::ethernet(own.mac, to.unwrap_or([0xff; 6]));
        let frame = frame.arp_request(own.mac, own.ip4[0].0, target).pad_to(60).build();
        self.rig.inject(&frame, |packet| Injected::Frame { interface, packet });
    }

    /// The host sends a packet to the neighbour.
    fn send(&mut self, number: u16) -> Vec<u8> {
        let frame = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, NEIGHBOR).ttl(9);
        let frame = frame.identification(number).udp(1, 2).build();
        self.rig.receive(0, frame.clone());
        self.rig.run();
        frame
    }
}

/// What the router asks.
fn question() -> Vec<u8> {
    let frame = craft::ethernet(our_mac(1), [0xff; 6]);
    frame.arp_request(our_mac(1), US_OUTSIDE, NEIGHBOR).pad_to(60).build()
}

fn forwarded(number: u16) -> Vec<u8> {
    let frame = craft::ethernet(our_mac(1), NEIGHBOR_MAC).ipv4(HOST, NEIGHBOR).ttl(8);
    frame.identification(number).udp(1, 2).build()
}

#[test]
fn packets_wait_for_the_answer_and_leave_in_order() {
    let mut control = Control::new();
    for number in 0..3 {
        control.send(number);
        control.work();
    }
    assert_eq!(control.rig.sent(1), [question()]);
    let answer = craft::ethernet(NEIGHBOR_MAC, our_mac(1));
    let answer = answer.arp_reply(NEIGHBOR_MAC, NEIGHBOR, our_mac(1), US_OUTSIDE).build();
    control.rig.receive(1, answer);
    control.rig.run();
    control.work();
    // The first of three made room: two may wait.
    assert_eq!(control.rig.sent(1), [forwarded(1), forwarded(2)]);
    assert_eq!(control.rig.drops(), [("inject/unresolved".to_owned(), 1)]);
    control.rig.settle();
}

#[test]
fn a_neighbor_that_asks_for_us_needs_no_question() {
    let mut control = Control::new();
    let question = craft::ethernet(NEIGHBOR_MAC, [0xff; 6]);
    let question = question.arp_request(NEIGHBOR_MAC, NEIGHBOR, US_OUTSIDE).build();
    let reply = craft::ethernet(our_mac(1), NEIGHBOR_MAC);
    let reply = reply.arp_reply(our_mac(1), US_OUTSIDE, NEIGHBOR_MAC, NEIGHBOR).pad_to(60);
    assert_eq!(control.rig.answer(1, question), [(1, reply.build())]);
    control.work();
    control.send(5);
    control.work();
    assert_eq!(control.rig.sent(1), [forwarded(5)]);
    control.rig.settle();
}

#[test]
fn when_nobody_answers_the_sender_is_told() {
    let mut control = Control::new();
    let sent = control.send(1);
    for _ in 0..4 {
        control.work();
        control.now_ns += SECOND_NS;
    }
    assert_eq!(control.rig.sent(1), vec![question(); 3]);
    let error = craft::ethernet(our_mac(0), HOST_MAC).ipv4(US, HOST).ttl(64).tos(0xc0);
    let error = error.identification(1).icmp4(3, 1, [0; 4]).payload(&sent[14..]).build();
    assert_eq!(control.rig.sent(0), [error]);
    control.rig.settle();
}

#[test]
fn what_waits_for_an_incomplete_adjacency_waits_for_its_next_hop() {
    let mut control = Control::new();
    let frame = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, [10, 4, 0, 1]).udp(1, 2).build();
    assert_eq!(control.rig.answer(0, frame), []);
    control.work();
    let question = craft::ethernet(our_mac(1), [0xff; 6]);
    let question = question.arp_request(our_mac(1), US_OUTSIDE, [198, 51, 100, 3]).pad_to(60);
    assert_eq!(control.rig.sent(1), [question.build()]);
    for (_, packet) in
        control.held.release(NeighborKey { interface: 1, address: IpAddr::from([198, 51, 100, 3]) })
    {
        control.rig.pool.cache().release_one(packet);
    }
    control.rig.settle();
}

/// Each second a packet for the neighbour, for three lifetimes: all arrive, and after the first
/// question nobody is asked but the neighbour itself. Then it dies, and is found out.
#[test]
fn a_neighbor_in_use_is_asked_itself_loses_nothing_and_its_death_is_found() {
    const LIFETIME_S: u16 = 20;
    let mut control = Control::new();
    let lifetime_ns = u64::from(LIFETIME_S) * SECOND_NS;
    control.machine.set_config(NeighborConfig { reachable_ns: lifetime_ns, ..Default::default() });
    let to_it = craft::ethernet(our_mac(1), NEIGHBOR_MAC);
    let probe = to_it.arp_request(our_mac(1), US_OUTSIDE, NEIGHBOR).pad_to(60).build();
    let answer = craft::ethernet(NEIGHBOR_MAC, our_mac(1));
    let answer = answer.arp_reply(NEIGHBOR_MAC, NEIGHBOR, our_mac(1), US_OUTSIDE).build();
    let (mut arrived, mut questions, mut probes) = (Vec::new(), 0, 0);
    let mut live = |control: &mut Control, number: u16, answers: bool| {
        control.send(number);
        control.work();
        for frame in control.rig.sent(1) {
            let (asks_all, asks_it) = (frame == question(), frame == probe);
            questions += u32::from(asks_all);
            probes += u32::from(asks_it);
            if (asks_all || asks_it) && answers {
                control.rig.receive(1, answer.clone());
                control.rig.run();
                control.work();
                arrived.extend(control.rig.sent(1));
            } else if !asks_all && !asks_it {
                arrived.push(frame);
            }
        }
        control.now_ns += SECOND_NS;
        (questions, probes, arrived.len())
    };
    let mut told = (0, 0, 0);
    for number in 0..3 * LIFETIME_S {
        told = live(&mut control, number, true);
    }
    assert_eq!(told, (1, 3, 3 * usize::from(LIFETIME_S)), "questions, probes, packets");
    // Dead: packets go to the old MAC until three probes had no answer, then everybody is asked.
    for number in 0..LIFETIME_S + 4 {
        told = live(&mut control, number, false);
    }
    let key = NeighborKey { interface: 1, address: IpAddr::from(NEIGHBOR) };
    assert_eq!((told.1, control.machine.get(key).unwrap().mac), (3 + 3, None));
    for (_, packet) in control.held.release(key) {
        control.rig.pool.cache().release_one(packet);
    }
    control.rig.settle();
}
