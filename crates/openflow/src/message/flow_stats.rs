//! Flows told of: asked for, summed up, and gone.

use super::flow_mod::{ANY_GROUP, decode_nxm_match, put_nxm_match};
use super::{Kind, Multipart, message, nicira};
use crate::action::{Action, encode_program};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::matching::Match;
use crate::port::{self, PortNumber};
use crate::version::Version;
use std::time::Duration;

/// How flows are told of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatsForm {
    /// As the version has them.
    Standard,
    /// As NXM.
    Nxm,
}

/// Which flows are meant.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowQuery {
    /// Of which table; none: of all.
    pub table: Option<u8>,
    /// Those that are within this.
    pub matching: Match,
    /// Those that send to this port; none: all.
    pub out_port: PortNumber,
    /// Those that send to this group; none: all.
    pub out_group: Option<u32>,
    /// Those whose cookie has these bits of the next.
    pub cookie_mask: u64,
    /// See above.
    pub cookie: u64,
    /// How they are to be told of.
    pub form: StatsForm,
}

impl FlowQuery {
    pub(super) fn decode(version: Version, body: &mut Reader<'_>) -> Result<Self, Fault> {
        let form = StatsForm::Standard;
        if version == Version::V10 {
            let matching = Match::decode10(body)?;
            let table = body.u8()?;
            body.skip(1)?;
            let (table, out_port) = ((table != u8::MAX).then_some(table), body.u16()?);
            let (out_group, cookie_mask, cookie) = (None, 0, 0);
            return Ok(Self { table, matching, out_port, out_group, cookie_mask, cookie, form });
        }
        let table = body.u8()?;
        body.skip(3)?;
        let out_port = port::from_32(body.u32()?).ok_or(Fault::BadPort)?;
        let group = body.u32()?;
        body.skip(4)?;
        let (cookie, cookie_mask) = (body.u64()?, body.u64()?);
        let matching = Match::decode_oxm(body)?;
        let (table, out_group) =
            ((table != u8::MAX).then_some(table), (group != ANY_GROUP).then_some(group));
        let cookie = cookie & cookie_mask;
        Ok(Self { table, matching, out_port, out_group, cookie_mask, cookie, form })
    }

    pub(super) fn decode_nxm(body: &mut Reader<'_>) -> Result<Self, Fault> {
        let (out_port, length) = (body.u16()?, usize::from(body.u16()?));
        let table = body.u8()?;
        body.skip(3)?;
        let (matching, cookie) = decode_nxm_match(body, length)?;
        let (cookie, cookie_mask) = cookie.unwrap_or((0, 0));
        let (table, out_group) = ((table != u8::MAX).then_some(table), None);
        let (cookie, form) = (cookie & cookie_mask, StatsForm::Nxm);
        Ok(Self { table, matching, out_port, out_group, cookie_mask, cookie, form })
    }

    /// The answer without entries yet: flows, or their sum.
    pub fn answer(&self, version: Version, xid: u32, is_sum: bool) -> Multipart {
        match self.form {
            StatsForm::Standard => Multipart::new(version, xid, if is_sum { 2 } else { 1 }),
            StatsForm::Nxm => Multipart::nicira(version, xid, is_sum.into()),
        }
    }
}

/// A flow as it is told of.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields of a flow, which `FlowMod` explains")]
pub struct FlowStats<'a> {
    pub table: u8,
    pub matching: &'a Match,
    pub priority: u16,
    pub cookie: u64,
    pub idle: u16,
    pub hard: u16,
    pub flags: u16,
    pub importance: u16,
    pub age: Duration,
    pub idle_age: Duration,
    pub hard_age: Duration,
    pub packets: u64,
    pub bytes: u64,
    pub program: &'a [Action],
}

impl FlowStats<'_> {
    /// Writes it as an entry.
    pub fn encode(&self, form: StatsForm, version: Version, out: &mut Writer) {
        let start = out.len();
        out.u16(0);
        match (form, version) {
            (StatsForm::Nxm, _) => {
                self.put_old_head(out);
                let mut fields = Writer::new();
                self.matching.encode_fields(true, None, &mut fields);
                let at = out.len();
                put_nxm_match(&fields, 0, out);
                // The ages and counters stand between the length of the match and the match.
                let rest = out.split_off(at + 2);
                self.put_ages(out);
                out.u64s(&[self.cookie, self.packets, self.bytes]);
                out.extend(rest);
            }
            (StatsForm::Standard, Version::V10) => {
                out.u8(self.table);
                out.u8(0);
                self.matching.encode10(out);
                self.put_duration(out);
                out.u16s(&[self.priority, self.idle, self.hard]);
                out.zeros(6);
                out.u64s(&[self.cookie, self.packets, self.bytes]);
            }
            (StatsForm::Standard, Version::V15) => {
                out.u16(0);
                out.u8(self.table);
                out.u8(0);
                out.u16s(&[self.priority, self.idle, self.hard, self.flags, self.importance]);
                out.u64(self.cookie);
                self.matching.encode_oxm(out);
                put_oxs(out, |out| {
                    oxs_pair(0, self.age, out);
                    oxs_pair(1, self.idle_age, out);
                    oxs64(4, self.packets, out);
                    oxs64(5, self.bytes, out);
                });
            }
            (StatsForm::Standard, _) => {
                self.put_old_head(out);
                out.u16(self.flags);
                out.u16(if version >= Version::V14 { self.importance } else { 0 });
                out.zeros(2);
                out.u64s(&[self.cookie, self.packets, self.bytes]);
                self.matching.encode_oxm(out);
            }
        }
        encode_program(self.program, version, out);
        out.set_length(start, 0);
    }

    fn put_old_head(&self, out: &mut Writer) {
        out.u8(self.table);
        out.u8(0);
        self.put_duration(out);
        out.u16s(&[self.priority, self.idle, self.hard]);
    }

    fn put_duration(&self, out: &mut Writer) {
        put_duration(self.age, out);
    }

    /// One more than the seconds: 0 is "not known".
    fn put_ages(&self, out: &mut Writer) {
        for age in [self.idle_age, self.hard_age] {
            out.u16((age.as_secs() + 1).min(u16::MAX.into()) as u16);
        }
    }
}

