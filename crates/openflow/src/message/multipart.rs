//! Answers of many entries, in as many messages as they need.

use super::{Kind, message};
use crate::NICIRA;
use crate::bytes::{Put, Writer};
use crate::version::Version;

/// Bytes of a part, at most: each length must fit 16 bits.
const MOST: usize = 60_000;

/// See the module.
pub struct Multipart {
    version: Version,
    xid: u32,
    head: Writer,
    done: Vec<Vec<u8>>,
    part: Writer,
}

impl Multipart {
    /// An answer of a kind without entries yet.
    pub fn new(version: Version, xid: u32, kind: u16) -> Self {
        let mut head = Writer::new();
        head.u16(kind);
        head.u16(0);
        if version > Version::V10 {
            head.zeros(4);
        }
        Self { version, xid, head, done: Vec::new(), part: Writer::new() }
    }

    /// An answer of Open vSwitch's.
    pub(super) fn nicira(version: Version, xid: u32, subtype: u32) -> Self {
        let mut it = Self::new(version, xid, u16::MAX);
        it.head.u32(NICIRA);
        it.head.u32(subtype);
        if version == Version::V10 {
            it.head.zeros(4);
        }
        it
    }

    /// The version that it is written in.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Writes one entry more.
    pub fn entry(&mut self, write: impl FnOnce(Version, &mut Writer)) {
        let start = self.part.len();
        write(self.version, &mut self.part);
        if self.part.len() > MOST && start > 0 {
            let rest = self.part.split_off(start);
            let full = std::mem::replace(&mut self.part, rest);
            self.close(&full, true);
        }
    }

    /// Whether there is no entry yet.
    pub fn is_empty(&self) -> bool {
        self.part.is_empty() && self.done.is_empty()
    }

    fn close(&mut self, entries: &[u8], more: bool) {
        let mut body = self.head.clone();
        body[3] = more.into();
        body.extend(entries);
        self.done.push(message(self.version, Kind::MultipartReply, self.xid, &body));
    }

    /// The messages.
    pub fn finish(mut self) -> Vec<Vec<u8>> {
        let last = std::mem::take(&mut self.part);
        self.close(&last, false);
        self.done
    }
}
