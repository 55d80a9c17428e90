//! Lists made of what is configured: anew, or of the list before when a few rules change.
//!
//! ```text
//!  rules before, rules now ─▶ what both begin and end with is left alone
//!                             between: few ─▶ edits ─▶ the list before, amended
//!                                      many, or no room there ─▶ all rules ─▶ a list anew
//! ```

use acl::{
    Acl, AclError, Action, Edit, Family, Icmp, More, Pieces, Places, Ports, RuleCounters, TcpFlags,
};
use control::config::objects::acl as config;
use fib::{Address, Prefix};
use nodes::filter::{AccessList, WideList};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// What a list may take for each family: fifty thousand rules take a tenth.
const MOST_BYTES: usize = 256 << 20;
/// Rules that change, at most, where a list is amended.
const EDITS: usize = 64;
/// A list of fewer rules is made anew in no time: it has no room for versions.
const SMALL: usize = 256;

/// Of each rule of a list, which one it was in the list before.
pub(super) type Was = Vec<Option<usize>>;

/// A list, and of each rule its number there.
pub(super) struct New {
    pub(super) list: AccessList,
    pub(super) places: Places,
    /// None if it is the one before, amended: what is the same has the same number.
    pub(super) was: Option<Was>,
}

/// Makes a list of all rules, for so many workers.
pub(super) fn anew(
    config: &config::Acl,
    old: Option<&config::Acl>,
    workers: usize,
) -> Result<New, AclError> {
    let none = config::Rules::default();
    let was = known(old.map_or(&none, |old| &old.rules), &config.rules);
    let more = if config.rules.len() < SMALL { 0 } else { config.rules.len() / 8 + SMALL };
    let places = Places::new(config.rules.iter().map(|rule| action(rule.action)), more);
    let default = action(config.default);
    let (ip4, ip6) = (of_family::<u32>(config)?, of_family::<u128>(config)?);
    // One that asks for what few do has keys of its own; all others cost what they did without.
    let is_wide = config.rules.iter().any(|rule| asked_more(rule).is_asked());
    let (narrow4, narrow6) = if is_wide { (&[][..], &[][..]) } else { (&ip4[..], &ip6[..]) };
    let lasts = more > 0;
    let wide = || {
        let (ip4, ip6) = (list(&ip4, default, lasts)?, list(&ip6, default, lasts)?);
        Ok::<_, AclError>(WideList { ip4, ip6 })
    };
    let list = AccessList {
        ip4: list(narrow4, default, lasts && !is_wide)?,
        ip6: list(narrow6, default, lasts && !is_wide)?,
        wide: is_wide.then(wide).transpose()?.map(Box::new),
        counters: (0..workers).map(|_| RuleCounters::new(places.end())).collect(),
    };
    Ok(New { list, places, was: Some(was) })
}

/// Makes a list of the one before, if few rules change.
pub(super) fn amended(
    old: &config::Acl,
    list: &AccessList,
    places: &Places,
    config: &config::Acl,
) -> Option<New> {
    // Where rules lead is noted by their numbers in a list that was made anew.
    let leads = old.rules.routes() || config.rules.routes();
    if old.default != config.default || leads || places.len() < SMALL {
        return None;
    }
    let (first, last) = old.rules.alike(&config.rules);
    let (others, own) = (first..old.rules.len() - last, first..config.rules.len() - last);
    if others.len().max(own.len()) > EDITS {
        return None;
    }
    let was = known_between(&old.rules, others.clone(), &config.rules, own.clone());
    let number = |was: Option<usize>| places.at(was?)?.number();
    let rules = config.rules.range(own.clone()).zip(was);
    let rules: Vec<_> = rules.map(|(rule, was)| (action(rule.action), number(was))).collect();
    let new_places = places.with(others.clone(), &rules)?;
    let change = Change { old, places, others, config, new_places: &new_places, own };
    let mut new = AccessList {
        ip4: list.ip4.clone(),
        ip6: list.ip6.clone(),
        wide: None,
        counters: Arc::clone(&list.counters),
    };
    if let Some(wide) = &list.wide {
        let ip4 = wide.ip4.amended(&change.edits::<u32>()?)?;
        let ip6 = wide.ip6.amended(&change.edits::<u128>()?)?;
        new.wide = Some(Box::new(WideList { ip4, ip6 }));
    } else if config.rules.range(change.own.clone()).any(|rule| asked_more(rule).is_asked()) {
        return None;
    } else {
        new.ip4 = list.ip4.amended(&change.edits::<u32>()?)?;
        new.ip6 = list.ip6.amended(&change.edits::<u128>()?)?;
    }
    Some(New { list: new, places: new_places, was: None })
}

