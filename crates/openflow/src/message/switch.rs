//! What a switch is and how it is set: greetings, features, settings, roles.

use super::{Kind, PortDesc, message, nicira, table_reason};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::version::{Version, Versions};

/// The versions of a greeting, a bit each: those of its bitmap, or all up to its own.
pub(super) fn decode_hello(version: u8, mut body: &[u8]) -> u32 {
    while let [a, b, c, d, ..] = *body {
        let (kind, length) = (u16::from_be_bytes([a, b]), usize::from(u16::from_be_bytes([c, d])));
        if length < 4 || length > body.len() {
            break;
        }
        if kind == 1 && length >= 8 {
            let word = body[4..8].iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
            return word;
        }
        body = &body[length.next_multiple_of(8).min(body.len())..];
    }
    // Bit 0 is no version.
    ((1u64 << (u32::from(version).min(30) + 1)) - 2) as u32
}

/// What a controller may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// As it is: it asks alone.
    NoChange,
    /// Everything, as others may.
    Equal,
    /// Everything, others nothing.
    Master,
    /// It may look.
    Slave,
}

impl Role {
    /// The role of a number.
    pub(super) fn of(number: u32) -> Option<Self> {
        [Self::NoChange, Self::Equal, Self::Master, Self::Slave].get(number as usize).copied()
    }

    /// Tells of a role that it was given because another is master.
    pub fn status(self, version: Version, generation: u64) -> Vec<u8> {
        let mut body = Writer::new();
        body.u32(self as u32);
        body.zeros(4);
        body.u64(generation);
        message(version, Kind::RoleStatus, 0, &body)
    }

    /// The answer to who asked for a role.
    pub fn reply(self, version: Version, xid: u32, generation: Option<u64>) -> Vec<u8> {
        let mut body = Writer::new();
        if version == Version::V10 || generation.is_none() && version < Version::V13 {
            body.u32((self as u32).saturating_sub(1));
            return nicira(version, 11, xid, &body);
        }
        body.u32(self as u32);
        body.u32(0);
        body.u64(generation.unwrap_or(u64::MAX));
        message(version, Kind::RoleReply, xid, &body)
    }
}

/// What a controller is told without asking: a bit for each reason, while it is master or equal,
/// and while it is slave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsyncMasks {
    /// Packets.
    pub packet_in: [u32; 2],
    /// Ports.
    pub port_status: [u32; 2],
    /// Flows that are gone.
    pub flow_removed: [u32; 2],
    /// Roles. From 1.4 on.
    pub role_status: [u32; 2],
    /// Room in tables. From 1.4 on.
    pub table_status: [u32; 2],
}

impl Default for AsyncMasks {
    fn default() -> Self {
        Self {
            packet_in: [0x3f, 0],
            port_status: [7, 7],
            flow_removed: [0x3f, 0],
            role_status: [7, 7],
            table_status: [1 << table_reason::VACANCY_DOWN | 1 << table_reason::VACANCY_UP, 0],
        }
    }
}

/// Another mask for something: which one, and of which role (0 master or equal, 1 slave).
pub type AsyncMask = (usize, usize, u32);

impl AsyncMasks {
    /// Until somebody says another. Flows that are gone for a reason that a version does not know
    /// are not told in it, as in Open vSwitch.
    pub fn of(version: Version) -> Self {
        // Until deletion; with groups; with meters and evictions.
        let reasons = match version {
            Version::V10 => 0b111,
            Version::V13 => 0b1111,
            Version::V14 | Version::V15 => 0b11_1111,
        };
        Self { flow_removed: [reasons, 0], ..Self::default() }
    }

    fn all(&mut self) -> [&mut [u32; 2]; 5] {
        let Self { packet_in, port_status, flow_removed, role_status, table_status } = self;
        [packet_in, port_status, flow_removed, role_status, table_status]
    }

    /// Changes what is said, and leaves the rest.
    pub fn set(&mut self, wanted: &[AsyncMask]) {
        for &(which, slot, mask) in wanted {
            if let Some(masks) = self.all().into_iter().nth(which) {
                masks[slot & 1] = mask;
            }
        }
    }

