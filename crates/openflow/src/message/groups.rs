//! Groups: packets to all, one or the first live of several buckets.

use crate::action::{Program, decode_list, encode_list};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::port::{self, PortNumber};
use crate::version::Version;
use std::time::Duration;

/// What is done with groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the standard's own names")]
pub enum GroupCommand {
    Add,
    Modify,
    Delete,
    InsertBucket,
    RemoveBucket,
    AddOrModify,
}

/// Which buckets of a group a packet takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GroupKind {
    /// Each, a copy.
    All,
    /// One, by its flow.
    Select,
    /// The only one.
    Indirect,
    /// The first that is alive.
    FastFailover,
}

/// A bucket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Its number.
    pub id: u32,
    /// Its share, where one is selected.
    pub weight: u16,
    /// The port that says whether it is alive.
    pub watch_port: PortNumber,
    /// The group that says so.
    pub watch_group: Option<u32>,
    /// What it does.
    pub actions: Program,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupMod {
    /// What is done.
    pub command: GroupCommand,
    /// Its kind.
    pub kind: GroupKind,
    /// Which; [`GroupMod::ALL`]: all.
    pub group: u32,
    /// Where buckets are put in, or which is taken out: 1.5.
    pub place: u32,
    /// Its buckets.
    pub buckets: Vec<Bucket>,
}

const ANY: u32 = u32::MAX;

impl GroupMod {
    /// All groups.
    pub const ALL: u32 = u32::MAX - 3;
    /// The highest number of a group.
    pub const MAX: u32 = 0xffff_ff00;
    /// As a place: the first bucket, the last, all of them.
    pub const FIRST: u32 = u32::MAX - 2;
    /// See above.
    pub const LAST: u32 = u32::MAX - 1;
    /// See above.
    pub const EVERY: u32 = u32::MAX;

    pub(super) fn decode(version: Version, body: &mut Reader<'_>) -> Result<Self, Fault> {
        if version == Version::V10 {
            return Err(Fault::BadType);
        }
        let command = match body.u16()? {
            0 => GroupCommand::Add,
            1 => GroupCommand::Modify,
            2 => GroupCommand::Delete,
            3 if version >= Version::V15 => GroupCommand::InsertBucket,
            5 if version >= Version::V15 => GroupCommand::RemoveBucket,
            0x8000 => GroupCommand::AddOrModify,
            _ => return Err(Fault::BadGroupCommand),
        };
        let kind = match body.u8()? {
            0 => GroupKind::All,
            1 => GroupKind::Select,
            2 => GroupKind::Indirect,
            3 => GroupKind::FastFailover,
            _ => return Err(Fault::BadGroupType),
        };
        body.skip(1)?;
        let group = body.u32()?;
        let mut it = Self { command, kind, group, place: Self::EVERY, buckets: Vec::new() };
        let mut buckets = if version < Version::V15 {
            body.part(body.len())?
        } else {
            let length = usize::from(body.u16()?);
            body.skip(2)?;
            it.place = body.u32()?;
            let part = body.or(Fault::BadBucket).part(length)?;
            body.skip(length)?;
            // Properties, as how to select: that is ours to choose.
            body.skip(body.len())?;
            part
        };
        while !buckets.is_empty() {
            let id = it.buckets.len() as u32;
            it.buckets.push(decode_bucket(version, id, &mut buckets)?);
        }
        it.checked()
    }

    fn checked(self) -> Result<Self, Fault> {
        if self.group > Self::MAX
            && !(self.command == GroupCommand::Delete && self.group == Self::ALL)
        {
            return Err(Fault::InvalidGroup);
        }
        let makes = matches!(
            self.command,
            GroupCommand::Add | GroupCommand::Modify | GroupCommand::AddOrModify
        );
        if makes && self.kind == GroupKind::Indirect && self.buckets.len() != 1 {
            return Err(Fault::InvalidGroup);
        }
        let watches = |it: &Bucket| it.watch_port != port::NONE || it.watch_group.is_some();
        if makes && self.kind == GroupKind::FastFailover && !self.buckets.iter().all(watches) {
            return Err(Fault::BadWatch);
        }
        let mut ids: Vec<u32> = self.buckets.iter().map(|bucket| bucket.id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Fault::BucketExists);
        }
        Ok(self)
    }
}

