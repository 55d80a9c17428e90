//! Answers neighbour solicitations in a bridge for stations whose addresses are known, so that they
//! are not flooded; and learns addresses from the advertisements that pass (RFC 9161 section 3.2).
//!
//! ```text
//!  l2_forward ─▶ l2_nd ┬▶ interface_output   the answer; or ND between stations that are known
//!                      └▶ l2_flood           nobody knows, or it is not ours to answer
//! ```
//! Only where the bridge says so. A binding that is configured counts at once; one that was heard,
//! while its station is known to the bridge: it ages with it. A solicitation teaches
//! nothing: it does not say whether who asks is a router, and
//! a router that is advertised as a host is given up by all (RFC 4861 section 7.2.5). One from no
//! address looks for others that have the address (RFC 4862 section 5.4): its owner alone knows, so
//! it is flooded.

use crate::l2::{Suppression, l2_arp::ASKING};
use crate::local::NdAnswer;
use crate::tables::{BindingHeard, Bound, Interfaces, Setup, bridge_port};
use graph::{Context, Exits, Node, Published};
use packet::Frame;
use std::net::{IpAddr, Ipv6Addr};
use wire::icmp6::{self, message};
use wire::ip::protocol;
use wire::nd::{self, flag, option};
use wire::{MacAddr, ethernet, ethernet::ethertype, ipv6};

/// See the module.
pub struct L2Nd {
    interfaces: Published<Interfaces>,
    suppression: Suppression,
}

graph::exits! {
    /// What becomes of neighbour discovery in a bridge.
    pub enum Exit {
        /// The answer, back to who asked.
        Answer => node "interface-output",
        /// To the port of its destination.
        Output => node "interface-output",
        /// To all that may want it.
        Flood => node "l2-flood",
    }
}

impl Node for L2Nd {
    const NAME: &'static str = "l2-nd";
    const ABOUT: &'static str = "answers neighbour solicitations for the stations of bridges";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, suppression: Suppression::new(setup) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut heeded = self.suppression.heed(context);
        exits.each(frame, |packet| {
            let asking = packet.cause() == ASKING;
            let onward = if asking { Exit::Flood } else { Exit::Output };
            let Some(port) = bridge_port(interfaces, packet.rx()) else { return onward };
            match hear(packet.header()) {
                Some(Heard::Advertised { target, bound }) => {
                    let (bridge, address) = (port.bridge, ip(target));
                    // RFC 4861 section 7.2.5: without the flag it replaces nothing.
                    let known = heeded.bound(bridge, address);
                    if bound.flags & flag::OVERRIDE != 0
                        || known.is_none_or(|known| known.mac == bound.mac)
                    {
                        heeded.tell(BindingHeard { bridge, address, bound });
                    }
                    onward
                }
                Some(Heard::Asked { target, asker, asker_mac }) if asking => {
                    let answers = heeded.elsewhere(port.bridge, ip(target), packet.rx());
                    let Some(Bound { mac, flags, .. }) = answers else { return onward };
                    packet.advance(ethernet::Header::LEN);
                    let mac = MacAddr(mac);
                    NdAnswer { address: target, source: target, mac, flags, asker, asker_mac }
                        .write(packet);
                    Exit::Answer
                }
                _ => onward,
            }
        });
    }
}

/// True of whole frames with a solicitation or an advertisement, without tags and extension
/// headers.
pub(crate) fn is_nd(frame: &[u8]) -> bool {
    const NEXT_HEADER: usize = ethernet::Header::LEN + 6;
    const MESSAGE: usize = ethernet::Header::LEN + ipv6::Header::LEN;
    let Some(head) = frame.first_chunk::<{ MESSAGE + 1 }>() else { return false };
    let is_ip6 = [head[12], head[13]] == ethertype::IPV6.to_be_bytes();
    let messages = [message::NEIGHBOR_SOLICITATION, message::NEIGHBOR_ADVERTISEMENT];
    is_ip6 && head[NEXT_HEADER] == protocol::ICMP6 && messages.contains(&head[MESSAGE])
}

/// What a message says that is as it must be and that its own sender sent.
enum Heard {
    /// A station has an address.
    Advertised { target: u128, bound: Bound },
    /// Somebody who has an address asks all for another.
    Asked { target: u128, asker: u128, asker_mac: MacAddr },
}

