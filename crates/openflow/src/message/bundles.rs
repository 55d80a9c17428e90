//! Bundles: messages that take place all together, or not at all.

use super::{Header, Kind, message};
use crate::ONF;
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::version::Version;

/// What is done with a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BundleControl {
    /// Which.
    pub id: u32,
    /// 0 open, 2 close, 4 commit, 6 discard.
    pub kind: u16,
    /// 1: all or none; 2: in order.
    pub flags: u16,
}

impl BundleControl {
    pub(super) fn decode(body: &mut Reader<'_>) -> Result<Self, Fault> {
        let it = Self { id: body.u32()?, kind: body.u16()?, flags: body.u16()? };
        body.skip(body.len())?;
        Ok(it)
    }
}

/// The answer: of the kind that was asked for, plus one.
pub fn bundle_reply(version: Version, xid: u32, asked: BundleControl) -> Vec<u8> {
    let mut body = Writer::new();
    if version < Version::V14 {
        body.u32(ONF);
        body.u32(2300);
    }
    body.u32(asked.id);
    body.u16(asked.kind + 1);
    body.u16(asked.flags);
    let kind = if version < Version::V14 { Kind::Experimenter } else { Kind::BundleControl };
    message(version, kind, xid, &body)
}

/// A message in a bundle.
#[derive(Clone, PartialEq, Debug)]
pub struct BundleAdd {
    /// Which bundle.
    pub id: u32,
    /// As the bundle's.
    pub flags: u16,
    /// The message.
    pub message: Vec<u8>,
}

impl BundleAdd {
    pub(super) fn decode(body: &mut Reader<'_>) -> Result<Self, Fault> {
        let id = body.u32()?;
        body.skip(2)?;
        let flags = body.u16()?;
        let mut rest = *body;
        let head = body.rest().first_chunk().map(Header::read).ok_or(Fault::BundleBadMessage)?;
        let length = usize::from(head.length);
        if length < Header::LEN {
            return Err(Fault::BundleBadMessage);
        }
        let message = rest.take(length).map_err(|_| Fault::BundleBadMessage)?.to_vec();
        body.skip(body.len())?;
        Ok(Self { id, flags, message })
    }
}
