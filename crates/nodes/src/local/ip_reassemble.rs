//! Hands pieces of packets to ourselves to the control thread, which puts them together.
//!
//! ```text
//!  ip4_local, ip6_local ─▶ ip_reassemble ┬▶ control thread ─▶ inject ─▶ ip4_local, ip6_local    whole packets
//!                                        ├▶ icmp6_error
//!                                        └▶ drop
//! ```
//! One node for both families. There rather than here, because the pieces of one packet may come to
//! several workers.

use crate::local::icmp_cause;
use crate::tables::{Interfaces, PieceCame, Punt, RateLimit, Setup, SlowPath};
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use reassembly::{Fault, Piece};
use wire::icmp6::{message, parameter_problem};
use wire::{ip, ipv6};

/// Pieces told a second and worker: some 400 of the longest packets. What else the control thread
/// is told must not wait for a flood of them.
const PIECES_PER_SECOND: u32 = 20_000;

/// See the module.
pub struct IpReassemble {
    interfaces: Published<Interfaces>,
    slow_path: SlowPath,
    limit: RateLimit,
}

graph::exits! {
    /// What becomes of a piece that is not held.
    pub enum Exit {
        /// RFC 8200 section 4.5: more follow, but its length is not of whole eights.
        NotWholeEights => answer "icmp6-error"
            "The sender, or a device on the way, makes wrong packets: capture some and look who \
            it is."
            cause icmp_cause(message::PARAMETER_PROBLEM, parameter_problem::FIELD),
        /// RFC 8200 section 4.5: it would end behind the longest packet.
        TooLong => answer "icmp6-error"
            "The sender, or a device on the way, makes wrong packets: capture some and look who \
            it is."
            cause icmp_cause(message::PARAMETER_PROBLEM, parameter_problem::FIELD),
        /// RFC 8200 section 4.5: the first piece lacks headers.
        HeadersMissing => answer "icmp6-error"
            "The sender, or a device on the way, makes wrong packets: capture some and look who \
            it is."
            cause icmp_cause(message::PARAMETER_PROBLEM, parameter_problem::HEADERS_MISSING),
        /// Nothing in it, or no piece at all.
        Malformed => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// More than the control thread takes.
        TooManyPieces => drop "Somebody sends many fragments to the router itself: capture some; \
            lower the MTU of a peer whose packets they are.",
    }
}

impl Node for IpReassemble {
    const NAME: &'static str = "ip-reassemble";
    const ABOUT: &'static str = "lets pieces of packets to us wait for the others";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            slow_path: setup.shared.slow_path.clone(),
            limit: RateLimit::new(PIECES_PER_SECOND),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        for slot in 0..frame.len() {
            let mut packet = frame.view(slot);
            let scope = scope(&packet, interfaces);
            let exit = match Piece::of(packet.header(), scope) {
                Ok(_) if self.limit.take(context.now_tsc) => self.hand_over(packet, scope),
                Ok(_) => Exit::TooManyPieces.into(),
                Err(fault) => refuse(&mut packet, fault).into(),
            };
            exits.set(slot, exit);
        }
    }
}

impl IpReassemble {
    fn hand_over(&self, mut packet: PacketView<'_>, scope: u32) -> ExitIndex {
        let Some(piece) = packet.take() else { return Exit::TooManyPieces.into() };
        let piece = PieceCame { scope, packet: piece };
        match self.slow_path.tell(Punt::Piece(piece)) {
            Ok(()) => ExitIndex::TAKEN,
            Err(punt) => {
                punt.into_packet().into_iter().for_each(|piece| packet.put_back(piece));
                Exit::TooManyPieces.into()
            }
        }
    }
}

/// Octets from the start of the IPv6 header to the length of its payload.
const PAYLOAD_LEN_AT: u32 = 4;

fn refuse(packet: &mut PacketView<'_>, fault: Fault) -> Exit {
    let (at, exit) = match fault {
        Fault::NotWholeEights => (PAYLOAD_LEN_AT, Exit::NotWholeEights),
        Fault::TooLong { at } => (at as u32, Exit::TooLong),
        Fault::HeadersMissing => (0, Exit::HeadersMissing),
        Fault::Malformed => (0, Exit::Malformed),
    };
    packet.set_adjacency(at);
    exit
}

