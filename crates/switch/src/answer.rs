//! What a controller says is done, and answered.

use crate::bridge::{Bridge, World};
use crate::check::{LAST_TABLE, tracks};
use crate::connection::Connection;
use flow::{Fragments, Key, extract, translate_actions};
use openflow::message::{
    self, AsyncMasks, Features, Kind, PacketInForm, PacketOut, Role, StatsForm, StatsRequest,
    TableMod, config_reply, error, table_config,
};
use openflow::{Fault, Field, MessageHeader, Request, Version, port};

impl Bridge {
    /// A whole message of a connection: the answers, errors among them. An empty list and no
    /// version agreed upon means that there is none: the connection ends.
    pub fn hear(
        &mut self,
        connection: &mut Connection,
        message: &[u8],
        world: &mut dyn World,
        now_ns: u64,
    ) -> Vec<Vec<u8>> {
        let Some(head) = message.first_chunk().map(MessageHeader::read) else { return Vec::new() };
        let Some(version) = connection.version else { return self.greet(connection, message) };
        if head.kind != 0 && head.version != version as u8 {
            return vec![error(version, head.xid, Fault::BadVersion, message)];
        }
        self.speaker = Some((connection.number, head.xid));
        let request = Request::decode(message, connection.names_tables);
        let answer = request.and_then(|request| {
            self.check_role(connection, &request)?;
            self.answer(connection, request, (version, head.xid), world, now_ns)
        });
        self.speaker = None;
        answer.unwrap_or_else(|fault| vec![error(version, head.xid, fault, message)])
    }

    /// The first message: the highest version that both speak is spoken from now on.
    fn greet(&self, connection: &mut Connection, message: &[u8]) -> Vec<Vec<u8>> {
        match Request::decode(message, false) {
            Ok(Request::Hello(bitmap)) => {
                connection.version = self.versions.common(bitmap);
                let Some(version) = connection.version else {
                    let version = self.versions.highest();
                    return vec![error(version, 0, Fault::HelloIncompatible, message)];
                };
                connection.masks = AsyncMasks::of(version);
                Vec::new()
            }
            _ => vec![error(Version::V10, 0, Fault::BadVersion, message)],
        }
    }

    /// Who may only look changes nothing.
    fn check_role(&self, connection: &Connection, request: &Request) -> Result<(), Fault> {
        let changes = matches!(
            request,
            Request::FlowMod(_)
                | Request::PacketOut(_)
                | Request::PortMod(_)
                | Request::GroupMod(_)
                | Request::MeterMod(_)
                | Request::TableMod(..)
                | Request::SetConfig(..)
                | Request::BundleControl(_)
                | Request::BundleAdd(_)
        );
        if changes && connection.role == Role::Slave { Err(Fault::IsSlave) } else { Ok(()) }
    }

    fn answer(
        &mut self,
        connection: &mut Connection,
        request: Request,
        (version, xid): (Version, u32),
        world: &mut dyn World,
        now_ns: u64,
    ) -> Result<Vec<Vec<u8>>, Fault> {
        let one = |kind: Kind, body: &[u8]| Ok(vec![message::message(version, kind, xid, body)]);
        match request {
            Request::Hello(_) | Request::Error | Request::EchoReply => {}
            Request::Echo(data) => return one(Kind::EchoReply, &data),
            Request::Barrier => return one(Kind::BarrierReply, &[]),
            Request::Features => {
                let features = Features { datapath: self.datapath, tables: LAST_TABLE + 1 };
                let ports: Vec<_> =
                    self.ports.iter().map(|(number, it)| it.desc(*number)).collect();
                return Ok(vec![features.reply(version, xid, &ports)]);
            }
            Request::GetConfig => {
                return Ok(vec![config_reply(version, xid, self.fragments, connection.miss_len)]);
            }
            Request::SetConfig(flags, miss_len) => {
                // Nothing is put together here (2).
                let fragments = match flags & 3 {
                    0 => Fragments::Alike,
                    1 => Fragments::Dropped,
                    2 => return Err(Fault::BadConfigFlags),
                    _ => Fragments::Told,
                };
                (self.fragments, connection.miss_len) = (flags & 3, miss_len);
                if self.snapshot.fragments != fragments {
                    (self.snapshot.fragments, self.is_changed) = (fragments, true);
                }
            }
            Request::FlowMod(it) => self.mod_flows(*it, version, now_ns)?,
            Request::GroupMod(it) => self.mod_groups(*it, now_ns)?,
            Request::MeterMod(it) => self.mod_meters(it, now_ns)?,
            Request::PortMod(it) => self.mod_port(it)?,
            Request::TableMod(it) => self.mod_table(it, version)?,
            Request::PacketOut(it) => self.send_out(&it, world)?,
            Request::Stats(it) => {
                if let StatsRequest::Monitor(wanted) = &*it {
                    return self.monitor(connection, wanted, (version, xid), now_ns);
                }
                return self.answer_stats(&it, version, xid, world, now_ns);
            }
            Request::CancelMonitor(id) => connection.cancel_monitor(id)?,
            Request::QueueConfig(number) => {
                if number != port::NONE && !self.ports.contains_key(&number) {
                    return Err(Fault::BadQueuePort);
                }
                let mut body = match version {
                    Version::V10 => number.to_be_bytes().to_vec(),
                    _ => u32::from(number).to_be_bytes().to_vec(),
                };
                body.resize(8, 0);
                return one(Kind::QueueConfigReply, &body);
            }
            Request::Role(role, generation) => {
                return self.set_role(connection, role, generation, (version, xid));
            }
            Request::GetAsync => return Ok(vec![connection.masks.reply(version, xid)]),
            Request::SetAsync(wanted) => connection.masks.set(&wanted),
            Request::BundleControl(it) => {
                return self.control_bundle(connection, it, (version, xid), world, now_ns);
            }
            Request::BundleAdd(it) => self.add_to_bundle(connection, it, xid)?,
            Request::SetFlowFormat(format) => {
                connection.form = match format {
                    0 => StatsForm::Standard,
                    2 => StatsForm::Nxm,
                    _ => return Err(Fault::NotPermitted),
                };
            }
            Request::FlowModTableId(names) => connection.names_tables = names,
            Request::SetPacketInFormat(format) => {
                connection.packet_in = match format {
                    0 => PacketInForm::Standard,
                    1 => PacketInForm::Nxt,
                    2 => PacketInForm::Nxt2,
                    _ => return Err(Fault::NotPermitted),
                };
            }
            Request::SetControllerId(number) => connection.controller = number,
            Request::FlowAge => {}
        }
        Ok(Vec::new())
    }

