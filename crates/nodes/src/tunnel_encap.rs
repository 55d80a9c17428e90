//! Puts frames that leave by tunnels into IPv4 packets (RFC 7348 section 5, RFC 2784).
//!
//! ```text
//!  interface_output ─▶ tunnel_encap ─▶ ip4_lookup      the way to the tunnel's other end
//! ```
//! A tunnel whose other end is reached through itself ends here, too: each turn takes headroom, and
//! there is none for a third.

use crate::plumbing::{Interfaces, Link, Setup};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};

/// See the module.
pub struct TunnelEncap {
    interfaces: Published<Interfaces>,
}

graph::exits! {
    /// What becomes of a frame that is to leave by a tunnel.
    pub enum Exit {
        /// Wrapped: an IPv4 packet of ours.
        Lookup => node "ip4-lookup",
        /// No room for the headers in front of the frame: too many tunnels inside each other.
        NoHeadroom => drop,
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
        let link_of = |tx: u16| interfaces.get(tx).map(|interface| interface.link);
        let mut tx = frame.tx()[0];
        let mut link = link_of(tx);
        exits.each(frame, |packet| {
            if packet.tx() != tx {
                tx = packet.tx();
                link = link_of(tx);
            }
            let Some(Link::Tunnel(tunnel)) = link else { return Exit::NoTunnel };
            wrap(packet, tunnel.header_bytes(), |bytes| tunnel.write(bytes))
        });
    }
}

#[inline(always)]
fn wrap(packet: &mut PacketView<'_>, bytes: usize, write: impl Fn(&mut [u8])) -> Exit {
    // What was in front of the frame is of no use any more, the tag it came with included.
    packet.start_here();
    if !packet.prepend(bytes) {
        return Exit::NoHeadroom;
    }
    write(packet.header_mut());
    // Packets of our own have come from the tunnel: its decapsulation knows them by that.
    let tunnel = packet.tx();
    packet.set_rx(tunnel);
    Exit::Lookup
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::testing::{HOST_MAC, VXLAN, World};
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
        assert!(out[0].exit != "lookup" || out[0].header.ends_with(&inner));
        (out[0].exit.clone(), out[0].header.clone())
    }

    #[test]
    fn a_frame_is_wrapped_whatever_was_in_front_of_it() {
        let (exit, packet) = run(0, VXLAN, 1);
        assert_eq!((exit.as_str(), packet.len(), packet[0]), ("lookup", 60 + 36, 0x45));
        assert_eq!(run(4, VXLAN, 1).1, packet);
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
