//! Neighbour discovery (RFC 4861): answers questions for our addresses, and tells the control
//! thread who is where and who looks for routers.
//!
//! ```text
//!  icmp6_input ─▶ nd_input ┬▶ interface_output   the answer, in the question's buffer
//!                          ├▶ (control thread)   punts of neighbours, so many a second
//!                          ├▶ twin_output        advertisements, which the kernel may have asked for
//!                          └▶ drop
//! ```
//! Questions for tentative addresses are not answered (RFC 4862 section 5.4.3): the control thread
//! hears of them, and of whoever advertises an address of ours. Redirects are for hosts.

use crate::ip::{PacketRoutes, is_on_link};
use crate::local::{
    NdAnswer,
    ip6_local::{strip_extensions, upper_layer},
    proxy_nd::Proxy,
    twin_output,
};
use crate::tables::{
    Interface, Interfaces, Lane, MOST_INTERFACES, NdHeard, NdSaid, Punt, RateLimits, RouterWanted,
    Setup, SlowPath, Vrfs,
};
use fib::adjacency::AdjacencyTable;
use fib::ecmp::EcmpTable;
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::Ipv6Addr;
use std::sync::Arc;
use wire::icmp6::message;
use wire::nd::{self, flag, option};
use wire::{MacAddr, ethernet, ipv6};

/// Answers, and likewise other punts, a second, interface and worker: more than a healthy link has
/// to tell, and than we ask for, less than the control thread can hear.
const PUNTS_PER_SECOND: u32 = 2_000;

/// See the module.
pub struct NdInput {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    adjacencies: Arc<AdjacencyTable>,
    groups: Arc<EcmpTable>,
    slow_path: SlowPath,
    /// Apart: a flood of questions keeps nobody from answering ours.
    answers: RateLimits,
    others: RateLimits,
}

graph::exits! {
    /// What becomes of a message that is not punted alone.
    pub enum Exit {
        /// The answer to a question for one of our addresses.
        Advertise => node "interface-output",
        /// RFC 4389: the answer to a question for an address that we stand in for.
        Proxied => node "interface-output",
        /// Punts, and the interface has a twin: the kernel may have asked.
        Twin => node "twin-output" cause twin_output::PACKET,
        /// RFC 4861 section 7.1: a hop limit below 255: it is not from this link.
        NotFromLink => drop "Nothing: it claims to be from this link and is not. Capture some to \
            see who sends it.",
        /// RFC 4861 sections 6.1 and 7.1: a length, code, target or option that must not be.
        Malformed => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// The sender's MAC is not one station's, or it is our own.
        BadSenderMac => drop "If it is our MAC: there is a loop, or another router has the same. \
            Else the sender is broken.",
        /// The sender's address, or the one it tells of, is not on the link.
        OffLinkAddress => drop "The host is in another subnet than the port: compare its address \
            with `volley show ports`.",
        /// A question for an address that is not ours.
        NotForUs => drop "Nothing: hosts on the link ask for each other.",
        /// RFC 4861 section 6.2.7: another router's advertisement teaches a router nothing.
        RouterAdvertisement => drop "Nothing, if another router is meant to be there; a `twin` \
            takes them to the kernel, where FRR wants them.",
        /// RFC 4861 section 8.2: a router does not follow redirects.
        Redirect => drop "Nothing: routes come from the configuration or a routing protocol \
            alone.",
        /// More than the control thread takes.
        SlowPathFull => drop "Somebody floods neighbour discovery: `volley show neighbor-shares` \
            tells behind which port; neighbours in use stay known.",
    }
}

impl Node for NdInput {
    const NAME: &'static str = "nd-input";
    const ABOUT: &'static str = "answers neighbour solicitations and learns from neighbours";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            vrfs: setup.shared.vrfs.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            groups: Arc::clone(&setup.shared.groups),
            slow_path: setup.shared.slow_path.clone(),
            answers: RateLimits::new(MOST_INTERFACES, PUNTS_PER_SECOND),
            others: RateLimits::new(MOST_INTERFACES, PUNTS_PER_SECOND),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let (interfaces, vrfs) = (self.interfaces.get(context), self.vrfs.get(context));
        exits.each(frame, |packet| {
            let heard = interfaces.get(packet.rx()).ok_or(Exit::NotForUs);
            let routes = PacketRoutes::new(vrfs, interfaces, packet.rx());
            let now_tsc = context.now_tsc;
            match heard.and_then(|interface| self.hear(packet, interface, routes, now_tsc)) {
                Ok(()) if interfaces.has_twin(packet.rx()) => Exit::Twin.into(),
                Ok(()) => {
                    packet.release(context.cache);
                    ExitIndex::TAKEN
                }
                // A routing protocol beside us finds its neighbours by them.
                Err(Exit::RouterAdvertisement) if interfaces.has_twin(packet.rx()) => {
                    Exit::Twin.into()
                }
                Err(exit) => exit.into(),
            }
        });
    }
}

