//! The target `router` over its seeds: in a process of its own, as its time is given to all of it.
#![allow(
    unused_attributes,
    reason = "the target says no_main, of the program that libFuzzer makes of it"
)]

use std::path::Path;

#[path = "../../fuzz_targets/router.rs"]
mod router;

/// A seed takes a fifth of a second.
const CHANGES: u64 = 3;

#[test]
fn router() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/router");
    libfuzzer_sys::replay_with(CHANGES, &folder, router::run);
}
