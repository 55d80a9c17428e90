//! Access lists: made from their rules when those change, as a whole, and shared with the ports
//! that name them.

mod ways;

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part, Work};
use crate::parts::nat::seed;
use acl::{
    Acl, AclError, Action, Family, Icmp, More, Pieces, Ports, RuleCounters, TcpFlags, Verdict,
};
use conntrack::Table;
use control::config::Delta;
use control::config::objects::acl::{self as config, AclName};
use control::config::objects::port::{Port, PortName};
use control::config::objects::port_filters::Filters;
use control::engine::ApplyError;
use control::view;
use fib::{Address, Prefix};
use nodes::filter::{Access, AccessList, AclInput, AclOutput, Reflecting, WideList};
use nodes::ip::{Policy, PolicyWay};
use nodes::tables::Interface;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use ways::Leading;

/// What a list may take for each family: fifty thousand rules take a tenth.
const MOST_BYTES: usize = 256 << 20;

/// All lists.
#[derive(Default)]
pub(crate) struct AccessLists {
    lists: BTreeMap<AclName, Made>,
    /// Those taken away by a change that is not over: until a later step says otherwise, ports are
    /// held to them.
    leaving: BTreeMap<AclName, Made>,
    /// What was compiled for the change that is made next.
    prepared: Option<Compiled>,
    /// A table of connections that was made with it.
    table: Option<Arc<Table>>,
    /// Where rules of policies lead.
    leading: Leading,
}

/// A list as it is configured, and as workers ask it.
#[derive(Clone)]
struct Made {
    config: config::Acl,
    list: Arc<AccessList>,
    /// Of each rule: where it leads, if anywhere.
    ways: Arc<[Option<Arc<PolicyWay>>]>,
    /// What its rules, and then the default, decided in the lists before it.
    carried: Arc<Counts>,
    /// Answers that passed the lists before it unasked.
    carried_answers: (u64, u64),
}

/// Packets and bytes of each rule, and at last of what none fitted.
type Counts = Vec<(u64, u64)>;

/// A list that was made before it is named: compiling takes long.
struct Compiled {
    name: AclName,
    config: config::Acl,
    /// And which rule of its last version each rule was.
    made: Result<(AccessList, Was), AclError>,
}

/// Of each rule of a list, which one it was in the list before.
type Was = Vec<Option<usize>>;

impl Made {
    /// What was decided so far.
    fn counts(&self) -> Counts {
        let mut counts = Counts::clone(&self.carried);
        for worker in &self.list.counters {
            for (sum, (packets, bytes)) in counts.iter_mut().zip(worker.read()) {
                *sum = (sum.0 + packets, sum.1 + bytes);
            }
        }
        counts
    }

    /// Answers that passed unasked so far: packets and bytes.
    fn answers(&self) -> (u64, u64) {
        let workers = self.list.counters.iter().map(|worker| worker.unasked());
        workers.fold(self.carried_answers, |sum, it| (sum.0 + it.0, sum.1 + it.1))
    }

    /// What the rules of its next version, in their order, take over: what equal ones have decided.
    fn handed_to(&self, next: &config::Acl, was: &Was) -> Counts {
        let counts = self.counts();
        let of = |was: &Option<usize>| was.and_then(|was| counts.get(was).copied());
        let mut handed: Counts = was.iter().map(|was| of(was).unwrap_or_default()).collect();
        let others = counts.last().copied().unwrap_or_default();
        let same = next.default == self.config.default;
        handed.push(if same { others } else { (0, 0) });
        handed
    }
}

/// Which rule of the old list each of the new one was: those that are equal, in their order. Most
/// changes are of a rule or two: what both lists begin and end with is not looked up.
fn places(old: &[config::Rule], new: &[config::Rule]) -> Was {
    let alike = |pairs: &mut dyn Iterator<Item = (&config::Rule, &config::Rule)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let first = alike(&mut old.iter().zip(new));
    let (old_rest, new_rest) = (&old[first..], &new[first..]);
    let last = alike(&mut old_rest.iter().rev().zip(new_rest.iter().rev()));
    let (changed, ends) = (first..old.len() - last, old.len() - last..old.len());
    let mut known: HashMap<&config::Rule, VecDeque<usize>> = HashMap::new();
    for place in changed {
        known.entry(&old[place]).or_default().push_back(place);
    }
    let new = &new[first..new.len() - last];
    let middle = new.iter().map(|rule| known.get_mut(rule)?.pop_front());
    (0..first).map(Some).chain(middle).chain(ends.map(Some)).collect()
}

