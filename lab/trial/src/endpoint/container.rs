//! Ends in containers: none yet.

use std::path::Path;

use lab_record::axes::Endpoint;

use super::site::Site;
use crate::Error;
use crate::place::Place;

const REFUSAL: &str = "containers come later: the lab starts no container runtime yet";

pub(super) struct Container;

impl Site for Container {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Container
    }

    fn refusal(&self) -> Option<&'static str> {
        Some(REFUSAL)
    }

    fn place(&self, _: &Path, _: &str) -> Result<Place, Error> {
        let (device, job) = ("an end".into(), "streams".into());
        Err(Error::Refused { device, job, reason: REFUSAL.into() })
    }
}