/// Among whose packets a piece is: those of a link for link-local addresses, else of a VRF.
fn scope(packet: &PacketView<'_>, interfaces: &Interfaces) -> u32 {
    const OF_LINKS: u32 = 1 << 16;
    let is_of_link = |header: ipv6::Header<'_>| ipv6::is_link_local(header.source());
    let header = ipv6::Header::new(packet.header()).filter(|_| ip::version(packet.header()) == 6);
    match header.is_some_and(is_of_link) {
        true => OF_LINKS | u32::from(packet.rx()),
        false => u32::from(interfaces.vrf(packet.rx()).0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{HOST, HOST6, LINK_HOST, QUEUE, RED, US, US6, World, link_local};
    use graph::harness::NodeHarness;
    use wire::craft;

    /// Exits with what the next node is told, and what the control thread is told: scope and bytes.
    type Outcome = (Vec<(String, u32)>, Vec<(u32, Vec<u8>)>);

    fn run(world: &World, frames: &[Vec<u8>]) -> Outcome {
        let mut node = NodeHarness::<IpReassemble>::new(&world.setup).unwrap();
        let exits = node.run(frames, 0, 0).into_iter().map(|out| (out.exit, out.adjacency));
        let piece = |punt| match punt {
            Punt::Piece(PieceCame { scope, packet }) => (scope, packet.bytes().to_vec()),
            other => panic!("{other:?}"),
        };
        (exits.collect(), world.all_punts().into_iter().map(piece).collect())
    }

    fn piece4() -> Vec<u8> {
        craft::ipv4(HOST, US).fragment(8, true).payload(&[7; 8]).build()
    }

    #[test]
    fn pieces_are_told_with_whose_they_are() {
        let mut world = World::new();
        world.add_red();
        world.change_interface(0, |row| row.vrf = RED);
        let six = craft::ipv6(HOST6, US6).fragment_header(8, true, 7).payload(&[7; 8]).build();
        let link = craft::ipv6(LINK_HOST, link_local(0)).fragment_header(8, true, 7);
        let link = link.payload(&[7; 8]).build();
        for (piece, scope) in [(piece4(), 1), (six, 1), (link, 1 << 16)] {
            let (exits, told) = run(&world, std::slice::from_ref(&piece));
            assert_eq!((exits[0].0.as_str(), told), ("taken", vec![(scope, piece)]));
        }
    }

    #[test]
    fn faults_are_told_by_their_place() {
        let of6 = |offset, more, len| {
            let header = craft::ipv6(HOST6, US6).fragment_header(offset, more, 7).next_header(17);
            header.payload(&[7; 16][..len]).build()
        };
        let empty = craft::ipv4(HOST, US).fragment(8, true).build();
        let frames =
            [of6(8, true, 9), of6(65_528, false, 8), of6(0, true, 0), of6(8, false, 0), empty];
        let (found, _) = run(&World::new(), &frames);
        let expected = [
            ("not-whole-eights", 4),
            ("too-long", 42),
            ("malformed", 0),
            ("malformed", 0),
            ("malformed", 0),
        ];
        assert_eq!(found, expected.map(|(exit, at)| (exit.to_owned(), at)));
        let lacking = craft::ipv6(HOST6, US6)
            .fragment_header(0, true, 7)
            .destination_options(&[])
            .next_header(17);
        assert_eq!(run(&World::new(), &[lacking.build()]).0, [("headers-missing".to_owned(), 0)]);
    }

    #[test]
    fn a_flood_of_pieces_is_dropped() {
        let (out, told) = run(&World::new(), &vec![piece4(); QUEUE + 1]);
        assert_eq!(
            (out[QUEUE - 1].0.as_str(), out[QUEUE].0.as_str()),
            ("taken", "too-many-pieces")
        );
        assert_eq!(told.len(), QUEUE);
    }
}