/// Makes a list, for so many workers, in the place of another.
fn compile(
    name: &AclName,
    config: &config::Acl,
    old: Option<&config::Acl>,
    workers: usize,
) -> Compiled {
    let none: &[config::Rule] = &[];
    let was = places(old.map_or(none, |old| &old.rules), &config.rules);
    let made = make(config, workers).map(|list| (list, was));
    Compiled { name: name.clone(), config: config.clone(), made }
}

impl AccessLists {
    /// Makes, replaces or removes a list, for so many workers.
    fn set(
        &mut self,
        name: &AclName,
        config: Option<&config::Acl>,
        workers: usize,
    ) -> Result<(), AclError> {
        let prepared = self.prepared.take();
        let Some(config) = config else {
            self.leaving.extend(self.lists.remove_entry(name));
            return Ok(());
        };
        let old = self.lists.get(name);
        let compiled = prepared
            .filter(|it| it.name == *name && it.config == *config)
            .unwrap_or_else(|| compile(name, config, old.map(|old| &old.config), workers));
        let (list, was) = compiled.made?;
        let list = Arc::new(list);
        let none = || vec![(0, 0); config.rules.len() + 1];
        let carried = Arc::new(old.map_or_else(none, |old| old.handed_to(config, &was)));
        let carried_answers = old.map_or((0, 0), Made::answers);
        let (ways, config) = (ways::ways_of(config), config.clone());
        self.lists.insert(name.clone(), Made { config, list, ways, carried, carried_answers });
        Ok(())
    }

    /// The same for a port whose packets are routed by it.
    fn policy_of(&self, name: Option<&AclName>) -> Option<Policy> {
        let name = name?;
        let made = self.lists.get(name).or_else(|| self.leaving.get(name))?;
        Some(Policy { list: Arc::clone(&made.list), ways: Arc::clone(&made.ways) })
    }

    /// What a list is called.
    pub(crate) fn named(&self, access: &Access) -> Option<String> {
        Some(self.made_as(access)?.0.to_string())
    }

    /// The list's name, and the rule that a verdict is of, with its number as `show acl` has it.
    pub(crate) fn rule(&self, access: &Access, verdict: Verdict) -> Option<(String, String)> {
        let (name, made) = self.made_as(access)?;
        let rule = match verdict.number() {
            Some(number) => {
                let rule = made.config.rules.get(number as usize)?;
                format!("number {number}, {rule}")
            }
            None if verdict.is_permitted() => "none fits: permitted by default".to_owned(),
            None => "none fits: denied by default".to_owned(),
        };
        Some((name.to_string(), rule))
    }

    fn made_as(&self, access: &Access) -> Option<(&AclName, &Made)> {
        self.lists.iter().find(|(_, made)| Arc::ptr_eq(&made.list, access.list()))
    }

    /// The list of a name, for a port that names it and keeps these connections.
    fn of(&self, name: Option<&AclName>, reflecting: Option<&Arc<Reflecting>>) -> Option<Access> {
        let name = name?;
        let made = self.lists.get(name).or_else(|| self.leaving.get(name))?;
        Some(Access::tracked(Arc::clone(&made.list), reflecting.cloned()))
    }

    /// Has ports keep connections whose lists say so, and no others.
    fn reflect(&mut self, core: &mut Core) {
        core.reflected.ahead = self.table.take().or(core.reflected.ahead.take());
        let reflects = |name: &Option<AclName>| {
            let made = self.lists.get(name.as_ref()?)?;
            made.list.reflects().then(|| name.clone()).flatten()
        };
        let ports = core.ports.iter().filter_map(|(name, port)| {
            let filters = &port.config.filters;
            let lists = [reflects(&filters.acl_in), reflects(&filters.acl_out)];
            lists.iter().any(Option::is_some).then(|| (name.clone(), lists))
        });
        core.reflected.follow(ports.collect());
        core.reflected.is_wanted = self.lists.values().any(|made| made.list.reflects());
    }
}

impl Part for AccessLists {
    fn row(&self, core: &Core, name: &PortName, port: &OpenPort, row: &mut Interface) {
        let filters = &port.config.filters;
        let reflecting = core.reflected.of(name);
        row.set::<AclInput>(self.of(filters.acl_in.as_ref(), reflecting.as_ref()));
        row.set::<AclOutput>(self.of(filters.acl_out.as_ref(), reflecting.as_ref()));
        row.put(self.policy_of(filters.policy.as_ref()));
    }

    /// A port that goes, or is to be another one, has other neighbours.
    fn leave(&mut self, core: &mut Core, port: &PortName, _: Option<&Port>) {
        self.leading.leave(core, port);
    }

    /// Translations, which have the table of connections, are settled behind.
    fn settle(&mut self, core: &mut Core) {
        self.lead(core);
        self.reflect(core);
    }

