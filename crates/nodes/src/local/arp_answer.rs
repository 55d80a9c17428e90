//! The answer to an ARP request, in the request's own buffer (RFC 826).

use packet::PacketView;
use wire::MacAddr;
use wire::arp::{self, REPLY};
use wire::ethernet::{self, MIN_FRAME_LEN, ethertype};

/// Octets of an ARP frame without padding.
const FRAME_BYTES: usize = ethernet::Header::LEN + arp::Packet::LEN;

/// Turns the question for `target` into the answer that `mac` has it, a whole frame of the shortest
/// length there is, which leaves by the interface that it came in by. The packet begins with the
/// ARP header, its link header consumed right before that.
pub fn answer_arp(packet: &mut PacketView<'_>, target: u32, mac: MacAddr) {
    let Some(question) = arp::Packet::new(packet.header()) else { return };
    let (asker, asker_mac) = (question.sender_ip(), question.sender_mac());
    if let Some(mut reply) = arp::PacketMut::new(packet.header_mut()) {
        reply.set_operation(REPLY);
        reply.set_sender_mac(mac);
        reply.set_sender_ip(target);
        reply.set_target_mac(asker_mac);
        reply.set_target_ip(asker);
    }
    packet.prepend(ethernet::Header::LEN);
    packet.truncate(FRAME_BYTES);
    packet.extend(MIN_FRAME_LEN - FRAME_BYTES);
    let frame = packet.header_mut();
    if let Some(padding) = frame.get_mut(FRAME_BYTES..) {
        padding.fill(0);
    }
    if let Some(mut link) = ethernet::HeaderMut::new(frame) {
        link.set_destination(asker_mac);
        link.set_source(mac);
        link.set_ethertype(ethertype::ARP);
    }
    let rx = packet.rx();
    packet.set_tx(rx);
}
