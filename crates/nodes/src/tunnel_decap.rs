//! Takes frames out of VXLAN and GRE packets to ourselves (RFC 7348 section 4.1, RFC 2784, RFC 2890).
//!
//! ```text
//!  udp4_local, ip4_local ─▶ tunnel_decap ┬▶ (an entrance)    by the tunnel's mode
//!                                        └▶ drop
//! ```
//! GRE's sequence numbers are read over: frames are taken as they come.

use crate::plumbing::{
    Interfaces, Link, ReceivedRun, Setup, Tunnel, WorkerCounters, Wrap, entrances,
};
use graph::{Attach, Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::sync::Arc;
use wire::ethernet::{self, ethertype};
use wire::ip::protocol;
use wire::{gre, ipv4, udp, vxlan};

/// See the module.
pub struct TunnelDecap {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
}

entrances! {
    /// What becomes of a tunnel's packet.
    pub enum Exit {
        /// Shorter than its headers.
        Truncated => drop,
        /// RFC 7348 section 5: the flag that says that there is a network identifier must be set.
        BadVxlanFlags => drop,
        /// RFC 2784 section 2: reserved bits set, another version, or a wrong checksum.
        BadGreHeader => drop,
        /// What is inside GRE is no Ethernet frame.
        NoFrame => drop,
        /// No tunnel has this network identifier or key, source and destination.
        UnknownTunnel => drop,
        /// The frame inside is shorter than an Ethernet header.
        InnerRunt => drop,
        /// It came by a tunnel, perhaps by our own: tunnels inside tunnels are not opened.
        Nested => drop,
    }
}

impl Node for TunnelDecap {
    const NAME: &'static str = "tunnel-decap";
    const ABOUT: &'static str = "takes frames out of VXLAN and GRE packets";
    const ATTACH: &'static [Attach] = &[
        Attach { of: "udp4-local", key: udp::port::VXLAN as u32 },
        Attach { of: "ip4-local", key: protocol::GRE as u32 },
    ];
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, counters: Arc::clone(&setup.counters) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        // The last packet's tunnel is often the next one's, too.
        let mut last = None;
        let mut received = ReceivedRun::new(&self.counters);
        exits.each(frame, |packet| {
            let (tunnel, bytes) = match open(packet) {
                Ok(opened) => opened,
                Err(exit) => return exit,
            };
            let heard = interfaces.get(packet.rx()).map(|heard| (heard.link, heard.vrf));
            let Some((link, vrf)) = heard else { return Exit::InterfaceDown };
            if matches!(link, Link::Tunnel(_)) {
                return Exit::Nested;
            }
            let found = match last {
                Some((known, found)) if known == (tunnel, vrf) => found,
                _ => {
                    let found = interfaces
                        .tunnel(tunnel, vrf)
                        .map(|id| (id, Exit::from(interfaces.entrance(id))))
                        .ok_or(Exit::UnknownTunnel);
                    last = Some(((tunnel, vrf), found));
                    found
                }
            };
            if packet.length() < bytes + ethernet::Header::LEN {
                return Exit::InnerRunt;
            }
            let (id, exit) = match found {
                Ok((_, Exit::InterfaceDown)) => return Exit::InterfaceDown,
                Ok(found) => found,
                Err(exit) => return exit,
            };
            packet.advance(bytes);
            packet.start_here();
            packet.set_rx(id);
            received.add(id, packet.length());
            exit
        });
    }
}

/// The tunnel that a packet is of, and the octets in front of the frame inside.
#[inline(always)]
fn open(packet: &PacketView<'_>) -> Result<(Tunnel, usize), Exit> {
    let bytes = packet.header();
    let ip = ipv4::Header::new(bytes).ok_or(Exit::Truncated)?;
    let inside = bytes.get(ip.header_len()..).ok_or(Exit::Truncated)?;
    let (wrap, rest) = match ip.protocol() {
        protocol::GRE => open_gre(inside)?,
        _ => {
            let header = inside.get(udp::Header::LEN..).and_then(vxlan::Header::new);
            let header = header.ok_or(Exit::Truncated)?;
            if !header.is_valid() {
                return Err(Exit::BadVxlanFlags);
            }
            let rest = inside.len() - udp::Header::LEN - vxlan::Header::LEN;
            (Wrap::Vxlan(header.vni()), rest)
        }
    };
    let tunnel = Tunnel { wrap, local: ip.destination(), remote: ip.source() };
    Ok((tunnel, bytes.len() - rest))
}

