//! Takes what members of bonds receive: link aggregation control is the member's own, all else is
//! its bond's (IEEE 802.1AX-2014 sections 6.2 and 6.4).
//!
//! ```text
//!  port_rx, interface_enter ─▶ bond_input ┬▶ (an entrance)      by the bond's mode
//!                                         ├▶ vlan_input         the bond has VLANs
//!                                         ├▶ interface_input    or features
//!                                         ├▶ (control thread)   link aggregation control
//!                                         ├▶ interface_output   a marker, as its answer
//!                                         └▶ drop
//! ```
//! No slow protocol is passed on, whatever the bond speaks.
//!
//! An end that knows of no bond sends what is for all by every member, ours among it, and frames to
//! a station that it does not know, too. Of the former one member takes in what comes; of the
//! latter the one that the station's own frames leave by, where we do not know it either.

use crate::interface::{Entrance, ReceivedRun, entrances};
use crate::l2::vlan_input::{FirstTag, first_tag};
use crate::tables::{
    BondMember, Collects, Interfaces, LacpHeard, MOST_INTERFACES, Punt, RateLimits, Setup,
    SlowPath, Stations, WorkerCounters, bridge_port,
};
use fib::mac::MacKey;
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::sync::Arc;
use wire::ethernet::{self, ethertype};
use wire::lacp::{self, Message};

/// Messages of slow protocols that are heard a second, of each member: section 57A.2 of IEEE 802.3
/// allows ten.
const MESSAGES_PER_SECOND: u32 = 20;

/// See the module.
pub struct BondInput {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    slow_path: SlowPath,
    stations: Stations,
    limits: RateLimits,
}

entrances! {
    /// What becomes of a member's frame.
    pub enum Exit {
        /// The bond has VLANs: one of them may be meant.
        Vlan => node "vlan-input",
        /// The bond has features for what it receives: these first.
        Features => node "interface-input",
        /// A marker goes back as its answer (section 6.5.4).
        Answer => node "interface-output",
        /// The member does not carry frames: it is a spare one, or not in the group yet.
        NotCollecting => drop "Nothing, if few: the other end sends by a member that is not in use \
            here. Much of it: compare `mode` at both ends, `volley show bonds`.",
        /// To a group of stations, by a member that is not the active one, which gets it, too.
        NotActive => drop "Nothing: a switch that knows of no bond sends broadcasts and multicasts \
            by all members, and one is enough.",
        /// To a station that is not known, by a member that its own frames do not leave by: the
        /// one that they leave by gets it, too.
        UnknownStation => drop "Nothing, if few: a switch floods what is for stations that it does \
            not know.",
        /// It has our own address as its source: it came back.
        CameBack => drop "Nothing: what leaves by one member of such a bond, the switch sends back \
            by another.",
        /// Link aggregation control, and the bond does not speak it.
        NotSpoken => drop "Set `mode = \"802.3ad\"` at the bond, or switch LACP off at the other \
            end.",
        /// Link aggregation control or a marker that is cut short, or lies.
        Malformed => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// Another slow protocol, or a marker's answer.
        UnknownSlow => drop "Nothing: the other end speaks a slow protocol that is not spoken \
            here, and goes without.",
        /// More messages than a member has to hear.
        TooManyMessages => drop "Somebody floods LACP on the member: capture some and look who it \
            is.",
    }
}

