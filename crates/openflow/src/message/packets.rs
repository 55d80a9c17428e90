//! Packets between a switch and its controllers.

use super::{Kind, message, nicira};
use crate::action::{Program, decode_list};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Field;
use crate::matching::Match;
use crate::port::{self, PortNumber};
use crate::version::Version;

/// Why a controller gets a packet.
pub mod reason {
    /// No flow matched.
    pub const NO_MATCH: u8 = 0;
    /// An action says so.
    pub const ACTION: u8 = 1;
    /// It has no time to live.
    pub const INVALID_TTL: u8 = 2;
    /// An action set says so.
    pub const ACTION_SET: u8 = 3;
    /// A group says so.
    pub const GROUP: u8 = 4;
}

/// A packet to send.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketOut {
    /// The buffer that it is in. We have none.
    pub buffer: u32,
    /// The port that it came in by, as far as flows are concerned.
    pub in_port: PortNumber,
    /// What else is known of it: 1.5.
    pub matching: Match,
    /// What is done with it.
    pub actions: Program,
    /// The packet.
    pub data: Vec<u8>,
}

impl PacketOut {
    pub(super) fn decode(version: Version, body: &mut Reader<'_>) -> Result<Self, Fault> {
        let buffer = body.u32()?;
        let mut matching = Match::any();
        let (in_port, length);
        match version {
            Version::V10 => (in_port, length) = (body.u16()?, body.u16()?),
            Version::V15 => {
                length = body.u16()?;
                body.skip(2)?;
                matching = Match::decode_oxm(body)?;
                let said = matching.exact(Field::InPort).ok_or(Fault::BadPort)?;
                in_port = said as PortNumber;
            }
            _ => {
                in_port = port::from_32(body.u32()?).ok_or(Fault::BadPort)?;
                length = body.u16()?;
                body.skip(6)?;
            }
        }
        let is_real = (1..=port::MAX_PORT).contains(&in_port);
        if !is_real && !matches!(in_port, port::LOCAL | port::NONE | port::CONTROLLER) {
            return Err(Fault::BadPort);
        }
        let mut list = body.or(Fault::BadActionLength).part(length.into())?;
        body.skip(length.into())?;
        let actions = decode_list(&mut list, version)?;
        let data = body.take(body.len())?.to_vec();
        Ok(Self { buffer, in_port, matching, actions, data })
    }
}

/// How a controller is told of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketInForm {
    /// As the version has it.
    Standard,
    /// As Open vSwitch had it first.
    Nxt,
    /// As it has it since: by properties.
    Nxt2,
}

/// A packet for controllers.
#[derive(Clone, Debug)]
pub struct PacketIn<'a> {
    /// See [`reason`].
    pub reason: u8,
    /// The table of the flow that sent it.
    pub table: u8,
    /// Its cookie.
    pub cookie: u64,
    /// What is known beside the packet: where it came in, registers and the like.
    pub metadata: &'a Match,
    /// As much of it as is wanted.
    pub data: &'a [u8],
    /// Its whole length.
    pub length: usize,
}

impl PacketIn<'_> {
    /// The message.
    pub fn encode(&self, form: PacketInForm, version: Version) -> Vec<u8> {
        let mut body = Writer::new();
        let whole = self.length.min(usize::from(u16::MAX)) as u16;
        match (form, version) {
            (PacketInForm::Nxt2, _) => {
                property(0, &mut body, |out| out.extend(self.data));
                if self.length != self.data.len() {
                    property(1, &mut body, |out| out.u32(self.length as u32));
                }
                property(3, &mut body, |out| out.u8(self.table));
                property(4, &mut body, |out| {
                    out.u32(0);
                    out.u64(self.cookie);
                });
                property(5, &mut body, |out| out.u8(self.reason));
                let is_old = version == Version::V10;
                property(6, &mut body, |out| self.metadata.encode_fields(is_old, None, out));
                return nicira(version, 30, 0, &body);
            }
            (PacketInForm::Nxt, _) => {
                body.u32(u32::MAX);
                body.u16(whole);
                body.u8(self.reason);
                body.u8(self.table);
                body.u64(self.cookie);
                let mut fields = Writer::new();
                self.metadata.encode_fields(true, None, &mut fields);
                super::flow_mod::put_nxm_match(&fields, 6, &mut body);
                body.zeros(2);
                body.extend(self.data);
                return nicira(version, 17, 0, &body);
            }
            (PacketInForm::Standard, Version::V10) => {
                let in_port = self.metadata.exact(Field::InPort).unwrap_or(port::NONE.into());
                body.u32(u32::MAX);
                body.u16(whole);
                body.u16(in_port as u16);
                body.u8(self.reason.min(reason::ACTION));
                body.u8(0);
            }
            (PacketInForm::Standard, _) => {
                // 1.3 knows no reason behind the third.
                let known = version >= Version::V14 || self.reason <= reason::INVALID_TTL;
                body.u32(u32::MAX);
                body.u16(whole);
                body.u8(if known { self.reason } else { reason::ACTION });
                body.u8(self.table);
                body.u64(self.cookie);
                self.metadata.encode_oxm(&mut body);
                body.zeros(2);
            }
        }
        body.extend(self.data);
        message(version, Kind::PacketIn, 0, &body)
    }
}

/// Writes a property: its length leaves out what it is padded with.
fn property(kind: u16, out: &mut Writer, body: impl FnOnce(&mut Writer)) {
    let start = out.len();
    out.u16(kind);
    out.u16(0);
    body(out);
    out.set_length(start, 2);
    out.pad8(start);
}