    /// Has flows of a table, or of all, make room or not, and its room be told of or not. Nothing
    /// else of a table is a controller's to set.
    fn mod_table(&mut self, wanted: TableMod, version: Version) -> Result<(), Fault> {
        let TableMod { table, config, vacancy } = wanted;
        if table > LAST_TABLE && table != u8::MAX {
            return Err(Fault::TableModBadTable);
        }
        let known = if version >= Version::V14 { table_config::KNOWN } else { 0 };
        if config & !known != 0 {
            return Err(Fault::TableModBadConfig);
        }
        if version >= Version::V14 {
            let meant = |it: &u8| table == u8::MAX || *it == table;
            let tells = config & table_config::VACANCY_EVENTS != 0;
            let shares = tells.then(|| vacancy.unwrap_or_default());
            (0..=LAST_TABLE).filter(meant).for_each(|it| self.set_vacancy(it, shares));
            match config & table_config::EVICTION {
                0 => self.evicting.retain(|it| !meant(it)),
                _ => self.evicting.extend((0..=LAST_TABLE).filter(meant)),
            }
            self.order_tables(false);
        }
        Ok(())
    }

    fn set_role(
        &mut self,
        connection: &mut Connection,
        role: Role,
        generation: Option<u64>,
        (version, xid): (Version, u32),
    ) -> Result<Vec<Vec<u8>>, Fault> {
        if let (Role::Master | Role::Slave, Some(number)) = (role, generation) {
            // An older generation's master is none any more.
            if self.generation.is_some_and(|newest| (number.wrapping_sub(newest) as i64) < 0) {
                return Err(Fault::StaleRole);
            }
            self.generation = Some(number);
        }
        if role != Role::NoChange {
            connection.role = role;
            connection.claims = role == Role::Master;
        }
        let generation = generation.map(|_| self.generation.unwrap_or(u64::MAX));
        Ok(vec![connection.role.reply(version, xid, generation)])
    }

    /// Sends a controller's packet.
    pub(crate) fn send_out(
        &mut self,
        wanted: &PacketOut,
        world: &mut dyn World,
    ) -> Result<(), Fault> {
        if wanted.buffer != u32::MAX {
            return Err(Fault::BufferUnknown);
        }
        self.check_of_any(&wanted.actions)?;
        self.snapshot.tracks |= tracks(&wanted.actions);
        let mut key = Key::default();
        extract(&wanted.data, wanted.in_port, &mut key);
        for &(field, value, mask) in wanted.matching.fields() {
            if field.needs() == openflow::Needs::Nothing && field != Field::InPort {
                key.set(field, value, mask);
            }
        }
        let verdict = translate_actions(&self.snapshot, &key, &wanted.actions);
        world.send(&wanted.data, wanted.in_port, &verdict, &self.snapshot);
        Ok(())
    }
}
