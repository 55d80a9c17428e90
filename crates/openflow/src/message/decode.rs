//! What controllers ask.

use super::flow_stats::FlowQuery;
use super::switch::{decode_async, decode_hello};
use super::{
    AsyncMask, BundleAdd, BundleControl, FlowMod, GroupMod, Header, Kind, MeterMod, MonitorRequest,
    PacketOut, PortMod, Role, TableMod,
};
use crate::bytes::Reader;
use crate::fault::Fault;
use crate::port::{self, PortNumber};
use crate::version::Version;
use crate::{NICIRA, ONF};

/// A message of a controller's.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    /// The versions that it speaks, a bit each.
    Hello(u32),
    /// It tells of a fault: nothing to do.
    Error,
    /// Whether we are there; to be sent back.
    Echo(Vec<u8>),
    /// It is there.
    EchoReply,
    /// What the switch is.
    Features,
    /// The switch's settings.
    GetConfig,
    /// Other settings: what is done with fragments, bytes of packets that no flow matches.
    SetConfig(u16, u16),
    /// When all before this is done.
    Barrier,
    /// Flows.
    FlowMod(Box<FlowMod>),
    /// A packet to send.
    PacketOut(Box<PacketOut>),
    /// A port.
    PortMod(PortMod),
    /// Groups.
    GroupMod(Box<GroupMod>),
    /// Meters.
    MeterMod(MeterMod),
    /// Settings of tables.
    TableMod(TableMod),
    /// Statistics and descriptions.
    Stats(Box<StatsRequest>),
    /// Queues of a port.
    QueueConfig(PortNumber),
    /// The controller's role, and the generation.
    Role(Role, Option<u64>),
    /// What it is told without asking.
    GetAsync,
    /// What it wants to be told without asking.
    SetAsync(Vec<AsyncMask>),
    /// About a bundle.
    BundleControl(BundleControl),
    /// A message in a bundle.
    BundleAdd(BundleAdd),
    /// How flows are told of, of old: 0 as 1.0, 2 as NXM.
    SetFlowFormat(u32),
    /// Whether flows of 1.0 name their table.
    FlowModTableId(bool),
    /// How packets are told of.
    SetPacketInFormat(u32),
    /// The controller's number.
    SetControllerId(u16),
    /// Flows are watched no more, by the number that the controller gave that.
    CancelMonitor(u32),
    /// Whether ages of flows are told of.
    FlowAge,
}

/// What is asked of many things at once.
#[derive(Clone, PartialEq, Debug)]
pub enum StatsRequest {
    /// Who made the switch.
    Description,
    /// Flows.
    Flows(FlowQuery),
    /// What flows sum up to.
    Aggregate(FlowQuery),
    /// Tables.
    Tables,
    /// What tables can do.
    TableFeatures,
    /// Settings of tables.
    TableDescs,
    /// Counters of a port, or all.
    Ports(PortNumber),
    /// A port, or all.
    PortDescs(PortNumber),
    /// Counters of a queue of a port; all of them.
    Queues(PortNumber, u32),
    /// Counters of a group, or all.
    Groups(u32),
    /// A group, or all.
    GroupDescs(u32),
    /// What groups can do.
    GroupFeatures,
    /// Counters of a meter, or all.
    Meters(u32),
    /// A meter, or all.
    MeterConfigs(u32),
    /// What meters can do.
    MeterFeatures,
    /// Flows, and from now on what becomes of them.
    Monitor(MonitorRequest),
}

impl Request {
    /// Reads a whole message. With `names_tables` flows of 1.0 name their table in the command.
    pub fn decode(message: &[u8], names_tables: bool) -> Result<Self, Fault> {
        let head = message.first_chunk().map(Header::read).ok_or(Fault::BadLength)?;
        let body = &message[Header::LEN..];
        // Every version's greeting can be read.
        if head.kind == 0 {
            return Ok(Self::Hello(decode_hello(head.version, body)));
        }
        let version = Version::of(head.version).ok_or(Fault::BadVersion)?;
        let kind = Kind::of(version, head.kind).ok_or(Fault::BadType)?;
        let mut reader = Reader::new(body, Fault::BadLength);
        let read = Self::decode_body(kind, version, head.xid, &mut reader, names_tables)?;
        if reader.is_empty() { Ok(read) } else { Err(Fault::BadLength) }
    }

