//! Scenario files: TOML, or JSON in the words of the IETF's model.

use std::path::Path;

use crate::scenario::Scenario;
use crate::{Error, yang};

/// Reads one: JSON by a name that ends so, TOML by any other.
pub fn load(path: &Path) -> Result<Scenario, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    let read = match path.extension().is_some_and(|extension| extension == "json") {
        true => yang::import,
        false => Scenario::parse,
    };
    read(&text, &path.display().to_string())
}
