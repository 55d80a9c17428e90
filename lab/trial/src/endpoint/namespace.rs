//! Ends in network namespaces, with the kernel's own TCP.

use lab_record::axes::Endpoint;

use super::site::{Plan, Site};
use crate::Error;
use crate::place::Place;

pub(super) struct Namespace;

impl Site for Namespace {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Namespace
    }

    fn place(&self, plan: &Plan<'_>) -> Result<Place, Error> {
        Place::new(plan.folder, plan.cores)
    }
}