fn decode_bucket(version: Version, id: u32, buckets: &mut Reader<'_>) -> Result<Bucket, Fault> {
    let mut head = buckets.or(Fault::BadBucket);
    let length = usize::from(head.u16()?);
    if length < 8 || length % 8 != 0 {
        return Err(Fault::BadBucket);
    }
    let mut body = buckets.or(Fault::BadBucket).part(length)?;
    buckets.skip(length)?;
    body.skip(2)?;
    let mut it =
        Bucket { id, weight: 1, watch_port: port::NONE, watch_group: None, actions: Vec::new() };
    let set_watch = |it: &mut Bucket, number: u32| {
        it.watch_port = port::from_32(number).ok_or(Fault::BadWatch)?;
        Ok::<_, Fault>(())
    };
    if version < Version::V15 {
        it.weight = body.u16()?;
        set_watch(&mut it, body.u32()?)?;
        let group = body.u32()?;
        it.watch_group = (group != ANY).then_some(group);
        body.skip(4)?;
        it.actions = decode_list(&mut body, version)?;
        return Ok(it);
    }
    let actions = usize::from(body.u16()?);
    it.id = body.u32()?;
    let mut list = body.part(actions)?;
    it.actions = decode_list(&mut list, version)?;
    while !body.is_empty() {
        let (kind, length) = (body.u16()?, usize::from(body.u16()?));
        let rest = length.checked_sub(4).ok_or(Fault::BadPropertyLength)?;
        let mut property = body.part(rest)?;
        body.skip((length.next_multiple_of(8) - length).min(body.len()))?;
        match kind {
            0 => it.weight = property.u16()?,
            1 => set_watch(&mut it, property.u32()?)?,
            2 => {
                let group = property.u32()?;
                it.watch_group = (group != ANY).then_some(group);
            }
            _ => return Err(Fault::BadPropertyType),
        }
    }
    Ok(it)
}

/// A group as it is told of.
#[derive(Clone, Debug)]
pub struct GroupDesc<'a> {
    /// Its number.
    pub group: u32,
    /// Its kind.
    pub kind: GroupKind,
    /// Its buckets.
    pub buckets: &'a [Bucket],
}

impl GroupDesc<'_> {
    /// Writes it.
    pub fn encode(&self, version: Version, out: &mut Writer) {
        let start = out.len();
        out.u16(0);
        out.u8(self.kind as u8);
        out.u8(0);
        out.u32(self.group);
        let at = out.len();
        if version >= Version::V15 {
            out.zeros(8);
        }
        let buckets = out.len();
        self.buckets.iter().for_each(|bucket| self.put_bucket(bucket, version, out));
        if version >= Version::V15 {
            let length = (out.len() - buckets) as u16;
            out[at..at + 2].copy_from_slice(&length.to_be_bytes());
        }
        out.set_length(start, 0);
    }

    fn put_bucket(&self, bucket: &Bucket, version: Version, out: &mut Writer) {
        let start = out.len();
        out.u16(0);
        let watch_port = port::to_32(bucket.watch_port);
        let watch_group = bucket.watch_group.unwrap_or(ANY);
        let weight = if self.kind == GroupKind::Select { bucket.weight } else { 0 };
        if version < Version::V15 {
            out.u16(weight);
            out.u32(watch_port);
            out.u32(watch_group);
            out.u32(0);
            encode_list(&bucket.actions, version, out);
        } else {
            out.u16(0);
            out.u32(bucket.id);
            let actions = out.len();
            encode_list(&bucket.actions, version, out);
            let length = (out.len() - actions) as u16;
            out[start + 2..start + 4].copy_from_slice(&length.to_be_bytes());
            if self.kind == GroupKind::Select {
                out.u16s(&[0, 8, weight, 0]);
            }
            if bucket.watch_port != port::NONE {
                out.u16s(&[1, 8]);
                out.u32(watch_port);
            }
            if bucket.watch_group.is_some() {
                out.u16s(&[2, 8]);
                out.u32(watch_group);
            }
        }
        out.set_length(start, 0);
    }
}

/// What a group counted.
#[derive(Clone, Debug)]
pub struct GroupStats {
    /// Its number.
    pub group: u32,
    /// Flows and groups that lead to it.
    pub references: u32,
    /// Packets and bytes.
    pub packets: (u64, u64),
    /// How long it has been there.
    pub age: Duration,
    /// Packets and bytes of each bucket.
    pub buckets: Vec<(u64, u64)>,
}

impl GroupStats {
    /// Writes it.
    pub fn encode(&self, out: &mut Writer) {
        let start = out.len();
        out.u32(0);
        out.u32(self.group);
        out.u32(self.references);
        out.u32(0);
        out.u64(self.packets.0);
        out.u64(self.packets.1);
        super::flow_stats::put_duration(self.age, out);
        for (packets, bytes) in &self.buckets {
            out.u64(*packets);
            out.u64(*bytes);
        }
        out.set_length(start, 0);
    }
}

/// Writes what groups can do: all four kinds, weights, liveness, groups of groups.
pub fn group_features(most: u32, out: &mut Writer) {
    out.u32(0xf);
    out.u32(0x7);
    out.u32s(&[most; 4]);
    // Every action of the standard: output, copies of TTL left out, push, pop, set.
    out.u32s(&[0x07ff_9801u32; 4]);
}
