//! Some seeds, as ordinary tests; `volley-faults` plays as many as there is time for.

#![allow(clippy::unwrap_used)] // A test fails by panicking.

use faults::{Chance, play};

#[test]
fn a_seed_plays_the_same_again() {
    let run = || play(3, Chance::Seed(3), true).unwrap();
    let (first, again) = (run(), run());
    assert!(first.log.len() > 50 && first.packets > 500, "{first:?}");
    assert_eq!(first.log, again.log);
    assert_eq!((first.packets, first.changes), (again.packets, again.changes));
}

#[test]
fn bytes_decide_as_seeds_do() {
    let bytes: Vec<u8> = (0..2000_u32).map(|number| (number * 37 % 251) as u8).collect();
    let played = play(1, Chance::of_bytes(&bytes), false).unwrap();
    assert!(played.steps > 10 && played.packets > 50, "{played:?}");
}
