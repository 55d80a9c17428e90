//! Messages: what controllers ask, and what a switch answers and tells.
//!
//! ```text
//!  version 1 │ type 1 │ length 2 │ number 4 │ body
//! ```

mod bundles;
mod decode;
mod flow_mod;
mod flow_stats;
mod groups;
mod meters;
mod monitor;
mod multipart;
mod packets;
mod ports;
mod switch;
mod tables;

pub use bundles::{BundleAdd, BundleControl, bundle_reply};
pub use decode::{Request, StatsRequest};
pub use flow_mod::{Command, FlowMod, flag};
pub use flow_stats::{FlowQuery, FlowRemoved, FlowStats, StatsForm, aggregate};
pub use groups::{
    Bucket, GroupCommand, GroupDesc, GroupKind, GroupMod, GroupStats, group_features,
};
pub use meters::{Band, MeterCommand, MeterConfig, MeterMod, MeterStats, meter_features};
pub use monitor::{
    FlowChange, MonitorCommand, MonitorRequest, flow_updates, pause_of_old, put_flow_update,
    put_own_update, put_pause, watch,
};
pub use multipart::Multipart;
pub use packets::{PacketIn, PacketInForm, PacketOut, reason};
pub use ports::{PortDesc, PortMod, PortStats, QueueStats, config, port_status, state};
pub use switch::{AsyncMask, AsyncMasks, Description, Features, Role};
pub use switch::{config_reply, echo, hello};
pub use tables::{
    TableDesc, TableFeatures, TableMod, TableStats, Vacancy, table_config, table_reason,
};

use crate::NICIRA;
use crate::bytes::{Put, Writer};
use crate::fault::Fault;
use crate::version::Version;

/// What begins every message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The version, as the wire has it.
    pub version: u8,
    /// What it is, in that version.
    pub kind: u8,
    /// Bytes of it, these included.
    pub length: u16,
    /// The number that its answer has, too.
    pub xid: u32,
}

impl Header {
    /// Bytes of it.
    pub const LEN: usize = 8;

    /// Reads one.
    pub fn read(bytes: &[u8; Self::LEN]) -> Self {
        let [version, kind, a, b, c, d, e, f] = *bytes;
        let (length, xid) = (u16::from_be_bytes([a, b]), u32::from_be_bytes([c, d, e, f]));
        Self { version, kind, length, xid }
    }
}

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the standard's own names")]
pub enum Kind {
    Hello,
    Error,
    EchoRequest,
    EchoReply,
    Experimenter,
    FeaturesRequest,
    FeaturesReply,
    GetConfigRequest,
    GetConfigReply,
    SetConfig,
    PacketIn,
    FlowRemoved,
    PortStatus,
    PacketOut,
    FlowMod,
    GroupMod,
    PortMod,
    TableMod,
    MultipartRequest,
    MultipartReply,
    BarrierRequest,
    BarrierReply,
    QueueConfigRequest,
    QueueConfigReply,
    RoleRequest,
    RoleReply,
    GetAsyncRequest,
    GetAsyncReply,
    SetAsync,
    MeterMod,
    RoleStatus,
    TableStatus,
    Requestforward,
    BundleControl,
    BundleAdd,
}

impl Kind {
    const NEW: [Self; 35] = [
        Self::Hello,
        Self::Error,
        Self::EchoRequest,
        Self::EchoReply,
        Self::Experimenter,
        Self::FeaturesRequest,
        Self::FeaturesReply,
        Self::GetConfigRequest,
        Self::GetConfigReply,
        Self::SetConfig,
        Self::PacketIn,
        Self::FlowRemoved,
        Self::PortStatus,
        Self::PacketOut,
        Self::FlowMod,
        Self::GroupMod,
        Self::PortMod,
        Self::TableMod,
        Self::MultipartRequest,
        Self::MultipartReply,
        Self::BarrierRequest,
        Self::BarrierReply,
        Self::QueueConfigRequest,
        Self::QueueConfigReply,
        Self::RoleRequest,
        Self::RoleReply,
        Self::GetAsyncRequest,
        Self::GetAsyncReply,
        Self::SetAsync,
        Self::MeterMod,
        Self::RoleStatus,
        Self::TableStatus,
        Self::Requestforward,
        Self::BundleControl,
        Self::BundleAdd,
    ];
    const OLD: [Self; 7] = [
        Self::PortMod,
        Self::MultipartRequest,
        Self::MultipartReply,
        Self::BarrierRequest,
        Self::BarrierReply,
        Self::QueueConfigRequest,
        Self::QueueConfigReply,
    ];

    /// What a type is in a version.
    pub fn of(version: Version, number: u8) -> Option<Self> {
        match version {
            Version::V10 if number >= 15 => Self::OLD.get(usize::from(number) - 15).copied(),
            _ => {
                let most = match version {
                    Version::V10 | Version::V13 => 30,
                    Version::V14 | Version::V15 => 35,
                };
                Self::NEW.get(..most)?.get(usize::from(number)).copied()
            }
        }
    }

    /// Its type in a version; that of experimenters where there is none.
    pub(crate) fn number(self, version: Version) -> u8 {
        let of = |list: &[Self]| list.iter().position(|kind| *kind == self);
        let found = match version {
            Version::V10 => of(&Self::OLD).map(|at| at + 15).or_else(|| of(&Self::NEW[..15])),
            _ => of(&Self::NEW),
        };
        found.map_or(4, |at| at as u8)
    }
}

/// A whole message.
pub fn message(version: Version, kind: Kind, xid: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Writer::with_capacity(Header::LEN + body.len());
    out.u8(version as u8);
    out.u8(kind.number(version));
    out.u16(0);
    out.u32(xid);
    out.extend(body);
    out.set_length(0, 2);
    out
}

/// A message of Open vSwitch's.
pub(crate) fn nicira(version: Version, subtype: u32, xid: u32, body: &[u8]) -> Vec<u8> {
    let mut whole = Writer::new();
    whole.u32(NICIRA);
    whole.u32(subtype);
    whole.extend(body);
    message(version, Kind::Experimenter, xid, &whole)
}

/// A message that tells what was wrong with another.
pub fn error(version: Version, xid: u32, fault: Fault, request: &[u8]) -> Vec<u8> {
    message(version, Kind::Error, xid, &fault.body(version, request))
}

#[cfg(test)]
mod tests;
