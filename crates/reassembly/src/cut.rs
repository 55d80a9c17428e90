//! Packets cut into pieces that fit, and the headers of those that are whole.
//!
//! ```text
//!  │ header │ payload ............. │  ─▶  │ header │ piece 1 │  │ header │ piece 2 │ …      IPv6: and a fragment header
//! ```

use wire::ip::protocol;
use wire::ipv6::extension::{Fragment, FragmentMut};
use wire::{checksum, ip, ipv4, ipv6};

/// The packet in pieces of at most `mtu` octets; itself, if it fits. Its header has no options and
/// no extensions, as in all packets of our own. An IPv6 packet's pieces have this `identification`,
/// an IPv4 packet has its own. Nothing if not even eight octets fit.
pub fn cut(packet: &[u8], mtu: usize, identification: u32) -> Vec<Vec<u8>> {
    if packet.len() <= mtu {
        return vec![packet.to_vec()];
    }
    let is_ip6 = ip::version(packet) == 6;
    let header_len = if is_ip6 { ipv6::Header::LEN } else { ipv4::Header::LEN };
    let fragment_len = if is_ip6 { Fragment::LEN } else { 0 };
    // Offsets count eights, so all pieces but the last are whole eights long.
    let most = mtu.saturating_sub(header_len + fragment_len) & !7;
    let Some((header, payload)) = packet.split_at_checked(header_len).filter(|_| most != 0) else {
        return Vec::new();
    };
    let count = payload.len().div_ceil(most);
    let piece = |(index, bytes): (usize, &[u8])| {
        let (offset, more) = ((index * most) as u16, index + 1 != count);
        match is_ip6 {
            true => piece6(header, bytes, offset, more, identification),
            false => piece4(header, bytes, offset, more),
        }
    };
    payload.chunks(most).enumerate().map(piece).collect()
}

fn piece4(header: &[u8], bytes: &[u8], offset: u16, more: bool) -> Vec<u8> {
    let mut piece = [header, bytes].concat();
    let bits = (offset / 8) | if more { ipv4::MORE_FRAGMENTS } else { 0 };
    set_ip4_place(&mut piece, header.len(), bits);
    piece
}

/// Makes a packet's header say how long it is and which piece.
fn set_ip4_place(packet: &mut [u8], header_len: usize, bits: u16) {
    let total_len = packet.len() as u16;
    let Some(mut header) = ipv4::HeaderMut::new(packet) else { return };
    header.set_total_len(total_len);
    header.set_fragment_bits(bits);
    header.set_checksum(0);
    let sum = checksum::of(&packet[..header_len]);
    if let Some(mut header) = ipv4::HeaderMut::new(packet) {
        header.set_checksum(sum);
    }
}

fn piece6(header: &[u8], bytes: &[u8], offset: u16, more: bool, identification: u32) -> Vec<u8> {
    let mut piece = [header, &[0; Fragment::LEN], bytes].concat();
    let payload_len = (piece.len() - header.len()) as u16;
    let Some(mut fixed) = ipv6::HeaderMut::new(&mut piece) else { return piece };
    let upper = fixed.view().next_header();
    fixed.set_next_header(protocol::FRAGMENT);
    fixed.set_payload_len(payload_len);
    if let Some(mut fragment) = FragmentMut::new(&mut piece[header.len()..]) {
        fragment.set_next_header(upper);
        fragment.set_offset_bits(offset | u16::from(more));
        fragment.set_identification(identification);
    }
    piece
}

/// The packet with this payload, of whose pieces the first had this `head`. None if it is longer
/// than packets are.
pub(crate) fn join(
    head: &[u8],
    named_at: usize,
    payload: impl Iterator<Item = u8>,
) -> Option<Vec<u8>> {
    if ip::version(head) != 6 {
        let mut packet: Vec<u8> = head.iter().copied().chain(payload).collect();
        u16::try_from(packet.len()).ok()?;
        set_ip4_place(&mut packet, head.len(), 0);
        return Some(packet);
    }
    let (head, fragment) = head.split_at_checked(head.len().checked_sub(Fragment::LEN)?)?;
    let upper = Fragment::new(fragment)?.next_header();
    let mut packet: Vec<u8> = head.iter().copied().chain(payload).collect();
    *packet.get_mut(named_at)? = upper;
    let payload_len = u16::try_from(packet.len() - ipv6::Header::LEN).ok()?;
    ipv6::HeaderMut::new(&mut packet)?.set_payload_len(payload_len);
    Some(packet)
}
