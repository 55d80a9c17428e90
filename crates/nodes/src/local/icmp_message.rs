//! What ICMP messages of both families share: eight octets of header, and causes that name them.

use packet::PacketView;
use wire::checksum::Sum;
use wire::{ethernet, icmp4};

/// Octets of the header; ICMPv6 has the same.
pub const ICMP_BYTES: usize = icmp4::Header::LEN;

/// The cause that tells `icmp4-error` or `icmp6-error` which message to send.
pub const fn icmp_cause(message_type: u8, code: u8) -> u16 {
    (message_type as u16) << 8 | code as u16
}

/// Writes the header of the error that `cause` names at the start of `message`, `rest` into its
/// octets 4 to 7, and sums the whole from `pseudo` on. Less than a header is left alone.
pub fn write_icmp_error(message: &mut [u8], cause: u16, rest: u32, pseudo: Sum) {
    let Some(mut header) = icmp4::HeaderMut::new(message) else { return };
    let [message_type, code] = cause.to_be_bytes();
    header.set_message_type(message_type);
    header.set_code(code);
    header.set_rest(rest);
    sum_icmp(message, pseudo);
}

/// Writes the checksum of `message`, summed from `pseudo` on.
pub fn sum_icmp(message: &mut [u8], pseudo: Sum) {
    let Some(mut header) = icmp4::HeaderMut::new(message) else { return };
    header.set_checksum(0);
    let checksum = pseudo.bytes(message).checksum();
    if let Some(mut header) = icmp4::HeaderMut::new(message) {
        header.set_checksum(checksum);
    }
}

/// True if the frame around the packet, where it is still there, went to a group of stations.
pub fn was_group_frame(packet: &PacketView<'_>) -> bool {
    // A tag that was taken off may stand in front of its link header.
    let link = packet.consumed_last::<{ ethernet::Header::LEN }>();
    link.is_some_and(|link| link[0] & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{checksum, craft};

    #[test]
    fn errors_of_both_families_are_the_crafted_ones() {
        let crafted4 = craft::ipv4(1, 2).icmp4(3, 4, [0, 0, 5, 6]).payload(b"quoted").build();
        let crafted6 = craft::ipv6(1, 2).icmp6(2, 0, [0, 0, 5, 6]).payload(b"quoted").build();
        let pseudo = checksum::pseudo6(1, 2, 58, 14);
        for (crafted, cause, pseudo) in
            [(&crafted4[20..], 0x0304, Sum::ZERO), (&crafted6[40..], 0x0200, pseudo)]
        {
            let mut message = crafted.to_vec();
            message[..ICMP_BYTES].fill(0xee);
            write_icmp_error(&mut message, cause, 0x0506, pseudo);
            assert_eq!(message, crafted);
        }
    }
}
