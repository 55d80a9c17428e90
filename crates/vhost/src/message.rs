//! What a front end says, as bytes (vhost-user, QEMU's `docs/interop/vhost-user.rst`).
//!
//! ```text
//!  0         4       8               12
//!  request   flags   bytes behind    payload
//! ```
//! Numbers are of the machine's own order: both sides are on it.

use crate::Refusal;

/// Bytes of a header.
pub const HEADER_BYTES: usize = 12;
/// Regions in a table of memory: DPDK's library has room for no more.
pub const MOST_REGIONS: usize = 8;
/// Bytes of a payload: those of the largest table of memory.
pub const MOST_BYTES: usize = 8 + MOST_REGIONS * REGION_BYTES;

const REGION_BYTES: usize = 32;

const VERSION: u32 = 1;
const VERSION_MASK: u32 = 3;
const IS_REPLY: u32 = 4;
const NEEDS_REPLY: u32 = 8;

/// `GET_FEATURES`, in an answer.
pub(crate) const GET_FEATURES: u32 = 1;
/// `GET_PROTOCOL_FEATURES`, in an answer.
pub(crate) const GET_PROTOCOL_FEATURES: u32 = 15;

/// What is in front of each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which message.
    pub request: u32,
    /// Its version, and whether an answer is wanted.
    pub flags: u32,
    /// Bytes behind it.
    pub bytes: u32,
}

impl Header {
    /// Any twelve bytes are one; its payload is not longer than any may be.
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Refusal> {
        let [request, flags, length] = [0, 4, 8].map(|at| u32_at(bytes, at));
        if length as usize > MOST_BYTES {
            return Err(Refusal::Size { request, bytes: length });
        }
        Ok(Self { request, flags, bytes: length })
    }

    /// Whether it is to be answered where it would not be by itself.
    pub fn needs_reply(self) -> bool {
        self.flags & NEEDS_REPLY != 0
    }

    /// The answer to it that all is well.
    pub(crate) fn well(self) -> Vec<u8> {
        let words = [self.request, VERSION | IS_REPLY, 8, 0, 0];
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}

/// A region of a table of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Where the machine has it.
    pub guest: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Where the front end has it, which says of rings where they are by that.
    pub front: u64,
    /// Where in its file it begins.
    pub offset: u64,
}

/// Where a ring is, as the front end has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Descriptors.
    pub descriptors: u64,
    /// What the device gives back; of a packed ring its event.
    pub used: u64,
    /// What the driver offers; of a packed ring its event.
    pub available: u64,
}

/// One message of a front end, as far as it is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Asks, or tells what has nothing to check.
    Plain,
    /// `RESET_OWNER`, which nobody has a use for.
    ResetOwner,
    /// `SET_FEATURES`.
    Features(u64),
    /// `SET_PROTOCOL_FEATURES`.
    ProtocolFeatures(u64),
    /// `SET_MEM_TABLE`, with as many descriptors.
    Memory(Vec<Region>),
    /// `SET_LOG_BASE`, with one.
    Log {
        /// Of the map of written pages.
        bytes: u64,
        /// Where in its file it begins.
        offset: u64,
    },
    /// `SET_LOG_FD`, with an eventfd.
    LogBell,
    /// `SET_VRING_NUM`.
    RingSize {
        /// Which.
        ring: u32,
        /// Descriptors.
        size: u32,
    },
    /// `SET_VRING_ADDR`.
    RingPlace {
        /// Which.
        ring: u32,
        /// Where.
        at: Addresses,
    },
    /// `SET_VRING_BASE`, `SET_VRING_ENABLE`.
    Ring(u32),
    /// `GET_VRING_BASE`: the ring stops.
    StopRing(u32),
    /// `SET_VRING_KICK`, which begins it, with an eventfd or without.
    Kick(Bell),
    /// `SET_VRING_CALL`.
    Call(Bell),
    /// `SET_VRING_ERR`.
    Error(Bell),
}

/// An eventfd of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bell {
    /// Which.
    pub ring: u32,
    /// Whether one comes along.
    pub comes: bool,
}

impl Message {
    /// Reads what stands behind a header: all of it.
    pub fn read(header: Header, payload: &[u8]) -> Result<Self, Refusal> {
        let Header { request, flags, bytes } = header;
        if flags & VERSION_MASK != VERSION || flags & IS_REPLY != 0 {
            return Err(Refusal::Flags(flags));
        }
        let wrong = Refusal::Size { request, bytes };
        let there = payload.len();
        let exactly = |length| if there == length { Ok(()) } else { Err(wrong) };
        // Nothing is read of it.
        let plain = || if there <= 8 { Ok(Self::Plain) } else { Err(wrong) };
        let number = || exactly(8).map(|()| u64_at(payload, 0));
        let pair = || exactly(8).map(|()| (u32_at(payload, 0), u32_at(payload, 4)));
        let bell = || {
            let told = number()?;
            Ok(Bell { ring: (told & 0xff) as u32, comes: told & 0x100 == 0 })
        };
        match request {
            // GET_FEATURES, SET_OWNER, GET_PROTOCOL_FEATURES, GET_QUEUE_NUM, GET_STATUS.
            GET_FEATURES | 3 | GET_PROTOCOL_FEATURES | 17 | 40 => plain(),
            2 => number().map(Self::Features),
            4 => plain().map(|_| Self::ResetOwner),
            5 => memory(payload).ok_or(wrong)?.map(Self::Memory),
            6 => {
                exactly(16)?;
                Ok(Self::Log { bytes: u64_at(payload, 0), offset: u64_at(payload, 8) })
            }
            7 => plain().map(|_| Self::LogBell),
            8 => pair().map(|(ring, size)| Self::RingSize { ring, size }),
            9 => {
                exactly(40)?;
                let [descriptors, used, available] = [8, 16, 24].map(|at| u64_at(payload, at));
                let at = Addresses { descriptors, used, available };
                Ok(Self::RingPlace { ring: u32_at(payload, 0), at })
            }
            10 | 18 => pair().map(|(ring, _)| Self::Ring(ring)),
            11 => pair().map(|(ring, _)| Self::StopRing(ring)),
            12 => bell().map(Self::Kick),
            13 => bell().map(Self::Call),
            14 => bell().map(Self::Error),
            16 => number().map(Self::ProtocolFeatures),
            // SEND_RARP, NET_SET_MTU, SET_STATUS.
            19 | 20 | 39 => number().map(|_| Self::Plain),
            _ => Err(Refusal::Request(request)),
        }
    }
}

