//! The target `router` over its seeds and what was kept of its inputs: in a process of its own, as
//! its time is given to all of it.
#![allow(
    unused_attributes,
    reason = "the target says no_main, of the program that libFuzzer makes of it"
)]

use std::path::{Path, PathBuf};

#[path = "../../fuzz_targets/router.rs"]
mod router;

/// A seed takes a fifth of a second.
const CHANGES: u64 = 3;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn router() {
    libfuzzer_sys::replay_with(CHANGES, &fuzz().join("seeds/router"), router::run);
    let kept = fuzz().join("kept/router");
    if kept.is_dir() {
        libfuzzer_sys::replay_with(0, &kept, router::run);
    }
}

#[cfg(counted)]
#[test]
fn grown() {
    libfuzzer_sys::grow(&fuzz(), "router", router::run);
}
