use super::*;
use crate::naive::Naive;
use openflow::action::Conjunction;
use proptest::prelude::*;

/// Fields of few values, so that flows meet packets.
const FIELDS: [(Field, u128); 7] = [
    (Field::Metadata, 0),
    (Field::Reg0, 0),
    (Field::InPort, 0),
    (Field::EthDst, 0),
    (Field::EthType, 0x800),
    (Field::IpDst, 0),
    (Field::TcpDst, 0),
];

fn any_matching() -> impl Strategy<Value = Match> {
    proptest::collection::vec((0..FIELDS.len(), 0..4u128, 1..4u128), 0..4).prop_map(|wanted| {
        let mut it = Match::any();
        for (at, value, mask) in wanted {
            let (field, base) = FIELDS[at];
            it.set(field, base | value & mask, base | mask);
        }
        it
    })
}

fn any_key() -> impl Strategy<Value = Key> {
    proptest::array::uniform7(0..4u128).prop_map(|values| {
        let mut key = Key::default();
        for ((field, base), value) in FIELDS.into_iter().zip(values) {
            key.set(field, base | value, u128::MAX);
        }
        key
    })
}

fn any_flow() -> impl Strategy<Value = Flow> {
    let condition = (0..4u32, 0..2u8)
        .prop_map(|(id, clause)| vec![Action::from(Conjunction { id, clause, clauses: 2 })]);
    let program = prop_oneof![3 => Just(vec![]), 1 => condition];
    (any_matching(), 0..8u16, program, proptest::option::weighted(0.2, 0..4u128)).prop_map(
        |(mut matching, priority, program, conjunction)| {
            if let Some(id) = conjunction.filter(|_| program.is_empty()) {
                matching.set(Field::ConjId, id, u128::MAX);
            }
            Flow::new(0, priority, matching, program)
        },
    )
}

/// What a flow is found by: its priority, and its conjunction.
fn name(flow: Option<&Arc<Flow>>) -> Option<(u16, Option<u32>)> {
    let flow = flow?;
    Some((flow.priority, flow.matching.exact(Field::ConjId).map(|id| id as u32)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn it_finds_what_its_linear_twin_finds_and_what_it_marks_decides(
        steps in proptest::collection::vec((any_flow(), 0..4u8), 0..40),
        keys in proptest::collection::vec((any_key(), any_key()), 1..20),
    ) {
        let (mut table, mut twin) = (Classifier::default(), Naive::default());
        let mut had: Vec<Arc<Flow>> = Vec::new();
        let mut copies = Vec::new();
        for (flow, choice) in steps {
            let flow = Arc::new(flow);
            match had.first().filter(|_| choice == 0).cloned() {
                Some(old) => {
                    let at = had.len() / 2;
                    let old = had.get(at).cloned().unwrap_or(old);
                    prop_assert!(table.remove(&old) && !table.remove(&old));
                    twin.remove(&old.matching, old.priority);
                    had.retain(|it| !Arc::ptr_eq(it, &old));
                }
                None => {
                    had.retain(|it| it.matching != flow.matching || it.priority != flow.priority);
                    had.push(table.put(Flow::clone(&flow)).0);
                    twin.insert(flow);
                }
            }
            prop_assert_eq!(table.len(), had.len());
            copies.push((table.clone(), twin.clone()));
        }
        copies.push((table, twin));
        for (table, twin) in copies.iter().rev().step_by(7) {
            for (key, other) in &keys {
                let mut seen = Key::default();
                let found = name(table.find(key, &mut seen));
                // Flows of conj_id match no packet by themselves: packets have 0 there.
                let wanted = twin.find(key);
                prop_assert_eq!(found.map(|it| it.0), wanted.map(|it| it.0), "{:?}", key);
                // Any packet that is the same under the mask finds the same.
                let mut alike = other.clone();
                for (word, mask) in alike.words.iter_mut().zip(&seen.words).enumerate()
                    .map(|(at, (word, mask))| { *word = *word & !mask | key.words[at] & mask; (word, mask) }) {
                    let _ = (word, mask);
                }
                let again = name(table.find(&alike, &mut Key::default()));
                prop_assert_eq!(found.map(|it| it.0), again.map(|it| it.0), "{:?} {:?}", key, alike);
            }
        }
    }
}

#[test]
fn flows_of_a_mask_share_it() {
    let mut table = Classifier::default();
    let [one, other] = [1, 2].map(|port| {
        let matching = Match::any().with(Field::InPort, port);
        table.put(Flow::new(0, 1, matching, vec![])).0
    });
    assert!(Arc::ptr_eq(&one.key.mask, &other.key.mask));
}

#[test]
fn stages_leave_ports_open_where_the_network_differs() {
    let mut table = Classifier::default();
    let mut matching = Match::any().with(Field::EthType, 0x800).with(Field::IpProto, 6);
    matching.set(Field::IpDst, 10 << 24, 0xff << 24);
    matching.set(Field::TcpDst, 80, 0xffff);
    table.insert(Flow::new(0, 1, matching, vec![]));
    let (mut key, mut seen) = (Key::default(), Key::default());
    key.set(Field::EthType, 0x800, u128::MAX);
    key.set(Field::IpProto, 6, u128::MAX);
    key.set(Field::IpDst, 192 << 24, u128::MAX);
    key.set(Field::TcpDst, 80, u128::MAX);
    assert!(table.find(&key, &mut seen).is_none());
    assert_eq!((seen.get(Field::IpDst), seen.get(Field::TcpDst)), (0xff << 24, 0));
    key.set(Field::IpDst, 10 << 24, u128::MAX);
    assert!(table.find(&key, &mut seen).is_some());
    assert_eq!(seen.get(Field::TcpDst), 0xffff);
}
