//! Messages of spanning tree protocols (802.1D-2004 clause 9).
//!
//! ```text
//!  │ 01:80:c2:00:00:00 │ source 6 │ length 2 │ 42 42 03 │ protocol 2 = 0 │ version │ type │ …
//!  configuration, rapid  │ flags │ root 8 │ cost 4 │ bridge 8 │ port 2 │ age 2 │ max 2 │ hello 2 │ delay 2 │ [0]
//!  topology change       nothing more
//! ```
//! Times are in 1/256 seconds. What is behind the fields of a message is not looked at: newer
//! versions have more there (section 9.3.4).

use crate::port::Role;
use crate::vector::{BridgeId, Times, Vector};

/// Where messages are sent to (section 7.12.3).
pub const GROUP: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 0];
/// Octets of a frame with a message, padded to the shortest that Ethernet has.
pub const FRAME_LEN: usize = 60;

/// In front of the length.
const ADDRESSES_LEN: usize = 12;
/// In front of a message: addresses, length, and LLC's three octets.
const HEAD_LEN: usize = 17;
/// LLC of spanning tree protocols.
const LLC: [u8; 3] = [0x42, 0x42, 0x03];
/// Octets of each message.
const CONFIGURATION_LEN: usize = 35;
const RAPID_LEN: usize = 36;
const NOTIFICATION_LEN: usize = 4;
/// Kinds of messages.
const CONFIGURATION: u8 = 0x00;
const RAPID: u8 = 0x02;
const NOTIFICATION: u8 = 0x80;
/// The version that has rapid messages.
const VERSION: u8 = 2;

/// Bits of the flags.
mod flag {
    pub(super) const CHANGE: u8 = 0x01;
    pub(super) const PROPOSAL: u8 = 0x02;
    pub(super) const ROLE_AT: u8 = 2;
    pub(super) const LEARNING: u8 = 0x10;
    pub(super) const FORWARDING: u8 = 0x20;
    pub(super) const AGREEMENT: u8 = 0x40;
    pub(super) const ACKNOWLEDGED: u8 = 0x80;
}

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bpdu {
    /// The old protocol's: something changed, to be told to the root.
    Notification,
    /// What a bridge says of itself and the root.
    Configuration(Configuration),
}

/// What a bridge says of itself and the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Configuration {
    /// Which protocol.
    pub kind: Kind,
    /// How good its way is.
    pub vector: Vector,
    /// The root's times.
    pub times: Times,
    /// What it says beside.
    pub said: Said,
}

/// Which protocol a configuration is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The old one (802.1D-1998).
    Old,
    /// The rapid one.
    Rapid,
}

/// What the flags say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Said {
    /// The sender's role.
    pub role: Role,
    /// Something changed: stations are to be forgotten.
    pub change: bool,
    /// That it changed has been heard; the old protocol's.
    pub acknowledged: bool,
    /// It would forward at once, if the other end agrees.
    pub proposal: bool,
    /// It agrees.
    pub agreement: bool,
    /// It learns.
    pub learning: bool,
    /// It forwards.
    pub forwarding: bool,
}

impl Said {
    /// By a port that has this role, and nothing more.
    pub fn by(role: Role) -> Self {
        Self {
            role,
            change: false,
            acknowledged: false,
            proposal: false,
            agreement: false,
            learning: false,
            forwarding: false,
        }
    }
}

/// A message that is none, or not as the standard has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

impl Bpdu {
    /// Reads a frame, from its destination address on.
    pub fn read_frame(frame: &[u8]) -> Result<Self, Malformed> {
        let rest = frame.get(ADDRESSES_LEN..).ok_or(Malformed)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or(Malformed)?;
        // What is behind that is padding; a long one may have been cut behind what is looked at.
        let length = usize::from(u16::from_be_bytes(*length)).min(rest.len());
        let body = &rest[..length];
        let (llc, message) = body.split_first_chunk::<3>().ok_or(Malformed)?;
        if *llc != LLC {
            return Err(Malformed);
        }
        Self::read(message)
    }

