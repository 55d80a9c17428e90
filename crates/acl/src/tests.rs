//! Every list is held to the plain one: the first rule of the list that matches.

use crate::cut::Wide;
use crate::lean::Lean;
use crate::record::{Record, Stored};
use crate::synthetic::{self, Flavour, Made, Numbers};
use crate::tree::Planter;
use crate::*;
use fib::Prefix;
use proptest::prelude::*;

mod amended;

const ROOM: usize = 64 << 20;

/// `usual`, or what there is time for under Miri, which takes a thousand times as long.
const fn few(usual: usize, under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { usual }
}

type Rules<A> = Vec<(u32, Rule<A>)>;

fn naive<A: Made>(rules: &Rules<A>, otherwise: Action, packet: &Fields<A>) -> Verdict {
    let fits = rules.iter().find(|(_, rule)| rule.matches(packet));
    fits.map_or(Verdict::none(otherwise), |(number, rule)| Verdict::new(*number, rule.action))
}

/// Asks both about all packets.
fn agree<A: Made + Family<N>, const N: usize>(
    rules: &Rules<A>,
    most: usize,
    packets: &[Fields<A>],
) {
    let list = Acl::<N>::new(rules, Action::Deny, most).unwrap();
    let keys: Vec<_> = packets.iter().map(Key::new).collect();
    let mut verdicts = vec![Verdict::none(Action::Permit); keys.len()];
    list.classify(&keys, &mut verdicts);
    for (packet, verdict) in packets.iter().zip(verdicts) {
        assert_eq!(verdict, naive(rules, Action::Deny, packet), "{packet:?}");
    }
}

/// Few values, so that rules overlap and packets meet them.
fn small<A: Made>() -> impl Strategy<Value = Prefix<A>> {
    let lengths = prop::sample::select(vec![0, 1, 7, 8, A::BITS / 2, A::BITS - 2, A::BITS]);
    (0u8..4, lengths).prop_map(|(at, length)| Prefix::new(address(at), length).unwrap())
}

fn address<A: Made>(at: u8) -> A {
    let of = |numbers| A::made(&mut Numbers::new(numbers));
    [of(1), of(2), A::mask(0), A::mask(A::BITS)][usize::from(at)]
}

fn range() -> impl Strategy<Value = Ports> {
    let port = || prop::sample::select(vec![0u16, 1, 8, 79, 80, 1023, 1024, 65534, 65535]);
    (port(), port()).prop_map(|(a, b)| Ports::new(a.min(b), a.max(b)).unwrap())
}

fn rule<A: Made>() -> impl Strategy<Value = Rule<A>> {
    let maybe = prop::option::weighted::<std::ops::Range<u8>>;
    let protocol = prop::option::of(prop::sample::select(vec![1u8, 6, 17]));
    let icmp = prop::option::weighted(0.1, (0u8..3, maybe(0.5, 0..2)));
    let flags = prop::option::weighted(0.2, (0u8..4, 0u8..4));
    let action = prop::sample::select(vec![Action::Permit, Action::Deny, Action::Reflect]);
    (
        (small(), small(), protocol, prop::option::of(range()), prop::option::of(range())),
        (icmp, flags, maybe(0.2, 0..3), maybe(0.2, 0..3), action),
    )
        .prop_map(
            |((source, destination, protocol, from, to), (icmp, flags, vlan, mac, action))| Rule {
                source,
                destination,
                protocol,
                source_ports: from,
                destination_ports: to,
                icmp: icmp.map(|(kind, code)| Icmp { kind, code }),
                tcp_flags: flags.map(|(value, mask)| TcpFlags { value, mask }),
                vlan: vlan.map(u16::from),
                source_mac: mac.map(|last| [last, 0, 0, 0, 0, last]),
                more: More::default(),
                action,
            },
        )
}

