//! Hears who asks which groups of IPv6 are listened to (RFC 3810 section 5.1), and tells the
//! control thread, which answers.
//!
//! ```text
//!  icmp6_input ─▶ mld_input ┬▶ (control thread)   a question, so many a second
//!                           └▶ drop
//! ```
//! Switches that watch these answers pass on what is sent to our solicited-node groups: without
//! them nobody behind such a switch finds our addresses.

use crate::local::ip6_local::upper_layer;
use crate::tables::{ListenersWanted, Punt, RateLimit, Setup, SlowPath};
use graph::{Context, ExitIndex, Exits, Node};
use packet::{Frame, PacketView};
use wire::{icmp6, ipv6, mld};

/// Questions told a second and worker: a link has one asker, which asks once in two minutes.
const PUNTS_PER_SECOND: u32 = 100;

/// Octets of a question of the second version, at least; a longest delay is one of the first
/// version's, too.
const LEAST_BYTES: usize = 24;

/// See the module.
pub struct MldInput {
    slow_path: SlowPath,
    limit: RateLimit,
}

graph::exits! {
    /// What becomes of a question that is not told.
    pub enum Exit {
        /// RFC 3810 section 5.1.14: it does not come from this link, by source or hop limit.
        NotFromLink => drop "Nothing: it claims to be from this link and is not. Capture some to \
            see who sends it.",
        /// Shorter than a question.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// More than the control thread takes.
        SlowPathFull => drop "Somebody floods multicast questions on the link: capture some.",
    }
}

impl Node for MldInput {
    const NAME: &'static str = "mld-input";
    const ABOUT: &'static str = "hears who asks for listeners of groups";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let slow_path = setup.shared.slow_path.clone();
        Self { slow_path, limit: RateLimit::new(PUNTS_PER_SECOND) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        exits.each(frame, |packet| match self.hear(packet, context.now_tsc) {
            Ok(()) => {
                packet.release(context.cache);
                ExitIndex::TAKEN
            }
            Err(exit) => exit.into(),
        });
    }
}

impl MldInput {
    fn hear(&mut self, packet: &PacketView<'_>, now_tsc: u64) -> Result<(), Exit> {
        let (header, bytes) = upper_layer(packet).ok_or(Exit::Truncated)?;
        if header.hop_limit() != 1 || !ipv6::is_link_local(header.source()) {
            return Err(Exit::NotFromLink);
        }
        let question = icmp6::Header::new(bytes).filter(|_| bytes.len() >= LEAST_BYTES);
        let within_ms = mld::time_ms((question.ok_or(Exit::Truncated)?.rest() >> 16) as u16);
        let wanted = ListenersWanted { interface: packet.rx(), within_ms };
        let punt = Punt::ListenersWanted(wanted);
        let told = self.limit.take(now_tsc) && self.slow_path.tell(punt).is_ok();
        if told { Ok(()) } else { Err(Exit::SlowPathFull) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{HOST_MAC, HOST6, LINK_HOST, QUEUE, World};
    use graph::harness::NodeHarness;
    use std::net::Ipv6Addr;
    use wire::craft;
    use wire::icmp6::message::MLD_QUERY;

    fn query(source: Ipv6Addr, hop_limit: u8, delay: [u8; 2], rest: usize) -> Vec<u8> {
        let to_all = craft::ethernet(HOST_MAC, [0x33, 0x33, 0, 0, 0, 1]);
        let packet = to_all.ipv6(source, Ipv6Addr::from(ipv6::ALL_NODES)).hop_limit(hop_limit);
        packet.icmp6(MLD_QUERY, 0, [delay[0], delay[1], 0, 0]).payload_len(rest).build()
    }

    fn run(world: &World, frames: &[Vec<u8>]) -> Vec<String> {
        let mut node = NodeHarness::<MldInput>::new(&world.setup).unwrap();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(40);
        node.run_prepared(frames, 0, 14, by).into_iter().map(|out| out.exit).collect()
    }

    #[test]
    fn a_question_is_told_with_the_time_that_there_is_to_answer() {
        for (delay, ms) in [([0x03, 0xe8], 1000), ([0x80, 0], 0x8000), ([0xff, 0xff], 8_387_584)] {
            let world = World::new();
            assert_eq!(run(&world, &[query(LINK_HOST, 1, delay, 20)]), ["taken"]);
            let told = world.all_punts();
            assert!(
                matches!(told[..], [Punt::ListenersWanted(ListenersWanted { interface: 0, within_ms })] if within_ms == ms),
                "{told:?}"
            );
        }
    }

    #[test]
    fn what_is_not_from_the_link_or_too_short_is_dropped() {
        let world = World::new();
        let frames = [
            query(HOST6, 1, [0, 1], 20),
            query(LINK_HOST, 2, [0, 1], 20),
            query(LINK_HOST, 1, [0, 1], 15),
        ];
        assert_eq!(run(&world, &frames), ["not-from-link", "not-from-link", "truncated"]);
        assert!(world.all_punts().is_empty());
    }

    #[test]
    fn a_flood_of_questions_is_dropped() {
        let frames = vec![query(LINK_HOST, 1, [0, 1], 20); QUEUE + 1];
        assert_eq!(run(&World::new(), &frames)[QUEUE - 1..], ["taken", "slow-path-full"]);
    }
}
