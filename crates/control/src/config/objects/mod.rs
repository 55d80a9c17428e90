//! The kinds of objects, one file each.
//!
//! To add a kind: write its file (a type and its [`Object`] implementation), name the module, and
//! add its line to the table below, after what it refers to. Reading, checking, differences,
//! commands and writing follow.

pub mod acl;
pub mod api;
pub mod arp;
pub mod bridge;
mod bridge_commands;
pub mod connected;
pub mod fpm;
pub mod icmp;
pub mod memory;
pub mod mirror;
mod name;
pub mod neighbor;
pub mod policer;
pub mod port;
pub mod port_allow;
mod port_commands;
pub mod port_filters;
pub mod port_kind;
pub mod port_policing;
pub mod port_ra;
pub mod port_twin;
mod proxy_arp;
pub mod qos;
pub mod route;
mod route_commands;
pub mod station;
pub mod tunnel;
mod tunnel_commands;
pub mod twins;
mod unnumbered;
pub mod vlan;
pub mod vrf;
pub mod workers;
pub mod xconnect;

use super::change::{Action, ChangeLine, Step};
use super::edit::Command;
use super::host::Host;
use super::read::TableReader;
use super::report::Report;
use super::write::Writer;

use acl::Acls;
use api::Api;
use arp::Arp;
use bridge::Bridges;
use fpm::Fpm;
use icmp::Icmp;
use memory::Memory;
use mirror::Mirrors;
use neighbor::Neighbors;
use policer::Policers;
use port::Ports;
use route::Routes;
use station::Stations;
use twins::Twins;
use vrf::Vrfs;
use workers::Workers;
use xconnect::Xconnects;

/// A kind of object: a section that is always there, or a table of rows.
pub trait Object: Clone + PartialEq + Default {
    /// A step from one state to another.
    type Change: Step;

    /// Whether changes only take effect when the router starts anew.
    const NEEDS_RESTART: bool = false;

    /// The commands that edit it.
    const COMMANDS: &'static [Command] = &[];

    /// Takes its keys out of the file.
    fn read(root: &mut TableReader<'_>) -> Self;

    /// Finds what is wrong with it, alone and in its surroundings.
    fn check(&self, config: &Config, host: &Host, report: &mut Report);

    /// Writes it as [`Object::read`] reads it.
    fn write(&self, writer: &mut Writer);

    /// What turns `old` into `new`.
    fn diff(old: &Self, new: &Self) -> Vec<Self::Change>;
}

macro_rules! objects {
    ($( $(#[$doc:meta])* $field:ident: $kind:ident, )+) => {
        /// The whole configuration of a router.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Config { $( $(#[$doc])* pub $field: $kind, )+ }

        /// One step from one configuration to another.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "a change of the configuration has few steps")]
        pub enum Change { $( $(#[$doc])* $kind(<$kind as Object>::Change), )+ }

        /// Every command that edits, by kind of object.
        pub const COMMANDS: &[&[Command]] = &[$( <$kind as Object>::COMMANDS, )+ vlan::COMMANDS, tunnel_commands::COMMANDS, qos::commands::COMMANDS];

        impl Config {
            pub(crate) fn read(root: &mut TableReader<'_>) -> Self {
                Self { $( $field: <$kind as Object>::read(root), )+ }
            }

            pub(crate) fn write(&self, writer: &mut Writer) {
                $( self.$field.write(writer); )+
            }

            /// Finds everything wrong with it.
            pub fn check(&self, host: &Host, report: &mut Report) {
                $( self.$field.check(self, host, report); )+
            }

            /// What turns `old` into `new`, in the order in which it can be done: removals first,
            /// dependants before what they stand on; then the rest the other way round.
            pub fn diff(old: &Self, new: &Self) -> Vec<Change> {
                let mut kinds: Vec<Vec<Change>> = vec![$(
                    <$kind as Object>::diff(&old.$field, &new.$field)
                        .into_iter()
                        .map(Change::$kind)
                        .collect(),
                )+];
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
                match self { $( Self::$kind(step) => step.action(), )+ }
            }

            /// The step that undoes it. Of a kind that waits for a new start, too: what is to come
            /// then is taken back.
            #[must_use]
            pub fn inverse(&self) -> Self {
                match self { $( Self::$kind(step) => Self::$kind(step.inverse()), )+ }
            }

            /// Whether it only takes effect when the router starts anew.
            pub fn needs_restart(&self) -> bool {
                match self { $( Self::$kind(_) => <$kind as Object>::NEEDS_RESTART, )+ }
            }

            /// The step as plain data.
            pub fn line(&self) -> ChangeLine {
                let text = self.to_string();
                ChangeLine { action: self.action(), text, needs_restart: self.needs_restart() }
            }
        }

        impl std::fmt::Display for Change {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $( Self::$kind(step) => step.fmt(f), )+ }
            }
        }
    };
}

// One line a kind; each after what it refers to.
objects! {
    /// Threads that forward.
    workers: Workers,
    /// Buffers and table sizes.
    memory: Memory,
    /// Where the router listens for commands.
    api: Api,
    /// Timers of address resolution.
    arp: Arp,
    /// Rates of the messages the router sends by itself.
    icmp: Icmp,
    /// How much the kernel's twins of ports get.
    twins: Twins,
    /// Access lists.
    acls: Acls,
    /// Policers.
    policers: Policers,
    /// VRFs.
    vrfs: Vrfs,
    /// Ports.
    ports: Ports,
    /// Who brings the routes of FRR.
    fpm: Fpm,
    /// Static routes.
    routes: Routes,
    /// Static neighbours.
    neighbors: Neighbors,
    /// Cross-connects.
    xconnects: Xconnects,
    /// Bridges.
    bridges: Bridges,
    /// Stations that do not move.
    stations: Stations,
    /// Mirrors.
    mirrors: Mirrors,
}