/// One that asks for neither VLAN nor station.
fn lean<A: Made>() -> impl Strategy<Value = Rule<A>> {
    rule().prop_map(|rule| Rule { vlan: None, source_mac: None, ..rule })
}

fn packet<A: Made>() -> impl Strategy<Value = Fields<A>> {
    let port = || prop::sample::select(vec![0u16, 1, 7, 8, 79, 80, 81, 1023, 1024, 65535]);
    let transport = prop_oneof![
        3 => (port(), port()).prop_map(|(from, to)| Transport::Ports(from, to)),
        1 => (0u8..3, 0u8..2).prop_map(|(kind, code)| Transport::Icmp(kind, code)),
        1 => Just(Transport::Unknown),
    ];
    let protocol = prop::sample::select(vec![1u8, 6, 17, 50]);
    let flags = prop::option::of(0u8..4);
    (0u8..4, 0u8..4, protocol, transport, flags, 0u16..3, 0u8..3).prop_map(
        |(from, to, protocol, transport, tcp_flags, vlan, last)| Fields {
            source: address(from),
            destination: address(to),
            protocol,
            transport,
            tcp_flags,
            vlan,
            source_mac: [last, 0, 0, 0, 0, last],
        },
    )
}

fn more() -> impl Strategy<Value = More> {
    let maybe = prop::option::weighted::<std::ops::Range<u8>>;
    let pieces = [Pieces::None, Pieces::Any, Pieces::First, Pieces::Later];
    let pieces = prop::option::weighted(0.3, prop::sample::select(pieces.to_vec()));
    (maybe(0.3, 0..3), maybe(0.3, 0..3), pieces, maybe(0.3, 0..3), maybe(0.3, 0..3)).prop_map(
        |(ttl, dscp, pieces, vlan, mac)| More {
            ttl: ttl.map(|ttl| ttl * 127),
            dscp: dscp.map(|dscp| dscp * 31),
            pieces,
            inner_vlan: vlan.map(u16::from),
            destination_mac: mac.map(|last| [last, 0, 0, 0, 0, last]),
        },
    )
}

fn more_fields() -> impl Strategy<Value = MoreFields> {
    let piece = prop::sample::select(vec![Piece::Whole, Piece::First, Piece::Later]);
    (0u8..3, 0u8..3, 0u8..4, piece, 0u16..3, 0u8..3).prop_map(
        |(ttl, dscp, ecn, piece, inner_vlan, last)| MoreFields {
            ttl: ttl * 127,
            tos: (dscp * 31) << 2 | ecn,
            piece,
            inner_vlan,
            destination_mac: [last, 0, 0, 0, 0, last],
        },
    )
}

/// Asks a list whose rules ask for more, and the naive one.
fn agree_on_more<A: Made + Family<N>, const N: usize>(
    rules: Vec<(Rule<A>, More)>,
    packets: &[(Fields<A>, MoreFields)],
) {
    let rules = numbered(rules.into_iter().map(|(rule, more)| Rule { more, ..rule }).collect());
    let list = Acl::<N>::new(&rules, Action::Deny, ROOM).unwrap();
    let keys: Vec<_> = packets.iter().map(|(fields, more)| Key::wide(fields, more)).collect();
    let mut verdicts = vec![Verdict::none(Action::Permit); keys.len()];
    list.classify(&keys, &mut verdicts);
    for ((fields, more), verdict) in packets.iter().zip(verdicts) {
        let fits = |(_, rule): &&(u32, Rule<A>)| rule.matches(fields) && rule.more.matches(more);
        let naive = rules.iter().find(fits);
        let naive = naive.map(|(number, rule)| Verdict::new(*number, rule.action));
        assert_eq!(verdict, naive.unwrap_or(Verdict::none(Action::Deny)), "{fields:?} {more:?}");
    }
}

fn numbered<A: Made>(rules: Vec<Rule<A>>) -> Rules<A> {
    (0..).step_by(3).zip(rules).collect()
}

