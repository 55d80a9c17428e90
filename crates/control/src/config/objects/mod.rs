//! The kinds of objects, one file each.
//!
//! To add a kind: write its file (its declared fields, and what no field can say alone), and add
//! its line to the table below, after what it refers to. Reading, differences, commands, help,
//! completion, writing and the reference follow.

mod address;
mod bonds;
mod bridge_behind;
pub mod bridge_controller;
pub mod bridge_evpn;
pub mod bridge_rstp;
pub mod bridge_snooping;
pub mod bridge_tables;
pub mod connected;
pub mod domain_name;
mod lisp_check;
mod name;
pub mod netns;
pub mod port_allow;
pub mod port_export;
pub mod port_filters;
pub mod port_kind;
pub mod port_name;
pub mod port_policing;
pub mod port_ra;
pub mod port_twin;
mod ports;
mod proxy_arp;
mod proxy_nd;
pub mod qos;
mod recursive;
mod route_row;
mod tunnel;
mod tunnel_by_flows;
mod tunnel_mtu;
pub mod tunnel_number;
pub mod tunnel_outer;
mod unnumbered;
mod vlan;
pub mod vrf_twin;

use std::borrow::Cow;
use std::sync::LazyLock;

use super::change::{Action, ChangeLine, Step};
use super::command::{self, Run};
use super::host::Host;
use super::info::Described;
use super::read::TableReader;
use super::report::Report;
use super::rows::Stored;
use super::usual::{Usual, Verb};
use super::write::Writer;

/// A command that edits the configuration.
pub type Command = command::Command<Config>;

/// A kind of object, among all others.
pub trait Object: Stored {
    /// Whether changes only take effect when the router starts anew.
    const NEEDS_RESTART: bool = false;
    /// The commands beside the usual ones.
    const MORE: &'static [Command] = &[];

    /// Finds what is wrong with it, alone and in its surroundings.
    fn check(&self, _: &Config, _: &Host, _: &mut Report) {}
}

/// The commands of a kind, each as what edits it in the configuration.
fn commands_of<T: Object>(run: fn(Verb) -> Run<Config>) -> Vec<Command> {
    let usual = T::usual().into_iter().map(|Usual { verb, about, first, fields }| {
        let about = Cow::Owned(about);
        Command { noun: T::KIND, verb: verb.word(), about, first, fields, run: run(verb) }
    });
    usual.chain(T::MORE.iter().cloned()).collect()
}

