//! Who only looks is told what would be learned, and nothing is.

use fib::Onlooker;
use fib::mac::{Learned, MacKey, MacTable};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;

#[test]
fn what_would_be_learned_is_told_and_the_table_stays_as_it_is() {
    let table = MacTable::new(8, PageSize::Small, &Quiescence::new()).unwrap();
    let key = |last: u8| MacKey::new(1, [2, 0, 0, 0, 0, last]);
    table.learn(key(1), 7, 0);
    table.insert_static(key(2), 7).unwrap();
    table.set_max_age(Some(300));
    let before = (table.len(), table.lookup(key(1), 100));
    let all = |now| {
        [(1, 7), (1, 8), (2, 7), (2, 8), (3, 7)].map(|(last, on)| table.learn(key(last), on, now))
    };
    {
        let _looking = Onlooker::new();
        let (moved, fixed) = (Learned::Moved { from: 7 }, Learned::Fixed { on: 7 });
        assert_eq!(all(100), [Learned::Known, moved, Learned::Known, fixed, Learned::New]);
        // What is too old is not known any more.
        assert_eq!(table.learn(key(1), 8, 1000), Learned::New);
        let group = MacKey::new(1, [3, 0, 0, 0, 0, 1]);
        assert_eq!(table.learn(group, 7, 0), Learned::NoStation);
        table.set_domain_limit(1, Some(2));
        assert_eq!(table.learn(key(3), 7, 0), Learned::DomainFull);
        table.set_domain_limit(1, None);
    }
    assert_eq!((table.len(), table.lookup(key(1), 100)), before);
    assert_eq!(table.lookup(key(3), 100), None);
    assert_eq!(table.learn(key(3), 7, 100), Learned::New);
}
