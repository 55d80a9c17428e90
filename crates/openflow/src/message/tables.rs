//! Tables: what they counted, and their settings.

use crate::bytes::{Put, Writer};
use crate::version::Version;

/// What a table counted.
#[derive(Clone, Copy, Debug)]
pub struct TableStats {
    /// Its number.
    pub table: u8,
    /// Flows in it.
    pub flows: u32,
    /// Flows it may have.
    pub most: u32,
    /// Packets looked up.
    pub lookups: u64,
    /// Packets that a flow matched.
    pub matches: u64,
}

impl TableStats {
    /// Writes it.
    pub fn encode(&self, version: Version, out: &mut Writer) {
        out.u8(self.table);
        out.zeros(3);
        if version == Version::V10 {
            out.text(&name(self.table), 32);
            // All fields of 1.0 may be left open.
            out.u32((1 << 22) - 1);
            out.u32(self.most);
        }
        out.u32(self.flows);
        out.u64(self.lookups);
        out.u64(self.matches);
    }
}

/// Settings of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableDesc {
    /// Its number.
    pub table: u8,
    /// See the standard.
    pub config: u32,
    /// Flows it may have.
    pub most: u32,
}

impl TableDesc {
    /// Writes its settings.
    pub fn encode(&self, out: &mut Writer) {
        out.u16(8);
        out.u8(self.table);
        out.u8(0);
        out.u32(self.config);
    }

    /// Writes what it can do, of which tools want its number and name.
    pub fn encode_features(&self, out: &mut Writer) {
        let start = out.len();
        out.u16(0);
        out.u8(self.table);
        out.zeros(5);
        out.text(&name(self.table), 32);
        out.u64(u64::MAX);
        out.u64(u64::MAX);
        out.u32(self.config);
        out.u32(self.most);
        out.set_length(start, 0);
    }
}

fn name(table: u8) -> String {
    format!("table{table}")
}