/// RFC 4861 section 6.1.2: what every advertisement of a router has.
const ADVERTISEMENT_BYTES: usize = 16;

/// What becomes of a router's advertisement.
fn advertised_by_router(heard: &Heard<'_>, code: u8) -> Exit {
    let is_whole = code == 0 && heard.bytes.len() >= ADVERTISEMENT_BYTES;
    match is_whole && ipv6::is_link_local(heard.source) {
        true => Exit::RouterAdvertisement,
        false => Exit::Malformed,
    }
}

/// A message as it was read, its sender's frame included.
struct Heard<'a> {
    source: u128,
    to_group: bool,
    bytes: &'a [u8],
    frame_mac: MacAddr,
}

impl NdInput {
    /// Ok if the message was punted, and no more is to be done.
    fn hear(
        &mut self,
        packet: &mut PacketView<'_>,
        interface: &Interface,
        routes: PacketRoutes<'_>,
        now_tsc: u64,
    ) -> Result<(), Exit> {
        let (header, bytes) = upper_layer(packet).ok_or(Exit::Malformed)?;
        if header.hop_limit() != nd::HOP_LIMIT {
            return Err(Exit::NotFromLink);
        }
        // A tag that was taken off may stand in front of it.
        let link = ethernet::Header::of(packet.consumed_last().ok_or(Exit::Malformed)?);
        let heard = Heard {
            source: header.source(),
            to_group: ipv6::is_multicast(header.destination()),
            bytes,
            frame_mac: link.source(),
        };
        if !heard.frame_mac.is_unicast() || heard.frame_mac.octets() == interface.mac {
            return Err(Exit::BadSenderMac);
        }
        let said = match bytes.first_chunk::<2>() {
            Some(&[message::NEIGHBOR_SOLICITATION, 0]) => solicited(&heard, header.destination()),
            Some(&[message::NEIGHBOR_ADVERTISEMENT, 0]) => advertised(&heard),
            Some(&[message::ROUTER_SOLICITATION, 0]) => router_wanted(&heard),
            Some(&[message::ROUTER_ADVERTISEMENT, code]) => Err(advertised_by_router(&heard, code)),
            Some(&[message::REDIRECT, _]) => Err(Exit::Redirect),
            _ => Err(Exit::Malformed),
        };
        let (said, mac) = said?;
        if mac.is_some_and(|mac| !mac.is_unicast() || mac.octets() == interface.mac) {
            return Err(Exit::BadSenderMac);
        }
        let (source, frame_mac) = (heard.source, heard.frame_mac);
        let (rx, adjacencies) = (packet.rx(), &self.adjacencies);
        let is_routed_here = |address: u128| {
            is_on_link(routes.to(address), Ipv6Addr::from(address).into(), rx, adjacencies)
        };
        let on_link = |address| {
            ipv6::is_link_local(address)
                || interface.reaches_ip6(address)
                || is_routed_here(address)
        };
        // As long as our own address is tentative, so is whether its subnet is on the link.
        let is_claim = match said {
            Some(NdSaid::Advertised { target, .. }) => interface.claims_ip6(target),
            Some(NdSaid::Solicited { .. }) | None => false,
        };
        if source != 0 && !on_link(source) && !is_claim {
            return Err(Exit::OffLinkAddress);
        }
        let proxy = Proxy { adjacencies, groups: &self.groups, routes };
        let stands_in = match said {
            Some(NdSaid::Solicited { target }) => {
                proxy.stands_in(rx, interface, target, source == 0)
            }
            Some(NdSaid::Advertised { .. }) | None => false,
        };
        let asked = match said {
            Some(NdSaid::Solicited { target }) if stands_in => Some(target),
            Some(NdSaid::Solicited { target }) if !interface.claims_ip6(target) => {
                return Err(Exit::NotForUs);
            }
            Some(NdSaid::Solicited { target }) => {
                Some(target).filter(|&own| interface.has_ip6(own))
            }
            Some(NdSaid::Advertised { target, .. }) if !on_link(target) && !is_claim => {
                return Err(Exit::OffLinkAddress);
            }
            Some(NdSaid::Advertised { .. }) | None => None,
        };
        // Who looks whether an address of ours is free learns that it is not, and teaches nothing.
        let told = if asked.is_some() && source == 0 {
            Ok(())
        } else {
            // One who looks whether an address is free tells no MAC but that of its frame.
            let mac = mac.or((source == 0).then_some(frame_mac)).map(MacAddr::octets);
            let interface = packet.rx();
            let punt = match said {
                Some(said) => Punt::Nd(NdHeard { interface, source, mac, said }),
                None => Punt::RouterWanted(RouterWanted { interface, source, mac }),
            };
            self.tell(punt, interface, now_tsc)
        };
        match asked {
            Some(own) => {
                let from = if stands_in { stand_in_address(interface, source) } else { Some(own) };
                let Some(from) = from else { return Err(Exit::NotForUs) };
                strip_extensions(packet);
                let answer = NdAnswer {
                    address: own,
                    source: from,
                    mac: MacAddr(interface.mac),
                    // RFC 4861 section 7.2.8: its owner's own answer replaces this one.
                    flags: if stands_in { 0 } else { flag::ROUTER | flag::OVERRIDE },
                    asker: source,
                    asker_mac: mac.unwrap_or(frame_mac),
                };
                answer.write(packet);
                Err(if stands_in { Exit::Proxied } else { Exit::Advertise })
            }
            None => told,
        }
    }

