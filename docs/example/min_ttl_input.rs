//! Lets packets in that have not come far, by the time to live that is left (RFC 5082).
//!
//! ```text
//!  interface_input, (a feature) ─▶ min_ttl_input ┬▶ (the next feature), interface_enter
//!                                                └▶ drop
//! ```

use crate::tables::{Feature, Received, Run, Setup, Work};
use graph::{Context, Exits};
use packet::Frame;
use wire::{ethernet, ethernet::ethertype, ipv4, ipv6};

/// See the module.
pub struct MinTtlInput;

/// What an interface says to it: the least time to live that packets have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MinTtl(pub u8);

graph::exits! {
    /// Why a frame goes no further.
    pub enum Exit {
        /// RFC 5082 section 3: it has come further than the interface allows.
        TooFar => drop "If the peer is meant to be so far away, lower the port's `min_ttl`.",
    }
}

impl Feature for MinTtlInput {
    const NAME: &'static str = "min-ttl-input";
    const ABOUT: &'static str = "lets packets in that have not come far";
    // Behind access lists, before policers: feature.rs has the places of all.
    const PLACE: u8 = 25;
    type Side = Received;
    type Work = Self;
}

impl Work for MinTtlInput {
    type Setting = MinTtl;
    type Exit = Exit;

    fn new(_: &Setup) -> Self {
        Self
    }

    fn hold(
        &mut self,
        run: Run<'_, MinTtl>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        _: &mut Context<'_>,
    ) {
        for slot in run.slots {
            if time_to_live(frame.view(slot).header()).is_some_and(|ttl| ttl < run.setting.0) {
                exits.set(slot, Exit::TooFar);
            }
        }
    }
}

/// The time to live of an IP packet, or its hop limit; what else there is has none.
fn time_to_live(frame: &[u8]) -> Option<u8> {
    let packet = frame.get(ethernet::Header::LEN..)?;
    match ethernet::Header::new(frame)?.ethertype() {
        ethertype::IPV4 => Some(ipv4::Header::new(packet)?.ttl()),
        ethertype::IPV6 => Some(ipv6::Header::new(packet)?.hop_limit()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::InTurn;
    use crate::testing::{FAR, FAR6, HOST, HOST6, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    #[test]
    fn what_came_too_far_is_dropped_and_the_rest_goes_on() {
        let mut world = World::new();
        world.change_interface(0, |row| row.set::<MinTtlInput>(Some(MinTtl(254))));
        let mut node = NodeHarness::<InTurn<MinTtlInput>>::new(&world.setup).unwrap();
        let frame = || craft::ethernet([2; 6], [4; 6]);
        let ip4 = |ttl| frame().ipv4(HOST, FAR).ttl(ttl).udp(1, 2).build();
        let ip6 = |hops| frame().ipv6(HOST6, FAR6).hop_limit(hops).udp(1, 2).build();
        let out = node.run(&[ip4(254), ip4(253), ip6(255), ip6(64), vec![0; 60]], 0, 0);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["enter", "too-far", "enter", "too-far", "enter"]);
        // An interface that says nothing to it lets all in.
        assert_eq!(node.run(&[ip4(1)], 1, 0)[0].exit, "enter");
    }
}
