//! UDP datagrams to ourselves: to whom inside?
//!
//! ```text
//!  ip4_local ─▶ udp4_local ┬▶ whoever attached itself to the destination port (key: the port)
//!                          └▶ icmp4_error  nobody did
//! ```
//! RFC 1122 section 4.1.3. The port unreachable message is what ends a traceroute to the router.

use crate::ip4_lookup::icmp4_cause;
use crate::plumbing::Setup;
use graph::{Attach, Context, ExitIndex, Exits, Node};
use packet::{Frame, PacketView};
use wire::icmp4::{message, unreachable};
use wire::ip::protocol;
use wire::{checksum, ipv4, udp};

/// See the module.
pub struct Udp4Local {
    /// The exit of each attached port. Few: looked through in order.
    by_port: Vec<(u16, ExitIndex)>,
}

graph::exits! {
    /// What becomes of a datagram that nobody takes.
    pub enum Exit {
        /// RFC 1122 section 4.1.3.1: nobody listens on the port.
        PortUnreachable => node "icmp4-error" cause icmp4_cause(message::UNREACHABLE, unreachable::PORT),
        /// Fewer bytes than a UDP header.
        Truncated => drop,
        /// The length is below the header's or above the packet's.
        BadLength => drop,
        /// RFC 1122 section 4.1.3.4: the checksum is there and wrong.
        BadChecksum => drop,
    }
}

impl Node for Udp4Local {
    const NAME: &'static str = "udp4-local";
    const ABOUT: &'static str = "takes UDP datagrams to ourselves";
    const ATTACH: &'static [Attach] = &[Attach { of: "ip4-local", key: protocol::UDP as u32 }];
    type Exit = Exit;
    type Setup = Setup;

    fn new(_: &Setup) -> Self {
        Self { by_port: Vec::new() }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.by_port.push((key as u16, exit));
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        exits.each(frame, |packet| self.classify(packet).unwrap_or(Exit::Truncated.into()));
    }
}

impl Udp4Local {
    fn classify(&self, packet: &PacketView<'_>) -> Option<ExitIndex> {
        let header = ipv4::Header::new(packet.header())?;
        let bytes = packet.header().get(header.header_len()..)?;
        let datagram = udp::Header::new(bytes)?;
        let length = usize::from(datagram.length());
        let Some(covered) = bytes.get(..length).filter(|_| length >= udp::Header::LEN) else {
            return Some(Exit::BadLength.into());
        };
        let (source, destination) = (header.source(), header.destination());
        let sum = checksum::pseudo4(source, destination, protocol::UDP, datagram.length());
        if datagram.checksum() != 0 && !sum.bytes(covered).is_valid() {
            return Some(Exit::BadChecksum.into());
        }
        let port = datagram.destination_port();
        let taker = self.by_port.iter().find(|&&(known, _)| known == port);
        Some(taker.map_or(Exit::PortUnreachable.into(), |&(_, exit)| exit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::testing::{HOST, US, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn exit_of(packet: Vec<u8>) -> String {
        let mut node = NodeHarness::<Udp4Local>::new(&World::new().setup).unwrap();
        node.attach(4789, "vxlan");
        node.run(&[packet], 0, 0).remove(0).exit
    }

    #[test]
    fn datagrams_go_to_who_attached_to_their_port() {
        assert_eq!(exit_of(craft::ipv4(HOST, US).udp(9, 4789).build()), "vxlan");
        assert_eq!(exit_of(craft::ipv4(HOST, US).udp(9, 33434).build()), "port-unreachable");
    }

    #[test]
    fn a_wrong_checksum_is_found_and_none_is_allowed() {
        let with = |checksum| craft::ipv4(HOST, US).udp(9, 4789).checksum(checksum).build();
        assert_eq!(exit_of(with(0x1234)), "bad-checksum");
        assert_eq!(exit_of(with(0)), "vxlan");
    }

    #[test]
    fn lengths_that_lie_are_found() {
        let with = |length| craft::ipv4(HOST, US).udp(9, 1).length(length).payload(b"ab").build();
        assert_eq!(exit_of(with(7)), "bad-length");
        assert_eq!(exit_of(with(11)), "bad-length");
        assert_eq!(exit_of(craft::ipv4(HOST, US).protocol(17).payload(&[0; 7]).build()), "truncated");
    }
}