    fn decode_body(
        kind: Kind,
        version: Version,
        xid: u32,
        body: &mut Reader<'_>,
        names_tables: bool,
    ) -> Result<Self, Fault> {
        Ok(match kind {
            Kind::Error => {
                body.skip(body.len())?;
                Self::Error
            }
            Kind::EchoRequest => Self::Echo(body.take(body.len())?.to_vec()),
            Kind::EchoReply => {
                body.skip(body.len())?;
                Self::EchoReply
            }
            Kind::Experimenter => Self::decode_experimenter(version, xid, body)?,
            Kind::FeaturesRequest => Self::Features,
            Kind::GetConfigRequest => Self::GetConfig,
            Kind::SetConfig => Self::SetConfig(body.u16()?, body.u16()?),
            Kind::BarrierRequest => Self::Barrier,
            Kind::FlowMod => Self::FlowMod(Box::new(FlowMod::decode(version, body, names_tables)?)),
            Kind::PacketOut => Self::PacketOut(Box::new(PacketOut::decode(version, body)?)),
            Kind::PortMod => Self::PortMod(PortMod::decode(version, body)?),
            Kind::GroupMod => Self::GroupMod(Box::new(GroupMod::decode(version, body)?)),
            Kind::MeterMod => Self::MeterMod(MeterMod::decode(body)?),
            Kind::TableMod => Self::TableMod(TableMod::decode(version, body)?),
            Kind::MultipartRequest => Self::Stats(Box::new(StatsRequest::decode(version, body)?)),
            Kind::QueueConfigRequest => match version {
                Version::V10 => {
                    let port = body.u16()?;
                    body.skip(2)?;
                    Self::QueueConfig(port)
                }
                _ => {
                    let port = port::from_32(body.u32()?).ok_or(Fault::BadQueuePort)?;
                    body.skip(4)?;
                    Self::QueueConfig(port)
                }
            },
            Kind::RoleRequest => {
                let role = Role::of(body.u32()?).ok_or(Fault::BadRole)?;
                body.skip(4)?;
                Self::Role(role, Some(body.u64()?))
            }
            Kind::GetAsyncRequest => Self::GetAsync,
            Kind::SetAsync => Self::SetAsync(decode_async(version, body)?),
            Kind::BundleControl => Self::BundleControl(BundleControl::decode(body)?),
            Kind::BundleAdd => Self::BundleAdd(BundleAdd::decode(body)?),
            _ => return Err(Fault::BadType),
        })
    }

    fn decode_experimenter(version: Version, _: u32, body: &mut Reader<'_>) -> Result<Self, Fault> {
        let (vendor, subtype) = (body.u32()?, body.u32()?);
        match (vendor, subtype) {
            (NICIRA, 10) => {
                // Nicira numbered roles from 0, and knew no "as it is".
                let role = body.u32()?.checked_add(1).and_then(Role::of).ok_or(Fault::BadRole)?;
                Ok(Self::Role(role, None))
            }
            (NICIRA, 12) => Ok(Self::SetFlowFormat(body.u32()?)),
            (NICIRA, 13) => Ok(Self::FlowMod(Box::new(FlowMod::decode_nxm(version, body)?))),
            (NICIRA, 15) => {
                let set = body.u8()?;
                body.skip(7)?;
                Ok(Self::FlowModTableId(set != 0))
            }
            (NICIRA, 16) => Ok(Self::SetPacketInFormat(body.u32()?)),
            (NICIRA, 18) => Ok(Self::FlowAge),
            (NICIRA, 19) => Ok(Self::SetAsync(decode_async(Version::V13, body)?)),
            (NICIRA, 20) => {
                body.skip(6)?;
                Ok(Self::SetControllerId(body.u16()?))
            }
            (NICIRA, 21) if version == Version::V10 => Ok(Self::CancelMonitor(body.u32()?)),
            (ONF, 2300) => Ok(Self::BundleControl(BundleControl::decode(body)?)),
            (ONF, 2301) => Ok(Self::BundleAdd(BundleAdd::decode(body)?)),
            (NICIRA | ONF, _) => Err(Fault::BadSubtype),
            _ => Err(Fault::BadVendor),
        }
    }
}

