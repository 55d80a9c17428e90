//! UDP datagrams to ourselves: to whom inside?
//!
//! ```text
//!  ip4_local ─▶ udp4_local ┬▶ whoever attached itself to the destination port (key: the port)
//!                          ├▶ twin_output  nobody did, but the kernel may
//!                          └▶ icmp4_error  nobody did
//! ```
//! RFC 1122 section 4.1.3. The port unreachable message is what ends a traceroute to the router.

use crate::local::{UdpFound, UdpLocal, UdpOver, find_udp, icmp_cause, udp_exits};
use graph::Attach;
use packet::PacketView;
use wire::icmp4::{message, unreachable};
use wire::ip::protocol;
use wire::{checksum, ipv4};

/// See the module.
pub type Udp4Local = UdpLocal<OverIp4>;

/// UDP over IPv4.
pub enum OverIp4 {}

udp_exits! {
    /// What becomes of a datagram that nobody takes.
    pub enum Exit {
        /// RFC 1122 section 4.1.3.1: nobody listens on the port.
        PortUnreachable => answer "icmp4-error"
            "Nothing, where somebody tries what is there; else see who is to have it: a twin is \
            for what Linux answers."
            cause icmp_cause(message::UNREACHABLE, unreachable::PORT),
    }
}

impl UdpOver for OverIp4 {
    const NAME: &'static str = "udp4-local";
    const ABOUT: &'static str = "takes UDP datagrams to ourselves";
    const ATTACH: &'static [Attach] = &[Attach { of: "ip4-local", key: protocol::UDP as u32 }];
    type Exit = Exit;
    const UNREACHABLE: Exit = Exit::PortUnreachable;
    const TWIN: Exit = Exit::Twin;
    const UNSUMMED: Option<Exit> = None;

    #[inline(always)]
    fn find(packet: &PacketView<'_>) -> Result<UdpFound, Exit> {
        let header = ipv4::Header::new(packet.header()).ok_or(Exit::Truncated)?;
        let bytes = packet.header().get(header.header_len()..).ok_or(Exit::Truncated)?;
        let (source, destination) = (header.source(), header.destination());
        let pseudo = |length| checksum::pseudo4(source, destination, protocol::UDP, length);
        // RFC 768: there need be no checksum.
        let found = find_udp(bytes, pseudo)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Twin;
    use crate::tables::{Link, Wrap};
    use crate::testing::{HOST, US, VXLAN, World};
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
    fn a_twin_gets_what_nobody_here_listens_for() {
        let mut world = World::new();
        world.change_interface(0, |row| row.put(Some(Twin)));
        let mut node = NodeHarness::<Udp4Local>::new(&world.setup).unwrap();
        node.attach(4789, "vxlan");
        let mut exit_of = |port| {
            let packet = craft::ipv4(HOST, US).udp(9, port).build();
            node.run(&[packet], 0, 0).remove(0).exit
        };
        assert_eq!((exit_of(53).as_str(), exit_of(4789).as_str()), ("twin", "vxlan"));
    }

    #[test]
    fn a_wrong_checksum_is_found_and_none_is_allowed() {
        let with = |checksum| craft::ipv4(HOST, US).udp(9, 4789).checksum(checksum).build();
        assert_eq!(exit_of(with(0x1234)), "bad-checksum");
        assert_eq!(exit_of(with(0)), "vxlan");
    }

    #[test]
    fn a_tunnel_at_another_port_gets_its_datagrams_there_too() {
        let mut world = World::new();
        world.change_interface(VXLAN, |row| {
            if let Link::Tunnel(tunnel) = &mut row.link {
                tunnel.key.wrap = Wrap::Vxlan { vni: 1, port: 8472 };
            }
        });
        let mut node = NodeHarness::<Udp4Local>::new(&world.setup).unwrap();
        node.attach(4789, "vxlan");
        let mut exit_of = |port| {
            let packet = craft::ipv4(HOST, US).udp(9, port).checksum(0).build();
            node.run(&[packet], 0, 0).remove(0).exit
        };
        assert_eq!((exit_of(8472).as_str(), exit_of(4789).as_str()), ("vxlan", "vxlan"));
        assert_eq!(exit_of(8473), "port-unreachable");
    }

    #[test]
    fn lengths_that_lie_are_found() {
        let with = |length| craft::ipv4(HOST, US).udp(9, 1).length(length).payload(b"ab").build();
        assert_eq!(exit_of(with(7)), "bad-length");
        assert_eq!(exit_of(with(11)), "bad-length");
        assert_eq!(
            exit_of(craft::ipv4(HOST, US).protocol(17).payload(&[0; 7]).build()),
            "truncated"
        );
    }
}
