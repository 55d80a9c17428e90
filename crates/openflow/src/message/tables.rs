//! Tables: what they counted, and their settings.

use super::{Kind, message};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Field;
use crate::version::Version;

/// What a table counted.
#[derive(Clone, Copy, Debug)]
pub struct TableStats<'a> {
    /// Its number.
    pub table: u8,
    /// Its name; empty: by its number.
    pub name: &'a str,
    /// Flows in it.
    pub flows: u32,
    /// Flows it may have.
    pub most: u32,
    /// Packets looked up.
    pub lookups: u64,
    /// Packets that a flow matched.
    pub matches: u64,
}

impl TableStats<'_> {
    /// Writes it.
    pub fn encode(&self, version: Version, out: &mut Writer) {
        out.u8(self.table);
        out.zeros(3);
        if version == Version::V10 {
            out.text(&name(self.table, self.name), 32);
            // All fields of 1.0 may be left open.
            out.u32((1 << 22) - 1);
            out.u32(self.most);
        }
        out.u32(self.flows);
        out.u64(self.lookups);
        out.u64(self.matches);
    }
}

/// Bits of a table's settings.
pub mod table_config {
    /// Flows make room for others: from 1.4 on.
    pub const EVICTION: u32 = 1 << 2;
    /// Who is a controller is told how much room there is: from 1.4 on.
    pub const VACANCY_EVENTS: u32 = 1 << 3;
    /// What a table takes.
    pub const KNOWN: u32 = EVICTION | VACANCY_EVENTS;
}

/// How it is chosen who makes room: something of the switch's own (groups, here), the importance,
/// the time that is left.
const EVICTION_BY: u32 = 7;

/// Why a controller is told of a table.
pub mod table_reason {
    /// There is little room.
    pub const VACANCY_DOWN: u8 = 3;
    /// There is enough again.
    pub const VACANCY_UP: u8 = 4;
}

/// Kinds of properties of a table.
const EVICTION_PROPERTY: u16 = 2;
const VACANCY_PROPERTY: u16 = 3;

/// Room in a table, in percent of what it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vacancy {
    /// Less than that is told of.
    pub down: u8,
    /// More than that is told of, once it was less.
    pub up: u8,
    /// What there is.
    pub now: u8,
}

/// Settings of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableDesc {
    /// Its number.
    pub table: u8,
    /// Whether its flows make room for others.
    pub evicts: bool,
    /// Which room is told of, if any.
    pub vacancy: Option<Vacancy>,
}

impl TableDesc {
    /// Writes its settings, how it is chosen who makes room (`OFPTMPT_EVICTION`), and which room is
    /// told of (`OFPTMPT_VACANCY`).
    pub fn encode(&self, out: &mut Writer) {
        let start = out.len();
        out.u16(0);
        out.u8(self.table);
        out.u8(0);
        let evicts = if self.evicts { table_config::EVICTION } else { 0 };
        let tells = if self.vacancy.is_some() { table_config::VACANCY_EVENTS } else { 0 };
        out.u32(evicts | tells);
        out.u16s(&[EVICTION_PROPERTY, 8]);
        out.u32(EVICTION_BY);
        if let Some(Vacancy { down, up, now }) = self.vacancy {
            out.u16s(&[VACANCY_PROPERTY, 8]);
            out.extend([down, up, now, 0]);
        }
        out.set_length(start, 0);
    }

    /// Tells of it, for a reason of [`table_reason`].
    pub fn status(&self, version: Version, reason: u8) -> Vec<u8> {
        let mut body = Writer::new();
        body.u8(reason);
        body.zeros(7);
        self.encode(&mut body);
        message(version, Kind::TableStatus, 0, &body)
    }
}

/// What a controller sets of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableMod {
    /// The table, 255 all.
    pub table: u8,
    /// Bits of [`table_config`].
    pub config: u32,
    /// Between which shares of room, in percent, it is told of that.
    pub vacancy: Option<(u8, u8)>,
}

impl TableMod {
    /// Reads it. How it is chosen who makes room is the switch's to say.
    pub fn decode(version: Version, body: &mut Reader<'_>) -> Result<Self, Fault> {
        let table = body.u8()?;
        body.skip(3)?;
        let (config, mut vacancy) = (body.u32()?, None);
        while version >= Version::V14 && !body.is_empty() {
            let (kind, length) = (body.u16()?, body.u16()?);
            match (kind, length) {
                (EVICTION_PROPERTY, 8) => body.skip(4)?,
                (VACANCY_PROPERTY, 8) => {
                    let (down, up) = (body.u8()?, body.u8()?);
                    body.skip(2)?;
                    if down > up || up > 100 {
                        return Err(Fault::BadPropertyValue);
                    }
                    vacancy = Some((down, up));
                }
                (EVICTION_PROPERTY | VACANCY_PROPERTY, _) => return Err(Fault::BadPropertyLength),
                _ => return Err(Fault::BadPropertyType),
            }
        }
        body.skip(body.len())?;
        Ok(Self { table, config, vacancy })
    }
}

/// What a table can do. Tools read it for the names of tables, and want all that 1.3 demands.
#[derive(Clone, Copy, Debug)]
pub struct TableFeatures<'a> {
    /// Its number.
    pub table: u8,
    /// Its name; empty: by its number.
    pub name: &'a str,
    /// The last there is: packets go on to those between.
    pub last: u8,
    /// Flows it may have.
    pub most: u32,
    /// What flows can match.
    pub matched: &'a [Field],
    /// What actions can set.
    pub set: &'a [Field],
}

/// Output, push and pop of a tag, group, decrement of the time to live, set field.
const ACTIONS: [u16; 6] = [0, 17, 18, 22, 24, 25];