    /// Reads a message (section 9.3.4).
    pub fn read(message: &[u8]) -> Result<Self, Malformed> {
        let (&[a, b, version, kind], rest) =
            message.split_first_chunk::<NOTIFICATION_LEN>().ok_or(Malformed)?;
        if [a, b] != [0, 0] {
            return Err(Malformed);
        }
        let kind = match kind {
            NOTIFICATION => return Ok(Self::Notification),
            CONFIGURATION => Kind::Old,
            RAPID if version >= VERSION && message.len() >= RAPID_LEN => Kind::Rapid,
            _ => return Err(Malformed),
        };
        let fields = rest.first_chunk::<{ CONFIGURATION_LEN - NOTIFICATION_LEN }>();
        let fields = fields.ok_or(Malformed)?;
        let times = Times {
            message_age: seconds(fields, 23),
            max_age: seconds(fields, 25),
            hello: seconds(fields, 27),
            forward_delay: seconds(fields, 29),
        };
        let is_too_old = half(fields, 23) >= half(fields, 25);
        if kind == Kind::Old && is_too_old {
            return Err(Malformed);
        }
        let vector = Vector {
            root: BridgeId(double(fields, 1)),
            cost: (double(fields, 5) & 0xffff_ffff) as u32,
            bridge: BridgeId(double(fields, 13)),
            port: half(fields, 21),
        };
        Ok(Self::Configuration(Configuration {
            kind,
            vector,
            times,
            said: read_flags(kind, fields[0]),
        }))
    }

    /// The frame that it goes out in, from this address.
    pub fn frame(&self, source: [u8; 6]) -> [u8; FRAME_LEN] {
        let mut frame = [0; FRAME_LEN];
        frame[..6].copy_from_slice(&GROUP);
        frame[6..12].copy_from_slice(&source);
        frame[14..HEAD_LEN].copy_from_slice(&LLC);
        let length = match self {
            Self::Notification => {
                frame[HEAD_LEN + 3] = NOTIFICATION;
                NOTIFICATION_LEN
            }
            Self::Configuration(told) => told.write(&mut frame[HEAD_LEN..]),
        };
        let length = (LLC.len() + length) as u16;
        frame[12..14].copy_from_slice(&length.to_be_bytes());
        frame
    }
}

impl Configuration {
    /// Writes it, and tells its length.
    fn write(&self, out: &mut [u8]) -> usize {
        let Self { kind, vector, times, said } = self;
        if *kind == Kind::Rapid {
            (out[2], out[3]) = (VERSION, RAPID);
        }
        out[4] = write_flags(*kind, *said);
        out[5..13].copy_from_slice(&vector.root.0.to_be_bytes());
        out[13..17].copy_from_slice(&vector.cost.to_be_bytes());
        out[17..25].copy_from_slice(&vector.bridge.0.to_be_bytes());
        out[25..27].copy_from_slice(&vector.port.to_be_bytes());
        let times = [times.message_age, times.max_age, times.hello, times.forward_delay];
        for (at, seconds) in times.into_iter().enumerate() {
            out[27 + 2 * at] = seconds;
        }
        if *kind == Kind::Rapid { RAPID_LEN } else { CONFIGURATION_LEN }
    }
}

fn read_flags(kind: Kind, flags: u8) -> Said {
    let has = |bit: u8| flags & bit != 0;
    let old = Said {
        change: has(flag::CHANGE),
        acknowledged: has(flag::ACKNOWLEDGED),
        ..Said::by(Role::Designated)
    };
    let role = match flags >> flag::ROLE_AT & 3 {
        1 => Role::Alternate,
        2 => Role::Root,
        3 => Role::Designated,
        // Section 9.3.3: as if it were a message of the old protocol.
        _ => return old,
    };
    match kind {
        Kind::Old => old,
        Kind::Rapid => Said {
            role,
            change: has(flag::CHANGE),
            acknowledged: false,
            proposal: has(flag::PROPOSAL),
            agreement: has(flag::AGREEMENT),
            learning: has(flag::LEARNING),
            forwarding: has(flag::FORWARDING),
        },
    }
}

fn write_flags(kind: Kind, said: Said) -> u8 {
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    let change = bit(said.change, flag::CHANGE);
    if kind == Kind::Old {
        return change | bit(said.acknowledged, flag::ACKNOWLEDGED);
    }
    let role = match said.role {
        Role::Disabled => 0,
        Role::Alternate | Role::Backup => 1,
        Role::Root => 2,
        Role::Designated => 3,
    };
    change
        | bit(said.proposal, flag::PROPOSAL)
        | role << flag::ROLE_AT
        | bit(said.learning, flag::LEARNING)
        | bit(said.forwarding, flag::FORWARDING)
        | bit(said.agreement, flag::AGREEMENT)
}

fn half(fields: &[u8; 31], at: usize) -> u16 {
    u16::from_be_bytes([fields[at], fields[at + 1]])
}

fn double(fields: &[u8; 31], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&fields[at..at + 8]);
    u64::from_be_bytes(bytes)
}

