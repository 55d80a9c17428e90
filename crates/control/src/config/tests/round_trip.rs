//! Writing and reading, comparing and applying, are each other's inverse.

use proptest::prelude::*;

use super::super::objects::port::Port;
use super::super::table::{Delta, Table};
use super::super::{Action, Change, Config, Source, parse, render};
use super::{arbitrary, example, host, parse_ok};

/// Takes the steps one by one, insisting that each is possible when its turn comes.
fn follow(mut config: Config, changes: &[Change]) -> Config {
    fn step<K: Ord + Clone, V: Clone + PartialEq + std::fmt::Debug>(
        table: &mut Table<K, V>,
        delta: &Delta<K, V>,
    ) {
        match delta.clone() {
            Delta::Removed { key, row } => assert_eq!(table.remove(&key), Some(row)),
            Delta::Added { key, row } => assert_eq!(table.insert(key, row), None),
            Delta::Modified { key, old, new } => assert_eq!(table.insert(key, new), Some(old)),
        }
    }
    for change in changes {
        match change {
            Change::Workers(replaced) => config.workers = replaced.new.clone(),
            Change::Memory(replaced) => config.memory = replaced.new.clone(),
            Change::Api(replaced) => config.api = replaced.new.clone(),
            Change::Files(replaced) => config.files = replaced.new.clone(),
            Change::Process(replaced) => config.process = replaced.new.clone(),
            Change::State(replaced) => config.state = replaced.new.clone(),
            Change::Web(replaced) => config.web = replaced.new.clone(),
            Change::Log(replaced) => config.log = replaced.new.clone(),
            Change::Arp(replaced) => config.arp = replaced.new.clone(),
            Change::Icmp(replaced) => config.icmp = replaced.new.clone(),
            Change::Ip4(replaced) => config.ip4 = replaced.new.clone(),
            Change::Flows(replaced) => config.flows = replaced.new.clone(),
            Change::NextHops(replaced) => config.next_hops = replaced.new.clone(),
            Change::Twins(replaced) => config.twins = replaced.new.clone(),
            Change::Fpm(replaced) => config.fpm = replaced.new.clone(),
            Change::Lisp(replaced) => config.lisp = replaced.new.clone(),
            Change::LispServers(delta) => step(&mut config.lisp_servers, delta),
            Change::LispSites(delta) => step(&mut config.lisp_sites, delta),
            Change::LispEids(delta) => step(&mut config.lisp_eids, delta),
            Change::LispMaps(delta) => step(&mut config.lisp_maps, delta),
            Change::Vrfs(delta) => step(&mut config.vrfs, delta),
            Change::Ports(delta) => step(&mut config.ports, delta),
            Change::Routes(delta) => step(&mut config.routes, delta),
            Change::Neighbors(delta) => step(&mut config.neighbors, delta),
            Change::Xconnects(delta) => step(&mut config.xconnects, delta),
            Change::Bridges(delta) => step(&mut config.bridges, delta),
            Change::Stations(delta) => step(&mut config.stations, delta),
            Change::Mirrors(delta) => step(&mut config.mirrors, delta),
            Change::Exports(delta) => step(&mut config.exports, delta),
            Change::Nats(delta) => step(&mut config.nats, delta),
            Change::Connections(replaced) => config.connections = replaced.new.clone(),
            Change::Policers(delta) => step(&mut config.policers, delta),
            Change::Acls(delta) => step(&mut config.acls, delta),
            Change::Probes(delta) => step(&mut config.probes, delta),
        }
    }
    config
}