/// What wraps the frame in a GRE packet, and the frame's octets.
fn open_gre(inside: &[u8]) -> Result<(Wrap, usize), Exit> {
    let parsed = gre::Packet::parse(inside).map_err(|fault| match fault {
        wire::Error::Short { .. } => Exit::Truncated,
        _ => Exit::BadGreHeader,
    })?;
    if parsed.ethertype != ethertype::TEB {
        return Err(Exit::NoFrame);
    }
    Ok((Wrap::Gre(parsed.key), parsed.payload.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::testing::{FAR, HOST_MAC, US, VNI, VXLAN, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn inner() -> Vec<u8> {
        craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
    }

    fn vxlan(vni: u32, source: [u8; 4]) -> Vec<u8> {
        let tunnel = craft::ipv4(source, US).udp(50000, 4789).vxlan(vni);
        tunnel.ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
    }

    fn exit_of(packet: Vec<u8>, rx: u16) -> String {
        let mut node = NodeHarness::<TunnelDecap>::new(&World::new().setup).unwrap();
        node.run(&[packet], rx, 0).remove(0).exit
    }

    #[test]
    fn the_frame_inside_comes_in_by_the_tunnel() {
        let mut node = NodeHarness::<TunnelDecap>::new(&World::new().setup).unwrap();
        let mut by = Vec::new();
        let out = node.run(&[vxlan(VNI, FAR), vxlan(VNI, FAR)], 0, 0);
        by.extend(out.iter().map(|out| (out.exit.as_str(), &out.header)));
        assert_eq!(by, [("bridge", &inner()); 2]);
    }

    #[test]
    fn packets_of_no_tunnel_are_told_apart() {
        let mut flags = vxlan(VNI, FAR);
        flags[28] = 0;
        let runt = craft::ipv4(FAR, US).udp(50000, 4789).vxlan(VNI).payload(&[0; 13]).build();
        let short = craft::ipv4(FAR, US).udp(50000, 4789).payload(&[8; 7]).build();
        for (packet, exit) in [
            (vxlan(VNI + 1, FAR), "unknown-tunnel"),
            (vxlan(VNI, US), "unknown-tunnel"),
            (flags, "bad-vxlan-flags"),
            (runt, "inner-runt"),
            (short, "truncated"),
        ] {
            assert_eq!(exit_of(packet, 0), exit);
        }
        assert_eq!(exit_of(vxlan(VNI, FAR), VXLAN), "nested");
    }

    #[test]
    fn gre_is_checked_and_its_key_tells_tunnels_apart() {
        let packet = |flags: u16, kind: u16, rest: &[u8]| {
            let header = [&flags.to_be_bytes()[..], &kind.to_be_bytes(), rest, &inner()].concat();
            craft::ipv4(FAR, US).protocol(47).payload(&header).build()
        };
        let key = 9u32.to_be_bytes();
        for (packet, exit) in [
            (packet(0x2000, 0x6558, &key), "bridge"),
            (packet(0, 0x6558, &[]), "unknown-tunnel"),
            (packet(0x2000, 0x0800, &key), "no-frame"),
            (packet(0x4000, 0x6558, &[]), "bad-gre-header"),
            (packet(0x8000, 0x6558, &[0, 1, 0, 0]), "bad-gre-header"),
        ] {
            assert_eq!(exit_of(packet, 0), exit);
        }
        let short = craft::ipv4(FAR, US).protocol(47).payload(&[0x20, 0]).build();
        assert_eq!(exit_of(short, 0), "truncated");
    }
}
