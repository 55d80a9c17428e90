//! Link aggregation control (IEEE 802.1AX-2014 section 6.4.2.3) and markers (section 6.5.3): slow
//! protocols, which no bridge passes on.
//!
//! ```text
//!  │ subtype 1 │ version │ 1 │ 20 │ actor 15 │ 0 (3) │ 2 │ 20 │ partner 15 │ 0 (3) │ 3 │ 16 │ delay 2 │ 0 (12) │ 0 (52)
//!  │ subtype 2 │ version │ 1 or 2 │ 16 │ port 2 │ system 6 │ number 4 │ 0 (2) │ 0 (92)
//!
//!  actor, partner  │ system priority 2 │ system 6 │ key 2 │ port priority 2 │ port 2 │ state 1 │
//! ```

use crate::{Error, MacAddr, ethernet, view::Octets};

/// Where slow protocols are sent to.
pub const GROUP: MacAddr = MacAddr([0x01, 0x80, 0xc2, 0, 0, 2]);
/// Octets of a message behind the Ethernet header, of both kinds.
pub const MESSAGE_LEN: usize = 110;
/// Octets of the frame.
pub const FRAME_LEN: usize = ethernet::Header::LEN + MESSAGE_LEN;

/// Subtype of control messages.
const LACP: u8 = 1;
/// Subtype of markers.
const MARKER: u8 = 2;
/// What markers say of themselves.
const MARKER_ASKS: u8 = 1;
const MARKER_ANSWERS: u8 = 2;
/// Octets of what is told of an end, with kind and length.
const END_LEN: usize = 20;
const MARKER_LEN: u8 = 16;
const COLLECTOR_LEN: u8 = 16;

/// Bits of an end's state.
pub mod state {
    /// It speaks without being spoken to.
    pub const ACTIVITY: u8 = 0x01;
    /// It wants to hear every second.
    pub const SHORT_TIMEOUT: u8 = 0x02;
    /// Its link may be one of several.
    pub const AGGREGATION: u8 = 0x04;
    /// Its link is in the right group.
    pub const SYNCHRONIZATION: u8 = 0x08;
    /// It takes frames in.
    pub const COLLECTING: u8 = 0x10;
    /// It sends frames.
    pub const DISTRIBUTING: u8 = 0x20;
    /// It has not heard of the other end: what it says of that is made up.
    pub const DEFAULTED: u8 = 0x40;
    /// It has not heard of the other end for too long.
    pub const EXPIRED: u8 = 0x80;

    /// Their names, the first bit's first.
    pub const NAMES: [&str; 8] = [
        "active",
        "fast",
        "aggregatable",
        "in-sync",
        "collecting",
        "distributing",
        "defaulted",
        "expired",
    ];
}

/// What a message tells of one end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct End {
    /// The system's priority, the lower the better.
    pub system_priority: u16,
    /// The system.
    pub system: [u8; 6],
    /// Ports of one key may be one.
    pub key: u16,
    /// The port's priority, the lower the better.
    pub port_priority: u16,
    /// The port's number.
    pub port: u16,
    /// Bits of [`state`].
    pub state: u8,
}

impl End {
    /// Whether a bit is set.
    pub fn is(self, bit: u8) -> bool {
        self.state & bit != 0
    }

    fn read(bytes: &[u8]) -> Self {
        Self {
            system_priority: u16::read(bytes, 2),
            system: MacAddr::read(bytes, 4).0,
            key: u16::read(bytes, 10),
            port_priority: u16::read(bytes, 12),
            port: u16::read(bytes, 14),
            state: bytes[16],
        }
    }

    fn write(self, kind: u8, bytes: &mut [u8]) {
        bytes[..2].copy_from_slice(&[kind, END_LEN as u8]);
        self.system_priority.write(bytes, 2);
        MacAddr(self.system).write(bytes, 4);
        self.key.write(bytes, 10);
        self.port_priority.write(bytes, 12);
        self.port.write(bytes, 14);
        bytes[16] = self.state;
    }
}

/// A control message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pdu {
    /// Who sends it.
    pub actor: End,
    /// What that knows of the other end.
    pub partner: End,
}

/// A message of a slow protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// A control message.
    Control(Pdu),
    /// A marker that wants to come back.
    Marker,
    /// A marker that came back.
    Answer,
    /// Something else.
    Other(u8),
}

impl Message {
    /// Reads what follows the Ethernet header. Versions later than the first are read as that, as
    /// section 6.4.2.3 asks.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let short = || Error::short("slow protocol", MESSAGE_LEN, bytes.len());
        let subtype = *bytes.first().ok_or(short())?;
        if !matches!(subtype, LACP | MARKER) {
            return Ok(Self::Other(subtype));
        }
        let bytes = bytes.first_chunk::<MESSAGE_LEN>().ok_or(short())?;
        let told = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        if bytes[1] == 0 {
            return Err(Error::field("slow protocol version", 0_u8, "1 or more"));
        }
        if subtype == MARKER {
            let is = |kind: u8| told(2) == u16::from_be_bytes([kind, MARKER_LEN]);
            return match (is(MARKER_ASKS), is(MARKER_ANSWERS)) {
                (true, _) => Ok(Self::Marker),
                (_, true) => Ok(Self::Answer),
                _ => Err(Error::field("marker", told(2), "a marker or its answer")),
            };
        }
        for (at, kind) in [(2, 1), (2 + END_LEN, 2)] {
            let wanted = u16::from_be_bytes([kind, END_LEN as u8]);
            if told(at) != wanted {
                return Err(Error::field("LACP", told(at), "actor, then partner, of 20 octets"));
            }
        }
        let (actor, partner) = (End::read(&bytes[2..]), End::read(&bytes[2 + END_LEN..]));
        Ok(Self::Control(Pdu { actor, partner }))
    }
}

