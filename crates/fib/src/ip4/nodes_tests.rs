//! Taking nodes and giving them back. `tests/publication.rs` has the races.

use crate::FibError;
use crate::ip4::nodes::Ip4Nodes;
use crate::pages::PageSize;
use crate::quiesce::Quiescence;
use crate::sync::AtomicU32;

#[test]
fn a_node_comes_back_when_the_readers_have_passed() {
    let readers = Quiescence::new();
    let reader = readers.reader();
    let pool = Ip4Nodes::new(1, PageSize::Small, &readers).unwrap();
    let node = pool.take(1).unwrap()[0];
    let entry = AtomicU32::new(7);
    pool.link(&entry, node);
    pool.unlink(&entry, 7);
    assert!(matches!(pool.take(1), Err(FibError::Full { capacity: 1, .. })));
    reader.pass();
    assert_eq!(pool.take(1).unwrap(), [node]);
}

#[test]
fn a_refused_request_takes_nothing() {
    let pool = Ip4Nodes::new(3, PageSize::Small, &Quiescence::new()).unwrap();
    let two = pool.take(2).unwrap();
    assert!(pool.take(2).is_err());
    assert_eq!(pool.used(), 2);
    pool.put_back(two);
    assert_eq!(pool.take(3).unwrap().len(), 3);
}