macro_rules! objects {
    ($( $(#[cfg($cfg:meta)] #[path = $path:literal])? $field:ident: $module:ident::$kind:ident, )+) => {
        $(
            $(#[cfg($cfg)] #[path = $path])?
            pub mod $module;
        )+

        /// The whole configuration of a router.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Config { $(
            #[doc = concat!("See [`", stringify!($module), "`].")]
            $(#[cfg($cfg)])?
            pub $field: $module::$kind, )+ }

        /// One step from one configuration to another. Boxed: a whole table is a million steps, and
        /// some kinds of object take a kilobyte.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Change { $(
            #[doc = concat!("See [`", stringify!($module), "`].")]
            $(#[cfg($cfg)])?
            $kind(Box<<$module::$kind as Stored>::Change>), )+ }

        /// Every command that edits, by kind of object.
        pub fn commands() -> &'static [Command] {
            static ALL: LazyLock<Vec<Command>> =
                LazyLock::new(|| [$(
                    $(#[cfg($cfg)])?
                    commands_of::<$module::$kind>(|verb| match verb {
                        Verb::Add => |config, words| config.$field.edit(Verb::Add, words),
                        Verb::Set => |config, words| config.$field.edit(Verb::Set, words),
                        Verb::Del => |config, words| config.$field.edit(Verb::Del, words),
                    }),
                )+].concat());
            &ALL
        }

        /// What is known of the fields of every section.
        pub fn described() -> Vec<Described> {
            [$( $(#[cfg($cfg)])? <$module::$kind as Stored>::described(), )+].into_iter().flatten().collect()
        }

        impl Config {
            pub(crate) fn read(root: &mut TableReader<'_>) -> Self {
                Self { $( $(#[cfg($cfg)])? $field: <$module::$kind as Stored>::read(root), )+ }
            }

            pub(crate) fn write(&self, writer: &mut Writer) {
                $( $(#[cfg($cfg)])? Stored::write(&self.$field, writer); )+
            }

            /// Finds everything wrong with it.
            pub fn check(&self, host: &Host, report: &mut Report) {
                $( $(#[cfg($cfg)])? Object::check(&self.$field, self, host, report); )+
            }

            /// What turns `old` into `new`, in the order in which it can be done: removals first,
            /// dependants before what they stand on; then the rest the other way round.
            pub fn diff(old: &Self, new: &Self) -> Vec<Change> {
                let mut kinds: Vec<Vec<Change>> = Vec::from([$(
                    $(#[cfg($cfg)])?
                    <$module::$kind as Stored>::diff(&old.$field, &new.$field)
                        .into_iter()
                        .map(|step| Change::$kind(Box::new(step)))
                        .collect(),
                )+]);
                let removes = |change: &Change| change.action() == Action::Remove;
                let mut steps = Vec::new();
                for kind in kinds.iter_mut().rev() {
                    steps.extend(kind.extract_if(.., |change| removes(change)));
                }
                steps.extend(kinds.into_iter().flatten());
                steps
            }
        }

        impl Change {
            /// What it does.
            pub fn action(&self) -> Action {
                match self { $( $(#[cfg($cfg)])? Self::$kind(step) => step.action(), )+ }
            }

            /// The step that undoes it. Of a kind that waits for a new start, too: what is to come
            /// then is taken back.
            #[must_use]
            pub fn inverse(&self) -> Self {
                match self { $( $(#[cfg($cfg)])? Self::$kind(step) => Self::$kind(Box::new(step.inverse())), )+ }
            }

            /// The files that the router opens for it, if others than before.
            pub fn opens(&self) -> Vec<std::path::PathBuf> {
                match self { $( $(#[cfg($cfg)])? Self::$kind(step) => step.opens(), )+ }
            }

            /// Whether it only takes effect when the router starts anew.
            pub fn needs_restart(&self) -> bool {
                match self { $( $(#[cfg($cfg)])? Self::$kind(_) => <$module::$kind as Object>::NEEDS_RESTART, )+ }
            }

            /// The step as plain data.
            pub fn line(&self) -> ChangeLine {
                match self { $( $(#[cfg($cfg)])? Self::$kind(step) => ChangeLine::of(&**step, self.needs_restart()), )+ }
            }
        }

        impl std::fmt::Display for Change {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $( $(#[cfg($cfg)])? Self::$kind(step) => step.fmt(f), )+ }
            }
        }
    };
}

// One line a kind; each after what it refers to.
objects! {
    workers: workers::Workers,
    memory: memory::Memory,
    api: api::Api,
    files: files::Files,
    process: process::Process,
    state: state::State,
    log: log::Log,
    web: web::Web,
    arp: arp::Arp,
    icmp: icmp::Icmp,
    ip4: ip4::Ip4,
    flows: flows::Flows,
    next_hops: next_hops::NextHops,
    connections: connections::Connections,
    twins: twins::Twins,
    acls: acl::Acls,
    policers: policer::Policers,
    exports: export::Exports,
    vrfs: vrf::Vrfs,
    ports: port::Ports,
    lisp: lisp::Lisp,
    lisp_servers: lisp_server::LispServers,
    lisp_sites: lisp_site::LispSites,
    lisp_eids: lisp_eid::LispEids,
    lisp_maps: lisp_map::LispMaps,
    fpm: fpm::Fpm,
    routes: route::Routes,
    neighbors: neighbor::Neighbors,
    xconnects: xconnect::Xconnects,
    bridges: bridge::Bridges,
    stations: station::Stations,
    mirrors: mirror::Mirrors,
    nats: nat::Nats,
    // The example of CONTRIBUTING.md.
    #[cfg(test)]
    #[path = "../../../../../docs/example/probe.rs"]
    probes: probe::Probes,
}
