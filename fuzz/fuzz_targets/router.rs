//! The whole router in a simulated world: the bytes decide what is thrown at it, which changes and
//! calls there are, and how time goes.

#![no_main]

use faults::{Chance, play};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(finding) = play(1, Chance::of_bytes(bytes), false) {
        panic!("{}", finding.what);
    }
});
