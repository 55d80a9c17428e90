//! Our own switch: a bridge that hears the same messages, and the graph that its packets pass.

use super::case::{Case, Fate, Outcome, PORTS, error_of, names_tables};
use super::exceptions::{self, Known};
use crate::rig::Rig;
use conntrack::{Table, Timeouts};
use flow::{Key, Snapshot, Step, Told, Verdict, extract, translate};
use nodes::tables::{BridgeId, BridgePort, FlowBridge, FlowRow, Mode, Tracking};
use openflow::message::PortStats;
use openflow::{Field, Needs, PortNumber, port};
use std::collections::BTreeMap;
use std::sync::Arc;
use switch::{Bridge, Connection, Port, World};
use wire::ipv6;

const BRIDGE: BridgeId = BridgeId(9);

pub(crate) struct Ours {
    rig: Rig,
    generation: u64,
    tracking: Option<Arc<Tracking>>,
}

/// No message of a case asks for more than tables.
struct Nothing;

impl World for Nothing {
    fn port_stats(&self, _: PortNumber) -> Option<PortStats> {
        None
    }

    fn send(&mut self, _: &[u8], _: PortNumber, _: &Verdict, _: &Snapshot) {}
}

impl Ours {
    pub(crate) fn new() -> Self {
        let mut rig = Rig::new();
        for id in 0..PORTS {
            let port = BridgePort::new(BRIDGE).with_flows(id + 1);
            rig.change_interface(id, |row| row.mode = Mode::Bridged(port));
        }
        Self { rig, generation: 0, tracking: None }
    }

    /// What we make of a case.
    pub(crate) fn play(&mut self, case: &Case) -> Outcome {
        let mut bridge = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
        for number in (1..=PORTS).chain([port::LOCAL]) {
            bridge.set_port(number, Some(Port::new(format!("p{number}"), [2; 6])), 0);
        }
        // The daemon has a connection of 1.0 in all cases, whose controller hears of what no flow
        // matches.
        bridge.set_tells_misses(true);
        let mut connection = Connection::new(true);
        let number = case.version as u8;
        let hello = [number, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 1 << number];
        bridge.hear(&mut connection, &hello, &mut Nothing, 0);
        let names = names_tables(case.version);
        if !names.is_empty() {
            assert!(bridge.hear(&mut connection, &names, &mut Nothing, 0).is_empty());
        }
        let mut errors = Vec::new();
        for (_, message) in case.messages() {
            errors.extend(
                bridge
                    .hear(&mut connection, &message, &mut Nothing, 0)
                    .iter()
                    .map(|it| error_of(it)),
            );
        }
        self.generation += 1;
        let snapshot = Snapshot { generation: self.generation, ..bridge.snapshot() };
        let rows: Arc<BTreeMap<_, _>> = Arc::new(
            (1..=PORTS)
                .map(|number| (number, FlowRow { interface: number - 1, is_own: false }))
                .collect(),
        );
        self.begin(case, &snapshot, &rows);
        let first = self.pass_all(case, &snapshot);
        // The same again: of what is remembered by now.
        if case.is_tracked {
            self.begin(case, &snapshot, &rows);
        }
        assert_eq!(self.pass_all(case, &snapshot), first, "remembered otherwise: {case:?}");
        Outcome { errors, packets: first }
    }

    /// A bridge that knows no connection.
    fn begin(&mut self, case: &Case, snapshot: &Snapshot, rows: &Arc<BTreeMap<u16, FlowRow>>) {
        let tracking = case.is_tracked.then(|| {
            let table = Table::new(256, case.seed);
            Arc::new(Tracking { table, timeouts: Timeouts::default() })
        });
        self.tracking.clone_from(&tracking);
        let (snapshot, rows) = (snapshot.clone(), Arc::clone(rows));
        let mut bridges = self.rig.dataplane.flow_bridges.lock().unwrap();
        let bridge = FlowBridge { snapshot, rows, tracking, ..FlowBridge::default() };
        let all = bridges.with(BRIDGE, Some(bridge));
        bridges.set(all);
    }