impl TableFeatures<'_> {
    /// Writes it.
    pub fn encode(&self, version: Version, out: &mut Writer) {
        let start = out.len();
        out.u16(0);
        out.u8(self.table);
        out.zeros(5);
        out.text(&name(self.table, self.name), 32);
        // All of metadata may be matched, and written.
        out.u64(u64::MAX);
        out.u64(u64::MAX);
        // Until 1.3 there is nothing here.
        out.u32(if version >= Version::V14 { table_config::KNOWN } else { 0 });
        out.u32(self.most);
        let goes_on = self.table < self.last;
        let is_there =
            |kind: &u16| (*kind != 1 || goes_on) && (*kind != 6 || version < Version::V15);
        let kinds: Vec<u16> = (1..=6).filter(is_there).collect();
        property(0, out, |out| kinds.iter().for_each(|kind| out.u16s(&[*kind, 4])));
        property(2, out, |out| out.extend(self.table + 1..=self.last));
        for kind in [4, 6] {
            property(kind, out, |out| ACTIONS.iter().for_each(|action| out.u16s(&[*action, 4])));
        }
        for (kind, fields) in
            [(8, self.matched), (10, self.matched), (12, self.set), (14, self.set)]
        {
            let headers = fields.iter().filter_map(|field| field.header(false));
            property(kind, out, |out| headers.for_each(|it| out.u32(it.word(false))));
        }
        out.set_length(start, 0);
    }
}

/// A property's length is of what it holds, padding comes behind.
fn property(kind: u16, out: &mut Writer, body: impl FnOnce(&mut Writer)) {
    let start = out.len();
    out.u16s(&[kind, 0]);
    body(out);
    out.set_length(start, 2);
    out.pad8(start);
}

fn name(table: u8, said: &str) -> String {
    if said.is_empty() { format!("table{table}") } else { said.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_table_tell_whether_and_how_flows_make_room() {
        let encoded = |evicts| {
            let mut out = Writer::new();
            TableDesc { table: 3, evicts, vacancy: None }.encode(&mut out);
            out.to_vec()
        };
        assert_eq!(encoded(false), [0, 16, 3, 0, 0, 0, 0, 0, 0, 2, 0, 8, 0, 0, 0, 7]);
        assert_eq!(encoded(true), [0, 16, 3, 0, 0, 0, 0, 4, 0, 2, 0, 8, 0, 0, 0, 7]);
        let vacancy = Some(Vacancy { down: 20, up: 80, now: 50 });
        let status = TableDesc { table: 3, evicts: false, vacancy }.status(Version::V14, 3);
        assert_eq!(status[..16], [5, 31, 0, 40, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(status[16..24], [0, 24, 3, 0, 0, 0, 0, 8]);
        assert_eq!(status[24..], [0, 2, 0, 8, 0, 0, 0, 7, 0, 3, 0, 8, 20, 80, 50, 0]);
    }

    #[test]
    fn what_is_set_of_a_table_is_read_and_what_cannot_be_is_refused() {
        let read = |properties: &[u8]| {
            let bytes = [&[3, 0, 0, 0, 0, 0, 0, 8], properties].concat();
            TableMod::decode(Version::V14, &mut Reader::new(&bytes, Fault::BadLength))
        };
        let vacancy = |down: u8, up: u8| [0, 3, 0, 8, down, up, 0, 0];
        let told = |vacancy| Ok(TableMod { table: 3, config: 8, vacancy });
        assert_eq!(read(&[]), told(None));
        let both = [&[0, 2, 0, 8, 0, 0, 0, 1], &vacancy(20, 80)[..]].concat();
        assert_eq!(read(&both), told(Some((20, 80))));
        for (properties, fault) in [
            (vacancy(80, 20), Fault::BadPropertyValue),
            (vacancy(20, 101), Fault::BadPropertyValue),
            ([0, 3, 0, 7, 20, 80, 0, 0], Fault::BadPropertyLength),
            ([0, 9, 0, 8, 0, 0, 0, 0], Fault::BadPropertyType),
        ] {
            assert_eq!(read(&properties), Err(fault));
        }
        assert!(read(&vacancy(20, 80)[..6]).is_err());
    }

    #[test]
    fn what_a_table_can_do_has_each_property_that_is_demanded() {
        let (matched, set) = (&[Field::InPort, Field::EthDst][..], &[Field::EthDst][..]);
        let mut out = Writer::new();
        let it = TableFeatures { table: 250, name: "", last: 253, most: 9, matched, set };
        it.encode(Version::V13, &mut out);
        assert_eq!(out[8..17], *b"table250\0");
        let mut named = Writer::new();
        TableFeatures { name: "acl", ..it }.encode(Version::V13, &mut named);
        assert_eq!(named[8..12], *b"acl\0");
        assert_eq!(
            (usize::from(out[0]) << 8 | usize::from(out[1]), out.len()),
            (out.len(), out.len())
        );
        let mut at = 64;
        let mut found = Vec::new();
        while at < out.len() {
            let length = usize::from(out[at + 3]);
            found.push((out[at + 1], out[at + 4..at + length].to_vec()));
            at += length.next_multiple_of(8);
        }
        let kinds: Vec<u8> = found.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [0, 2, 4, 6, 8, 10, 12, 14]);
        assert_eq!(found[1].1, [251, 252, 253]);
        assert_eq!(found[4].1, [0x80, 0, 0, 4, 0x80, 0, 6, 6]);
        assert_eq!(found[7].1, [0x80, 0, 6, 6]);
        let mut last = Writer::new();
        TableFeatures { table: 253, ..it }.encode(Version::V13, &mut last);
        assert_eq!(last[64..72], [0, 0, 0, 24, 0, 2, 0, 4]);
    }
}
