//! Fills in TCP and UDP checksums that a Linux sender left to its network card.
//!
//! A host on the other end of a veth thinks that it has a card that computes checksums: it sends
//! frames whose checksum field holds only the sum of the pseudo header. Linux tells a packet socket
//! (`TP_STATUS_CSUMNOTREADY`), but the af_packet driver does not pass that on, and forwarded as it
//! is such a frame is dropped by the host that it reaches (seen with Linux 6.18: no TCP
//! connection).
//!
//! ```text
//!  checksum field == sum of the pseudo header  ─▶ computed and filled in
//!  anything else                               ─▶ left as it is
//! ```
//! A finished checksum equals that sum by chance in 1 of 65,536 frames, and is then computed again:
//! the same comes out. RFC 1071; pseudo headers: RFC 9293, 768, 8200.

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Looks at an Ethernet frame and finishes its checksum if that was left out.
#[inline]
pub(crate) fn complete(frame: &mut [u8]) {
    if let Some(found) = find(frame) {
        found.complete(frame);
    }
}

/// Where the parts of a TCP or UDP frame are.
struct Layer4 {
    /// TCP or UDP, from here to `end`.
    start: usize,
    end: usize,
    field: usize,
    /// Sum of the pseudo header.
    pseudo: u16,
}

impl Layer4 {
    fn complete(&self, frame: &mut [u8]) {
        let field = self.start + self.field;
        if frame[field..field + 2] != self.pseudo.to_be_bytes() {
            return;
        }
        // The field itself holds the pseudo header's part.
        let sum = !fold(sum(&frame[self.start..self.end]));
        // UDP's 0 means "none"; 0xffff is the same number.
        let sum = if sum == 0 && self.field == 6 { 0xffff } else { sum };
        frame[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

fn find(frame: &[u8]) -> Option<Layer4> {
    let mut at = 12;
    let mut ethertype = word(frame, at)?;
    for _ in 0..2 {
        if matches!(ethertype, 0x8100 | 0x88a8) {
            at += 4;
            ethertype = word(frame, at)?;
        }
    }
    let ip = at + 2;
    let (protocol, addresses, start, end) = match ethertype {
        0x0800 => {
            let header = frame.get(ip..ip + 20)?;
            let whole = word(header, 6)? & 0x3fff == 0;
            let start = ip + usize::from(header[0] & 15) * 4;
            let end = ip + usize::from(word(header, 2)?);
            (header[9], &header[12..20], whole.then_some(start)?, end)
        }
        0x86dd => {
            let header = frame.get(ip..ip + 40)?;
            let start = ip + 40;
            (header[6], &header[8..40], start, start + usize::from(word(header, 4)?))
        }
        _ => return None,
    };
    let field = match protocol {
        TCP => 16,
        UDP => 6,
        _ => return None,
    };
    if end > frame.len() || start + field + 2 > end || start < ip + 20 {
        return None;
    }
    let pseudo = fold(sum(addresses) + u64::from(protocol) + (end - start) as u64);
    Some(Layer4 { start, end, field, pseudo })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
}

/// Of big-endian words; an odd byte at the end counts as a word's first.
fn sum(bytes: &[u8]) -> u64 {
    let pairs = bytes.chunks_exact(2);
    let rest = pairs.remainder().first().map_or(0, |&byte| u64::from(byte) << 8);
    pairs.map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]]))).sum::<u64>() + rest
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ethernet, IPv4 and UDP with the pseudo header's sum as checksum.
    fn udp4(payload: &[u8]) -> Vec<u8> {
        let length = 8 + payload.len() as u16;
        let mut frame = vec![0; 12];
        frame.extend([0x08, 0x00, 0x45, 0]);
        frame.extend((20 + length).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0, 7, 0, 9]);
        frame.extend(length.to_be_bytes());
        let pseudo = 0x0a00 + 1 + 0x0a00 + 2 + u16::from(UDP) + length;
        frame.extend(pseudo.to_be_bytes());
        frame.extend(payload);
        frame
    }

    /// As a receiver checks it: the sum over pseudo header and packet is all ones.
    fn is_right(frame: &[u8]) -> bool {
        let found = find(frame).unwrap();
        fold(u64::from(found.pseudo) + sum(&frame[found.start..found.end])) == 0xffff
    }

    #[test]
    fn a_checksum_left_out_is_filled_in_and_stays() {
        for payload in [&b""[..], b"x", b"even", b"longer than a header by an odd number"] {
            let mut frame = udp4(payload);
            frame.extend([0xaa; 9]); // padding of the frame is not the packet's
            assert!(!is_right(&frame));
            complete(&mut frame);
            assert!(is_right(&frame));
            let once = frame.clone();
            complete(&mut frame);
            assert_eq!(frame, once);
        }
    }

    #[test]
    fn a_tagged_frame_is_no_obstacle() {
        let mut frame = udp4(b"tagged");
        frame.splice(12..12, [0x88, 0xa8, 0, 5, 0x81, 0, 0, 7]);
        complete(&mut frame);
        assert!(is_right(&frame));
    }

    #[test]
    fn tcp_over_ipv6_is_filled_in_too() {
        let mut frame = vec![0; 12];
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 24, TCP, 64]);
        frame.extend((0..32).map(|n| n * 3));
        let start = frame.len();
        frame.extend(0..24);
        let pseudo = find(&frame).unwrap().pseudo;
        frame[start + 16..start + 18].copy_from_slice(&pseudo.to_be_bytes());
        complete(&mut frame);
        assert!(is_right(&frame));
    }

    #[test]
    fn wrong_checksums_fragments_and_short_frames_are_left_as_they_are() {
        let mut wrong = udp4(b"wrong");
        wrong[41] ^= 1;
        let mut fragment = udp4(b"part");
        fragment[20] = 0x20;
        let mut frames = vec![wrong, fragment];
        frames.extend((0..udp4(b"cut").len()).map(|length| udp4(b"cut")[..length].to_vec()));
        for frame in frames {
            let mut seen = frame.clone();
            complete(&mut seen);
            assert_eq!(seen, frame);
        }
    }
}