/// Rules in the place of others.
struct Change<'c> {
    old: &'c config::Acl,
    places: &'c Places,
    others: Range<usize>,
    config: &'c config::Acl,
    new_places: &'c Places,
    own: Range<usize>,
}

impl Change<'_> {
    /// What comes and goes in the list of a family; none if a rule cannot be made.
    fn edits<A: Address>(&self) -> Option<Vec<Edit<A>>> {
        let (mut took, mut put) = (Vec::new(), Vec::new());
        for (place, rule) in self.others.clone().zip(self.old.rules.range(self.others.clone())) {
            let verdict = self.places.at(place)?;
            took.push(rule_of(rule).ok()?.map(|rule| Edit::Take(rule, verdict)));
        }
        for (place, rule) in self.own.clone().zip(self.config.rules.range(self.own.clone())) {
            let verdict = self.new_places.at(place)?;
            put.push(rule_of(rule).ok()?.map(|rule| Edit::Put(rule, verdict)));
        }
        // What stands where another did may be the same but for what it says.
        let edits: Vec<Option<Edit<A>>> = match took.len() == put.len() {
            true => took.into_iter().zip(put).flat_map(|(took, put)| [took, put]).collect(),
            false => took.into_iter().chain(put).collect(),
        };
        Some(edits.into_iter().flatten().collect())
    }
}

/// Which rule of the old list each of the new one was: those that are equal, in their order. Most
/// changes are of a rule or two: what both lists begin and end with is not looked up.
fn known(old: &config::Rules, new: &config::Rules) -> Was {
    let (first, last) = old.alike(new);
    let (others, own) = (first..old.len() - last, first..new.len() - last);
    let ends = others.end..old.len();
    let middle = known_between(old, others, new, own);
    (0..first).map(Some).chain(middle).chain(ends.map(Some)).collect()
}

fn known_between(
    old: &config::Rules,
    others: Range<usize>,
    new: &config::Rules,
    own: Range<usize>,
) -> Was {
    let mut known: HashMap<&config::Rule, VecDeque<usize>> = HashMap::new();
    for (place, rule) in others.clone().zip(old.range(others)) {
        known.entry(rule).or_default().push_back(place);
    }
    new.range(own).map(|rule| known.get_mut(rule)?.pop_front()).collect()
}

fn list<A: Family<N>, const N: usize>(
    rules: &[(u32, acl::Rule<A>)],
    default: Action,
    lasts: bool,
) -> Result<Acl<N>, AclError> {
    match lasts {
        true => Acl::lasting(rules, default, MOST_BYTES),
        false => Acl::new(rules, default, MOST_BYTES),
    }
}

/// What few rules ask for.
fn asked_more(rule: &config::Rule) -> More {
    let pieces = |fragment| match fragment {
        config::Fragment::None => Pieces::None,
        config::Fragment::Any => Pieces::Any,
        config::Fragment::First => Pieces::First,
        config::Fragment::Later => Pieces::Later,
    };
    More {
        ttl: rule.ttl,
        dscp: rule.dscp.map(|dscp| dscp.0),
        pieces: rule.fragment.map(pieces),
        inner_vlan: rule.inner_vlan,
        destination_mac: rule.destination_mac.map(|mac| mac.0),
    }
}

/// The rules that packets of a family may fit, with their places in the list.
fn of_family<A: Address>(config: &config::Acl) -> Result<Vec<(u32, acl::Rule<A>)>, AclError> {
    let mut rules = Vec::with_capacity(config.rules.len());
    for (number, rule) in (0..).zip(config.rules.iter()) {
        rules.extend(rule_of(rule)?.map(|rule| (number, rule)));
    }
    Ok(rules)
}

