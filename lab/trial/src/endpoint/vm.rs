//! Ends in virtual machines: none yet.

use std::path::Path;

use lab_record::axes::Endpoint;

use super::site::Site;
use crate::Error;
use crate::place::Place;

const REFUSAL: &str = "virtual machines come later: the lab boots no guests yet";

pub(super) struct Vm;

impl Site for Vm {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Vm
    }

    fn refusal(&self) -> Option<&'static str> {
        Some(REFUSAL)
    }

    fn place(&self, _: &Path, _: &str) -> Result<Place, Error> {
        let (device, job) = ("an end".into(), "streams".into());
        Err(Error::Refused { device, job, reason: REFUSAL.into() })
    }
}
