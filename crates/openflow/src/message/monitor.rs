//! Flows that a controller watches: which, and what became of them.
//!
//! ```text
//!  1.0   number 4 │ flags 2 │ port 2 │ length 2 │ table 1 │ zeros 5 │ match     Open vSwitch's
//!  1.4   number 4 │ port 4 │ group 4 │ flags 2 │ table 1 │ command 1 │ match
//! ```
//! An update has the same entries as the first answer; one's own changes are told in short, by the
//! number of the message that made them.

use super::flow_mod::{ANY_GROUP, decode_nxm_match, put_nxm_match};
use super::{FlowStats, Multipart, nicira};
use crate::action::encode_program;
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::matching::Match;
use crate::port::{self, PortNumber};
use crate::version::Version;

/// What of flows is told.
pub mod watch {
    /// Those that are there when it begins.
    pub const INITIAL: u16 = 1;
    /// Those that come.
    pub const ADDED: u16 = 1 << 1;
    /// Those that go.
    pub const REMOVED: u16 = 1 << 2;
    /// Those that are changed.
    pub const MODIFIED: u16 = 1 << 3;
    /// What they do, too.
    pub const ACTIONS: u16 = 1 << 4;
    /// One's own changes whole. The second bit is to mean one's own alone, by the standard; Open
    /// vSwitch, and its tool, say by it what this does.
    pub const OWN: u16 = 1 << 5 | 1 << 6;
}

/// What is done with a monitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the standard's own names")]
pub enum MonitorCommand {
    Add,
    Modify,
    Delete,
}

/// What somebody wants to watch.
#[derive(Clone, PartialEq, Debug)]
pub struct MonitorRequest {
    /// The controller's number for it.
    pub id: u32,
    /// What is done.
    pub command: MonitorCommand,
    /// [`watch`].
    pub flags: u16,
    /// Flows of this table; none: of all.
    pub table: Option<u8>,
    /// Flows that are within this.
    pub matching: Match,
    /// Those that send to this port; none: all.
    pub out_port: PortNumber,
    /// Those that send to this group; none: all.
    pub out_group: Option<u32>,
}

impl MonitorRequest {
    /// Of 1.0.
    pub(super) fn decode_old(body: &mut Reader<'_>) -> Result<Self, Fault> {
        let (id, flags, out_port) = (body.u32()?, body.u16()?, body.u16()?);
        let (length, table) = (usize::from(body.u16()?), body.u8()?);
        if body.take(5)?.iter().any(|byte| *byte != 0) {
            return Err(Fault::MustBeZero);
        }
        if flags & !0x3f != 0 {
            return Err(Fault::MonitorBadFlags);
        }
        let (matching, _) = decode_nxm_match(body, length)?;
        let (table, command) = ((table != u8::MAX).then_some(table), MonitorCommand::Add);
        Ok(Self { id, command, flags, table, matching, out_port, out_group: None })
    }

    /// Of 1.4 and later.
    pub(super) fn decode(body: &mut Reader<'_>) -> Result<Self, Fault> {
        let id = body.u32()?;
        let out_port = port::from_32(body.u32()?).ok_or(Fault::BadPort)?;
        let (group, flags, table) = (body.u32()?, body.u16()?, body.u8()?);
        let command = match body.u8()? {
            0 => MonitorCommand::Add,
            1 => MonitorCommand::Modify,
            2 => MonitorCommand::Delete,
            _ => return Err(Fault::MonitorUnknown),
        };
        if flags & !0x7f != 0 || flags == 0 && command == MonitorCommand::Add {
            return Err(Fault::MonitorBadFlags);
        }
        let matching = Match::decode_oxm(body)?;
        let table = (table != u8::MAX).then_some(table);
        let out_group = (group != ANY_GROUP).then_some(group);
        Ok(Self { id, command, flags, table, matching, out_port, out_group })
    }
}

/// What became of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowChange {
    /// It is there.
    Initial,
    /// It came, or came in place of another.
    Added,
    /// It went, and why.
    Removed(u8),
    /// It does something else, or has another cookie.
    Modified,
}

/// Updates, or the first answer: without entries yet.
pub fn flow_updates(version: Version, xid: u32) -> Multipart {
    match version {
        Version::V10 => Multipart::nicira(version, xid, 2),
        _ => Multipart::new(version, xid, 16),
    }
}

