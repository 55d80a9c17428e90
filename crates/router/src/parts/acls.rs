//! Access lists: made from their rules, amended when a few of these change, and shared with the
//! ports that name them.

mod made;
mod ways;

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part, Work};
use crate::parts::nat::seed;
use acl::{AclError, Places, Verdict};
use conntrack::Table;
use control::config::Delta;
use control::config::objects::acl::{self as config, AclName};
use control::config::objects::port::{Port, PortName};
use control::config::objects::port_filters::Filters;
use control::engine::ApplyError;
use control::view;
use made::{New, Was, anew};
use nodes::filter::{Access, AccessList, AclInput, AclOutput, Reflecting};
use nodes::ip::{Policy, PolicyWay};
use nodes::tables::Interface;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use ways::Leading;

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
    /// Of each rule, its number there.
    places: Arc<Places>,
    /// Where each rule leads, by its number; of none where no rule leads anywhere.
    ways: Arc<[Option<Arc<PolicyWay>>]>,
    /// What was decided in the lists before it.
    carried: Arc<Carried>,
}

/// What the lists before one decided, in packets and bytes.
#[derive(Default)]
struct Carried {
    /// Of each rule, by its number.
    rules: Counts,
    /// Of what no rule fitted.
    others: (u64, u64),
    /// Of answers that passed unasked.
    answers: (u64, u64),
}

/// Packets and bytes of each rule, and at last of what none fitted.
type Counts = Vec<(u64, u64)>;

/// A list that was made before it is named: compiling takes long.
struct Compiled {
    name: AclName,
    config: config::Acl,
    /// The list that it is to replace.
    of: Option<Arc<AccessList>>,
    made: Result<New, AclError>,
}

impl Made {
    /// What was decided so far: of each rule, in their order, and of what none fitted.
    fn counts(&self) -> Counts {
        let sum = |carried: (u64, u64), number: usize| {
            let workers = self.list.counters.iter().map(|worker| worker.of(number));
            workers.fold(carried, |sum, it| (sum.0 + it.0, sum.1 + it.1))
        };
        let carried = |number| self.carried.rules.get(number).copied().unwrap_or_default();
        let mut counts: Counts =
            self.places.numbers().map(|number| sum(carried(number), number)).collect();
        counts.push(sum(self.carried.others, usize::MAX));
        counts
    }

    /// Answers that passed unasked so far: packets and bytes.
    fn answers(&self) -> (u64, u64) {
        let workers = self.list.counters.iter().map(|worker| worker.unasked());
        workers.fold(self.carried.answers, |sum, it| (sum.0 + it.0, sum.1 + it.1))
    }

    /// What the rules of its next version, made anew, take over: what equal ones have decided.
    fn handed_to(&self, next: &config::Acl, was: &Was) -> Carried {
        let mut counts = self.counts();
        let others = counts.pop().unwrap_or_default();
        let of = |was: &Option<usize>| was.and_then(|was| counts.get(was).copied());
        let rules = was.iter().map(|was| of(was).unwrap_or_default()).collect();
        let same = next.default == self.config.default;
        Carried { rules, others: if same { others } else { (0, 0) }, answers: self.answers() }
    }
}

/// Makes a list, for so many workers, in the place of another: of that, if few rules change.
fn compile(name: &AclName, config: &config::Acl, old: Option<&Made>, workers: usize) -> Compiled {
    let amended = old.and_then(|old| made::amended(&old.config, &old.list, &old.places, config));
    let made = match amended {
        Some(amended) => Ok(amended),
        None => anew(config, old.map(|old| &old.config), workers),
    };
    let of = old.map(|old| Arc::clone(&old.list));
    Compiled { name: name.clone(), config: config.clone(), of, made }
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
        let is_of = |of: &Option<Arc<AccessList>>| match (of, old) {
            (Some(of), Some(old)) => Arc::ptr_eq(of, &old.list),
            (of, old) => of.is_none() && old.is_none(),
        };
        let compiled = prepared
            .filter(|it| it.name == *name && it.config == *config && is_of(&it.of))
            .unwrap_or_else(|| compile(name, config, old, workers));
        let New { list, places, was } = compiled.made?;
        let carried = match (old, &was) {
            // It goes on counting where that did.
            (Some(old), None) => Arc::clone(&old.carried),
            (Some(old), Some(was)) => Arc::new(old.handed_to(config, was)),
            (None, _) => Arc::default(),
        };
        let (list, places) = (Arc::new(list), Arc::new(places));
        let (ways, config) = (ways::ways_of(config), config.clone());
        self.lists.insert(name.clone(), Made { config, list, places, ways, carried });
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
                let place = made.places.of(number)?;
                format!("number {place}, {}", made.config.rules.get(place)?)
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
        let old = self.lists.get(name).cloned();
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

#[cfg(test)]
mod tests {
    use super::*;
    use acl::Action;

    #[test]
    fn a_port_is_held_to_a_list_that_goes_until_the_change_is_over() {
        let name: AclName = control::config::field::Field::from_text("edge").unwrap();
        let config = config::Acl { default: config::Action::Deny, rules: config::Rules::default() };
        let mut lists = AccessLists::default();
        lists.set(&name, Some(&config), 1).unwrap();
        let held = lists.of(Some(&name), None);
        lists.set(&name, None, 1).unwrap();
        assert!(held.is_some() && lists.of(Some(&name), None) == held);
        lists.leaving.clear();
        assert_eq!(lists.of(Some(&name), None), None);
    }

    #[test]
    fn equal_rules_of_a_new_version_go_on_counting() {
        let name: AclName = control::config::field::Field::from_text("edge").unwrap();
        let (permit, deny) = (config::Action::Permit, config::Action::Deny);
        let udp = |action| {
            let protocol = Some(config::Protocol(17));
            config::Rule { protocol, ..config::Rule::new(action) }
        };
        let acl = |rules: Vec<config::Rule>, default| config::Acl { default, rules: rules.into() };
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
}
