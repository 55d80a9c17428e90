//! Meters added, changed and removed.

use crate::bridge::Bridge;
use crate::flows::gone;
use flow::Meter;
use openflow::message::{MeterCommand, MeterMod};
use openflow::{Action, Fault};
use std::sync::Arc;

/// Meters of a bridge, at most.
pub(crate) const MOST_METERS: usize = 65_536;

/// Whether actions lead through a meter.
pub(crate) fn leads_to_meter(actions: &[Action], meter: u32) -> bool {
    actions.iter().any(|action| matches!(action, Action::Meter(it) if it.meter == meter))
}

impl Bridge {
    pub(crate) fn mod_meters(&mut self, wanted: MeterMod, now_ns: u64) -> Result<(), Fault> {
        let number = wanted.meter;
        let is_there = self.snapshot.meters.contains_key(&number);
        match wanted.command {
            MeterCommand::Delete => {
                let is_meant = |it: u32| number == MeterMod::ALL || it == number;
                let gone: Vec<u32> =
                    self.snapshot.meters.keys().copied().filter(|it| is_meant(*it)).collect();
                for number in gone {
                    self.remove_all(gone::METER_DELETED, now_ns, |it| leads_to_meter(it, number));
                    self.is_changed = true;
                    Arc::make_mut(&mut self.snapshot.meters).remove(&number);
                }
                return Ok(());
            }
            MeterCommand::Add if is_there => return Err(Fault::MeterExists),
            MeterCommand::Modify if !is_there => return Err(Fault::UnknownMeter),
            _ => {}
        }
        if !is_there && self.snapshot.meters.len() >= MOST_METERS {
            return Err(Fault::OutOfMeters);
        }
        let meter = Meter::new(wanted.flags, wanted.bands, now_ns);
        Arc::make_mut(&mut self.snapshot.meters).insert(number, Arc::new(meter));
        self.is_changed = true;
        Ok(())
    }
}
