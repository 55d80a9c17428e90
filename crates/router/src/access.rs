//! Access lists: made from their rules when those change, as a whole, and shared with the ports that name them.

use crate::router::Router;
use acl::{Acl4, Acl6, AclError, Action, Icmp, Ports, RuleCounters, TcpFlags};
use control::config::objects::acl::{self as config, AclName};
use control::config::objects::port::Port;
use control::view;
use fib::{Address, Prefix};
use nodes::plumbing::{Access, AccessList};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a list may take for each family: fifty thousand rules take a tenth.
const MOST_BYTES: usize = 256 << 20;

/// All lists.
#[derive(Default)]
pub(crate) struct AccessLists {
    lists: BTreeMap<AclName, Made>,
    /// Those taken away by a change that is not over: until a later step says otherwise, ports are held to them.
    leaving: BTreeMap<AclName, Made>,
}

/// A list as it is configured, and as workers ask it.
struct Made {
    config: config::Acl,
    list: Arc<AccessList>,
}

impl AccessLists {
    /// Makes, replaces or removes a list, for so many workers.
    pub(crate) fn set(
        &mut self,
        name: &AclName,
        config: Option<&config::Acl>,
        workers: usize,
    ) -> Result<(), AclError> {
        let Some(config) = config else {
            self.leaving.extend(self.lists.remove_entry(name));
            return Ok(());
        };
        let list = Arc::new(make(config, workers)?);
        self.lists.insert(name.clone(), Made { config: config.clone(), list });
        Ok(())
    }

    /// What a port's packets are held to.
    pub(crate) fn of(&self, port: &Port) -> Option<Access> {
        let name = port.acl_in.as_ref()?;
        let made = self.lists.get(name).or_else(|| self.leaving.get(name))?;
        Some(Access(Arc::clone(&made.list)))
    }

    /// The change is over: no port names what it took away.
    pub(crate) fn settle(&mut self) {
        self.leaving.clear();
    }
}

impl Router {
    pub(crate) fn show_acls(&self) -> Vec<view::Acl> {
        self.access.lists.iter().map(|(name, made)| self.show_acl(name, made)).collect()
    }

    fn show_acl(&self, name: &AclName, made: &Made) -> view::Acl {
        let rules = &made.config.rules;
        let mut counts = vec![(0, 0); rules.len() + 1];
        for worker in &made.list.counters {
            for (sum, (packets, bytes)) in counts.iter_mut().zip(worker.read()) {
                *sum = (sum.0 + packets, sum.1 + bytes);
            }
        }
        let others = counts.pop().unwrap_or_default();
        let rule = |(rule, (packets, bytes)): (&config::Rule, (u64, u64))| view::AclRule {
            rule: rule.to_string(),
            packets,
            bytes,
        };
        let named = self.ports.iter().filter(|(_, port)| port.config.acl_in.as_ref() == Some(name));
        view::Acl {
            name: name.to_string(),
            ports_in: named.map(|(port, _)| port.to_string()).collect(),
            default: made.config.default.word().to_owned(),
            rules: rules.iter().zip(counts).map(rule).collect(),
            other_packets: others.0,
            other_bytes: others.1,
            memory_bytes: made.list.ip4.shape().bytes + made.list.ip6.shape().bytes,
        }
    }
}

fn make(config: &config::Acl, workers: usize) -> Result<AccessList, AclError> {
    let default = action(config.default);
    Ok(AccessList {
        ip4: Acl4::new(&of_family::<u32>(config)?, default, MOST_BYTES)?,
        ip6: Acl6::new(&of_family::<u128>(config)?, default, MOST_BYTES)?,
        counters: (0..workers).map(|_| RuleCounters::new(config.rules.len())).collect(),
    })
}

/// The rules that packets of a family may fit, with their places in the list.
fn of_family<A: Address>(config: &config::Acl) -> Result<Vec<(u32, acl::Rule<A>)>, AclError> {
    let mut rules = Vec::with_capacity(config.rules.len());
    for (number, rule) in (0..).zip(config.rules.iter()) {
        let (Some(source), Some(destination)) = (prefix(rule.source), prefix(rule.destination))
        else {
            continue;
        };
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
        config::Action::Permit => Action::Permit,
        config::Action::Deny => Action::Deny,
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
        let kind = control::config::objects::port_kind::PortKind::Bvi;
        let port = Port { acl_in: Some(name.clone()), ..Port::new(kind) };
        let mut lists = AccessLists::default();
        lists.set(&name, Some(&config), 1).unwrap();
        let held = lists.of(&port);
        lists.set(&name, None, 1).unwrap();
        assert!(held.is_some() && lists.of(&port) == held);
        lists.settle();
        assert_eq!(lists.of(&port), None);
    }

    #[test]
    fn rules_keep_their_places_in_the_lists_of_both_families() {
        let rule = |prefix: Option<&str>, action| {
            let source = prefix.map(|text| control::config::field::Field::from_text(text).unwrap());
            config::Rule { source, ..config::Rule::any(action) }
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
