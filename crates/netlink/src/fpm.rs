//! The frames of FPM, by which FRR's zebra tells a forwarding plane its routes.
//!
//! ```text
//!  │ version 1 │ message type 1: netlink │ length (2), these 4 bytes included │ netlink messages │
//! ```

use crate::Error;

/// Bytes of a frame's header.
pub const HEADER: usize = 4;
/// The longest frame.
pub const LONGEST: usize = u16::MAX as usize;
const VERSION: u8 = 1;
const NETLINK: u8 = 1;

/// The first frame that bytes from a stream hold, and how many it takes; none if it is not all
/// there.
pub fn frame(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, Error> {
    let Some(&[version, kind, high, low]) = bytes.first_chunk::<HEADER>() else { return Ok(None) };
    let field =
        |what, found: u8, expected| Err(Error::Field { what, found: found.into(), expected });
    if version != VERSION {
        return field("the version of an FPM frame", version, "1");
    }
    if kind != NETLINK {
        return field("the type of an FPM frame", kind, "1, netlink");
    }
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length < HEADER {
        let (what, expected) = ("the length of an FPM frame", "4 or more");
        return Err(Error::Field { what, found: length as u64, expected });
    }
    Ok(bytes.get(HEADER..length).map(|payload| (payload, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_cut_out_of_a_stream() {
        let stream = [1, 1, 0, 6, 8, 9, 1, 1, 0, 4, 1];
        assert_eq!(frame(&stream), Ok(Some((&[8, 9][..], 6))));
        assert_eq!(frame(&stream[6..]), Ok(Some((&[][..], 4))));
        assert_eq!(frame(&stream[10..]), Ok(None));
        assert_eq!(frame(&stream[..5]), Ok(None));
    }

    #[test]
    fn what_is_no_frame_is_told() {
        let text = |bytes: &[u8]| frame(bytes).unwrap_err().to_string();
        assert_eq!(text(&[2, 1, 0, 4]), "the version of an FPM frame is 2: expected 1");
        assert_eq!(text(&[1, 2, 0, 4]), "the type of an FPM frame is 2: expected 1, netlink");
        assert_eq!(text(&[1, 1, 0, 3]), "the length of an FPM frame is 3: expected 4 or more");
    }
}
