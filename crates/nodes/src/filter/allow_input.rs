//! Lets in what comes from sources that an interface allows, and nothing else.
//!
//! ```text
//!  interface_input, (a feature) ─▶ allow_input ┬▶ (the next feature), interface_enter
//!                                              └▶ drop
//! ```
//! The sources are those of listed networks, and those that a VRF has routes to. Who has no address
//! yet passes, and link-local sources do: no packet of theirs is forwarded. Tagged frames of
//! sub-interfaces are theirs to judge.

use crate::filter::{Ranges, Source, SourceLookup};
use crate::tables::{Feature, Kind, Received, Run, Setup, VrfId, Vrfs, Work};
use fib::Forward;
use graph::{Context, Exits, Published};
use packet::Frame;

/// See the module.
pub struct AllowInput {
    vrfs: Published<Vrfs>,
    ip4: SourceLookup<u32>,
    ip6: SourceLookup<u128>,
}

/// Who may come in by an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allowed {
    /// Hosts of IPv4.
    pub ip4: Ranges<u32>,
    /// Hosts of IPv6.
    pub ip6: Ranges<u128>,
    /// And those of either family that this VRF has routes to, its default one counted.
    pub vrf: Option<VrfId>,
    /// What is no IP packet passes, ARP with it.
    pub non_ip: bool,
}

graph::exits! {
    /// Why a frame goes no further.
    pub enum Exit {
        /// The interface does not allow its source.
        NotAllowed => drop "Add its network to the port's `allow`, if it may send here: `volley \
            show ports`, `volley config show`.",
        /// It is no IP packet, and the interface wants none such.
        NotIp => drop "Nothing, or set `non_ip` in the port's `allow` where other protocols are \
            wanted.",
        /// It says that it is IP, and has no header.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
    }
}

impl Feature for AllowInput {
    const NAME: &'static str = "allow-input";
    const ABOUT: &'static str = "lets allowed sources in";
    const PLACE: u8 = 10;
    type Side = Received;
    type Work = Self;
}

impl Work for AllowInput {
    type Setting = Allowed;
    type Exit = Exit;

    fn new(setup: &Setup) -> Self {
        Self { vrfs: setup.shared.vrfs.clone(), ip4: SourceLookup::new(), ip6: SourceLookup::new() }
    }

    fn hold(
        &mut self,
        run: Run<'_, Allowed>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let vrfs = self.vrfs.get(context);
        let Self { ip4, ip6, .. } = self;
        let allowed = run.setting;
        ip4.clear();
        ip6.clear();
        for slot in run.slots {
            match Source::of(frame.view(slot).header(), run.row.carries_packets()) {
                Source::Ip4(source) if !allowed.ip4.contains(source) => ip4.ask(slot, source),
                Source::Ip6(source) if !allowed.ip6.contains(source) => ip6.ask(slot, source),
                Source::NotIp if !allowed.non_ip => exits.set(slot, Exit::NotIp),
                Source::Truncated => exits.set(slot, Exit::Truncated),
                _ => {}
            }
        }
        let Some(vrf) = allowed.vrf else {
            ip4.slots().chain(ip6.slots()).for_each(|slot| exits.set(slot, Exit::NotAllowed));
            return;
        };
        let mut judge = |slot, to| {
            if !leads_somewhere(to) {
                exits.set(slot, Exit::NotAllowed);
            }
        };
        ip4.answer((vrfs, vrf, true), &mut judge);
        ip6.answer((vrfs, vrf, true), judge);
    }
}

fn leads_somewhere(to: Forward) -> bool {
    [Kind::Rewrite, Kind::Glean, Kind::Group].iter().any(|kind| to.kind() == *kind as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::InTurn;
    use crate::testing::{FAR, FAR6, HOST, HOST_MAC, HOST6, LINK_HOST, US, World, our_mac};
    use graph::harness::NodeHarness;
    use wire::craft::{self, Craft, Ethernet};

    const OTHER: [u8; 4] = [172, 16, 0, 1];

    fn frame() -> Craft<Ethernet> {
        craft::ethernet(HOST_MAC, our_mac(0))
    }

    /// HOST, HOST6, OTHER, FAR6, and what is let in for other reasons.
    fn frames() -> Vec<Vec<u8>> {
        vec![
            frame().ipv4(HOST, FAR).udp(1, 2).build(),
            frame().ipv6(HOST6, FAR6).udp(1, 2).build(),
            frame().ipv4(OTHER, FAR).udp(1, 2).build(),
            frame().ipv6("3fff::1".parse::<std::net::Ipv6Addr>().unwrap(), FAR6).udp(1, 2).build(),
            frame().ipv6(LINK_HOST, FAR6).udp(1, 2).build(),
            frame().ipv4([0; 4], [255; 4]).udp(68, 67).build(),
            frame().arp_request(HOST_MAC, HOST, US).build(),
        ]
    }

    fn exits(allowed: Allowed, frames: &[Vec<u8>]) -> Vec<String> {
        let mut world = World::new();
        world.change_interface(0, |row| row.set::<AllowInput>(Some(allowed.clone())));
        let mut node = NodeHarness::<InTurn<AllowInput>>::new(&world.setup).unwrap();
        node.run(frames, 0, 0).into_iter().map(|out| out.exit).collect()
    }

    fn nobody() -> Allowed {
        Allowed { ip4: Ranges::of([]), ip6: Ranges::of([]), vrf: None, non_ip: true }
    }

    #[test]
    fn listed_networks_come_in_and_no_others() {
        let (enter, not) = ("enter", "not-allowed");
        let nobody = nobody();
        assert_eq!(exits(nobody.clone(), &frames()), [not, not, not, not, enter, enter, enter]);
        let other = Ranges::of(["172.16.0.0/12".parse().unwrap()]);
        let six = Ranges::of(["3fff::/20".parse().unwrap()]);
        let found = exits(Allowed { ip4: other, ip6: six, ..nobody }, &frames());
        assert_eq!(found, [not, not, enter, enter, enter, enter, enter]);
    }

    #[test]
    fn sources_that_a_vrf_has_routes_to_come_in() {
        let (enter, not) = ("enter", "not-allowed");
        let found = exits(Allowed { vrf: Some(VrfId::DEFAULT), ..nobody() }, &frames());
        assert_eq!(found, [enter, enter, not, not, enter, enter, enter]);
        let found = exits(Allowed { vrf: Some(VrfId(77)), ..nobody() }, &frames()[..2]);
        assert_eq!(found, [not, not], "there is no such VRF");
    }

    #[test]
    fn what_is_no_ip_is_wanted_or_not() {
        let arp = frames().split_off(6);
        assert_eq!(exits(Allowed { non_ip: false, ..nobody() }, &arp), ["not-ip"]);
        let cut = frame().ipv4(HOST, FAR).udp(1, 2).build()[..20].to_vec();
        assert_eq!(exits(nobody(), &[cut]), ["truncated"]);
    }
}
