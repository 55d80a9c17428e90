//! Notices hosts that have a better way: their packets would leave by the interface that they came
//! by, for a neighbour of theirs (RFC 792, RFC 1812 section 5.2.7.2; RFC 4861 section 8.2). The
//! control thread tells them.
//!
//! ```text
//!  interface_input, (a feature) ─▶ redirect_input ┬▶ (the next feature), interface_enter     every frame, as it is
//!                                                 └▶ (control thread)                        punts, so many a second
//! ```
//! IPv4 packets with options are let be, as one of them may be a source route; so are flows that
//! have several next hops.

use crate::ip::better_way6::better_way6;
use crate::ip::{PacketRoutes, leaves_by};
use crate::tables::{
    BetterWay, BetterWay6, Feature, IcmpLimits, Interface, Kind, Punt, RateLimit, Received, Run,
    Setup, SlowPath, Vrfs, Work,
};
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use graph::{Context, Exits, NoExit, Published};
use packet::Frame;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::ethernet::ethertype;
use wire::{ethernet, ipv4};

/// See the module.
pub struct RedirectInput {
    vrfs: Published<Vrfs>,
    adjacencies: Arc<AdjacencyTable>,
    slow_path: SlowPath,
    allowed: Arc<IcmpLimits>,
    limit: RateLimit,
}

/// That an interface wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Redirects;

impl Feature for RedirectInput {
    const NAME: &'static str = "redirect-input";
    const ABOUT: &'static str = "notices hosts that have a better way";
    const PLACE: u8 = 50;
    type Side = Received;
    type Work = Self;
}

impl Work for RedirectInput {
    type Setting = Redirects;
    type Exit = NoExit;

    fn new(setup: &Setup) -> Self {
        let shared = &setup.shared;
        Self {
            vrfs: shared.vrfs.clone(),
            adjacencies: Arc::clone(&shared.adjacencies),
            slow_path: shared.slow_path.clone(),
            allowed: Arc::clone(&shared.icmp),
            limit: RateLimit::new(0),
        }
    }

    fn hold(
        &mut self,
        run: Run<'_, Redirects>,
        frame: &mut Frame,
        _: &mut Exits<'_, NoExit>,
        context: &mut Context<'_>,
    ) {
        self.limit.follow(self.allowed.errors_per_second.load(Ordering::Relaxed));
        let vrfs = self.vrfs.get(context);
        let Self { adjacencies, limit, slow_path, .. } = self;
        let routes = PacketRoutes::of_vrf(vrfs, run.row.vrf);
        for slot in run.slots {
            let packet = frame.view(slot);
            let bytes = packet.header();
            let punt = match better_way(bytes, run.row, run.id, routes, adjacencies) {
                Some(way) if limit.take(context.now_tsc) => Punt::BetterWay(way),
                Some(_) => continue,
                None => match better_way6(bytes, run.row, run.id, routes, adjacencies) {
                    Some(gateway) if limit.take(context.now_tsc) => {
                        let Some(way) = told6(bytes, run.id, gateway, context) else { continue };
                        Punt::BetterWay6(way)
                    }
                    Some(_) | None => continue,
                },
            };
            // What the control thread has no time for is not told: the next packet brings it again.
            if let Err(refused) = slow_path.tell(punt) {
                refused.into_packet().into_iter().for_each(|copy| context.cache.release_one(copy));
            }
        }
    }
}

/// What the control thread is told of a frame of IPv6; nothing where there is no buffer.
fn told6(
    frame: &[u8],
    interface: u16,
    gateway: u128,
    context: &mut Context<'_>,
) -> Option<BetterWay6> {
    let (link, packet) = frame.split_first_chunk::<{ ethernet::Header::LEN }>()?;
    let quoted = packet.len().min(BetterWay6::QUOTED) & !7;
    let mac = ethernet::Header::of(link).source().octets();
    let packet = context.cache.copy_of(&packet[..quoted])?;
    Some(BetterWay6 { interface, gateway, mac, packet })
}