proptest! {
    #[test]
    fn overlapping_rules_of_ipv4_match_as_the_naive_list(
        rules in prop::collection::vec(rule::<u32>(), 0..few(200, 12)),
        packets in prop::collection::vec(packet(), 1..few(300, 12)),
    ) {
        agree::<_, CELLS4>(&numbered(rules), ROOM, &packets);
    }

    #[test]
    fn lean_rules_match_as_the_naive_list(
        rules in prop::collection::vec(lean::<u32>(), 0..few(200, 12)),
        packets in prop::collection::vec(packet(), 1..few(300, 12)),
    ) {
        agree::<_, CELLS4>(&numbered(rules), ROOM, &packets);
    }

    #[test]
    fn a_lean_rule_is_the_rule_that_it_is_made_of(rule in rule::<u32>()) {
        let record = Record::<CELLS4>::new(&rule, Verdict::new(5, rule.action));
        let is_lean = rule.vlan.is_none() && rule.source_mac.is_none();
        let back = Lean::of(&record).map(|lean| lean.record());
        prop_assert_eq!(back, is_lean.then_some(record));
    }

    #[test]
    fn overlapping_rules_of_ipv6_match_as_the_naive_list(
        rules in prop::collection::vec(rule::<u128>(), 0..few(200, 12)),
        packets in prop::collection::vec(packet(), 1..few(300, 12)),
    ) {
        agree::<_, CELLS6>(&numbered(rules), ROOM, &packets);
    }

    #[test]
    fn rules_that_ask_for_more_match_as_the_naive_list(
        rules4 in prop::collection::vec((rule::<u32>(), more()), 0..few(200, 12)),
        packets4 in prop::collection::vec((packet(), more_fields()), 1..few(300, 12)),
        rules6 in prop::collection::vec((rule::<u128>(), more()), 0..few(100, 12)),
        packets6 in prop::collection::vec((packet(), more_fields()), 1..few(100, 12)),
    ) {
        agree_on_more::<_, WIDE4>(rules4, &packets4);
        agree_on_more::<_, WIDE6>(rules6, &packets6);
    }

    #[test]
    fn a_list_without_room_to_divide_matches_as_the_naive_one(
        rules in prop::collection::vec(rule::<u32>(), 0..few(200, 12)),
        packets in prop::collection::vec(packet(), 1..few(100, 12)),
        room in 0usize..20_000,
    ) {
        let most = rules.len() * 64 + room;
        let list = Acl4::new(&numbered(rules.clone()), Action::Deny, most).unwrap();
        prop_assert!(list.shape().bytes <= most);
        agree::<_, CELLS4>(&numbered(rules), most, &packets);
    }
}

fn of_flavour<A: Made + Family<N>, const N: usize>(
    flavour: Flavour,
    count: usize,
    packets: usize,
) -> Shape {
    let rules = synthetic::rules::<A>(flavour, count, 5);
    let mut numbers = Numbers::new(6);
    let packets: Vec<_> = (0..packets).map(|_| synthetic::packet(&rules, &mut numbers)).collect();
    agree::<A, N>(&rules, ROOM, &packets);
    Acl::<N>::new(&rules, Action::Deny, ROOM).unwrap().shape()
}

#[test]
fn lists_like_those_of_routers_match_as_the_naive_ones() {
    for flavour in [Flavour::Acl, Flavour::Firewall, Flavour::Chain] {
        let (rules, packets) = (few(2_000, 20), few(20_000, 20));
        of_flavour::<u32, CELLS4>(flavour, rules, packets);
        of_flavour::<u128, CELLS6>(flavour, rules, packets);
    }
}

#[test]
#[cfg_attr(miri, ignore = "fifty thousand")]
fn fifty_thousand_rules_match_as_the_naive_list_and_stay_small() {
    for flavour in [Flavour::Acl, Flavour::Firewall, Flavour::Chain] {
        let shape = of_flavour::<u32, CELLS4>(flavour, 50_000, 3_000);
        assert!(shape.bytes < 40 << 20, "{flavour:?} {shape:?}");
    }
}

