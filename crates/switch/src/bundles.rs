//! Bundles: all of their messages are done, or none.

use crate::bridge::{Bridge, MOST_FLOWS, World};
use crate::connection::{Bundle, Connection};
use openflow::message::{BundleAdd, BundleControl, bundle_reply, error};
use openflow::{Fault, MessageHeader, Request, Version};

/// Bundles of a connection that may be open, and messages of one: as many as there may be flows.
const MOST_OPEN: usize = 8;
const MOST_MESSAGES: usize = MOST_FLOWS;
/// Bytes of all messages of a connection's bundles.
const MOST_BYTES: usize = 192 << 20;

impl Bridge {
    pub(crate) fn control_bundle(
        &mut self,
        connection: &mut Connection,
        wanted: BundleControl,
        (version, xid): (Version, u32),
        world: &mut dyn World,
        now_ns: u64,
    ) -> Result<Vec<Vec<u8>>, Fault> {
        let bundles = &mut connection.bundles;
        match wanted.kind {
            0 => {
                if bundles.contains_key(&wanted.id) {
                    return Err(Fault::BundleExists);
                }
                if bundles.len() >= MOST_OPEN {
                    return Err(Fault::OutOfBundles);
                }
                bundles.insert(wanted.id, Bundle::new(wanted));
            }
            2 => {
                let it = bundles.get_mut(&wanted.id).ok_or(Fault::BundleBadId)?;
                if std::mem::replace(&mut it.is_closed, true) {
                    bundles.remove(&wanted.id);
                    return Err(Fault::BundleClosed);
                }
            }
            4 => {
                let it = bundles.remove(&wanted.id).ok_or(Fault::BundleBadId)?;
                if it.control.flags != wanted.flags {
                    return Err(Fault::BundleBadFlags);
                }
                if let Err((fault, message)) = self.commit(&it.messages, version, world, now_ns) {
                    let of = message.first_chunk().map_or(xid, |it| MessageHeader::read(it).xid);
                    return Ok(vec![error(version, of, fault, &message)]);
                }
            }
            6 => drop(bundles.remove(&wanted.id).ok_or(Fault::BundleBadId)?),
            _ => return Err(Fault::BundleBadType),
        }
        Ok(vec![bundle_reply(version, xid, wanted)])
    }

    pub(crate) fn add_to_bundle(
        &mut self,
        connection: &mut Connection,
        wanted: BundleAdd,
        xid: u32,
    ) -> Result<(), Fault> {
        let head = wanted.message.first_chunk().map(MessageHeader::read);
        if head.is_none_or(|head| head.xid != xid) {
            return Err(Fault::BundleBadXid);
        }
        match Request::decode(&wanted.message, connection.names_tables)? {
            Request::FlowMod(_)
            | Request::GroupMod(_)
            | Request::PortMod(_)
            | Request::PacketOut(_) => {}
            _ => return Err(Fault::BundleUnsupported),
        }
        let opened = BundleControl { id: wanted.id, kind: 0, flags: wanted.flags };
        if !connection.bundles.contains_key(&wanted.id) && connection.bundles.len() >= MOST_OPEN {
            return Err(Fault::OutOfBundles);
        }
        let held: usize = connection.bundles.values().map(|it| it.bytes).sum();
        let it = connection.bundles.entry(wanted.id).or_insert_with(|| Bundle::new(opened));
        if it.is_closed {
            return Err(Fault::BundleClosed);
        }
        if it.control.flags != wanted.flags {
            return Err(Fault::BundleBadFlags);
        }
        if it.messages.len() >= MOST_MESSAGES || held + wanted.message.len() > MOST_BYTES {
            return Err(Fault::BundleTooMany);
        }
        it.bytes += wanted.message.len();
        it.messages.push(wanted.message);
        Ok(())
    }

    /// Does all, or tells which message could not be done and why, and nothing is done.
    fn commit(
        &mut self,
        messages: &[Vec<u8>],
        version: Version,
        world: &mut dyn World,
        now_ns: u64,
    ) -> Result<(), (Fault, Vec<u8>)> {
        let before = (self.snapshot.clone(), self.ports.clone(), self.flows, self.timed);
        let teachers = self.teachers.clone();
        let events = self.events.len();
        let mut sent = Vec::new();
        for message in messages {
            let done = Request::decode(message, false).and_then(|request| match request {
                Request::FlowMod(it) => self.mod_flows(*it, version, now_ns),
                Request::GroupMod(it) => self.mod_groups(*it, now_ns),
                Request::PortMod(it) => self.mod_port(it),
                Request::PacketOut(it) => {
                    sent.push(it);
                    Ok(())
                }
                _ => Err(Fault::BundleUnsupported),
            });
            if let Err(fault) = done {
                (self.snapshot, self.ports, self.flows, self.timed) = before;
                self.teachers = teachers;
                self.order_tables(true);
                self.events.truncate(events);
                return Err((fault, message.clone()));
            }
        }
        for it in sent {
            self.send_out(&it, world).map_err(|fault| (fault, Vec::new()))?;
        }
        Ok(())
    }
}
