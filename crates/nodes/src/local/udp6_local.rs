//! UDP datagrams to ourselves over IPv6: to whom inside?
//!
//! ```text
//!  ip6_local ─▶ udp6_local ┬▶ whoever attached itself to the destination port (key: the port)
//!                          ├▶ twin_output  nobody did, but the kernel may
//!                          └▶ icmp6_error  nobody did
//! ```
//! RFC 8200 section 8.1: unlike over IPv4, a datagram without a checksum is not taken. Of tunnels'
//! ones the tunnel decides (RFC 6935, RFC 6936 section 4).

use crate::local::{
    UdpFound, UdpLocal, UdpOver, find_udp, icmp_cause, ip6_local::upper_layer, udp_exits,
};
use graph::Attach;
use packet::PacketView;
use wire::checksum;
use wire::icmp6::{message, unreachable};
use wire::ip::protocol;

/// See the module.
pub type Udp6Local = UdpLocal<OverIp6>;

/// UDP over IPv6.
pub enum OverIp6 {}

udp_exits! {
    /// What becomes of a datagram that nobody takes.
    pub enum Exit {
        /// RFC 4443 section 3.1: nobody listens on the port.
        PortUnreachable => answer "icmp6-error"
            "Nothing, where somebody tries what is there; else see who is to have it: a twin is \
            for what Linux answers."
            cause icmp_cause(message::UNREACHABLE, unreachable::PORT),
        /// RFC 8200 section 8.1: there is no checksum.
        NoChecksum => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
    }
}

impl UdpOver for OverIp6 {
    const NAME: &'static str = "udp6-local";
    const ABOUT: &'static str = "takes UDP datagrams to ourselves over IPv6";
    const ATTACH: &'static [Attach] = &[Attach { of: "ip6-local", key: protocol::UDP as u32 }];
    type Exit = Exit;
    const UNREACHABLE: Exit = Exit::PortUnreachable;
    const TWIN: Exit = Exit::Twin;
    const UNSUMMED: Option<Exit> = Some(Exit::NoChecksum);

    #[inline(always)]
    fn find(packet: &PacketView<'_>) -> Result<UdpFound, Exit> {
        let (header, bytes) = upper_layer(packet).ok_or(Exit::Truncated)?;
        let (source, destination) = (header.source(), header.destination());
        let pseudo =
            |length| checksum::pseudo6(source, destination, protocol::UDP, u32::from(length));
        Ok(find_udp(bytes, pseudo)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Link, Wrap};
    use crate::testing::{HOST6, US6, VXLAN, World};
    use graph::harness::NodeHarness;
    use packet::Frame;
    use wire::craft;

    fn exit_at(packet: Vec<u8>, upper: u32) -> String {
        let mut node = NodeHarness::<Udp6Local>::new(&World::new().setup).unwrap();
        node.attach(4789, "vxlan");
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(upper);
        node.run_prepared(&[packet], 0, 0, by).remove(0).exit
    }

    fn exit_of(packet: Vec<u8>) -> String {
        exit_at(packet, 40)
    }

    #[test]
    fn datagrams_go_to_who_attached_to_their_port() {
        assert_eq!(exit_of(craft::ipv6(HOST6, US6).udp(9, 4789).build()), "vxlan");
        assert_eq!(exit_of(craft::ipv6(HOST6, US6).udp(9, 33434).build()), "port-unreachable");
        let behind_options = craft::ipv6(HOST6, US6).destination_options(&[]).udp(9, 4789);
        assert_eq!(exit_at(behind_options.build(), 48), "vxlan");
    }

    #[test]
    fn there_must_be_a_checksum_and_a_right_one() {
        let with = |port, checksum| {
            exit_of(craft::ipv6(HOST6, US6).udp(9, port).checksum(checksum).build())
        };
        assert_eq!(with(4789, 0x1234), "bad-checksum");
        assert_eq!((with(53, 0).as_str(), with(4789, 0).as_str()), ("no-checksum", "vxlan"));
    }

    #[test]
    fn a_tunnel_at_another_port_gets_its_datagrams_there_too() {
        let mut world = World::new();
        world.change_interface(VXLAN, |row| {
            if let Link::Tunnel(tunnel) = &mut row.link {
                tunnel.key.wrap = Wrap::Vxlan { vni: 1, port: 8472 };
            }
        });
        let mut node = NodeHarness::<Udp6Local>::new(&world.setup).unwrap();
        node.attach(4789, "vxlan");
        let mut exit_of = |port| {
            let packet = craft::ipv6(HOST6, US6).udp(9, port).checksum(0).build();
            let by = |frame: &mut Frame| frame.adjacencies_mut().fill(40);
            node.run_prepared(&[packet], 0, 0, by).remove(0).exit
        };
        assert_eq!((exit_of(8472).as_str(), exit_of(4789).as_str()), ("vxlan", "vxlan"));
        assert_eq!(exit_of(8473), "no-checksum");
    }

    #[test]
    fn lengths_that_lie_are_found() {
        let with = |length| craft::ipv6(HOST6, US6).udp(9, 1).length(length).payload(b"ab").build();
        assert_eq!(exit_of(with(7)), "bad-length");
        assert_eq!(exit_of(with(11)), "bad-length");
        let short = craft::ipv6(HOST6, US6).next_header(17).payload(&[0; 7]).build();
        assert_eq!(exit_of(short), "truncated");
    }
}