/// The rule as lists have it; none if no packet of the family fits.
fn rule_of<A: Address>(rule: &config::Rule) -> Result<Option<acl::Rule<A>>, AclError> {
    let (Some(source), Some(destination)) = (prefix(rule.source), prefix(rule.destination)) else {
        return Ok(None);
    };
    // A next hop takes packets of its own family alone.
    if rule.via.is_some_and(|via| A::from_ip(via).is_none()) {
        return Ok(None);
    }
    let ports = |range: Option<config::PortRange>| {
        range.map(|range| Ports::new(range.0.first, range.0.last)).transpose()
    };
    Ok(Some(acl::Rule {
        source,
        destination,
        protocol: rule.protocol.map(|protocol| protocol.0),
        source_ports: ports(rule.source_port)?,
        destination_ports: ports(rule.destination_port)?,
        icmp: rule.icmp_type.map(|kind| Icmp { kind, code: rule.icmp_code }),
        tcp_flags: rule.tcp_flags.map(|flags| TcpFlags { value: flags.set, mask: flags.of }),
        vlan: rule.vlan,
        source_mac: rule.source_mac.map(|mac| mac.0),
        more: asked_more(rule),
        action: action(rule.action),
    }))
}

/// What is not said fits all; what is of the other family, none.
fn prefix<A: Address>(configured: Option<control::config::Prefix>) -> Option<Prefix<A>> {
    match configured {
        None => Some(Prefix::all()),
        Some(prefix) => Prefix::new(A::from_ip(prefix.address())?, prefix.length()).ok(),
    }
}