/// RFC 4861 section 7.1: what is not valid is nothing to us.
fn hear(frame: &[u8]) -> Option<Heard> {
    let link = ethernet::Header::new(frame).filter(|_| is_nd(frame))?;
    let header = ipv6::Header::new(&frame[ethernet::Header::LEN..])?;
    let begin = ethernet::Header::LEN + ipv6::Header::LEN;
    let bytes = frame.get(begin..begin + usize::from(header.payload_len()))?;
    let (source, destination) = (header.source(), header.destination());
    icmp6::Header::parse(bytes, source, destination).ok().filter(|it| it.code() == 0)?;
    let message = nd::Neighbor::new(bytes)?;
    let target = message.target();
    let from_host = source != 0 && !ipv6::is_multicast(source) && link.source().is_unicast();
    let is_host = target != 0 && !ipv6::is_multicast(target);
    if header.hop_limit() != nd::HOP_LIMIT || !from_host || !is_host {
        return None;
    }
    let asks = message.message_type() == message::NEIGHBOR_SOLICITATION;
    let kind = if asks { option::SOURCE_LINK_ADDRESS } else { option::TARGET_LINK_ADDRESS };
    let told = nd::link_address(&bytes[nd::Neighbor::LEN..], kind).ok()?;
    if told.is_some_and(|mac| mac != link.source()) {
        return None;
    }
    if asks {
        let to_group = destination == ipv6::solicited_node(target);
        let heard = Heard::Asked { target, asker: source, asker_mac: link.source() };
        return (to_group && source != target).then_some(heard);
    }
    if message.flags() & flag::SOLICITED != 0 && ipv6::is_multicast(destination) {
        return None;
    }
    let flags = message.flags() & (flag::ROUTER | flag::OVERRIDE);
    let bound = Bound { mac: link.source().octets(), flags, is_fixed: false };
    Some(Heard::Advertised { target, bound })
}