    /// Plays packets; those from the first on of which the daemon remembers something else are
    /// beyond comparison.
    fn pass_all(&mut self, case: &Case, snapshot: &Snapshot) -> Vec<Fate> {
        let (mut is_over, is_forced) = (false, exceptions::forces(case));
        let is_labelled =
            |it: &&(PortNumber, Vec<u8>)| matches!(key_of(it).get(Field::EthType), 0x8847 | 0x8848);
        let labelled = case.packets.iter().filter(is_labelled).count();
        let mut pass = |packet: &(PortNumber, Vec<u8>)| {
            is_over |= self.takes_for_more(&packet.1);
            let before = self.known(packet.0);
            let mut fate = self.pass(snapshot, packet);
            if let Some((before, after)) = before.zip(self.known(packet.0)) {
                is_over |= before.differs(&after, &packet.1, is_forced);
            }
            fate.is_beyond |= is_over;
            // Of a label it writes all, as the packet had it that it remembers this of.
            fate.is_beyond |= labelled > 1 && writes_label(snapshot, packet);
            fate
        };
        case.packets.iter().map(&mut pass).collect()
    }

    /// What is known of connections, of packets by a port.
    fn known(&self, number: PortNumber) -> Option<Known> {
        let tracking = self.tracking.as_ref()?;
        let drops = self.rig.dataplane.drops_of(number - 1);
        let refused = drops.iter().filter(|it| it.node == "flow-act" && it.reason == "no-port");
        Some(Known::of(&tracking.table, refused.map(|it| it.packets).sum()))
    }

    /// Whether a segment is not one of the first three of a connection, while another has not been
    /// answered: for the daemon one is established then, for us it is not.
    fn takes_for_more(&self, frame: &[u8]) -> bool {
        let Some(tracking) = &self.tracking else { return false };
        let mut key = Key::default();
        extract(frame, 1, &mut key);
        let flags = key.get(Field::TcpFlags);
        if key.get(Field::IpProto) != 6 || flags & 0x17 == 2 || flags & 0x17 == 0x12 {
            return false;
        }
        let (mut is_unanswered, mut has_one) = (flags & 4 != 0, false);
        tracking.table.each(0, tracking.table.room(), 0, |it| {
            let is_tcp = it.original.protocol() == 6;
            has_one |= is_tcp;
            is_unanswered |= is_tcp && !it.status.is_answered();
            false
        });
        is_unanswered || !has_one
    }