impl Node for BondInput {
    const NAME: &'static str = "bond-input";
    const ABOUT: &'static str = "takes what members of bonds receive";
    const BEGINS_AGAIN: bool = true;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            counters: Arc::clone(&setup.counters),
            slow_path: setup.shared.slow_path.clone(),
            stations: setup.shared.stations.clone(),
            limits: RateLimits::new(MOST_INTERFACES, MESSAGES_PER_SECOND),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let Self { interfaces, counters, slow_path, stations, limits } = self;
        let interfaces = interfaces.get(context);
        let mut received = ReceivedRun::new(counters);
        let mut rx = frame.rx()[0];
        let mut way = Way::of(interfaces, rx);
        exits.each(frame, |packet| {
            if packet.rx() != rx {
                rx = packet.rx();
                way = Way::of(interfaces, rx);
            }
            let Some(Way { member, exit }) = way else { return Exit::InterfaceDown.into() };
            if is_slow(packet.header()) {
                let allowed = limits.take(rx.into(), context.now_tsc);
                return match take_in(packet, member, interfaces, slow_path, allowed) {
                    Ok(()) => {
                        packet.release(context.cache);
                        ExitIndex::TAKEN
                    }
                    Err(exit) => exit.into(),
                };
            }
            let refused = match member.collects {
                Collects::All => None,
                Collects::Nothing => Some(Exit::NotCollecting),
                Collects::Stations | Collects::StationsAndGroups => {
                    refusal(packet, member, interfaces, stations)
                }
            };
            if let Some(exit) = refused {
                return exit.into();
            }
            packet.set_rx(member.bond.0);
            received.add(member.bond.0, packet.length());
            exit.into()
        });
    }
}

/// A member, and where its frames go.
#[derive(Clone, Copy)]
struct Way {
    member: BondMember,
    exit: Exit,
}

impl Way {
    fn of(interfaces: &Interfaces, id: u16) -> Option<Self> {
        let member = interfaces.get(id)?.bond()?;
        let bond = member.bond.0;
        let exit = match interfaces.entrance(bond) {
            Entrance::InterfaceDown => Exit::InterfaceDown,
            _ if interfaces.has_input_features(bond) => Exit::Features,
            _ if interfaces.vlans(bond).is_some() => Exit::Vlan,
            entrance => entrance.into(),
        };
        Some(Self { member, exit })
    }
}

/// True of frames to the group of slow protocols.
#[inline(always)]
fn is_slow(frame: &[u8]) -> bool {
    ethernet::Header::new(frame).is_some_and(|header| {
        header.ethertype() == ethertype::SLOW && header.destination() == lacp::GROUP
    })
}

/// Why a frame is not the bond's, of an end that knows of none.
fn refusal(
    packet: &PacketView<'_>,
    member: BondMember,
    interfaces: &Interfaces,
    stations: &Stations,
) -> Option<Exit> {
    let frame = packet.header();
    // Whoever reads it drops a runt.
    let header = ethernet::Header::new(frame)?;
    let of = interface_of(interfaces, member.bond.0, frame);
    let is_own =
        |id: u16| interfaces.get(id).is_some_and(|row| row.mac == header.source().octets());
    if is_own(of) || is_own(member.bond.0) {
        return Some(Exit::CameBack);
    }
    let to = header.destination();
    if to.is_multicast() {
        return (member.collects != Collects::StationsAndGroups).then_some(Exit::NotActive);
    }
    let ways = interfaces.bond_ways(member.bond.0);
    if ways.and_then(|ways| ways.member_of(to, frame)) == Some(packet.rx()) {
        return None;
    }
    // The station's frames may have left by this member a moment ago.
    let port = bridge_port(interfaces, of)?;
    let key = MacKey::new(port.bridge.0, to.octets());
    stations.table.lookup(key, stations.now()).is_none().then_some(Exit::UnknownStation)
}

/// The interface that a bond's frame is of: the bond, or a VLAN of it.
fn interface_of(interfaces: &Interfaces, bond: u16, frame: &[u8]) -> u16 {
    let maps = [interfaces.vlans(bond), interfaces.vlans_behind_flows(bond)];
    let found = maps.into_iter().flatten().find_map(|map| match first_tag(frame)? {
        FirstTag::Vlan { protocol, tag, behind } => map.tagged(protocol, tag, behind),
        FirstTag::None | FirstTag::Priority => map.untagged(),
    });
    found.unwrap_or(bond)
}

