//! A list that is amended again and again is held to the plain one, and so are the versions before
//! it that are still there.

use super::*;

/// A list as whoever has it keeps it.
#[derive(Clone)]
struct Kept<A: Made, const N: usize> {
    rules: Vec<Rule<A>>,
    places: Places,
    list: Acl<N>,
}

/// Rules in the place of others: from where on, of how many.
type Change<A> = (usize, usize, Vec<Rule<A>>);

impl<A: Made + Family<N>, const N: usize> Kept<A, N> {
    fn new(rules: Vec<Rule<A>>) -> Self {
        let places = Places::new(rules.iter().map(|rule| rule.action), 500);
        let numbered: Vec<_> = (0..).zip(rules.iter().copied()).collect();
        let list = Acl::lasting(&numbered, Action::Deny, ROOM).unwrap();
        Self { rules, places, list }
    }

    /// Its next version, without making it anew.
    fn amended(&self, (at, count, new): &Change<A>) -> Option<Self> {
        let others = *at..at + count;
        let asked: Vec<_> = new.iter().map(|rule| (rule.action, None)).collect();
        let places = self.places.with(others.clone(), &asked)?;
        let took = |at: usize| Edit::Take(self.rules[at], self.places.at(at).unwrap());
        let put = |nth: usize| Edit::Put(new[nth], places.at(at + nth).unwrap());
        let edits: Vec<Edit<A>> = match *count == new.len() {
            // What stands where another did may be the same but for what it says.
            true => (0..*count).flat_map(|nth| [took(at + nth), put(nth)]).collect(),
            false => others.clone().map(took).chain((0..new.len()).map(put)).collect(),
        };
        let list = self.list.amended(&edits)?;
        let mut rules = self.rules.clone();
        rules.splice(others, new.iter().copied());
        Some(Self { rules, places, list })
    }

    fn agrees(&self, packets: &[Fields<A>]) {
        let keys: Vec<_> = packets.iter().map(Key::new).collect();
        let mut verdicts = vec![Verdict::none(Action::Permit); keys.len()];
        self.list.classify(&keys, &mut verdicts);
        for (packet, verdict) in packets.iter().zip(verdicts) {
            let place = self.rules.iter().position(|rule| rule.matches(packet));
            let plain = place.map_or(Verdict::none(Action::Deny), |at| self.places.at(at).unwrap());
            assert_eq!(verdict, plain, "{packet:?}");
        }
        assert_eq!(self.list.shape().rules, self.rules.len());
        let reflects = self.rules.iter().any(|rule| rule.action == Action::Reflect);
        assert_eq!(self.list.reflects(), reflects);
    }

    /// The list and its versions, each after a change, all of which are there in the end; how many
    /// could not be amended.
    fn all_agree(self, changes: Vec<Change<A>>, kept: usize, packets: &[Fields<A>]) -> usize {
        let mut anew = 0;
        let mut versions = std::collections::VecDeque::from([self]);
        for (at, count, new) in changes {
            let last = versions.back().unwrap();
            let at = at % (last.rules.len() + 1);
            let change = (at, count.min(last.rules.len() - at), new);
            let next = last.amended(&change).unwrap_or_else(|| {
                let mut rules = last.rules.clone();
                rules.splice(at..at + change.1, change.2.iter().copied());
                anew += 1;
                Self::new(rules)
            });
            next.agrees(packets);
            versions.push_back(next);
            if versions.len() > kept {
                versions.pop_front();
            }
        }
        versions.iter().for_each(|version| version.agrees(packets));
        anew
    }
}

fn changes<A: Made>() -> impl Strategy<Value = Vec<Change<A>>> {
    // Lean ones for the most part: one that is not has a list made anew.
    let rule = || prop_oneof![9 => lean(), 1 => rule()];
    let new = prop_oneof![
        4 => prop::collection::vec(rule(), 0..3),
        1 => prop::collection::vec(rule(), 3..20),
    ];
    prop::collection::vec((0usize..1_000, 0usize..3, new), 1..few(30, 4))
}

proptest! {
    #[test]
    fn a_list_that_is_amended_matches_as_the_naive_one_and_so_do_those_before_it(
        rules in prop::collection::vec(lean::<u32>(), 0..few(200, 12)),
        changes in changes(),
        kept in 1usize..8,
        packets in prop::collection::vec(packet(), 1..few(200, 12)),
    ) {
        Kept::<_, CELLS4>::new(rules).all_agree(changes, kept, &packets);
    }

    #[test]
    fn and_of_ip6_likewise(
        rules in prop::collection::vec(rule::<u128>(), 0..few(100, 8)),
        changes in changes(),
        kept in 1usize..4,
        packets in prop::collection::vec(packet(), 1..few(100, 8)),
    ) {
        Kept::<_, CELLS6>::new(rules).all_agree(changes, kept, &packets);
    }
}

/// Changes as people make them: a rule is put in front of one, taken away, or says something else.
fn edits_of(rules: &[Rule<u32>], count: usize, numbers: &mut Numbers) -> Vec<Change<u32>> {
    let fresh = synthetic::rules::<u32>(Flavour::Firewall, count + 1, numbers.word());
    let change = |(_, rule): &(u32, Rule<u32>)| {
        let at = numbers.below(rules.len() as u64 - 50) as usize;
        match numbers.below(3) {
            0 => (at, 0, vec![*rule]),
            1 => (at, 1, vec![]),
            _ => (at, 1, vec![*rule]),
        }
    };
    fresh.iter().take(count).map(change).collect()
}