fn action(configured: config::Action) -> Action {
    match configured {
        config::Action::Permit | config::Action::Route => Action::Permit,
        config::Action::Deny => Action::Deny,
        config::Action::Reflect => Action::Reflect,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acl::{Fields, Key, Transport, Verdict};

    #[test]
    fn each_rule_of_a_new_version_is_known_by_its_place_in_the_old_one() {
        let rule = |number: u16| config::Rule {
            vlan: Some(number),
            ..config::Rule::new(config::Action::Deny)
        };
        let list = |numbers: &[u16]| numbers.iter().map(|it| rule(*it)).collect::<config::Rules>();
        for (old, new, was) in [
            (&[][..], &[][..], &[][..]),
            (&[], &[1], &[None]),
            (&[1, 2, 3], &[1, 2, 3], &[Some(0), Some(1), Some(2)]),
            (&[1, 2, 3], &[1, 9, 2, 3], &[Some(0), None, Some(1), Some(2)]),
            (&[1, 2, 3], &[1, 3], &[Some(0), Some(2)]),
            (&[1, 2, 3, 4], &[1, 3, 2, 4], &[Some(0), Some(2), Some(1), Some(3)]),
            (&[1, 1], &[1], &[Some(0)]),
            (&[1], &[1, 1, 1], &[Some(0), None, None]),
            (&[1, 2, 1, 5], &[3, 1, 1, 2, 5], &[None, Some(0), Some(2), Some(1), Some(3)]),
        ] {
            assert_eq!(known(&list(old), &list(new)), was, "{old:?} to {new:?}");
        }
    }

    #[test]
    fn rules_keep_their_places_in_the_lists_of_both_families() {
        let rule = |prefix: Option<&str>, action| {
            let source = prefix.map(|text| control::config::field::Field::from_text(text).unwrap());
            config::Rule { source, ..config::Rule::new(action) }
        };
        let (permit, deny) = (config::Action::Permit, config::Action::Deny);
        let rules = vec![
            rule(Some("2001:db8::/32"), permit),
            rule(Some("10.0.0.0/8"), permit),
            rule(None, deny),
        ];
        let config = config::Acl { default: permit, rules: rules.into() };
        let list = anew(&config, None, 2).unwrap().list;
        let mut verdicts = [Verdict::none(Action::Permit); 2];
        list.ip4.classify(&[0x0a00_0001, 7].map(|from| Key::new(&from_one(from))), &mut verdicts);
        assert_eq!(verdicts.map(Verdict::number), [Some(1), Some(2)]);
        let six = from_one(0x2001_0db8_u128 << 96);
        list.ip6.classify(&[Key::new(&six)], &mut verdicts[..1]);
        assert_eq!(verdicts[0].number(), Some(0));
        assert_eq!(list.counters.len(), 2);
    }

    /// A packet of UDP from an address to the same.
    fn from_one<A: Copy>(address: A) -> Fields<A> {
        Fields {
            source: address,
            destination: address,
            protocol: 17,
            transport: Transport::Unknown,
            tcp_flags: None,
            vlan: 0,
            source_mac: [2; 6],
        }
    }

    /// A list of many rules, each for a net of its own.
    fn many() -> config::Acl {
        let rule = |number: u32| config::Rule {
            source: control::config::field::Field::from_text(&format!(
                "10.{}.{}.0/24",
                number / 250,
                number % 250
            ))
            .ok(),
            ..config::Rule::new(config::Action::Permit)
        };
        config::Acl { default: config::Action::Deny, rules: (0..1_000).map(rule).collect() }
    }

    fn with(config: &config::Acl, edit: impl FnOnce(&mut Vec<config::Rule>)) -> config::Acl {
        let mut rules: Vec<_> = config.rules.iter().cloned().collect();
        edit(&mut rules);
        config::Acl { default: config.default, rules: rules.into() }
    }

    /// The place of the rule that a list has for a packet from there.
    fn place(new: &New, source: u32) -> Option<usize> {
        let mut verdicts = [Verdict::none(Action::Permit)];
        new.list.ip4.classify(&[Key::new(&from_one(source))], &mut verdicts);
        new.places.of(verdicts[0].number()?)
    }

    #[test]
    fn a_list_is_amended_when_few_rules_change_and_goes_on_counting_by_their_numbers() {
        let before = many();
        let old = anew(&before, None, 1).unwrap();
        let deny = config::Rule::new(config::Action::Deny);
        let after = with(&before, |rules| rules.insert(500, deny));
        let new = amended(&before, &old.list, &old.places, &after).unwrap();
        assert!(Arc::ptr_eq(&old.list.counters, &new.list.counters));
        assert!(new.was.is_none());
        // Source 10.2.1.1 was of rule 501, 10.1.1.1 of rule 251.
        assert_eq!((place(&old, 0x0a02_0101), place(&new, 0x0a02_0101)), (Some(501), Some(500)));
        assert_eq!((place(&old, 0x0a01_0101), place(&new, 0x0a01_0101)), (Some(251), Some(251)));
        let last = with(&after, |rules| drop(rules.remove(500)));
        let last = amended(&after, &new.list, &new.places, &last).unwrap();
        assert_eq!(place(&last, 0x0a02_0101), Some(501));
        assert_eq!(last.places.at(501), old.places.at(501));
        // What is of the other family has its place, too.
        let mut verdicts = [Verdict::none(Action::Permit)];
        new.list.ip6.classify(&[Key::new(&from_one(7_u128))], &mut verdicts);
        assert_eq!(verdicts[0].number().and_then(|it| new.places.of(it)), Some(500));
    }

    #[test]
    fn a_list_is_made_anew_when_much_changes_or_what_its_whole_says() {
        let before = many();
        let old = anew(&before, None, 1).unwrap();
        let is_amended =
            |after: &config::Acl| amended(&before, &old.list, &old.places, after).is_some();
        let permit = config::Acl { default: config::Action::Permit, ..before.clone() };
        assert!(!is_amended(&permit));
        assert!(!is_amended(&with(&before, |rules| drop(rules.drain(..100)))));
        let asks = config::Rule { ttl: Some(1), ..config::Rule::new(config::Action::Deny) };
        assert!(!is_amended(&with(&before, |rules| rules.push(asks.clone()))));
        let route = config::Rule::new(config::Action::Route);
        assert!(!is_amended(&with(&before, |rules| rules[3] = route)));
        let wide = with(&before, |rules| rules.push(asks));
        let of_wide = anew(&wide, None, 1).unwrap();
        let more = with(&wide, |rules| rules.truncate(999));
        let more = amended(&wide, &of_wide.list, &of_wide.places, &more).unwrap();
        assert_eq!(more.list.wide.map(|wide| wide.ip4.shape().rules), Some(999));
        let few = with(&before, |rules| rules.truncate(100));
        let few_made = anew(&few, None, 1).unwrap();
        assert!(amended(&few, &few_made.list, &few_made.places, &few).is_none());
    }
}
