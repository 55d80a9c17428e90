//! The signature that every test frame ends with: which packet it is and when it was to be sent.
//!
//! ```text
//!   0                 8                        18 octets, the last of the payload
//!  ┌─────────────────┬────────────────────────┐
//!  │ sequence (u64)  │ timestamp (80 bits)    │   timestamp: seconds (48) and nanoseconds (32)
//!  └─────────────────┴────────────────────────┘
//!  with room for four more octets, in front:  │ flow (u32) │ sequence │ timestamp │
//! ```
//! draft-ietf-bmwg-network-tester-cfg. All in network order. 64-octet UDP over IPv4 has exactly 18
//! octets of payload. The timestamp is the *intended* time of sending, so that a late generator
//! shows as latency instead of hiding it.

use crate::Error;

/// Octets of the frame check sequence, which sizes count and buffers do not hold.
pub const FCS_BYTES: usize = 4;
/// Sizes of frames that can be sent, with checksum.
pub const FRAME_BYTES: std::ops::RangeInclusive<u16> = 64..=9_022;

/// Octets of the signature.
pub const SIGNATURE_BYTES: usize = 18;
/// Octets with a flow number.
pub const SIGNATURE_WITH_FLOW_BYTES: usize = 22;

const NS_PER_S: u64 = 1_000_000_000;

/// What a test frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// Number of the packet in its stream, from 0.
    pub sequence: u64,
    /// When it was to be sent, on the generator's clock.
    pub intended_ns: u64,
    /// Which flow it belongs to, where the frame has room.
    pub flow: Option<u32>,
}

impl Signature {
    /// Writes the signature to the end of a payload.
    #[inline]
    pub fn write(&self, payload: &mut [u8]) -> Result<(), Error> {
        let needed = if self.flow.is_some() { SIGNATURE_WITH_FLOW_BYTES } else { SIGNATURE_BYTES };
        let length = payload.len();
        let tail = length.checked_sub(needed).and_then(|start| payload.get_mut(start..));
        let mut tail = tail.ok_or(Error::FrameTooShort { length, needed })?;
        if let Some(flow) = self.flow {
            let (front, rest) = tail.split_at_mut(4);
            front.copy_from_slice(&flow.to_be_bytes());
            tail = rest;
        }
        let (seconds, nanoseconds) = (self.intended_ns / NS_PER_S, self.intended_ns % NS_PER_S);
        tail[..8].copy_from_slice(&self.sequence.to_be_bytes());
        tail[8..14].copy_from_slice(&seconds.to_be_bytes()[2..]);
        tail[14..].copy_from_slice(&(nanoseconds as u32).to_be_bytes());
        Ok(())
    }

    /// Reads the signature from the end of a payload; whether a flow number is there is the
    /// stream's to know. None for a payload too short or a timestamp that is none.
    #[inline]
    pub fn read(payload: &[u8], has_flow: bool) -> Option<Self> {
        let (front, tail) = payload.split_last_chunk::<SIGNATURE_BYTES>()?;
        let flow = match has_flow {
            true => Some(u32::from_be_bytes(*front.last_chunk::<4>()?)),
            false => None,
        };
        let sequence = u64::from_be_bytes(*tail.first_chunk::<8>()?);
        let mut seconds = [0; 8];
        seconds[2..].copy_from_slice(&tail[8..14]);
        let nanoseconds = u64::from(u32::from_be_bytes(*tail.last_chunk::<4>()?));
        let whole_ns = u64::from_be_bytes(seconds).checked_mul(NS_PER_S)?;
        let intended_ns = whole_ns.checked_add(nanoseconds)?;
        (nanoseconds < NS_PER_S).then_some(Self { sequence, intended_ns, flow })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_64_octet_udp_frame_has_exactly_the_room() {
        // 64 on the wire = 14 Ethernet + 20 IPv4 + 8 UDP + 18 + 4 checksum.
        let mut payload = [0; 64 - 14 - 20 - 8 - 4];
        let signature = Signature { sequence: 1, intended_ns: 2, flow: None };
        signature.write(&mut payload).unwrap();
        assert_eq!(payload[7], 1);
        assert_eq!(payload[17], 2);
    }

    #[test]
    fn a_payload_too_short_is_refused_with_both_lengths() {
        let signature = Signature { sequence: 1, intended_ns: 2, flow: Some(3) };
        let error = signature.write(&mut [0; 18]).unwrap_err().to_string();
        assert_eq!(error, "a frame of 18 octets has no room for a signature of 22");
        assert_eq!(Signature::read(&[0; 17], false), None);
        assert_eq!(Signature::read(&[0; 20], true), None);
    }

    #[test]
    fn a_timestamp_of_more_than_a_second_of_nanoseconds_is_none() {
        assert_eq!(Signature::read(&[0xff; 64], false), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            sequence: u64,
            intended_ns: u64,
            flow: Option<u32>,
            room in 22usize..100,
        ) {
            let signature = Signature { sequence, intended_ns, flow };
            let mut payload = vec![0xaa; room];
            signature.write(&mut payload).unwrap();
            prop_assert_eq!(Signature::read(&payload, flow.is_some()), Some(signature));
        }
    }
}