#[test]
fn lists_like_those_of_routers_are_amended_hundreds_of_times_and_hardly_ever_made_anew() {
    for flavour in [Flavour::Acl, Flavour::Firewall, Flavour::Chain] {
        let count = few(3_000, 100);
        let rules = synthetic::rules::<u32>(flavour, count, 5);
        let mut numbers = Numbers::new(6);
        let packets: Vec<_> =
            (0..few(300, 20)).map(|_| synthetic::packet(&rules, &mut numbers)).collect();
        let rules: Vec<_> = rules.into_iter().map(|(_, rule)| rule).collect();
        let changes = edits_of(&rules, few(300, 10), &mut numbers);
        let count = changes.len();
        let anew = Kept::<_, CELLS4>::new(rules).all_agree(changes, 2, &packets);
        assert!(anew * 20 <= count, "{flavour:?}: {anew} of {count}");
    }
}

#[test]
fn a_version_is_made_of_the_last_one_alone() {
    let rules = synthetic::rules::<u32>(Flavour::Acl, 20, 1);
    let first = Kept::<_, CELLS4>::new(rules.into_iter().map(|(_, rule)| rule).collect());
    let change = || (3, 0, vec![Rule::any(Action::Deny)]);
    let next = first.amended(&change()).unwrap();
    assert!(first.amended(&change()).is_none());
    assert!(next.amended(&change()).is_some());
}

#[test]
fn a_rule_that_comes_in_front_of_all_is_met_in_whatever_tree_it_stands() {
    let rules = synthetic::rules::<u32>(Flavour::Chain, 5_000, 5);
    let mut numbers = Numbers::new(2);
    let packets: Vec<_> = (0..200).map(|_| synthetic::packet(&rules, &mut numbers)).collect();
    let list = Kept::<_, CELLS4>::new(rules.into_iter().map(|(_, rule)| rule).collect());
    let next = list.amended(&(0, 0, vec![Rule::any(Action::Permit)])).unwrap();
    // It stands in the last one, behind trees whose rules are all later ones.
    assert!(list.list.shape().trees > 2);
    next.agrees(&packets);
}

#[test]
fn a_rule_that_hid_others_does_not_go_from_a_list_that_knows_them_no_more() {
    let [permit, deny] = [Action::Permit, Action::Deny].map(Rule::<u32>::any);
    let list = Kept::<_, CELLS4>::new(vec![permit, deny]);
    assert!(list.amended(&(0, 1, vec![])).is_none());
    let other = Kept::<_, CELLS4>::new(vec![permit, deny]);
    assert!(other.amended(&(1, 1, vec![])).is_some());
    // What it says may change.
    let turned = Kept::<_, CELLS4>::new(vec![permit, permit]).amended(&(0, 1, vec![deny])).unwrap();
    turned.agrees(&[packet_of(1)]);
}

#[test]
fn what_has_gone_to_its_last_rule_is_as_what_never_had_any() {
    let permit = Rule::<u32>::any(Action::Permit);
    let empty = Kept::<_, CELLS4>::new(vec![permit]).amended(&(0, 1, vec![])).unwrap();
    empty.agrees(&[packet_of(1)]);
    assert_eq!(empty.list.shape().trees, 0);
    empty.amended(&(0, 0, vec![permit])).unwrap().agrees(&[packet_of(1)]);
}

fn packet_of(source: u32) -> Fields<u32> {
    Fields {
        source,
        destination: 2,
        protocol: 17,
        transport: Transport::Ports(3, 4),
        tcp_flags: None,
        vlan: 0,
        source_mac: [2; 6],
    }
}

#[test]
fn what_was_made_without_room_for_others_is_made_anew() {
    let rules = [(0, Rule::<u32>::any(Action::Permit))];
    let list = Acl4::new(&rules, Action::Deny, ROOM).unwrap();
    let put = [Edit::Put(rules[0].1, Verdict::new(5, Action::Permit))];
    assert!(list.amended(&put).is_none());
    let same = list.amended::<u32>(&[]).unwrap();
    assert_eq!(same.shape(), list.shape());
}

#[test]
#[cfg_attr(miri, ignore = "fifty thousand")]
fn versions_that_are_gone_make_room_for_those_to_come() {
    let rules: Vec<_> = synthetic::rules::<u32>(Flavour::Acl, 20_000, 5)
        .into_iter()
        .map(|(_, rule)| rule)
        .collect();
    let mut numbers = Numbers::new(6);
    let mut list = Kept::<_, CELLS4>::new(rules);
    let before = list.list.shape();
    for turn in 0..400 {
        let at = numbers.below(19_000) as usize;
        let rule = list.rules[at];
        list = list.amended(&(at, 1, vec![])).unwrap_or_else(|| panic!("{turn}"));
        list = list.amended(&(at, 0, vec![rule])).unwrap_or_else(|| panic!("{turn}"));
    }
    assert_eq!(list.list.shape().bytes, before.bytes);
    assert!(list.list.shape().copies < before.copies * 11 / 10);
}
