//! Fairness, resilience, and that nothing is lost when there is no room.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn member(id: u32, weight: u32) -> Member {
    Member { to: Forward::new(1, id), weight }
}

fn table(groups: usize, buckets: usize) -> (EcmpTable, Arc<Quiescence>) {
    let readers = Quiescence::new();
    (EcmpTable::new(groups, buckets, &readers).unwrap(), readers)
}

/// Where each of many flows goes.
fn flows(table: &EcmpTable, group: GroupId) -> Vec<Forward> {
    (0..5000u32).map(|flow| table.pick(group, flow_hash(7, flow.into(), 9, 6, flow * 3))).collect()
}

fn assert_fair(table: &EcmpTable, group: GroupId, members: &[Member]) {
    let counts: BTreeMap<Forward, usize> = table.members(group).into_iter().collect();
    let buckets: usize = counts.values().sum();
    let weights = share::merged(members);
    let total: u64 = weights.values().sum();
    for (to, weight) in &weights {
        let (count, quota) = (counts.get(to).copied().unwrap_or(0) as u64, weight * buckets as u64);
        assert!(count >= quota / total, "{to:?} has {count} of {buckets}");
        assert!(count <= quota.div_ceil(total), "{to:?} has {count} of {buckets}");
    }
    assert!(counts.keys().all(|to| weights.contains_key(to)));
}

fn any_members() -> impl Strategy<Value = Vec<Member>> {
    let one = (1u32..40, 0u32..20).prop_map(|(id, weight)| member(id, weight));
    prop::collection::vec(one, 1..20)
}

/// What a fair coin does with 16 throws: all the same once in 32,768 times.
#[test]
fn neighbours_go_both_of_two_ways_whatever_the_seed() {
    let one_way = |seed: u32, addresses: &dyn Fn(u128) -> (u128, u128)| {
        let sides = (0..16).map(|index| {
            let (source, destination) = addresses(index);
            flow_hash(seed, source, destination, 1, 0) >> 31
        });
        matches!(sides.sum(), 0 | 16)
    };
    let (low, high) = (0x0a00_0001, 0x0a01_0000);
    let to_neighbours = |index: u128| (low, high + index);
    let from_neighbours = |index: u128| (low + index, high);
    let between_pairs = |index: u128| (low + index, high + index);
    let all: [&dyn Fn(u128) -> (u128, u128); 3] =
        [&to_neighbours, &from_neighbours, &between_pairs];
    for addresses in all {
        let seeds = (0..20_000u32).map(|seed| seed.wrapping_mul(0x9e37_79b1));
        let count = seeds.filter(|seed| one_way(*seed, addresses)).count();
        assert!(count <= 6, "{count} of 20,000 seeds");
    }
}