    fn tell(&mut self, punt: Punt, interface: u16, now_tsc: u64) -> Result<(), Exit> {
        let Self { answers, others, .. } = self;
        let limits = if punt.lane() == Lane::Answers { answers } else { others };
        let allowed = limits.take(interface.into(), now_tsc);
        let told = allowed && self.slow_path.tell(punt).is_ok();
        if told { Ok(()) } else { Err(Exit::SlowPathFull) }
    }
}

/// The address of ours that answers in another's name: link-local, where all are told.
fn stand_in_address(interface: &Interface, asker: u128) -> Option<u128> {
    let near = || interface.ip6.iter().find(|(own, _)| ipv6::is_link_local(*own));
    match asker {
        0 => near().map(|&(own, _)| own),
        asker => interface.ip6_towards(asker),
    }
}

/// What was said of whom, or that routers are wanted; and the MAC that it tells of.
type Said = Result<(Option<NdSaid>, Option<MacAddr>), Exit>;

/// RFC 4861 section 7.1.1.
fn solicited(heard: &Heard<'_>, destination: u128) -> Said {
    let (target, mac) = target_and_mac(heard, option::SOURCE_LINK_ADDRESS)?;
    let from_nobody = heard.source == 0;
    if from_nobody && (mac.is_some() || destination != ipv6::solicited_node(target)) {
        return Err(Exit::Malformed);
    }
    Ok((Some(NdSaid::Solicited { target }), mac))
}

/// RFC 4861 section 7.1.2.
fn advertised(heard: &Heard<'_>) -> Said {
    let (target, mac) = target_and_mac(heard, option::TARGET_LINK_ADDRESS)?;
    let flags = nd::Neighbor::new(heard.bytes).map_or(0, |message| message.flags());
    let is = |bit: u8| flags & bit != 0;
    let (solicited, overrides) = (is(flag::SOLICITED), is(flag::OVERRIDE));
    if heard.source == 0 || solicited && heard.to_group {
        return Err(Exit::Malformed);
    }
    Ok((Some(NdSaid::Advertised { target, solicited, overrides }), mac))
}

/// RFC 4861 section 6.1.1.
fn router_wanted(heard: &Heard<'_>) -> Said {
    let options = heard.bytes.get(nd::ROUTER_SOLICITATION_LEN..).ok_or(Exit::Malformed)?;
    let mac = link_address(options, option::SOURCE_LINK_ADDRESS)?;
    if heard.source == 0 && mac.is_some() {
        return Err(Exit::Malformed);
    }
    Ok((None, mac))
}

/// The target of a neighbour message, and the MAC in its option of this kind.
fn target_and_mac(heard: &Heard<'_>, kind: u8) -> Result<(u128, Option<MacAddr>), Exit> {
    let message = nd::Neighbor::new(heard.bytes).ok_or(Exit::Malformed)?;
    let options = heard.bytes.get(nd::Neighbor::LEN..).ok_or(Exit::Malformed)?;
    if ipv6::is_multicast(message.target()) {
        return Err(Exit::Malformed);
    }
    Ok((message.target(), link_address(options, kind)?))
}

fn link_address(options: &[u8], kind: u8) -> Result<Option<MacAddr>, Exit> {
    nd::link_address(options, kind).map_err(|_| Exit::Malformed)
}

#[cfg(test)]
mod tests;