    /// The answer to who asked for them.
    pub fn reply(mut self, version: Version, xid: u32) -> Vec<u8> {
        let mut body = Writer::new();
        for (which, masks) in self.all().into_iter().enumerate() {
            match version {
                // Of each pair, slave first, then master.
                Version::V14 | Version::V15 => {
                    for (kind, mask) in [(2 * which, masks[1]), (2 * which + 1, masks[0])] {
                        body.u16(kind as u16);
                        body.u16(8);
                        body.u32(mask);
                    }
                }
                _ if which < 3 => body.u32s(&masks[..]),
                _ => {}
            }
        }
        message(version, Kind::GetAsyncReply, xid, &body)
    }
}

pub(super) fn decode_async(
    version: Version,
    body: &mut Reader<'_>,
) -> Result<Vec<AsyncMask>, Fault> {
    let mut wanted = Vec::new();
    if version < Version::V14 {
        for which in 0..3 {
            wanted.push((which, 0, body.u32()?));
            wanted.push((which, 1, body.u32()?));
        }
        return Ok(wanted);
    }
    while !body.is_empty() {
        let (kind, length) = (usize::from(body.u16()?), usize::from(body.u16()?));
        if length != 8 {
            return Err(Fault::BadPropertyLength);
        }
        wanted.push((kind / 2, (kind + 1) % 2, body.u32()?));
    }
    Ok(wanted)
}

/// What a switch can.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Its number.
    pub datapath: u64,
    /// Tables it has.
    pub tables: u8,
}

/// Statistics of flows, tables, ports and queues, and addresses of ARP.
const CAPABILITIES10: u32 = 0xc7;
/// Actions of 1.0: all twelve.
const ACTIONS10: u32 = 0xfff;
/// Statistics of flows, tables, ports, groups and queues.
const CAPABILITIES: u32 = 0x4f;

impl Features {
    /// The answer, with ports where the version wants them here.
    pub fn reply(&self, version: Version, xid: u32, ports: &[PortDesc]) -> Vec<u8> {
        let mut body = Writer::new();
        body.u64(self.datapath);
        body.u32(0);
        body.u8(self.tables);
        body.zeros(3);
        match version {
            Version::V10 => {
                body.u32(CAPABILITIES10);
                body.u32(ACTIONS10);
                ports.iter().for_each(|port| port.encode(version, &mut body));
            }
            _ => {
                body.u32(CAPABILITIES);
                body.u32(0);
            }
        }
        message(version, Kind::FeaturesReply, xid, &body)
    }
}

/// Who made a switch.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the standard's own names")]
pub struct Description<'a> {
    pub manufacturer: &'a str,
    pub hardware: &'a str,
    pub software: &'a str,
    pub serial: &'a str,
    pub datapath: &'a str,
}

impl Description<'_> {
    /// Writes it.
    pub fn encode(&self, out: &mut Writer) {
        out.text(self.manufacturer, 256);
        out.text(self.hardware, 256);
        out.text(self.software, 256);
        out.text(self.serial, 32);
        out.text(self.datapath, 256);
    }
}

/// The answer about settings.
pub fn config_reply(version: Version, xid: u32, flags: u16, miss_len: u16) -> Vec<u8> {
    let mut body = Writer::new();
    body.u16(flags);
    body.u16(miss_len);
    message(version, Kind::GetConfigReply, xid, &body)
}

/// Asks the other side whether it is there.
pub fn echo(version: Version) -> Vec<u8> {
    message(version, Kind::EchoRequest, 0, &[])
}

/// A greeting: the highest of our versions, and all of them.
pub fn hello(xid: u32, versions: Versions) -> Vec<u8> {
    let mut body = Writer::new();
    body.u16(1);
    body.u16(8);
    body.u32(versions.bitmap());
    message(versions.highest(), Kind::Hello, xid, &body)
}