fn ip(address: u128) -> IpAddr {
    Ipv6Addr::from(address).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l2::l2_arp::PASSING;
    use crate::tables::{BridgeId, Punt};
    use crate::testing::{BRIDGE, HOST_MAC, World};
    use fib::mac::MacKey;
    use graph::harness::{NodeHarness, Outcome};
    use wire::craft::{self, Craft, Icmp6};

    const OTHER_MAC: [u8; 6] = [0x0a, 0, 0, 0, 0, 9];
    const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
    const OTHER: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
    const BOTH: u8 = flag::ROUTER | flag::OVERRIDE;

    /// A world where OTHER, a router, is behind port 7, and known or not.
    fn world(known: bool) -> World {
        let mut world = World::new();
        let table = &world.setup.shared.stations.table;
        if known {
            table.insert_static(MacKey::new(BRIDGE, OTHER_MAC), 7).unwrap();
        }
        let bound = Bound { mac: OTHER_MAC, flags: BOTH, is_fixed: false };
        world.bindings.set([((BridgeId(BRIDGE), OTHER.into()), bound)].into_iter().collect());
        world
    }

    fn run(world: &World, frame: &[u8], rx: u16, cause: u16) -> Outcome {
        let mut node = NodeHarness::<L2Nd>::new(&world.setup).unwrap();
        let by = |frame: &mut Frame| frame.fill_cause(0, cause);
        node.run_prepared(&[frame.to_vec()], rx, 0, by).remove(0)
    }

    fn group_of(target: Ipv6Addr) -> Ipv6Addr {
        ipv6::solicited_node(target.into()).into()
    }

    fn question(source: Ipv6Addr, target: Ipv6Addr) -> Craft<Icmp6> {
        let link = craft::ethernet(HOST_MAC, [0x33, 0x33, 0xff, 0, 0, 2]);
        link.ipv6(source, group_of(target)).neighbor_solicitation(target.into(), HOST_MAC)
    }

    fn advertisement(mac: [u8; 6], target: Ipv6Addr, flags: u8) -> Craft<Icmp6> {
        let link = craft::ethernet(mac, [0x33, 0x33, 0, 0, 0, 1]).ipv6(target, ipv6::ALL_NODES);
        link.neighbor_advertisement(target.into(), mac, flags)
    }

    /// What an advertisement teaches in a world where OTHER is known.
    fn punt(frame: &[u8], cause: u16) -> Vec<(IpAddr, Bound)> {
        let world = world(true);
        run(&world, frame, 6, cause);
        let told = world.all_punts().into_iter().map(|punt| match punt {
            Punt::Binding(punt) => (punt.address, punt.bound),
            other => panic!("{other:?}"),
        });
        told.collect()
    }

    #[test]
    fn a_question_for_a_known_station_is_answered_where_it_came_in() {
        let out = run(&world(true), &question(HOST, OTHER).build(), 6, ASKING);
        let answer = craft::ethernet(OTHER_MAC, HOST_MAC).ipv6(OTHER, HOST);
        let flags = BOTH | flag::SOLICITED;
        let answer = answer.neighbor_advertisement(OTHER.into(), OTHER_MAC, flags).build();
        assert_eq!((out.exit.as_str(), out.tx, out.header), ("answer", 6, answer));
        // RFC 4861 section 7.1.1: without an option it is a question, too.
        let link = craft::ethernet(HOST_MAC, [0x33, 0x33, 0xff, 0, 0, 2]);
        let bare = link.ipv6(HOST, group_of(OTHER)).neighbor(135, OTHER.into(), 0).build();
        assert_eq!(run(&world(true), &bare, 6, ASKING).exit, "answer");
    }

    #[test]
    fn others_are_flooded_or_pass() {
        let nobody = Ipv6Addr::UNSPECIFIED;
        let link = || craft::ethernet(HOST_MAC, [0x33, 0x33, 0xff, 0, 0, 2]);
        let probe = link().ipv6(nobody, group_of(OTHER)).neighbor(135, OTHER.into(), 0).build();
        let asked = question(HOST, OTHER).build();
        let mut spoiled = asked.clone();
        spoiled[60] ^= 1;
        let mut far = asked.clone();
        far[21] = 64;
        let lie = link().ipv6(HOST, group_of(OTHER)).neighbor_solicitation(OTHER.into(), [6; 6]);
        for (known, frame, rx, cause, exit) in [
            (true, probe, 6, ASKING, "flood"),
            (false, asked.clone(), 6, ASKING, "flood"),
            (true, question(OTHER, HOST).build(), 6, ASKING, "flood"),
            (true, question(OTHER, OTHER).build(), 6, ASKING, "flood"),
            (true, asked.clone(), 7, ASKING, "flood"),
            (true, asked.clone(), 0, ASKING, "flood"),
            (true, asked.clone(), 6, PASSING, "output"),
            (true, asked[..70].to_vec(), 6, ASKING, "flood"),
            (true, spoiled, 6, ASKING, "flood"),
            (true, far, 6, ASKING, "flood"),
            (true, lie.build(), 6, ASKING, "flood"),
            (true, advertisement(OTHER_MAC, OTHER, BOTH).build(), 7, ASKING, "flood"),
        ] {
            let out = run(&world(known), &frame, rx, cause);
            assert_eq!((out.exit.as_str(), &out.header), (exit, &frame));
        }
    }

    #[test]
    fn advertisements_teach_what_is_new_and_solicitations_nothing() {
        let host = |flags| vec![(HOST.into(), Bound { mac: HOST_MAC, flags, is_fixed: false })];
        let told = |mac, target, flags| punt(&advertisement(mac, target, flags).build(), PASSING);
        assert_eq!(told(HOST_MAC, HOST, flag::OVERRIDE), host(flag::OVERRIDE));
        assert_eq!(told(HOST_MAC, HOST, flag::ROUTER), host(flag::ROUTER));
        assert_eq!(told(OTHER_MAC, OTHER, BOTH), []);
        let now = Bound { mac: OTHER_MAC, flags: flag::OVERRIDE, is_fixed: false };
        let host_now = (OTHER.into(), now);
        assert_eq!(told(OTHER_MAC, OTHER, flag::OVERRIDE), [host_now]);
        assert_eq!(punt(&question(HOST, OTHER).build(), ASKING), []);
        // RFC 4861 section 7.1.2: what is solicited is not sent to a group.
        assert_eq!(told(HOST_MAC, HOST, flag::SOLICITED), []);
    }

    #[test]
    fn another_station_replaces_a_binding_only_where_it_says_so() {
        let told = |flags| punt(&advertisement(HOST_MAC, OTHER, flags).build(), ASKING).len();
        assert_eq!((told(flag::ROUTER), told(BOTH)), (0, 1));
    }
}