proptest! {
    #[test]
    fn what_is_written_reads_back_as_the_same_value(config in arbitrary::config()) {
        let text = render(&config);
        let read = parse(&Source::new("written", text.as_str()), &host());
        prop_assert_eq!(read.map_err(|problems| format!("{problems}\n{text}")), Ok(config));
    }

    #[test]
    fn following_the_difference_leads_from_one_to_the_other(
        old in arbitrary::config(),
        new in arbitrary::config(),
    ) {
        let changes = Config::diff(&old, &new);
        prop_assert_eq!(follow(old, &changes), new.clone());
        prop_assert!(Config::diff(&new, &new).is_empty());
    }

    #[test]
    fn the_inverses_in_reverse_lead_back(old in arbitrary::config(), new in arbitrary::config()) {
        let changes = Config::diff(&old, &new);
        let back: Vec<Change> = changes.iter().rev().map(Change::inverse).collect();
        prop_assert_eq!(follow(new, &back), old);
    }

    #[test]
    fn removals_come_first_and_nothing_stands_on_what_is_gone(
        old in arbitrary::config(),
        new in arbitrary::config(),
    ) {
        let changes = Config::diff(&old, &new);
        let first_other = changes.iter().position(|change| change.action() != Action::Remove);
        let rest = &changes[first_other.unwrap_or(changes.len())..];
        prop_assert!(rest.iter().all(|change| change.action() != Action::Remove));
        let port = |change: &Change| matches!(change, Change::Ports(_));
        let removals = &changes[..changes.len() - rest.len()];
        let is_below = |change: &Change| {
            let is_named = matches!(change, Change::Policers(_) | Change::Exports(_));
            port(change) || is_named || matches!(change, Change::Vrfs(_) | Change::Acls(_))
        };
        prop_assert!(removals.iter().skip_while(|change| !port(change)).all(is_below));
        prop_assert!(!rest.iter().skip_while(|c| !matches!(c, Change::Routes(_))).any(port));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = parse(&Source::new("noise", text), &host());
    }

    #[test]
    fn no_mangled_file_makes_the_reader_panic(at in 0_usize..900, cut in 0_usize..40, with in "\\PC{0,6}") {
        let mut text = super::EXAMPLE.to_owned();
        let at = at.min(text.len());
        text.replace_range(at..(at + cut).min(text.len()), &with);
        if let Err(problems) = parse(&Source::new("mangled", text), &host()) {
            prop_assert!(!problems.to_string().is_empty());
        }
    }
}

#[test]
fn the_example_is_written_as_a_person_would() {
    let text = render(&example());
    assert_eq!(parse_ok(&text), example());
    assert!(text.starts_with("[workers]\ncores = [0]\n\n[port.a]\nkind   = \"memif\"\n"), "{text}");
    assert!(text.contains(
        "[[route]]\nprefix = \"0.0.0.0/0\"\n\
         via    = [\"192.0.2.9\", { address = \"198.51.100.9\", weight = 3 }]\n"
    ));
}

#[test]
fn a_difference_reads_like_a_sentence_for_each_step() {
    let old = example();
    let new = parse_ok(
        &super::EXAMPLE
            .replace("mtu = 1400", "up = false")
            .replace("cores = [0]", "cores = [0, 1]")
            .replace("[[xconnect]]\nports = [\"b\", \"a\"]", "")
            .replace("blackhole", "prohibit"),
    );
    let lines: Vec<String> = Config::diff(&old, &new).iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "- xconnect a b",
            "~ workers: cores [0] -> [0, 1]",
            "~ port p1: up true -> false, mtu 1400 -> 1500",
            "~ route 10.66.0.0/16: blackhole true -> (none), prohibit (none) -> true",
        ]
    );
}

#[test]
fn a_changed_port_shares_the_routes_of_the_configuration_before() {
    let old = example();
    let mut new = old.clone();
    let name = old.ports.iter().next().unwrap().0.clone();
    new.ports.get_mut(&name).unwrap().up = false;
    let changes = Config::diff(&old, &new);
    let [Change::Ports(step)] = &changes[..] else { panic!("{changes:?}") };
    assert!(matches!(**step, Delta::Modified { old: Port { up: true, .. }, .. }));
    assert!(!changes[0].needs_restart());
}