    fn link_down(&mut self, core: &mut Core, _: &PortName) {
        self.lead(core);
    }

    fn link_up(&mut self, core: &mut Core, _: &PortName) {
        self.lead(core);
    }

    /// The change is over: once rows are written, no port names what it took away.
    fn published(&mut self, _: &mut Core) {
        self.leaving.clear();
    }
}

impl Makes<Delta<AclName, config::Acl>> for AccessLists {
    fn prepare<'a>(
        &self,
        core: &Core,
        change: &'a Delta<AclName, config::Acl>,
    ) -> Option<Work<'a, Self>> {
        let (name, config) = change.outcome();
        let (config, workers) = (config?, core.workers());
        let old = self.lists.get(name).map(|made| made.config.clone());
        let lacks_table = config.reflects() && self.table.is_none() && core.reflected.lacks_table();
        let (room, seed) = (core.reflected.room, seed(core));
        Some(Box::new(move || {
            let compiled = compile(name, config, old.as_ref(), workers);
            let table = lacks_table.then(|| Arc::new(Table::new(room, seed)));
            Box::new(|lists: &mut Self| {
                lists.prepared = Some(compiled);
                lists.table = table.or(lists.table.take());
            })
        }))
    }

    fn make(
        &mut self,
        core: &mut Core,
        change: &Delta<AclName, config::Acl>,
    ) -> Result<(), ApplyError> {
        let (name, config) = change.outcome();
        core.touch_rows();
        self.set(name, config, core.workers())
            .map_err(|error| fault(&format!("acl.{name}"), error.to_string()))
    }
}

impl AccessLists {
    /// Has the rules of policies in use lead where they shall.
    fn lead(&mut self, core: &mut Core) {
        let named = core.ports.values().filter_map(|port| port.config.filters.policy.as_ref());
        let used: BTreeSet<AclName> = named.cloned().collect();
        core.dataplane.has_policies.store(!used.is_empty(), Ordering::Relaxed);
        let lists = used.iter().filter_map(|name| self.lists.get(name));
        let rules = lists.flat_map(|made| made.config.rules.iter().zip(made.ways.iter()));
        let ways = rules.filter_map(|(rule, way)| Some((rule, way.as_deref()?)));
        self.leading.lead(core, &ways.collect::<Vec<_>>());
    }

    /// Each list with its thousands of rules, to be written elsewhere.
    pub(crate) fn show(&self, core: &Core) -> impl FnOnce() -> Vec<view::Acl> + Send + 'static {
        let list = |(name, made): (&AclName, &Made)| {
            let named = |of: fn(&Filters) -> Option<&AclName>| -> Vec<String> {
                let named = core.ports.iter();
                let named = named.filter(|(_, port)| of(&port.config.filters) == Some(name));
                named.map(|(port, _)| port.to_string()).collect()
            };
            let ports_in = named(|filters| filters.acl_in.as_ref());
            let ports_out = named(|filters| filters.acl_out.as_ref());
            let policies = named(|filters| filters.policy.as_ref());
            (name.clone(), made.clone(), [ports_in, ports_out, policies])
        };
        let lists: Vec<_> = self.lists.iter().map(list).collect();
        || lists.into_iter().map(|(name, made, ports)| show(&name, &made, ports)).collect()
    }
}

fn show(
    name: &AclName,
    made: &Made,
    [ports_in, ports_out, ports_policy]: [Vec<String>; 3],
) -> view::Acl {
    let rules = &made.config.rules;
    let mut counts = made.counts();
    let others = counts.pop().unwrap_or_default();
    let answers = made.answers();
    let rule = |(rule, (packets, bytes)): (&config::Rule, (u64, u64))| view::AclRule {
        rule: rule.to_string(),
        packets,
        bytes,
    };
    view::Acl {
        name: name.to_string(),
        ports_in,
        ports_out,
        ports_policy,
        default: made.config.default.word().to_owned(),
        rules: rules.iter().zip(counts).map(rule).collect(),
        other_packets: others.0,
        other_bytes: others.1,
        answer_packets: answers.0,
        answer_bytes: answers.1,
        memory_bytes: made.list.bytes(),
    }
}

fn make(config: &config::Acl, workers: usize) -> Result<AccessList, AclError> {
    let default = action(config.default);
    let (ip4, ip6) = (of_family::<u32>(config)?, of_family::<u128>(config)?);
    // One that asks for what few do has keys of its own; all others cost what they did without.
    let is_wide = config.rules.iter().any(|rule| more(rule).is_asked());
    let (narrow4, narrow6) = if is_wide { (&[][..], &[][..]) } else { (&ip4[..], &ip6[..]) };
    let wide =
        || Ok::<_, AclError>(WideList { ip4: list(&ip4, default)?, ip6: list(&ip6, default)? });
    Ok(AccessList {
        ip4: list(narrow4, default)?,
        ip6: list(narrow6, default)?,
        wide: is_wide.then(wide).transpose()?.map(Box::new),
        counters: (0..workers).map(|_| RuleCounters::new(config.rules.len())).collect(),
    })
}