/// A time, to the nearest second.
fn seconds(fields: &[u8; 31], at: usize) -> u8 {
    let rounded = (u32::from(half(fields, at)) + 128) >> 8;
    rounded.min(255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As Open vSwitch 3.1 sent it.
    const RAPID_FRAME: [u8; 53] = [
        0x01, 0x80, 0xc2, 0, 0, 0, 0x0a, 0x01, 0x02, 0x03, 0x04, 0x05, 0x00, 0x27, 0x42, 0x42,
        0x03, 0, 0, 2, 2, 0x3c, 0x80, 0, 0x0a, 1, 2, 3, 4, 5, 0, 0, 0x07, 0xd0, 0x90, 0, 0x0a, 1,
        2, 3, 4, 6, 0x80, 0x02, 1, 0, 20, 0, 2, 0, 15, 0, 0,
    ];

    fn told() -> Configuration {
        Configuration {
            kind: Kind::Rapid,
            vector: Vector {
                root: BridgeId::new(0x8000, [0x0a, 1, 2, 3, 4, 5]),
                cost: 2000,
                bridge: BridgeId::new(0x9000, [0x0a, 1, 2, 3, 4, 6]),
                port: 0x8002,
            },
            times: Times { message_age: 1, ..Times::default() },
            said: Said { learning: true, forwarding: true, ..Said::by(Role::Designated) },
        }
    }

    #[test]
    fn a_rapid_message_is_read_and_written_octet_for_octet() {
        assert_eq!(Bpdu::read_frame(&RAPID_FRAME), Ok(Bpdu::Configuration(told())));
        let frame = Bpdu::Configuration(told()).frame([0x0a, 1, 2, 3, 4, 5]);
        assert_eq!((&frame[..53], &frame[53..]), (&RAPID_FRAME[..], &[0; 7][..]));
    }

    #[test]
    fn messages_of_the_old_protocol_have_no_role_and_no_proposal() {
        let old = Configuration { kind: Kind::Old, ..told() };
        let said = Said { acknowledged: true, change: true, ..Said::by(Role::Designated) };
        let frame = Bpdu::Configuration(Configuration { said, ..old }).frame([2; 6]);
        assert_eq!(
            (&frame[12..22], frame[13]),
            (&[0, 38, 0x42, 0x42, 3, 0, 0, 0, 0, 0x81][..], 38)
        );
        let read = Bpdu::read_frame(&frame).unwrap();
        assert_eq!(read, Bpdu::Configuration(Configuration { said, ..old }));
        let frame = Bpdu::Notification.frame([2; 6]);
        assert_eq!(&frame[12..21], &[0, 7, 0x42, 0x42, 3, 0, 0, 0, 0x80]);
        assert_eq!(Bpdu::read_frame(&frame), Ok(Bpdu::Notification));
    }

    #[test]
    fn what_is_cut_short_or_of_another_protocol_is_none() {
        for length in 0..RAPID_FRAME.len() {
            assert_eq!(Bpdu::read_frame(&RAPID_FRAME[..length]), Err(Malformed), "{length}");
        }
        // Length, LLC, protocol, a rapid message of version 1, a kind that is none.
        for (at, value) in [(13, 0x26), (14, 0xaa), (18, 1), (19, 1), (20, 3)] {
            let mut frame = RAPID_FRAME;
            frame[at] = value;
            assert_eq!(Bpdu::read_frame(&frame), Err(Malformed), "{at}");
        }
        // An old message that has come through as many bridges as it may.
        let times = Times { message_age: 20, ..Times::default() };
        let old = Configuration { kind: Kind::Old, times, ..told() };
        assert_eq!(Bpdu::read_frame(&Bpdu::Configuration(old).frame([2; 6])), Err(Malformed));
    }

    #[test]
    fn a_newer_version_is_read_as_far_as_it_is_known() {
        let mut longer = RAPID_FRAME.to_vec();
        (longer[13], longer[19]) = (0x27 + 64, 3);
        longer.extend([7; 64]);
        for seen in [longer.len(), FRAME_LEN] {
            assert_eq!(Bpdu::read_frame(&longer[..seen]), Ok(Bpdu::Configuration(told())));
        }
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_a_panic_and_written_as_they_were(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            kind in prop::sample::select(vec![0u8, 2, 0x80, 9]),
        ) {
            let mut frame = RAPID_FRAME[..21].to_vec();
            frame[20] = kind;
            frame.extend(bytes);
            frame[13] = (frame.len() - 14).min(255) as u8;
            if let Ok(read) = Bpdu::read_frame(&frame) {
                prop_assert_eq!(Bpdu::read_frame(&read.frame([2; 6])).is_ok(), match read {
                    Bpdu::Notification => true,
                    // Rounded to seconds it may be too old.
                    Bpdu::Configuration(it) =>
                        it.kind == Kind::Rapid || it.times.message_age < it.times.max_age,
                });
            }
        }
    }
}
