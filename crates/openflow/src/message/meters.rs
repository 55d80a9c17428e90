//! Meters: packets beyond a rate are dropped.

use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use std::time::Duration;

/// What is done with meters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the standard's own names")]
pub enum MeterCommand {
    Add,
    Modify,
    Delete,
}

/// A band: what is beyond the rate is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Band {
    /// Kilobits, or packets, a second.
    pub rate: u32,
    /// Kilobits, or packets.
    pub burst: u32,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeterMod {
    /// What is done.
    pub command: MeterCommand,
    /// See [`MeterMod::PPS`] and those beside it.
    pub flags: u16,
    /// Which; [`MeterMod::ALL`]: all.
    pub meter: u32,
    /// Its bands.
    pub bands: Vec<Band>,
}

impl MeterMod {
    /// Rates are in kilobits a second.
    pub const KBPS: u16 = 1;
    /// Rates are in packets a second.
    pub const PPS: u16 = 2;
    /// The burst is said.
    pub const BURST: u16 = 4;
    /// It is counted.
    pub const STATS: u16 = 8;
    /// All meters.
    pub const ALL: u32 = u32::MAX;
    /// The highest number of a meter.
    pub const MAX: u32 = 0xffff_0000;

    pub(super) fn decode(body: &mut Reader<'_>) -> Result<Self, Fault> {
        let command = match body.u16()? {
            0 => MeterCommand::Add,
            1 => MeterCommand::Modify,
            2 => MeterCommand::Delete,
            _ => return Err(Fault::BadMeterCommand),
        };
        let (flags, meter) = (body.u16()?, body.u32()?);
        let mut bands = Vec::new();
        while !body.is_empty() {
            let (kind, length) = (body.u16()?, body.u16()?);
            if length != 16 {
                return Err(Fault::BadLength);
            }
            let (rate, burst) = (body.u32()?, body.u32()?);
            body.skip(4)?;
            if kind != 1 {
                return Err(Fault::BadBand);
            }
            bands.push(Band { rate, burst });
        }
        let it = Self { command, flags, meter, bands };
        it.check()?;
        Ok(it)
    }

    fn check(&self) -> Result<(), Fault> {
        let is_all = self.command == MeterCommand::Delete && self.meter == Self::ALL;
        if !(1..=Self::MAX).contains(&self.meter) && !is_all {
            return Err(Fault::InvalidMeter);
        }
        if self.command == MeterCommand::Delete {
            return Ok(());
        }
        let has_one_unit = matches!(self.flags & 3, Self::KBPS | Self::PPS);
        if !has_one_unit || self.flags & !0xf != 0 {
            return Err(Fault::BadMeterFlags);
        }
        if self.bands.iter().any(|band| band.rate == 0) {
            return Err(Fault::BadRate);
        }
        if self.bands.len() > usize::from(MOST_BANDS) { Err(Fault::OutOfBands) } else { Ok(()) }
    }
}

/// Bands of a meter, at most.
const MOST_BANDS: u8 = 8;

/// A meter as it is told of.
#[derive(Clone, Debug)]
pub struct MeterConfig<'a> {
    /// Its number.
    pub meter: u32,
    /// Its flags.
    pub flags: u16,
    /// Its bands.
    pub bands: &'a [Band],
}

impl MeterConfig<'_> {
    /// Writes it.
    pub fn encode(&self, out: &mut Writer) {
        let start = out.len();
        out.u16(0);
        out.u16(self.flags);
        out.u32(self.meter);
        for band in self.bands {
            out.u16(1);
            out.u16(16);
            out.u32(band.rate);
            out.u32(band.burst);
            out.u32(0);
        }
        out.set_length(start, 0);
    }
}

/// What a meter counted.
#[derive(Clone, Debug)]
pub struct MeterStats {
    /// Its number.
    pub meter: u32,
    /// Flows that lead to it.
    pub flows: u32,
    /// Packets and bytes.
    pub packets: (u64, u64),
    /// How long it has been there.
    pub age: Duration,
    /// Packets and bytes that each band dropped.
    pub bands: Vec<(u64, u64)>,
}

impl MeterStats {
    /// Writes it.
    pub fn encode(&self, out: &mut Writer) {
        let start = out.len();
        out.u32(self.meter);
        out.zeros(8);
        out.u32(self.flows);
        out.u64(self.packets.0);
        out.u64(self.packets.1);
        super::flow_stats::put_duration(self.age, out);
        for (packets, bytes) in &self.bands {
            out.u64(*packets);
            out.u64(*bytes);
        }
        out.set_length(start, 4);
    }
}

/// Writes what meters can do: drop by kilobits or packets, with bursts, counted.
pub fn meter_features(most: u32, out: &mut Writer) {
    out.u32(most);
    out.u32(1 << 1);
    out.u32(0xf);
    out.u8(MOST_BANDS);
    out.u8(0);
    out.u16(0);
}