impl Pdu {
    /// The whole frame, from a port's address.
    pub fn frame(&self, source: [u8; 6]) -> [u8; FRAME_LEN] {
        let mut frame = [0; FRAME_LEN];
        frame[..6].copy_from_slice(&GROUP.0);
        frame[6..12].copy_from_slice(&source);
        frame[12..14].copy_from_slice(&ethernet::ethertype::SLOW.to_be_bytes());
        let message = &mut frame[ethernet::Header::LEN..];
        message[..2].copy_from_slice(&[LACP, 1]);
        self.actor.write(1, &mut message[2..]);
        self.partner.write(2, &mut message[2 + END_LEN..]);
        message[2 + 2 * END_LEN..][..2].copy_from_slice(&[3, COLLECTOR_LEN]);
        frame
    }
}

/// Makes a marker its own answer, from a port's address.
pub fn answer_marker(frame: &mut [u8], source: [u8; 6]) {
    if let Some(frame) = frame.first_chunk_mut::<FRAME_LEN>() {
        frame[..6].copy_from_slice(&GROUP.0);
        frame[6..12].copy_from_slice(&source);
        frame[ethernet::Header::LEN + 2] = MARKER_ANSWERS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Option<Message> {
        Message::parse(bytes).ok()
    }

    fn end(first: u8) -> End {
        End {
            system_priority: 0x8000,
            system: [first, 1, 2, 3, 4, 5],
            key: 0x0102,
            port_priority: 0x00ff,
            port: 7,
            state: state::ACTIVITY | state::AGGREGATION,
        }
    }

    #[test]
    fn a_message_is_the_standards_octet_by_octet() {
        let pdu = Pdu { actor: end(2), partner: End { port: 9, state: 0x3d, ..end(4) } };
        let frame = pdu.frame([6; 6]);
        let wanted = [
            &[0x01, 0x80, 0xc2, 0, 0, 2, 6, 6, 6, 6, 6, 6, 0x88, 0x09, 1, 1][..],
            &[1, 20, 0x80, 0, 2, 1, 2, 3, 4, 5, 1, 2, 0, 0xff, 0, 7, 0x05, 0, 0, 0],
            &[2, 20, 0x80, 0, 4, 1, 2, 3, 4, 5, 1, 2, 0, 0xff, 0, 9, 0x3d, 0, 0, 0],
            &[3, 16],
            &[0; 14 + 52],
        ];
        assert_eq!(frame[..], wanted.concat());
        assert_eq!(read(&frame[14..]), Some(Message::Control(pdu)));
        let mut later = frame;
        later[15] = 2;
        assert_eq!(read(&later[14..]), Some(Message::Control(pdu)));
    }

    #[test]
    fn what_is_cut_short_or_lies_is_refused() {
        let frame = Pdu { actor: end(2), partner: end(4) }.frame([6; 6]);
        let good = &frame[14..];
        assert!(Message::parse(&good[..109]).is_err() && Message::parse(&[]).is_err());
        for at in [1, 2, 3, 22, 23] {
            let mut bad = good.to_vec();
            bad[at] ^= bad[at];
            assert!(Message::parse(&bad).is_err(), "octet {at}");
        }
        assert_eq!(read(&[10, 0]), Some(Message::Other(10)));
    }

    #[test]
    fn a_marker_comes_back_as_its_answer() {
        let mut frame = [0; FRAME_LEN];
        frame[14..22].copy_from_slice(&[2, 1, 1, 16, 0, 7, 1, 2]);
        assert_eq!(read(&frame[14..]), Some(Message::Marker));
        answer_marker(&mut frame, [6; 6]);
        assert_eq!(read(&frame[14..]), Some(Message::Answer));
        assert_eq!((&frame[..6], &frame[6..12]), (&GROUP.0[..], &[6; 6][..]));
        assert_eq!(frame[14..22], [2, 1, 2, 16, 0, 7, 1, 2]);
        frame[16] = 3;
        assert!(Message::parse(&frame[14..]).is_err());
        answer_marker(&mut [0; 20], [6; 6]);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_or_refused_and_what_was_read_is_written_alike(
            mut bytes in prop::collection::vec(any::<u8>(), 0..130), clean: bool
        ) {
            if clean && bytes.len() > 24 {
                (bytes[0], bytes[2], bytes[3], bytes[22], bytes[23]) = (1, 1, 20, 2, 20);
            }
            if let Ok(Message::Control(pdu)) = Message::parse(&bytes) {
                let frame = pdu.frame([2; 6]);
                prop_assert_eq!(read(&frame[14..]), Some(Message::Control(pdu)));
            }
        }
    }
}
