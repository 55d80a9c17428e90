//! Flows added, changed and removed.

use crate::action::{Program, decode_program, encode_program};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::matching::{Cookie, Match};
use crate::port::{self, PortNumber};
use crate::version::Version;

use super::{Kind, message, nicira};

/// What is done with flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the standard's own names")]
pub enum Command {
    Add,
    Modify,
    ModifyStrict,
    Delete,
    DeleteStrict,
}

impl Command {
    const ALL: [Self; 5] =
        [Self::Add, Self::Modify, Self::ModifyStrict, Self::Delete, Self::DeleteStrict];
}

/// Flags of flows.
pub mod flag {
    /// Controllers are told when it goes.
    pub const SEND_REMOVED: u16 = 1;
    /// It must not overlap with another of its priority.
    pub const CHECK_OVERLAP: u16 = 1 << 1;
    /// Its counters begin anew.
    pub const RESET_COUNTS: u16 = 1 << 2;
    /// Its packets need not be counted.
    pub const NO_PACKET_COUNTS: u16 = 1 << 3;
    /// Its bytes need not be counted.
    pub const NO_BYTE_COUNTS: u16 = 1 << 4;
    /// All there are.
    pub(crate) const ALL: u16 = 0x1f;
}

/// See the module.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowMod {
    /// What is done.
    pub command: Command,
    /// Which table; none: all, or the first.
    pub table: Option<u8>,
    /// For which packets.
    pub matching: Match,
    /// Its priority.
    pub priority: u16,
    /// Its cookie: of a new flow, or that flows get.
    pub cookie: u64,
    /// Flows are meant whose cookie has these bits of `wanted_cookie`.
    pub cookie_mask: u64,
    /// See above.
    pub wanted_cookie: u64,
    /// Seconds without packets after which it goes; 0: it stays.
    pub idle: u16,
    /// Seconds after which it goes; 0: it stays.
    pub hard: u16,
    /// The packet that it is for, which waits in a buffer. We have none.
    pub buffer: u32,
    /// Flows are meant that send to this port; none: all.
    pub out_port: PortNumber,
    /// Flows are meant that send to this group; none: all.
    pub out_group: Option<u32>,
    /// See [`flag`].
    pub flags: u16,
    /// Which flows go first where there are too many.
    pub importance: u16,
    /// What it does.
    pub program: Program,
}

/// No group, or any.
pub(super) const ANY_GROUP: u32 = u32::MAX;

impl FlowMod {
    /// An addition to a table, with everything else as it usually is.
    pub fn add(table: u8, priority: u16, matching: Match, program: Program) -> Self {
        Self {
            command: Command::Add,
            table: Some(table),
            matching,
            priority,
            cookie: 0,
            cookie_mask: 0,
            wanted_cookie: 0,
            idle: 0,
            hard: 0,
            buffer: u32::MAX,
            out_port: port::NONE,
            out_group: None,
            flags: 0,
            importance: 0,
            program,
        }
    }

    pub(super) fn decode(
        version: Version,
        body: &mut Reader<'_>,
        names_tables: bool,
    ) -> Result<Self, Fault> {
        if version == Version::V10 {
            return Self::decode10(body, names_tables);
        }
        let mut it = Self::add(0, 0, Match::any(), Program::new());
        (it.cookie, it.cookie_mask) = (body.u64()?, body.u64()?);
        let table = body.u8()?;
        it.table = (table != u8::MAX).then_some(table);
        it.command = command(body.u8()?.into())?;
        [it.idle, it.hard, it.priority] = [body.u16()?, body.u16()?, body.u16()?];
        it.buffer = body.u32()?;
        it.out_port = port::from_32(body.u32()?).ok_or(Fault::BadOutPort)?;
        let group = body.u32()?;
        it.out_group = (group != ANY_GROUP).then_some(group);
        it.flags = body.u16()?;
        let importance = body.u16()?;
        it.importance = if version >= Version::V14 { importance } else { 0 };
        it.matching = Match::decode_oxm(body)?;
        it.program = decode_program(body, version)?;
        if it.command == Command::Add {
            it.cookie_mask = 0;
        }
        it.wanted_cookie = it.cookie & it.cookie_mask;
        it.checked()
    }

    fn decode10(body: &mut Reader<'_>, names_tables: bool) -> Result<Self, Fault> {
        let matching = Match::decode10(body)?;
        let mut it = Self::add(0, 0, matching, Program::new());
        it.cookie = body.u64()?;
        it.decode_old_head(body, names_tables)?;
        it.program = decode_program(body, Version::V10)?;
        // Flows that match all headers of 1.0 come before all others.
        it.checked()
    }

