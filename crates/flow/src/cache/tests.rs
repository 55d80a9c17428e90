use super::*;
use crate::flow::Flow;
use crate::snapshot::{PortEntry, Snapshot};
use crate::steps::Step;
use crate::translate::translate;
use openflow::action::{GotoTable, MoveField, Output, SetField};
use openflow::{Action, Field, Match, Sub};
use proptest::prelude::*;

fn snapshot(flows: Vec<Flow>) -> Snapshot {
    let mut it = Snapshot { generation: 1, ..Snapshot::default() };
    let port = PortEntry::all();
    it.ports = Arc::new((1..5).map(|number| (number, port)).collect());
    for flow in flows {
        it.table_mut(flow.table).flows.insert(flow);
    }
    it
}

const FIELDS: [Field; 5] = [Field::InPort, Field::EthDst, Field::IpDst, Field::UdpDst, Field::Reg1];

fn any_key() -> impl Strategy<Value = Key> {
    (1..5u128, 0..4u128, 0..4u128, 0..4u128).prop_map(|(port, eth, ip, udp)| {
        let mut key = Key::default();
        for (field, value) in [
            (Field::InPort, port),
            (Field::EthType, 0x800),
            (Field::IpProto, 17),
            (Field::EthDst, eth),
            (Field::IpDst, ip),
            (Field::UdpDst, udp),
            (Field::IpTtl, 64),
        ] {
            key.set(field, value, u128::MAX);
        }
        key
    })
}

