//! Messages of the control channel: 128 bytes each, packed, in the host's byte order.
//!
//! ```text
//!  0      2                                                     128
//!  ├ type ┼ fields of that type, without gaps ┼ zeroes ─────────┤
//! ```
//! The format is memif's, version 2.0, as DPDK's and VPP's headers have it.

/// Bytes of every message.
pub const MESSAGE_BYTES: usize = 128;
/// The one version there is: 2.0.
pub const VERSION: u16 = 2 << 8;
/// Bytes of a shared secret.
pub const SECRET_BYTES: usize = 24;
/// Bytes of a program's or an interface's name.
pub const NAME_BYTES: usize = 32;
/// Bytes of the reason for a disconnect.
const REASON_BYTES: usize = 96;

/// A text in an array, ended by a zero.
pub type Name = [u8; NAME_BYTES];

/// The server's greeting: what it can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Who it is.
    pub name: Name,
    /// Lowest version it speaks.
    pub min_version: u16,
    /// Highest version it speaks.
    pub max_version: u16,
    /// Highest number of a region.
    pub max_region: u16,
    /// Highest number of a ring from server to client.
    pub max_s2c_ring: u16,
    /// Highest number of a ring from client to server.
    pub max_c2s_ring: u16,
    /// Largest ring, as a power of two.
    pub max_ring_log2: u8,
}

/// The client says to which interface it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Init {
    /// Version that it speaks.
    pub version: u16,
    /// Which interface of the socket.
    pub id: u32,
    /// What packets are: 0 for Ethernet frames.
    pub mode: u8,
    /// As both were told; zeroes for none.
    pub secret: [u8; SECRET_BYTES],
    /// Who it is.
    pub name: Name,
}

/// The client has memory; its descriptor comes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddRegion {
    /// Its number.
    pub index: u16,
    /// Its bytes.
    pub size: u64,
}

/// The client has a ring in that memory; its bell's descriptor comes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddRing {
    /// From client to server, or the other way.
    pub to_server: bool,
    /// Its number among those of its direction.
    pub index: u16,
    /// In which region.
    pub region: u16,
    /// Where in it.
    pub offset: u32,
    /// Packets it holds, as a power of two.
    pub ring_log2: u8,
    /// Bytes of others in front of each packet; nobody uses it.
    pub private_bytes: u16,
}

/// The end, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnect {
    /// A number; nobody uses it.
    pub code: u32,
    /// Words.
    pub reason: [u8; REASON_BYTES],
}

/// What the ends say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The last message was taken.
    Ack,
    /// See there.
    Hello(Hello),
    /// See there.
    Init(Init),
    /// See there.
    AddRegion(AddRegion),
    /// See there.
    AddRing(AddRing),
    /// The client has said all; its interface's name.
    Connect(Name),
    /// The server uses the memory now; its interface's name.
    Connected(Name),
    /// See there.
    Disconnect(Disconnect),
}

/// A message that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Too short, or too long.
    #[error("a message of {0} bytes in place of {MESSAGE_BYTES}")]
    Length(usize),
    /// Of no known type.
    #[error("a message of the unknown type {0}")]
    Type(u16),
}

const ACK: u16 = 1;
const HELLO: u16 = 2;
const INIT: u16 = 3;
const ADD_REGION: u16 = 4;
const ADD_RING: u16 = 5;
const CONNECT: u16 = 6;
const CONNECTED: u16 = 7;
const DISCONNECT: u16 = 8;

/// The one flag of a ring.
const TO_SERVER: u16 = 1;

impl Message {
    /// A disconnect with words, cut to their room.
    pub fn disconnect(words: &str) -> Self {
        Self::Disconnect(Disconnect { code: 0, reason: text(words) })
    }