/// Tells the control thread of a message, or makes a marker its answer.
#[cold]
fn take_in(
    packet: &mut PacketView<'_>,
    member: BondMember,
    interfaces: &Interfaces,
    slow_path: &SlowPath,
    allowed: bool,
) -> Result<(), Exit> {
    let interface = packet.rx();
    let bytes = packet.header().get(ethernet::Header::LEN..).ok_or(Exit::Malformed)?;
    let message = Message::parse(bytes).map_err(|_| Exit::Malformed)?;
    match message {
        Message::Other(_) | Message::Answer => Err(Exit::UnknownSlow),
        _ if !member.speaks => Err(Exit::NotSpoken),
        _ if !allowed => Err(Exit::TooManyMessages),
        Message::Control(pdu) => {
            let punt = Punt::Lacp(LacpHeard { interface, pdu });
            slow_path.tell(punt).map_err(|_| Exit::TooManyMessages)
        }
        Message::Marker => {
            let source = interfaces.get(interface).ok_or(Exit::InterfaceDown)?.mac;
            lacp::answer_marker(packet.header_mut(), source);
            packet.set_tx(interface);
            Err(Exit::Answer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{MirrorTo, mirror_input::MirrorInput};
    use crate::tables::{BondWays, BridgeId, BridgePort, InterfaceId, Mode};
    use crate::testing::{BOND, BOND_MEMBERS, BOND_VLAN, HOST_MAC, World, our_mac};
    use graph::harness::NodeHarness;
    use std::sync::atomic::Ordering;
    use wire::craft;
    use wire::lacp::{End, Pdu};

    const FIRST: u16 = BOND_MEMBERS[0];
    const SECOND: u16 = BOND_MEMBERS[1];

    fn member(world: &mut World, id: u16, change: impl FnOnce(&mut BondMember)) {
        world.change_interface(id, |row| {
            if let Mode::Member(member) = &mut row.mode {
                change(member);
            }
        });
    }

    fn run(world: &World, frame: Vec<u8>, rx: u16) -> (String, Vec<u8>) {
        let mut node = NodeHarness::<BondInput>::new(&world.setup).unwrap();
        let out = node.run(&[frame], rx, 0).remove(0);
        (out.exit, out.header)
    }

    fn plain() -> Vec<u8> {
        craft::ethernet(HOST_MAC, our_mac(BOND)).ethertype(0x88b5).payload(&[7; 46]).build()
    }

    fn pdu() -> Pdu {
        let end = End { system: [4; 6], key: 9, port: 3, state: 5, ..End::default() };
        Pdu { actor: end, partner: End::default() }
    }

    #[test]
    fn a_members_frame_is_the_bonds_and_counted_there() {
        let mut world = World::new();
        world.change_interface(BOND_VLAN, |row| row.link = crate::tables::Link::Port);
        for id in BOND_MEMBERS {
            assert_eq!(run(&world, plain(), id), ("ethernet".to_owned(), plain()));
        }
        let counted = &world.setup.counters.interfaces[usize::from(BOND)];
        assert_eq!(counted.rx_packets.load(Ordering::Relaxed), 2);
        world.change_interface(BOND, |row| row.mode = Mode::CrossConnect(InterfaceId(1)));
        assert_eq!(run(&world, plain(), FIRST).0, "cross-connect");
        world.change_interface(BOND, |row| row.set::<MirrorInput>(Some(MirrorTo(5))));
        assert_eq!(run(&world, plain(), FIRST).0, "features");
        world.change_interface(BOND, |row| row.up = false);
        assert_eq!(run(&world, plain(), FIRST).0, "interface-down");
        assert_eq!(run(&world, plain(), 0).0, "interface-down");
    }

    #[test]
    fn a_bond_with_vlans_has_its_frames_looked_at_for_tags() {
        assert_eq!(run(&World::new(), plain(), FIRST).0, "vlan");
    }

    #[test]
    fn a_member_that_does_not_collect_takes_messages_alone() {
        let mut world = World::new();
        member(&mut world, SECOND, |it| it.collects = Collects::Nothing);
        assert_eq!(run(&world, plain(), SECOND).0, "not-collecting");
        assert_eq!(run(&world, pdu().frame([4; 6]).to_vec(), SECOND).0, "taken");
        assert_eq!(run(&world, plain(), FIRST).0, "vlan");
    }

    /// A bond in a bridge, at whose other end nobody knows of it; its first member is the active
    /// one.
    fn unaware(vlan: Mode) -> World {
        let mut world = World::new();
        world.change_interface(BOND, |row| {
            row.mode = Mode::Bridged(BridgePort::new(BridgeId(5)));
            row.put(Some(BondWays::by_source(&BOND_MEMBERS)));
        });
        world.change_interface(BOND_VLAN, |row| row.mode = vlan);
        member(&mut world, FIRST, |it| it.collects = Collects::StationsAndGroups);
        member(&mut world, SECOND, |it| it.collects = Collects::Stations);
        world
    }

    #[test]
    fn of_an_end_that_knows_of_no_bond_each_frame_is_taken_in_once() {
        let bridged = Mode::Bridged(BridgePort::new(BridgeId(6)));
        let world = unaware(bridged);
        let to = |to: [u8; 6], vid: Option<u16>| {
            let frame = craft::ethernet(HOST_MAC, to);
            match vid {
                Some(vid) => frame.vlan(vid).ethertype(0x88b5).payload(&[7; 46]).build(),
                None => frame.ethertype(0x88b5).payload(&[7; 46]).build(),
            }
        };
        let by = |frame: &Vec<u8>| BOND_MEMBERS.map(|id| run(&world, frame.clone(), id).0);
        for group in [[0xff; 6], [0x33, 0x33, 0, 0, 0, 1]] {
            assert_eq!(by(&to(group, None)), ["vlan", "not-active"]);
            assert_eq!(by(&to(group, Some(500))), ["vlan", "not-active"]);
        }
        // To stations that nobody knows: by one of both, and by either for some.
        let mut firsts = 0;
        for last in 0..40 {
            let station = [2, 9, 0, 0, 0, last];
            let frame = to(station, Some(500));
            let ways = BondWays::by_source(&BOND_MEMBERS);
            let one = ways.member_of(station.into(), &frame);
            let expected = BOND_MEMBERS.map(|id| match one == Some(id) {
                true => "vlan",
                false => "unknown-station",
            });
            assert_eq!(by(&frame), expected);
            firsts += usize::from(one == Some(FIRST));
            // One that is known, in its VLAN, may have been behind the other member before.
            let stations = &world.setup.shared.stations.table;
            stations.insert_static(MacKey::new(5, station), 6).unwrap();
            assert_eq!(by(&frame), expected);
            assert_eq!(by(&to(station, None)), ["vlan"; 2]);
            stations.insert_static(MacKey::new(6, station), 6).unwrap();
            assert_eq!(by(&frame), ["vlan"; 2]);
        }
        assert!((8..32).contains(&firsts), "{firsts}");
        // A runt is for who reads it.
        assert_eq!(by(&vec![2; 13]), ["vlan"; 2]);
    }

    #[test]
    fn what_we_said_ourselves_came_back_and_what_is_routed_is_whose_address_it_has() {
        let mut world = unaware(Mode::Routed);
        world.change_interface(BOND_VLAN, |row| row.mac = [2, 5, 5, 5, 5, 5]);
        let from =
            |mac: [u8; 6]| craft::ethernet(mac, [0xff; 6]).vlan(500).payload(&[7; 46]).build();
        for (mac, exit) in
            [(our_mac(BOND), "came-back"), ([2, 5, 5, 5, 5, 5], "came-back"), (HOST_MAC, "vlan")]
        {
            assert_eq!(run(&world, from(mac), FIRST).0, exit);
        }
        // Routed: no bridge has stations, and whoever reads it knows its own address.
        let to_us = craft::ethernet(HOST_MAC, our_mac(BOND)).vlan(500).payload(&[7; 46]).build();
        assert_eq!(BOND_MEMBERS.map(|id| run(&world, to_us.clone(), id).0), ["vlan"; 2]);
        // A VLAN behind flows is found likewise.
        let behind = BridgePort { is_behind: true, ..BridgePort::new(BridgeId(6)) };
        world.change_interface(BOND_VLAN, |row| row.mode = Mode::Bridged(behind));
        let taken = BOND_MEMBERS.map(|id| run(&world, to_us.clone(), id).0);
        assert!(taken.contains(&"unknown-station".to_owned()), "{taken:?}");
        let table = &world.setup.shared.stations.table;
        table.insert_static(MacKey::new(6, our_mac(BOND)), 6).unwrap();
        assert_eq!(BOND_MEMBERS.map(|id| run(&world, to_us.clone(), id).0), ["bridge"; 2]);
    }

    #[test]
    fn messages_are_told_with_their_member_and_never_passed_on() {
        let mut world = World::new();
        let frame = pdu().frame([4; 6]).to_vec();
        assert_eq!(run(&world, frame.clone(), SECOND).0, "taken");
        let punts = world.all_punts();
        let told = LacpHeard { interface: SECOND, pdu: pdu() };
        assert!(matches!(punts[..], [Punt::Lacp(heard)] if heard == told), "{punts:?}");
        let mut wrong = frame.clone();
        wrong[17] = 19;
        let mut other = frame.clone();
        other[14] = 3;
        for (frame, exit) in [
            (wrong, "malformed"),
            (frame[..123].to_vec(), "malformed"),
            (frame[..14].to_vec(), "malformed"),
            (other, "unknown-slow"),
        ] {
            assert_eq!(run(&world, frame, FIRST).0, exit);
        }
        member(&mut world, FIRST, |it| it.speaks = false);
        assert_eq!(run(&world, frame.clone(), FIRST).0, "not-spoken");
        // To another address it is a frame as any other.
        let mut to_host = frame;
        to_host[..6].copy_from_slice(&HOST_MAC);
        assert_eq!(run(&world, to_host, FIRST).0, "vlan");
    }

    #[test]
    fn a_flood_on_one_member_leaves_another_heard() {
        let world = World::new();
        let frame = pdu().frame([4; 6]).to_vec();
        let mut node = NodeHarness::<BondInput>::new(&world.setup).unwrap();
        let out = node.run(&vec![frame.clone(); 100], FIRST, 0);
        let dropped = out.iter().filter(|out| out.exit == "too-many-messages").count();
        assert!((80..100).contains(&dropped), "{dropped}");
        assert_eq!(node.run(&[frame], SECOND, 0)[0].exit, "taken");
    }

    #[test]
    fn a_marker_goes_back_by_the_member_that_it_came_by() {
        let world = World::new();
        let mut marker = vec![0; lacp::FRAME_LEN];
        marker[..6].copy_from_slice(&lacp::GROUP.0);
        marker[6..12].copy_from_slice(&[4; 6]);
        marker[12..14].copy_from_slice(&[0x88, 0x09]);
        marker[14..24].copy_from_slice(&[2, 1, 1, 16, 0, 7, 1, 2, 3, 4]);
        let mut node = NodeHarness::<BondInput>::new(&world.setup).unwrap();
        let out = node.run(&[marker.clone()], SECOND, 0).remove(0);
        assert_eq!((out.exit.as_str(), out.tx), ("answer", SECOND));
        marker[6..12].copy_from_slice(&our_mac(SECOND));
        marker[16] = 2;
        assert_eq!(out.header, marker);
        assert_eq!(run(&world, marker, SECOND).0, "unknown-slow");
    }
}