fn any_flow() -> impl Strategy<Value = Flow> {
    let action = prop_oneof![
        (1..5u16).prop_map(|it| Action::from(Output::to(it))),
        (0..4u128).prop_map(|it| SetField::whole(Field::Reg1, it).into()),
        (0..4u128).prop_map(|it| SetField::whole(Field::IpDst, it).into()),
        (0..4u128).prop_map(|it| SetField::whole(Field::EthDst, it).into()),
        Just(MoveField { from: Sub::whole(Field::IpDst), to: Sub::whole(Field::Reg1) }.into()),
        (1..4u8).prop_map(|table| GotoTable { table }.into()),
        (1..4u8).prop_map(|table| {
            openflow::action::Resubmit { port: None, table: Some(table) }.into()
        }),
        (1..5u16, 0..4u128).prop_map(|(port, value)| openflow::action::CloneActions {
            actions: vec![SetField::whole(Field::UdpDst, value).into(), Output::to(port).into()],
        }
        .into()),
    ];
    let wanted = proptest::collection::vec((0..5usize, 0..4u128, 1..4u128), 0..3);
    (0..4u8, 0..5u16, wanted, proptest::collection::vec(action, 0..4)).prop_map(
        |(table, priority, wanted, mut program)| {
            let mut matching = Match::any().with(Field::EthType, 0x800).with(Field::IpProto, 17);
            for (at, value, mask) in wanted {
                let mask = if at == 0 { 0xffff } else { mask };
                matching.set(FIELDS[at], value & mask, mask);
            }
            // Going on leads to later tables alone.
            program.retain(|it| !matches!(it, Action::GotoTable(it) if it.table <= table));
            Flow::new(table, priority, matching, program)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn what_is_remembered_is_what_tables_come_to(
        flows in proptest::collection::vec(any_flow(), 0..30),
        keys in proptest::collection::vec(any_key(), 1..120),
        most in 1..40usize,
    ) {
        let mut had = std::collections::BTreeSet::new();
        // Two flows of one priority that both match: nobody says which.
        let mut flows = flows;
        flows.retain(|flow| had.insert((flow.table, flow.priority)));
        let snapshot = snapshot(flows.clone());
        let (mut cache, mut wanted) = (Cache::new(most), Vec::new());
        cache.follow(1, 0);
        for key in &keys {
            let fresh = translate(&snapshot, key);
            let found = cache.find(key);
            let found = found.unwrap_or_else(|| {
                cache.insert(key, translate(&snapshot, key), 5)
            });
            let verdict = Arc::clone(cache.verdict(found).unwrap());
            prop_assert_eq!(&verdict.steps, &fresh.steps, "{:?}", key);
            prop_assert_eq!(verdict.counters.len(), fresh.counters.len());
            cache.count(found, 100);
            prop_assert!(cache.len() <= most && cache.masks() <= most);
            wanted.extend(fresh.counters);
        }
        // Many at once find what each alone does.
        let mut together = vec![0; keys.len()];
        cache.find_all(&keys, &mut together, |_| {});
        for (key, id) in keys.iter().zip(together) {
            let alone = cache.find(key);
            let verdict = cache.verdict(Found::of(id));
            prop_assert_eq!(verdict.is_some(), alone.is_some(), "{:?}", key);
            if let Some(verdict) = verdict {
                prop_assert_eq!(&verdict.steps, &translate(&snapshot, key).steps, "{:?}", key);
            }
        }
        cache.flush(9, |_| ());
        // Every packet is counted once by each flow that it took, whatever was forgotten meanwhile.
        let taken: u64 = wanted.len() as u64;
        let mut counted = 0;
        for table in snapshot.tables.values() {
            counted += table.misses.get().0;
            table.flows.each(|flow| counted += flow.counters.get().0);
        }
        prop_assert_eq!(counted, taken);
    }
}

#[test]
fn another_snapshot_begins_anew_and_counts_what_was() {
    let any = Match::any();
    let flow = Flow::new(0, 1, any.clone(), vec![Output::to(2).into()]);
    let counters = Arc::clone(&flow.counters);
    let first = snapshot(vec![flow]);
    let (mut cache, mut key) = (Cache::new(10), Key::default());
    key.set(Field::InPort, 1, u128::MAX);
    cache.follow(1, 0);
    let found = cache.insert(&key, translate(&first, &key), 0);
    assert_eq!(cache.verdict(found).unwrap().sole_output(), Some(2));
    cache.count(found, 60);
    assert_eq!((cache.find(&key), counters.get()), (Some(found), (0, 0)));
    cache.follow(2, 77);
    assert_eq!((cache.find(&key), counters.get(), counters.used_ns()), (None, (1, 60), 77));
    let second = snapshot(vec![Flow::new(0, 1, any, vec![Output::to(1).into()])]);
    // A packet does not return by the port that it came by.
    assert_eq!(*translate(&second, &key).steps, []);
    assert_ne!(*translate(&first, &key).steps, [Step::Normal]);
}

#[test]
fn ways_on_which_packets_begin_again_have_a_number_each_and_none_twice() {
    let zone = openflow::action::ct::Zone::Number(1);
    let leads = |table: u8, source: u8| {
        let ct =
            openflow::action::Ct { flags: 0, zone, table: Some(table), helper: 0, actions: vec![] };
        let matching = Match::any().with(Field::EthSrc, source.into());
        Flow::new(0, source.into(), matching, vec![ct.into()])
    };
    let it = snapshot(vec![leads(1, 1), leads(1, 2), leads(2, 3)]);
    let mut cache = Cache::new(100);
    let number = |cache: &mut Cache, source: u128| {
        let mut key = Key::default();
        key.set(Field::InPort, 1, u128::MAX);
        key.set(Field::EthSrc, source, u128::MAX);
        let found = cache.insert(&key, translate(&it, &key), 0);
        match cache.verdict(found).unwrap().steps.last() {
            Some(Step::Recirculate(number, _)) => *number,
            other => panic!("{other:?}"),
        }
    };
    cache.follow(1, 0);
    let first = [1, 2, 3].map(|source| number(&mut cache, source));
    assert_eq!(first, [1, 1, 2]);
    assert!(cache.frozen(1) != cache.frozen(2) && cache.frozen(2).is_some());
    cache.follow(2, 0);
    assert!(first.iter().all(|number| cache.frozen(*number).is_none()));
    assert_eq!(number(&mut cache, 3), 3);
    // As many as there may be megaflows; then all are found anew.
    let (mut cache, mut last) = (Cache::new(1), 0);
    cache.follow(1, 0);
    for source in [1, 3, 1, 3] {
        let other = number(&mut cache, source);
        assert!(other > last);
        last = other;
    }
}