    /// What these bytes say.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let bytes: &[u8; MESSAGE_BYTES] =
            bytes.try_into().map_err(|_| Malformed::Length(bytes.len()))?;
        let mut from = Fields { bytes, at: 0 };
        Ok(match from.u16() {
            ACK => Self::Ack,
            HELLO => Self::Hello(Hello {
                name: from.array(),
                min_version: from.u16(),
                max_version: from.u16(),
                max_region: from.u16(),
                max_s2c_ring: from.u16(),
                max_c2s_ring: from.u16(),
                max_ring_log2: from.u8(),
            }),
            INIT => Self::Init(Init {
                version: from.u16(),
                id: from.u32(),
                mode: from.u8(),
                secret: from.array(),
                name: from.array(),
            }),
            ADD_REGION => Self::AddRegion(AddRegion { index: from.u16(), size: from.u64() }),
            ADD_RING => Self::AddRing(AddRing {
                to_server: from.u16() & TO_SERVER != 0,
                index: from.u16(),
                region: from.u16(),
                offset: from.u32(),
                ring_log2: from.u8(),
                private_bytes: from.u16(),
            }),
            CONNECT => Self::Connect(from.array()),
            CONNECTED => Self::Connected(from.array()),
            DISCONNECT => Self::Disconnect(Disconnect { code: from.u32(), reason: from.array() }),
            unknown => return Err(Malformed::Type(unknown)),
        })
    }

    /// As it goes over the socket.
    pub fn write(&self) -> [u8; MESSAGE_BYTES] {
        let mut into = Writer { bytes: [0; MESSAGE_BYTES], at: 0 };
        match self {
            Self::Ack => into.put(&ACK.to_ne_bytes()),
            Self::Hello(hello) => {
                into.put(&HELLO.to_ne_bytes());
                into.put(&hello.name);
                for number in [
                    hello.min_version,
                    hello.max_version,
                    hello.max_region,
                    hello.max_s2c_ring,
                    hello.max_c2s_ring,
                ] {
                    into.put(&number.to_ne_bytes());
                }
                into.put(&[hello.max_ring_log2]);
            }
            Self::Init(init) => {
                into.put(&INIT.to_ne_bytes());
                into.put(&init.version.to_ne_bytes());
                into.put(&init.id.to_ne_bytes());
                into.put(&[init.mode]);
                into.put(&init.secret);
                into.put(&init.name);
            }
            Self::AddRegion(region) => {
                into.put(&ADD_REGION.to_ne_bytes());
                into.put(&region.index.to_ne_bytes());
                into.put(&region.size.to_ne_bytes());
            }
            Self::AddRing(ring) => {
                into.put(&ADD_RING.to_ne_bytes());
                into.put(&(u16::from(ring.to_server) * TO_SERVER).to_ne_bytes());
                into.put(&ring.index.to_ne_bytes());
                into.put(&ring.region.to_ne_bytes());
                into.put(&ring.offset.to_ne_bytes());
                into.put(&[ring.ring_log2]);
                into.put(&ring.private_bytes.to_ne_bytes());
            }
            Self::Connect(name) => {
                into.put(&CONNECT.to_ne_bytes());
                into.put(name);
            }
            Self::Connected(name) => {
                into.put(&CONNECTED.to_ne_bytes());
                into.put(name);
            }
            Self::Disconnect(end) => {
                into.put(&DISCONNECT.to_ne_bytes());
                into.put(&end.code.to_ne_bytes());
                into.put(&end.reason);
            }
        }
        into.bytes
    }
}

/// Words as an array has them: cut to its room, a zero at the end.
pub fn text<const N: usize>(words: &str) -> [u8; N] {
    let mut array = [0; N];
    let room = words.len().min(N.saturating_sub(1));
    array[..room].copy_from_slice(&words.as_bytes()[..room]);
    array
}

/// What an array says, as far as it is text that may be shown.
pub fn shown(array: &[u8]) -> String {
    let end = array.iter().position(|&byte| byte == 0).unwrap_or(array.len());
    String::from_utf8_lossy(&array[..end]).chars().filter(|c| !c.is_control()).collect()
}

/// Every message's fields end well before its last byte; see the test.
struct Fields<'a> {
    bytes: &'a [u8; MESSAGE_BYTES],
    at: usize,
}

impl Fields<'_> {
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes[self.at..self.at + N]);
        self.at += N;
        array
    }

    fn u8(&mut self) -> u8 {
        u8::from_ne_bytes(self.array())
    }

    fn u16(&mut self) -> u16 {
        u16::from_ne_bytes(self.array())
    }

    fn u32(&mut self) -> u32 {
        u32::from_ne_bytes(self.array())
    }

    fn u64(&mut self) -> u64 {
        u64::from_ne_bytes(self.array())
    }
}

struct Writer {
    bytes: [u8; MESSAGE_BYTES],
    at: usize,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_can_be_read_is_written_alike(kind in 0u16..10, rest: [u8; 126]) {
            let mut bytes = [0; MESSAGE_BYTES];
            bytes[..2].copy_from_slice(&kind.to_ne_bytes());
            bytes[2..].copy_from_slice(&rest);
            match Message::read(&bytes) {
                Ok(message) => prop_assert_eq!(Message::read(&message.write()), Ok(message)),
                Err(error) => prop_assert_eq!(error, Malformed::Type(kind)),
            }
        }
    }

    #[test]
    fn fields_stand_where_others_look_for_them() {
        let ring = AddRing {
            to_server: true,
            index: 0x0203,
            region: 0x0405,
            offset: 0x0607_0809,
            ring_log2: 10,
            private_bytes: 0x0b0c,
        };
        let bytes = Message::AddRing(ring).write();
        assert_eq!(bytes[..15], [5, 0, 1, 0, 3, 2, 5, 4, 9, 8, 7, 6, 10, 12, 11]);
        let region = AddRegion { index: 1, size: 2 };
        assert_eq!(Message::AddRegion(region).write()[..6], [4, 0, 1, 0, 2, 0]);
        let init = Init { version: VERSION, id: 7, mode: 0, secret: [1; 24], name: [2; 32] };
        let bytes = Message::Init(init).write();
        assert_eq!(bytes[..9], [3, 0, 0, 2, 7, 0, 0, 0, 0]);
        assert_eq!((&bytes[9..33], &bytes[33..65]), (&[1; 24][..], &[2; 32][..]));
    }

    #[test]
    fn messages_of_another_length_are_none() {
        assert_eq!(Message::read(&[1; 127]), Err(Malformed::Length(127)));
        assert_eq!(Message::read(&[]), Err(Malformed::Length(0)));
    }

    #[test]
    fn words_are_cut_to_their_room_and_shown_without_control_characters() {
        let array: [u8; 4] = text("abcdef");
        assert_eq!(&array, b"abc\0");
        assert_eq!(shown(b"a\x1b[2Jb\0c"), "a[2Jb");
    }
}