/// The better way for the sender of a frame that an interface received, if it has one.
fn better_way(
    frame: &[u8],
    row: &Interface,
    id: u16,
    routes: PacketRoutes<'_>,
    adjacencies: &AdjacencyTable,
) -> Option<BetterWay> {
    let ethernet = ethernet::Header::new(frame).filter(|_| !row.carries_packets())?;
    if ethernet.ethertype() != ethertype::IPV4 || ethernet.destination().0 != row.mac {
        return None;
    }
    let head = frame[ethernet::Header::LEN..].first_chunk::<{ BetterWay::QUOTED }>()?;
    let header =
        ipv4::Header::new(head).filter(|header| header.header_len() == ipv4::Header::LEN)?;
    let (source, destination) = (header.source(), header.destination());
    let to = routes.to(destination);
    if leaves_by(to, adjacencies) != Some(id) {
        return None;
    }
    let gateway = match to.kind() == Kind::Rewrite as u8 {
        true => match adjacencies.entry(AdjacencyId(to.id()))?.next_hop() {
            IpAddr::V4(next_hop) => next_hop.to_bits(),
            IpAddr::V6(_) => return None,
        },
        false => destination,
    };
    let is_better = gateway != source && row.has_in_one_subnet(source, gateway);
    is_better.then_some(BetterWay { interface: id, gateway, head: *head })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::InTurn;
    use crate::testing::{FAR, GATEWAY, HOST, HOST_MAC, US, World, our_mac};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn frame(to: [u8; 6]) -> craft::Craft<craft::Ethernet> {
        craft::ethernet(HOST_MAC, to)
    }

    /// The better ways of senders whose frames came by interface 0.
    fn ways(frames: &[Vec<u8>]) -> Vec<BetterWay> {
        let mut world = World::new();
        world.change_interface(0, |row| row.set::<RedirectInput>(Some(Redirects)));
        let mut node = NodeHarness::<InTurn<RedirectInput>>::new(&world.setup).unwrap();
        let out = node.run(frames, 0, 0);
        assert!(out.iter().all(|out| out.exit == "enter"));
        let punts = world.all_punts().into_iter().map(|punt| match punt {
            Punt::BetterWay(way) => way,
            other => panic!("{other:?}"),
        });
        punts.collect()
    }

    #[test]
    fn a_neighbour_that_is_sent_back_to_its_own_link_is_noticed() {
        let neighbour = [192, 0, 2, 77];
        let packet = frame(our_mac(0)).ipv4(neighbour, HOST).udp(1, 2).build();
        let found = ways(std::slice::from_ref(&packet));
        let head = packet[14..][..28].try_into().unwrap();
        assert_eq!(found, [BetterWay { interface: 0, gateway: u32::from_be_bytes(HOST), head }]);
    }

    #[test]
    fn whoever_has_no_better_way_is_let_be() {
        let neighbour = [192, 0, 2, 77];
        let to_us = || frame(our_mac(0));
        let found = ways(&[
            // By another interface; to us; to itself; of another network; not to our station;
            // options; no IPv4.
            to_us().ipv4(neighbour, GATEWAY).udp(1, 2).build(),
            to_us().ipv4(neighbour, US).udp(1, 2).build(),
            to_us().ipv4(HOST, HOST).udp(1, 2).build(),
            to_us().ipv4(FAR, HOST).udp(1, 2).build(),
            frame([0xff; 6]).ipv4(neighbour, HOST).udp(1, 2).build(),
            to_us().ipv4(neighbour, HOST).raw_options(&[1, 1, 1, 0]).udp(1, 2).build(),
            to_us().arp_request(HOST_MAC, neighbour, HOST).build(),
            to_us().ipv4(neighbour, HOST).udp(1, 2).build()[..40].to_vec(),
        ]);
        assert_eq!(found, []);
    }

    #[test]
    fn no_more_are_told_than_errors_may_be_sent() {
        let neighbour = [192, 0, 2, 77];
        let packet = frame(our_mac(0)).ipv4(neighbour, HOST).udp(1, 2).build();
        let found = ways(&vec![packet; 200]);
        assert!(!found.is_empty() && found.len() < 200, "{}", found.len());
    }
}