#[test]
fn a_list_of_no_rules_says_what_it_was_told_to() {
    for action in [Action::Permit, Action::Deny, Action::Reflect] {
        let list = Acl4::new::<u32>(&[], action, 0).unwrap();
        let mut verdicts = [Verdict::new(1, Action::Deny); 3];
        list.classify(&[Key::default(); 3], &mut verdicts);
        assert_eq!(verdicts, [Verdict::none(action); 3]);
    }
}

#[test]
fn rules_that_take_more_than_they_may_are_refused() {
    let rules = numbered(vec![Rule::<u32>::any(Action::Permit); 10]);
    let refused = Acl4::new(&rules, Action::Deny, 639).unwrap_err();
    assert_eq!(refused, AclError::Memory { rules: 10, bytes: 640, most: 639 });
    assert!(Acl4::new(&rules, Action::Deny, 640).is_ok());
    assert_eq!(Ports::new(2, 1), Err(AclError::Ports { first: 2, last: 1 }));
}

#[test]
fn a_rule_behind_one_that_takes_all_is_never_met_and_takes_no_room() {
    let mut rules = synthetic::rules::<u32>(Flavour::Acl, 100, 1);
    let all = [(1_000, Rule::any(Action::Permit))];
    let before = Acl4::new(&rules, Action::Deny, ROOM).unwrap().shape().copies;
    rules.extend((1_000..2_000).map(|number| (number, all[0].1)));
    assert_eq!(Acl4::new(&rules, Action::Deny, ROOM).unwrap().shape().copies, before);
}

#[test]
fn counters_tell_packets_and_bytes_of_each_rule_and_of_none() {
    let counters = RuleCounters::new(2);
    counters.add(Verdict::new(1, Action::Deny), 60);
    counters.add(Verdict::new(1, Action::Deny), 40);
    counters.add(Verdict::none(Action::Permit), 7);
    counters.add_unasked(50);
    assert_eq!(counters.read().collect::<Vec<_>>(), [(0, 0), (2, 100), (1, 7)]);
    assert_eq!(counters.unasked(), (1, 50));
}

#[test]
fn a_list_says_whether_a_rule_of_it_has_answers_come_back() {
    let reflects = |actions: &[Action]| {
        let rules = actions.iter().map(|action| Rule::<u32>::any(*action)).collect();
        Acl4::new(&numbered(rules), Action::Deny, ROOM).unwrap().reflects()
    };
    assert!(!reflects(&[]) && !reflects(&[Action::Permit, Action::Deny]));
    assert!(reflects(&[Action::Deny, Action::Reflect]));
}

#[test]
fn a_rule_that_several_cuts_leave_aside_is_left_once() {
    // Told apart by the source first, then by the destination: one that asks for two sources and
    // for any destination is wide in two places.
    let host = |low: u32| Prefix::new(low << 24, 8).unwrap();
    let pair = |(source, destination)| Rule::<u32> {
        source: host(source),
        destination: host(destination),
        ..Rule::any(Action::Permit)
    };
    let pairs = (0..64).flat_map(|source| (0..60).map(move |destination| (source, destination)));
    let wide = Rule { source: Prefix::new(2 << 24, 7).unwrap(), ..Rule::any(Action::Deny) };
    let records: Vec<Record<CELLS4>> = (0..)
        .zip(pairs.map(pair).chain([wide]))
        .map(|(number, rule)| Record::new(&rule, Verdict::new(number, rule.action)))
        .collect();
    let all = 0..records.len() as u32;
    let mut planter = Planter::new(&records, ROOM);
    let (_, aside) = planter.plant(all.clone().collect(), Wide::Aside);
    assert_eq!(aside, [all.end - 1]);
}