proptest! {
    #![proptest_config(crate::testing::cases(100))]

    #[test]
    fn shares_are_fair_through_every_change(changes in prop::collection::vec(any_members(), 1..6)) {
        let (table, _) = table(1, 1 << 16);
        let group = table.create(&changes[0]).unwrap();
        for members in &changes {
            table.set_members(group, members).unwrap();
            assert_fair(&table, group, members);
        }
    }

    #[test]
    fn when_one_leaves_its_flows_alone_move(members in any_members(), who in any::<prop::sample::Index>()) {
        let (table, _) = table(1, 1 << 14);
        let group = table.create(&members).unwrap();
        let before = flows(&table, group);
        let gone = who.get(&members).to;
        let rest: Vec<_> = members.iter().copied().filter(|member| member.to != gone).collect();
        table.set_members(group, &rest).unwrap();
        for (old, new) in before.iter().zip(flows(&table, group)) {
            prop_assert!(*old == new || *old == gone);
            prop_assert!(new != gone);
        }
    }

    #[test]
    fn a_copy_keeps_the_flows_of_those_that_stay(
        members in any_members(),
        others in any_members(),
        who in any::<prop::sample::Index>(),
    ) {
        let (table, _) = table(2, 1 << 16);
        let group = table.create(&members).unwrap();
        let before = flows(&table, group);
        let gone = who.get(&members).to;
        let rest: Vec<_> = members.iter().copied().filter(|member| member.to != gone).collect();
        let copy = table.copy(group, &rest).unwrap();
        for (old, new) in before.iter().zip(flows(&table, copy)) {
            prop_assert!(*old == new || *old == gone);
        }
        prop_assert_eq!(&flows(&table, group), &before);
        table.remove(copy);
        let copy = table.copy(group, &others).unwrap();
        assert_fair(&table, copy, &others);
    }

    #[test]
    fn when_one_joins_flows_move_to_it_alone(count in 1u32..30) {
        let (table, _) = table(1, 1 << 14);
        let members: Vec<_> = (1..=count).map(|id| member(id, 1)).collect();
        let group = table.create(&members).unwrap();
        let before = flows(&table, group);
        let more: Vec<_> = members.iter().copied().chain([member(99, 1)]).collect();
        let moved = table.set_members(group, &more).unwrap();
        let held: usize = table.members(group).iter().map(|(_, buckets)| buckets).sum();
        prop_assert!(moved <= held / (count as usize + 1) + 1);
        for (old, new) in before.iter().zip(flows(&table, group)) {
            prop_assert!(*old == new || new == Forward::new(1, 99));
        }
    }
}

#[test]
fn flows_follow_the_weights() {
    let (table, _) = table(1, 1 << 12);
    let group = table.create(&[member(1, 3), member(2, 1)]).unwrap();
    let to_first = flows(&table, group).iter().filter(|to| to.id() == 1).count();
    assert!((3500..4000).contains(&to_first), "{to_first} of 5000");
}

#[test]
fn a_full_table_refuses_and_keeps_what_it_has() {
    let (table, readers) = table(2, 64);
    let reader = readers.reader();
    let group = table.create(&[member(1, 1), member(2, 1)]).unwrap();
    let before = flows(&table, group);
    let many: Vec<_> = (1..9).map(|id| member(id, 1)).collect();
    assert!(matches!(table.set_members(group, &many), Err(FibError::Full { unit: "buckets", .. })));
    assert_eq!(flows(&table, group), before);
    let other = table.create(&[member(3, 1)]).unwrap();
    assert!(matches!(table.create(&[member(4, 1)]), Err(FibError::Full { unit: "groups", .. })));
    table.remove(other);
    assert_eq!(table.pick(other, 7), Forward::NONE);
    assert!(table.create(&[member(4, 1)]).is_err());
    reader.pass();
    assert_eq!(table.create(&[member(4, 1)]).unwrap(), other);
}

#[test]
fn a_group_without_members_leads_nowhere() {
    let (table, _) = table(2, 64);
    let group = table.create(&[member(1, 1)]).unwrap();
    table.set_members(group, &[]).unwrap();
    assert_eq!(table.pick(group, 7), Forward::NONE);
    assert!(table.members(group).is_empty());
    assert_eq!(table.set_members(GroupId(9), &[member(1, 1)]).unwrap(), 0);
    // Not even where another group's buckets were.
    table.set_members(group, &[member(1, 1)]).unwrap();
    table.remove(group);
    let empty = table.create(&[]).unwrap();
    assert_eq!(table.pick(empty, 7), Forward::NONE);
}

#[test]
fn the_hash_tells_flows_and_seeds_apart() {
    let hash = |seed, ports| flow_hash(seed, 1, 2, 6, ports);
    assert_eq!(hash(1, 80), hash(1, 80));
    assert!(hash(1, 80) != hash(1, 81) && hash(1, 80) != hash(2, 80));
    let mut counts = [0; 16];
    (0..16_000u32)
        .for_each(|flow| counts[(flow_hash(1, flow.into(), 2, 6, 80) >> 28) as usize] += 1);
    assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
}
