//! What an end of a stream is: somewhere that commands run, with a network of its own.

use std::path::Path;

use lab_record::axes::Endpoint;

use crate::Error;
use crate::place::Place;

/// A kind of end.
pub(crate) trait Site: Sync {
    /// Its name in scenarios.
    fn endpoint(&self) -> Endpoint;

    /// Why the lab can make none; none where it can.
    fn refusal(&self) -> Option<&'static str> {
        None
    }

    /// Makes one, whose files are in that folder and whose processes run on these cores.
    fn place(&self, folder: &Path, cores: &str) -> Result<Place, Error>;
}