impl StatsRequest {
    fn decode(version: Version, body: &mut Reader<'_>) -> Result<Self, Fault> {
        let (kind, flags) = (body.u16()?, body.u16()?);
        if version > Version::V10 {
            body.skip(4)?;
        }
        // Requests of several parts are for tables' features, which cannot be set.
        if flags & 1 != 0 {
            return Err(Fault::BufferOverflow);
        }
        let is_old = version == Version::V10;
        let number = |body: &mut Reader<'_>| {
            let number = body.u32()?;
            body.skip(4)?;
            Ok::<_, Fault>(number)
        };
        Ok(match kind {
            0 => Self::Description,
            1 => Self::Flows(FlowQuery::decode(version, body)?),
            2 => Self::Aggregate(FlowQuery::decode(version, body)?),
            3 => Self::Tables,
            4 => Self::Ports(decode_port(version, body)?),
            5 if is_old => {
                let port = body.u16()?;
                body.skip(2)?;
                Self::Queues(if port == port::ALL { port::NONE } else { port }, body.u32()?)
            }
            5 => {
                let port = port::from_32(body.u32()?).ok_or(Fault::BadQueuePort)?;
                Self::Queues(if port == port::ALL { port::NONE } else { port }, body.u32()?)
            }
            13 if is_old || version < Version::V15 => Self::PortDescs(port::NONE),
            13 => Self::PortDescs(decode_port(version, body)?),
            6 if !is_old => Self::Groups(number(body)?),
            7 if version == Version::V15 => Self::GroupDescs(number(body)?),
            7 if !is_old => Self::GroupDescs(u32::MAX - 3),
            8 if !is_old => Self::GroupFeatures,
            9 if !is_old => Self::Meters(number(body)?),
            10 if !is_old => Self::MeterConfigs(number(body)?),
            11 if !is_old => Self::MeterFeatures,
            12 if !is_old && body.is_empty() => Self::TableFeatures,
            12 if !is_old => return Err(Fault::NotPermitted),
            14 if version >= Version::V14 => Self::TableDescs,
            16 if version >= Version::V14 => Self::Monitor(MonitorRequest::decode(body)?),
            u16::MAX => return Self::decode_nicira(version, body),
            _ => return Err(Fault::BadStat),
        })
    }

    fn decode_nicira(version: Version, body: &mut Reader<'_>) -> Result<Self, Fault> {
        if body.u32()? != NICIRA {
            return Err(Fault::BadVendor);
        }
        let subtype = body.u32()?;
        if version == Version::V10 {
            // The header of old: a subtype and four bytes.
            match subtype {
                0 | 1 => body.skip(4)?,
                2 => {
                    body.skip(4)?;
                    return Ok(Self::Monitor(MonitorRequest::decode_old(body)?));
                }
                _ => return Err(Fault::BadSubtype),
            }
        }
        match subtype {
            0 => Ok(Self::Flows(FlowQuery::decode_nxm(body)?)),
            1 => Ok(Self::Aggregate(FlowQuery::decode_nxm(body)?)),
            _ => Err(Fault::BadSubtype),
        }
    }
}

fn decode_port(version: Version, body: &mut Reader<'_>) -> Result<PortNumber, Fault> {
    let number = match version {
        Version::V10 => {
            let number = body.u16()?;
            body.skip(6)?;
            number
        }
        _ => {
            let number = port::from_32(body.u32()?).ok_or(Fault::BadPort)?;
            body.skip(4)?;
            number
        }
    };
    Ok(number)
}