/// Writes what became of a flow.
pub fn put_flow_update(
    change: FlowChange,
    flow: &FlowStats<'_>,
    has_actions: bool,
    version: Version,
    out: &mut Writer,
) {
    let start = out.len();
    out.u16(0);
    let reason = if let FlowChange::Removed(reason) = change { reason } else { 0 };
    if version == Version::V10 {
        out.u16(match change {
            FlowChange::Initial | FlowChange::Added => 0,
            FlowChange::Removed(_) => 1,
            FlowChange::Modified => 2,
        });
        out.u16s(&[reason.into(), flow.priority, flow.idle, flow.hard]);
        let mut fields = Writer::new();
        flow.matching.encode_fields(true, None, &mut fields);
        let at = out.len();
        put_nxm_match(&fields, 0, out);
        // Table and cookie stand between the length of the match and the match.
        let rest = out.split_off(at + 2);
        out.u8(flow.table);
        out.u8(0);
        out.u64(flow.cookie);
        out.extend(rest);
    } else {
        out.u16(match change {
            FlowChange::Initial => 0,
            FlowChange::Added => 1,
            FlowChange::Removed(_) => 2,
            FlowChange::Modified => 3,
        });
        out.u8(flow.table);
        out.u8(reason);
        out.u16s(&[flow.idle, flow.hard, flow.priority]);
        out.zeros(4);
        out.u64(flow.cookie);
        flow.matching.encode_oxm(out);
    }
    if has_actions {
        encode_program(flow.program, version, out);
    }
    out.set_length(start, 0);
}

/// Writes that updates are missed from here on, or (`is_over`) that all of them were made good; of
/// 1.0 that is a [message](pause_of_old) of its own.
pub fn put_pause(is_over: bool, out: &mut Writer) {
    out.u16s(&[8, if is_over { 6 } else { 5 }]);
    out.zeros(4);
}

/// The same in 1.0, as Open vSwitch has it.
pub fn pause_of_old(is_over: bool) -> Vec<u8> {
    nicira(Version::V10, if is_over { 23 } else { 22 }, 0, &[])
}

/// Writes that a message of one's own changed flows.
pub fn put_own_update(xid: u32, version: Version, out: &mut Writer) {
    out.u16(8);
    out.u16(if version == Version::V10 { 3 } else { 4 });
    out.u32(xid);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Request, StatsRequest};

    /// As `ovs-ofctl monitor br0 watch:table=1,out_port=2,in_port=3` says it in 1.0.
    #[test]
    fn what_is_watched_is_read_in_both_forms() {
        let mut old = vec![1, 16, 0, 56, 0, 0, 0, 5, 0xff, 0xff, 0, 0, 0, 0, 0x23, 0x20];
        old.extend([0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0x1f, 0, 2, 0, 6, 1, 0, 0, 0, 0, 0]);
        old.extend([0, 0, 0, 2, 0, 3, 0, 0]);
        old.resize(48, 0);
        old[3] = 48;
        let mut new = vec![5, 18, 0, 48, 0, 0, 0, 5, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
        new.extend([0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff, 0, 0x1f, 1, 0]);
        new.extend([0, 1, 0, 12, 0x80, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 0]);
        for bytes in [&old, &new] {
            let Ok(Request::Stats(it)) = Request::decode(bytes, false) else { panic!() };
            let StatsRequest::Monitor(it) = *it else { panic!() };
            assert_eq!((it.id, it.flags, it.table, it.out_port), (9, 0x1f, Some(1), 2));
            assert_eq!(it.matching, Match::any().with(crate::Field::InPort, 3));
        }
        old[29] = 0x40;
        assert_eq!(Request::decode(&old, false), Err(Fault::MonitorBadFlags));
        old[29] = 1;
        old[37] = 1;
        assert_eq!(Request::decode(&old, false), Err(Fault::MustBeZero));
        (new[29], new[31]) = (0, 2);
        assert!(Request::decode(&new, false).is_ok());
        new[31] = 0;
        assert_eq!(Request::decode(&new, false), Err(Fault::MonitorBadFlags));
    }
}