fn list<A: Family<N>, const N: usize>(
    rules: &[(u32, acl::Rule<A>)],
    default: Action,
) -> Result<Acl<N>, AclError> {
    Acl::new(rules, default, MOST_BYTES)
}

/// What few rules ask for.
fn more(rule: &config::Rule) -> More {
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
        let (Some(source), Some(destination)) = (prefix(rule.source), prefix(rule.destination))
        else {
            continue;
        };
        // A next hop takes packets of its own family alone.
        if rule.via.is_some_and(|via| A::from_ip(via).is_none()) {
            continue;
        }
        let ports = |range: Option<config::PortRange>| {
            range.map(|range| Ports::new(range.0.first, range.0.last)).transpose()
        };
        let made = acl::Rule {
            source,
            destination,
            protocol: rule.protocol.map(|protocol| protocol.0),
            source_ports: ports(rule.source_port)?,
            destination_ports: ports(rule.destination_port)?,
            icmp: rule.icmp_type.map(|kind| Icmp { kind, code: rule.icmp_code }),
            tcp_flags: rule.tcp_flags.map(|flags| TcpFlags { value: flags.set, mask: flags.of }),
            vlan: rule.vlan,
            source_mac: rule.source_mac.map(|mac| mac.0),
            more: more(rule),
            action: action(rule.action),
        };
        rules.push((number, made));
    }
    Ok(rules)
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
    fn a_port_is_held_to_a_list_that_goes_until_the_change_is_over() {
        let name: AclName = control::config::field::Field::from_text("edge").unwrap();
        let config = config::Acl { default: config::Action::Deny, rules: Arc::default() };
        let mut lists = AccessLists::default();
        lists.set(&name, Some(&config), 1).unwrap();
        let held = lists.of(Some(&name), None);
        lists.set(&name, None, 1).unwrap();
        assert!(held.is_some() && lists.of(Some(&name), None) == held);
        lists.leaving.clear();
        assert_eq!(lists.of(Some(&name), None), None);
    }

    #[test]
    fn each_rule_of_a_new_version_is_known_by_its_place_in_the_old_one() {
        let rule = |number: u16| config::Rule {
            vlan: Some(number),
            ..config::Rule::new(config::Action::Deny)
        };
        let list = |numbers: &[u16]| numbers.iter().map(|it| rule(*it)).collect::<Vec<_>>();
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
            assert_eq!(places(&list(old), &list(new)), was, "{old:?} to {new:?}");
        }
    }

    #[test]
    fn equal_rules_of_a_new_version_go_on_counting() {
        let name: AclName = control::config::field::Field::from_text("edge").unwrap();
        let (permit, deny) = (config::Action::Permit, config::Action::Deny);
        let udp = |action| {
            let protocol = Some(config::Protocol(17));
            config::Rule { protocol, ..config::Rule::new(action) }
        };
        let acl =
            |rules: Vec<config::Rule>, default| config::Acl { default, rules: Arc::new(rules) };
        let (any, other) = (config::Rule::new(permit), udp(permit));
        let mut lists = AccessLists::default();
        lists.set(&name, Some(&acl(vec![any.clone(), udp(deny), any.clone()], deny)), 2).unwrap();
        let count = |lists: &AccessLists, number, action, bytes| {
            lists.lists[&name].list.counters[1].add(Verdict::new(number, action), bytes);
        };
        (0..3).for_each(|number| count(&lists, number, Action::Permit, 10 + number));
        lists.lists[&name].list.counters[0].add(Verdict::none(Action::Deny), 99);
        let counts = |lists: &AccessLists| lists.lists[&name].counts();
        assert_eq!(counts(&lists), [(1, 10), (1, 11), (1, 12), (1, 99)]);
        lists.set(&name, Some(&acl(vec![other, any.clone(), udp(deny)], deny)), 2).unwrap();
        assert_eq!(counts(&lists), [(0, 0), (1, 10), (1, 11), (1, 99)]);
        count(&lists, 1, Action::Permit, 5);
        lists.set(&name, Some(&acl(vec![any], permit)), 2).unwrap();
        assert_eq!(counts(&lists), [(2, 15), (0, 0)]);
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
        let config = config::Acl { default: permit, rules: Arc::new(rules) };
        let list = make(&config, 2).unwrap();
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
}