    fn pass(&mut self, snapshot: &Snapshot, (number, frame): &(PortNumber, Vec<u8>)) -> Fate {
        let mut fate = Fate::default();
        for (interface, frame) in self.rig.answer(number - 1, frame.clone()) {
            fate.sent[usize::from(interface)].push(frame);
        }
        self.rig.hear();
        fate.sent.iter_mut().for_each(|sent| sent.sort());
        let mut key = Key::default();
        extract(frame, *number, &mut key);
        let mut verdict = Vec::new();
        let is_tag = |at: usize| matches!(frame[at..], [0x81, 0, ..] | [0x88, 0xa8, ..]);
        let mut tags = usize::from(is_tag(12)) + usize::from(is_tag(12) && is_tag(16));
        let at = 12 + 4 * tags;
        let is_arp = matches!(frame[at..], [8, 6, ..] | [0x80, 0x35, ..]);
        fate.is_beyond |=
            is_arp && (frame[at + 2..at + 9] != [0, 1, 8, 0, 6, 4, 0] || frame[at + 9] == 0);
        let is_ip6 = frame[at..at + 2] == [0x86, 0xdd];
        fate.is_beyond |= is_ip6 && frame[at + 2] >> 4 != 6;
        fate.is_beyond |= frame[at..at + 2] == [8, 0] && frame[at + 2] >> 4 != 4;
        let is_atomic = is_ip6 && is_atomic(&frame[at + 2..]);
        fate.is_beyond |= tags > 0 && frame[14] & 0x10 != 0;
        // It writes types and codes of ICMP where a later piece has data.
        let is_later = key.get(Field::IpFrag) & 2 != 0 && matches!(key.get(Field::IpProto), 1 | 58);
        fate.is_beyond |= is_later && names_icmp(snapshot);
        let (mut is_told_behind, mut is_popped) = (false, false);
        let (mut is_told, mut moved, mut place, mut depth) = (false, None, 0, 0);
        for step in &translate(snapshot, &key).steps {
            // Behind two tags, of a packet that somebody is told of, it writes four octets too
            // early.
            if let Step::Set(field, ..) = step {
                let is_behind = !matches!(field.needs(), Needs::Nothing | Needs::Tag);
                fate.is_beyond |= (is_told && tags > 1 || is_told_behind) && is_behind;
            }
            match step {
                // To it 255 stands for all bits of the operation.
                Step::Set(Field::ArpOp, op, _) => fate.is_beyond |= op & 0xff == 0xff,
                Step::PushMpls { .. } | Step::PopMpls { .. } => {
                    // So it does with labels; and what had a length has a type when it is popped.
                    let has_length = u16::from_be_bytes([frame[at], frame[at + 1]]) < 0x600;
                    fate.is_beyond |= is_told && tags > 1 || has_length;
                    // What is done to labels within `clone` or a bucket is one with what was done
                    // outside, to it: their type may be another.
                    fate.is_beyond |= moved.is_some_and(|it| it != place);
                    // What is set where none is left it writes over the last, without its type.
                    let is_pop = matches!(step, Step::PopMpls { .. });
                    fate.is_beyond |= moved.is_some() && is_popped && !is_pop;
                    is_popped = is_pop;
                    moved = Some(place);
                }
                Step::Output(number) => {
                    moved = moved.filter(|_| depth > 0);
                    verdict.push(*number);
                }
                // It writes a checksum where a later piece has none.
                Step::Set(Field::IpSrc | Field::IpDst, ..) => {
                    fate.is_beyond |= key.get(Field::IpFrag) & 2 != 0;
                }
                // It leaves the checksum as it is.
                Step::Set(Field::Ip6Src | Field::Ip6Dst, ..) => fate.is_beyond |= is_atomic,
                Step::PushVlan(..) => tags += 1,
                Step::Fork(_) => (place, depth) = (place + 1, depth + 1),
                Step::End => (place, depth) = (place + 1, depth - 1),
                Step::PopVlan => tags = tags.saturating_sub(1),
                Step::Tell(told) if matches!(**told, Told::Packet { .. }) => {
                    is_told = true;
                    is_told_behind |= tags > 1;
                    verdict.push(port::CONTROLLER);
                }
                _ => {}
            }
            fate.is_beyond |= tags > 2;
        }
        verdict.sort_unstable();
        fate.verdict = Some(verdict);
        fate
    }
}

fn key_of((number, frame): &(PortNumber, Vec<u8>)) -> Key {
    let mut key = Key::default();
    extract(frame, *number, &mut key);
    key
}

/// Whether a label of a packet is written where it lies.
fn writes_label(snapshot: &Snapshot, packet: &(PortNumber, Vec<u8>)) -> bool {
    let is_it = |step: &Step| matches!(step, Step::Set(field, ..) if field.needs() == Needs::Mpls);
    translate(snapshot, &key_of(packet)).steps.iter().any(is_it)
}

/// Whether a flow or a group names a type or a code of ICMP among its actions.
fn names_icmp(snapshot: &Snapshot) -> bool {
    let names = |actions: &dyn std::fmt::Debug| format!("{actions:?}").contains("field: Icmp");
    let mut found = snapshot.groups.values().any(|group| names(&group.buckets));
    for table in snapshot.tables.values() {
        table.flows.each(|flow| found |= names(&flow.program));
    }
    found
}

/// Whether a packet of IPv6 in one piece has the header of those in several (RFC 6946).
fn is_atomic(packet: &[u8]) -> bool {
    let Some(header) = ipv6::Header::new(packet) else { return false };
    let upper = ipv6::extension::walk(header.next_header(), &packet[ipv6::Header::LEN..]);
    upper.is_ok_and(|upper| upper.fragment.is_some_and(|fragment| fragment.is_atomic()))
}
