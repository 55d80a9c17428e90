//! `bvi`: the router's own station in a bridge.

use super::kind::Kind;

/// It has nothing to say but its kind.
pub(super) struct Bvi;

impl Kind for Bvi {
    fn is_virtual(&self) -> bool {
        true
    }
}
