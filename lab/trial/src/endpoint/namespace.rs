//! Ends in network namespaces, with the kernel's own TCP.

use std::path::Path;

use lab_record::axes::Endpoint;

use super::site::Site;
use crate::Error;
use crate::place::Place;

pub(super) struct Namespace;

impl Site for Namespace {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Namespace
    }

    fn place(&self, folder: &Path, cores: &str) -> Result<Place, Error> {
        Place::new(folder, cores)
    }
}