pub(super) fn put_duration(age: Duration, out: &mut Writer) {
    out.u32(age.as_secs().min(u32::MAX.into()) as u32);
    out.u32(age.subsec_nanos());
}

/// Statistics of 1.5: numbers with headers.
fn put_oxs(out: &mut Writer, fields: impl FnOnce(&mut Writer)) {
    let start = out.len();
    out.u16(0);
    out.u16(0);
    fields(out);
    out.set_length(start, 2);
    out.pad8(start);
}

fn oxs_head(number: u8, length: u8, out: &mut Writer) {
    out.u16(0x8002);
    out.u8(number << 1);
    out.u8(length);
}

fn oxs64(number: u8, value: u64, out: &mut Writer) {
    oxs_head(number, 8, out);
    out.u64(value);
}

fn oxs_pair(number: u8, age: Duration, out: &mut Writer) {
    oxs_head(number, 8, out);
    put_duration(age, out);
}

/// Writes what flows sum up to.
pub fn aggregate(
    packets: u64,
    bytes: u64,
    flows: u32,
    form: StatsForm,
    version: Version,
    out: &mut Writer,
) {
    if form == StatsForm::Standard && version == Version::V15 {
        put_oxs(out, |out| {
            oxs64(4, packets, out);
            oxs64(5, bytes, out);
            oxs_head(3, 4, out);
            out.u32(flows);
        });
        return;
    }
    out.u64(packets);
    out.u64(bytes);
    out.u32(flows);
    out.zeros(4);
}

/// A flow that is gone.
#[derive(Clone, Debug)]
pub struct FlowRemoved<'a> {
    /// The flow.
    pub flow: FlowStats<'a>,
    /// Why: 0 idle, 1 hard timeout, 2 deleted, 3 its group was deleted, 4 its meter was, 5 evicted.
    pub reason: u8,
}

impl FlowRemoved<'_> {
    /// The message.
    pub fn encode(&self, form: StatsForm, version: Version) -> Vec<u8> {
        let Self { flow, reason } = self;
        let mut body = Writer::new();
        match (form, version) {
            (StatsForm::Nxm, _) => {
                body.u64(flow.cookie);
                body.u16(flow.priority);
                body.u8(*reason);
                body.u8(flow.table.saturating_add(1));
                flow.put_duration(&mut body);
                body.u16(flow.idle);
                let mut fields = Writer::new();
                flow.matching.encode_fields(true, None, &mut fields);
                let at = body.len();
                put_nxm_match(&fields, 0, &mut body);
                let rest = body.split_off(at + 2);
                body.u64(flow.packets);
                body.u64(flow.bytes);
                body.extend(rest);
                return nicira(version, 14, 0, &body);
            }
            (StatsForm::Standard, Version::V10) => {
                flow.matching.encode10(&mut body);
                body.u64(flow.cookie);
                body.u16(flow.priority);
                body.u8(*reason);
                body.u8(0);
                flow.put_duration(&mut body);
                body.u16(flow.idle);
                body.zeros(2);
                body.u64(flow.packets);
                body.u64(flow.bytes);
            }
            (StatsForm::Standard, Version::V15) => {
                body.u8(flow.table);
                body.u8(*reason);
                body.u16s(&[flow.priority, flow.idle, flow.hard]);
                body.u64(flow.cookie);
                flow.matching.encode_oxm(&mut body);
                put_oxs(&mut body, |out| {
                    oxs_pair(0, flow.age, out);
                    oxs64(4, flow.packets, out);
                    oxs64(5, flow.bytes, out);
                });
            }
            (StatsForm::Standard, _) => {
                body.u64(flow.cookie);
                body.u16(flow.priority);
                body.u8(*reason);
                body.u8(flow.table);
                flow.put_duration(&mut body);
                body.u16(flow.idle);
                body.u16(flow.hard);
                body.u64(flow.packets);
                body.u64(flow.bytes);
                flow.matching.encode_oxm(&mut body);
            }
        }
        message(version, Kind::FlowRemoved, 0, &body)
    }
}