    pub(super) fn decode_nxm(version: Version, body: &mut Reader<'_>) -> Result<Self, Fault> {
        let mut it = Self::add(0, 0, Match::any(), Program::new());
        it.cookie = body.u64()?;
        it.decode_old_head(body, true)?;
        let length = usize::from(body.u16()?);
        body.skip(6)?;
        let cookie;
        (it.matching, cookie) = decode_nxm_match(body, length)?;
        if let Some((value, mask)) = cookie {
            if it.command == Command::Add {
                return Err(Fault::BadField);
            }
            (it.wanted_cookie, it.cookie_mask) = (value & mask, mask);
        }
        it.program = decode_program(body, version)?;
        it.checked()
    }

    /// From the command to the flags, as 1.0 has them.
    fn decode_old_head(&mut self, body: &mut Reader<'_>, names_tables: bool) -> Result<(), Fault> {
        let word = body.u16()?;
        let (table, number) = if names_tables { (word >> 8, word & 0xff) } else { (0xff, word) };
        self.command = command(number)?;
        self.table = (table != 0xff).then_some(table as u8);
        [self.idle, self.hard, self.priority] = [body.u16()?, body.u16()?, body.u16()?];
        self.buffer = body.u32()?;
        self.out_port = body.u16()?;
        let flags = body.u16()?;
        // An emergency flow of 1.0, which nobody has any more.
        if flags & 4 != 0 {
            return Err(Fault::BadFlags);
        }
        self.flags = flags;
        Ok(())
    }

    fn checked(mut self) -> Result<Self, Fault> {
        if self.flags & !flag::ALL != 0 {
            return Err(Fault::BadFlags);
        }
        let is_deletion = matches!(self.command, Command::Delete | Command::DeleteStrict);
        if !is_deletion {
            // What is to be sent to is asked of deletions alone.
            (self.out_port, self.out_group) = (port::NONE, None);
        }
        Ok(self)
    }

    /// The message: as NXM in 1.0.
    pub fn encode(&self, version: Version, xid: u32) -> Vec<u8> {
        let mut body = Writer::new();
        if version == Version::V10 {
            body.u64(self.cookie);
            body.u16(u16::from(self.table.unwrap_or(u8::MAX)) << 8 | self.command as u16);
            body.u16s(&[self.idle, self.hard, self.priority]);
            body.u32(self.buffer);
            body.u16(self.out_port);
            body.u16(self.flags);
            let mut fields = Writer::new();
            let cookie = (self.cookie_mask != 0).then_some((self.wanted_cookie, self.cookie_mask));
            self.matching.encode_fields(true, cookie, &mut fields);
            put_nxm_match(&fields, 6, &mut body);
            encode_program(&self.program, version, &mut body);
            return nicira(version, 13, xid, &body);
        }
        let has_mask = self.cookie_mask != 0;
        body.u64(if has_mask { self.wanted_cookie } else { self.cookie });
        body.u64(self.cookie_mask);
        body.u8(self.table.unwrap_or(u8::MAX));
        body.u8(self.command as u8);
        body.u16s(&[self.idle, self.hard, self.priority]);
        body.u32(self.buffer);
        body.u32(port::to_32(self.out_port));
        body.u32(self.out_group.unwrap_or(ANY_GROUP));
        body.u16(self.flags);
        body.u16(if version >= Version::V14 { self.importance } else { 0 });
        self.matching.encode_oxm(&mut body);
        encode_program(&self.program, version, &mut body);
        message(version, Kind::FlowMod, xid, &body)
    }
}

fn command(number: u16) -> Result<Command, Fault> {
    Command::ALL.get(usize::from(number)).copied().ok_or(Fault::BadCommand)
}

/// Reads a match of NXM with its padding.
pub(super) fn decode_nxm_match(
    body: &mut Reader<'_>,
    length: usize,
) -> Result<(Match, Cookie), Fault> {
    let mut padded = body.or(Fault::BadMatchLength).part(length.next_multiple_of(8))?;
    body.skip(length.next_multiple_of(8))?;
    let mut fields = padded.part(length)?;
    Match::decode_fields(&mut fields)
}

/// Writes its length, some zeros, and the match with its padding.
pub(super) fn put_nxm_match(fields: &[u8], zeros: usize, body: &mut Writer) {
    body.u16(fields.len() as u16);
    body.zeros(zeros);
    let start = body.len();
    body.extend(fields);
    body.pad8(start);
}
