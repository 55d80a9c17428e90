//! Who is waited for, and in what order things come back. `tests/publication.rs` has the races.

use crate::quiesce::*;
use crate::sync::Arc;

fn reclaimed(retired: &mut Retired<u32>) -> Vec<u32> {
    let mut freed = Vec::new();
    retired.reclaim(|item| freed.push(item));
    freed
}

#[test]
fn an_item_waits_for_every_reader() {
    let shared = Quiescence::new();
    let (one, two) = (shared.reader(), shared.reader());
    let mut retired = Retired::new(Arc::clone(&shared));
    retired.retire(7);
    one.pass();
    assert!(reclaimed(&mut retired).is_empty());
    two.pass();
    assert_eq!(reclaimed(&mut retired), [7]);
}

#[test]
fn without_readers_an_item_is_free_at_once() {
    let mut retired = Retired::new(Quiescence::new());
    retired.retire(7);
    assert_eq!(reclaimed(&mut retired), [7]);
}

#[test]
fn away_and_dropped_readers_are_not_waited_for() {
    let shared = Quiescence::new();
    let (sleeper, gone) = (shared.reader(), shared.reader());
    let mut retired = Retired::new(Arc::clone(&shared));
    retired.retire(1);
    sleeper.away();
    assert!(reclaimed(&mut retired).is_empty());
    drop(gone);
    assert_eq!(reclaimed(&mut retired), [1]);
    sleeper.back();
    retired.retire(2);
    assert!(reclaimed(&mut retired).is_empty());
}

#[test]
fn items_come_back_in_order_as_far_as_readers_got() {
    let shared = Quiescence::new();
    let reader = shared.reader();
    let mut retired = Retired::new(Arc::clone(&shared));
    retired.retire(1);
    reader.pass();
    retired.retire(2);
    assert_eq!(reclaimed(&mut retired), [1]);
    assert_eq!(retired.waiting(), 1);
}
