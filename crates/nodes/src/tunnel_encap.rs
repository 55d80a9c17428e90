//! Puts what leaves by tunnels into packets to their other ends (RFC 7348 section 5, RFC 2784,
//! RFC 7676).
//!
//! ```text
//!  interface_output ─▶ tunnel_encap ─▶ ip4_lookup, ip6_lookup    the way to the tunnel's other end
//! ```
//! A tunnel whose other end is reached through itself ends here, too: each turn takes headroom, and
//! there is none for a third.

use crate::plumbing::{Ends, Inside, Interfaces, Link, Setup, Tunnel};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use wire::ip;

/// See the module.
pub struct TunnelEncap {
    interfaces: Published<Interfaces>,
}

graph::exits! {
    /// What becomes of a frame that is to leave by a tunnel.
    pub enum Exit {
        /// Wrapped: an IPv4 packet of ours.
        Lookup4 => node "ip4-lookup",
        /// Wrapped: an IPv6 packet of ours.
        Lookup6 => node "ip6-lookup",
        /// No room for the headers in front of the frame: too many tunnels inside each other.
        NoHeadroom => drop,
        /// What is no IP packet, by a tunnel of packets.
        NoPacket => drop,
        /// The tunnel was removed while the frame was under way.
        NoTunnel => drop,
    }
}

impl Node for TunnelEncap {
    const NAME: &'static str = "tunnel-encap";
    const ABOUT: &'static str = "wraps what leaves by VXLAN and GRE tunnels";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone() }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let tunnel_of = |tx: u16| match interfaces.get(tx)?.link {
            Link::Tunnel(tunnel) => Some(tunnel),
            _ => None,
        };
        let mut tx = frame.tx()[0];
        let mut tunnel = tunnel_of(tx);
        exits.each(frame, |packet| {
            if packet.tx() != tx {
                tx = packet.tx();
                tunnel = tunnel_of(tx);
            }
            tunnel.as_ref().map_or(Exit::NoTunnel, |tunnel| wrap(packet, tunnel))
        });
    }
}

#[inline(always)]
fn wrap(packet: &mut PacketView<'_>, tunnel: &Tunnel) -> Exit {
    // What was in front of the frame is of no use any more, the tag it came with included.
    packet.start_here();
    if tunnel.inside == Inside::Packets && !matches!(ip::version(packet.header()), 4 | 6) {
        return Exit::NoPacket;
    }
    if !packet.prepend(tunnel.header_bytes()) {
        return Exit::NoHeadroom;
    }
    tunnel.write(packet.header_mut());
    // Packets of our own have come from the tunnel: its decapsulation knows them by that.
    let tx = packet.tx();
    packet.set_rx(tx);
    match tunnel.key.ends {
        Ends::V4 { .. } => Exit::Lookup4,
        Ends::V6 { .. } => Exit::Lookup6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::testing::{HOST_MAC, VXLAN, VXLAN6, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn run(consumed: usize, tx: u16, times: usize) -> (String, Vec<u8>) {
        let inner = craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
        let mut node = NodeHarness::<TunnelEncap>::new(&World::new().setup).unwrap();
        let mut bytes = vec![0; consumed];
        bytes.extend(&inner);
        let out = node.run_prepared(&[bytes], 9, consumed, |frame| {
            frame.tx_mut()[0] = tx;
            for _ in 1..times {
                frame.view(0).start_here();
                assert!(frame.view(0).prepend(50));
            }
        });
        assert!(!out[0].exit.starts_with("lookup") || out[0].header.ends_with(&inner));
        (out[0].exit.clone(), out[0].header.clone())
    }

    #[test]
    fn a_frame_is_wrapped_whatever_was_in_front_of_it() {
        let (exit, packet) = run(0, VXLAN, 1);
        assert_eq!((exit.as_str(), packet.len(), packet[0]), ("lookup4", 60 + 36, 0x45));
        let (exit, packet) = run(0, VXLAN6, 1);
        assert_eq!((exit.as_str(), packet.len(), packet[0] >> 4), ("lookup6", 60 + 56, 6));
        assert_eq!(run(4, VXLAN6, 1).1, packet);
    }

    #[test]
    fn tunnels_inside_each_other_come_to_an_end() {
        assert_eq!(run(0, VXLAN, 3).0, "no-headroom");
    }

    #[test]
    fn a_tunnel_that_is_gone_takes_nothing() {
        assert_eq!(run(0, 0, 1).0, "no-tunnel");
    }
}