/// A table of memory; none if it is not as long as it says, and a table may have room behind.
fn memory(payload: &[u8]) -> Option<Result<Vec<Region>, Refusal>> {
    let count = u32_at(payload.get(..8)?, 0);
    if count == 0 || count as usize > MOST_REGIONS {
        return Some(Err(Refusal::Regions(count)));
    }
    let told = payload.get(8..8 + count as usize * REGION_BYTES)?;
    let region = |bytes: &[u8]| {
        let [guest, bytes, front, offset] = [0, 8, 16, 24].map(|at| u64_at(bytes, at));
        Region { guest, bytes, front, offset }
    };
    Some(Ok(told.chunks_exact(REGION_BYTES).map(region).collect()))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(word)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(request: u32, words: &[u64]) -> Result<Message, Refusal> {
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let bytes = payload.len() as u32;
        Message::read(Header { request, flags: VERSION, bytes }, &payload)
    }

    fn pair(low: u32, high: u32) -> u64 {
        u64::from_ne_bytes([low.to_ne_bytes(), high.to_ne_bytes()].concat().try_into().unwrap())
    }

    #[test]
    fn messages_are_read_as_they_are_written() {
        assert_eq!(read(2, &[7 << 30]), Ok(Message::Features(7 << 30)));
        assert_eq!(read(8, &[pair(1, 256)]), Ok(Message::RingSize { ring: 1, size: 256 }));
        let at = Addresses { descriptors: 0x1000, used: 0x2000, available: 0x3000 };
        let told = read(9, &[pair(3, 0), 0x1000, 0x2000, 0x3000, 0]);
        assert_eq!(told, Ok(Message::RingPlace { ring: 3, at }));
        assert_eq!(read(12, &[0x102]), Ok(Message::Kick(Bell { ring: 2, comes: false })));
        assert_eq!(read(13, &[1]), Ok(Message::Call(Bell { ring: 1, comes: true })));
        let region = Region { guest: 1, bytes: 2, front: 3, offset: 4 };
        assert_eq!(read(5, &[pair(1, 0), 1, 2, 3, 4]), Ok(Message::Memory(vec![region])));
        // With the room of a whole table behind, as some send it.
        let whole: Vec<u64> = [pair(1, 0), 1, 2, 3, 4].into_iter().chain([9; 28]).collect();
        assert_eq!(read(5, &whole), Ok(Message::Memory(vec![region])));
        assert_eq!(read(1, &[]), Ok(Message::Plain));
    }

    #[test]
    fn what_is_of_another_length_or_kind_is_refused() {
        let size = |request, bytes| Err(Refusal::Size { request, bytes });
        assert_eq!(read(2, &[]), size(2, 0));
        assert_eq!(read(9, &[0; 4]), size(9, 32));
        assert_eq!(read(5, &[pair(2, 0), 1, 2, 3, 4]), size(5, 40));
        assert_eq!(read(5, &[]), size(5, 0));
        for count in [0, 9, u32::MAX] {
            assert_eq!(read(5, &[pair(count, 0), 0]), Err(Refusal::Regions(count)));
        }
        // SET_BACKEND_REQ_FD, IOTLB_MSG, GET_CONFIG, POSTCOPY_LISTEN, GET_ and SET_INFLIGHT_FD.
        for request in [0, 21, 22, 24, 29, 31, 32, 41, u32::MAX] {
            assert_eq!(read(request, &[0]), Err(Refusal::Request(request)));
        }
        for flags in [0, 2, 5, u32::MAX] {
            let header = Header { request: 1, flags, bytes: 0 };
            assert_eq!(Message::read(header, &[]), Err(Refusal::Flags(flags)));
        }
        let long = [1u32, 1, 265].map(u32::to_ne_bytes).concat().try_into().unwrap();
        assert_eq!(Header::read(&long), Err(Refusal::Size { request: 1, bytes: 265 }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_refused(
            request in 0u32..64, bytes in prop::collection::vec(any::<u8>(), 0..MOST_BYTES),
        ) {
            let length = bytes.len() as u32;
            let _ = Message::read(Header { request, flags: VERSION, bytes: length }, &bytes);
        }
    }
}
