//! What the lab itself can do, with no device in between: measured once for each size of frames.

use lab_record::Results;
use lab_traffic::arrivals::Imix;

use crate::Error;
use crate::campaign::Campaign;

/// The most that the lab itself can do with frames of each mean size: the same for all that is held
/// against it.
#[derive(Default)]
pub(crate) struct Ceilings(Vec<(u16, f64)>);

impl Ceilings {
    /// Those that were measured before.
    pub(super) fn of_earlier(results: &Results) -> Self {
        Self(results.ceilings.iter().map(|it| (it.frame_bytes, it.pps)).collect())
    }

    /// One that is known.
    pub(super) fn find(&self, sizes: &Imix) -> Option<f64> {
        let frame_bytes = mean_bytes(sizes);
        self.0.iter().find(|&&(known, _)| known == frame_bytes).map(|&(_, pps)| pps)
    }

    /// As [`Campaign::ceiling_pps`], measured the first time.
    pub(crate) fn of(&mut self, campaign: &Campaign<'_>, sizes: &Imix) -> Result<f64, Error> {
        if let Some(known_pps) = self.find(sizes) {
            return Ok(known_pps);
        }
        let found_pps = campaign.ceiling_pps(sizes)?;
        self.0.push((mean_bytes(sizes), found_pps));
        Ok(found_pps)
    }
}

/// By what ceilings are told apart.
pub(super) fn mean_bytes(sizes: &Imix) -> u16 {
    sizes.mean_bytes().round() as u16
}
