//! `[port.NAME.qos]`: how packets wait before they leave by a port.
//!
//! ```text
//!  [port.p0.qos]            kind, options            a discipline
//!  [[port.p0.qos.class]]    id, parent, rate, leaf   the tree of HTB and HFSC
//!  [[port.p0.qos.filter]]   class, dscp, source, …   which packets go where: the first that fits
//! ```
//! The value is `sched`'s own; what it refuses is refused here, at the class or filter at fault.

mod commands;
mod described;
mod filter;
mod read;
mod schema;
pub(super) mod units;
mod write;

pub(super) use commands::{CLASS, DEL, FILTER, IMPORT, SET};

pub(super) use schema::schema;

use std::sync::Arc;

use sched::units::Rate;
use sched::{Config as Scheduler, Shape, WaitingRoom, Warning};

use super::Config;
use super::port_kind::DEFAULT_MTU;
use super::port_name::PortName;
use super::vrf::DEFAULT_NAME;
use crate::config::info::Info;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::value::Value;
use crate::config::write::{Fields, Writer};

/// An Ethernet header: a scheduler counts frames from it on.
const LINK_HEADER_BYTES: u32 = 14;

/// How packets wait before they leave by a port. Shared until it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qos(Arc<Scheduler>);

/// Sections of their own, which the fields of the port say nothing of.
impl Value for Option<Qos> {
    fn read(table: &mut TableReader<'_>, key: &'static str, _: bool) -> Option<Self> {
        let mtu = table.peek("mtu").unwrap_or(DEFAULT_MTU);
        Some(table.table(key, |table| Qos::read(table, mtu)).flatten())
    }

    fn write(&self, _: &'static str, fields: Fields, _: Option<Self>) -> Fields {
        fields
    }

    fn paths(&self, _: &mut Vec<std::path::PathBuf>) {}

    fn describe(_: Info, _: &mut Vec<Info>) {}
}

impl Qos {
    /// This scheduler; its MTU is the port's.
    pub fn new(scheduler: Scheduler) -> Self {
        Self(Arc::new(Scheduler {
            mtu_bytes: Scheduler::of(Shape::pfifo(1)).mtu_bytes,
            ..scheduler
        }))
    }

    /// The scheduler for a port of this MTU.
    pub fn scheduler(&self, mtu: u16) -> Scheduler {
        Scheduler { mtu_bytes: u32::from(mtu) + LINK_HEADER_BYTES, ..(*self.0).clone() }
    }

    /// What it had better not say, on a port of this MTU.
    pub fn warnings(&self, mtu: u16) -> Vec<Warning> {
        sched::warnings(&self.scheduler(mtu))
    }

    fn change(&mut self) -> &mut Scheduler {
        Arc::make_mut(&mut self.0)
    }

    /// Reads the table; `mtu` is the port's.
    fn read(table: &mut TableReader<'_>, mtu: u16) -> Option<Self> {
        let root = read::shape(table, u32::from(mtu) + LINK_HEADER_BYTES);
        let link_rate: Option<Rate> = table.optional("link_rate");
        let pool_packets = table.optional("pool_packets");
        let mut filters = Vec::new();
        table.each_item("filter", |item| filters.extend(filter::read(item)));
        Some(Self::new(Scheduler { filters, link_rate, pool_packets, ..Scheduler::of(root?) }))
    }

    pub(super) fn check(&self, port: &str, mtu: u16, report: &mut Report) {
        let field = format!("{port}.qos");
        if let Shape::Tbf(outer) = &self.0.root
            && matches!(*outer.leaf, Shape::Tbf(_))
        {
            report.push(Problem::new(&field, "a token bucket in a token bucket").expected("one"));
        }
        for warning in self.warnings(mtu) {
            let class = warning.class().map_or(String::new(), |class| format!(".class.{class}"));
            report.warn(Problem::new(format!("{field}{class}"), warning.to_string()));
        }
        if let Err(error) = sched::check(&self.scheduler(mtu)) {
            let at = match (error.filter(), error.class()) {
                (Some(number), _) => format!("{field}.filter[{}]", number - 1),
                (None, Some(class)) => format!("{field}.class.{class}"),
                (None, None) => field,
            };
            report.push_missing(Problem::new(at, error.to_string()));
        }
    }

    /// Finds queues that the pool of buffers cannot fill.
    pub(super) fn check_room(&self, port: &PortName, config: &Config, report: &mut Report) {
        let buffers = config.memory.buffers;
        let room = WaitingRoom::of_pool(buffers as usize).of_one_port();
        let longest = sched::longest_queue(&self.0.root);
        if longest > room as u64 {
            let message = format!(
                "a queue of {longest} packets, and of {buffers} buffers {room} may wait at one port: \
                 what is above is dropped, as `no-buffers`"
            );
            let problem = Problem::new(format!("port.{port}.qos"), message);
            report.warn(problem.help("a smaller limit, or more of `[memory] buffers`"));
        }
    }

    /// Finds filters that name bridges or VRFs which there are not.
    pub(super) fn check_names(&self, port: &PortName, config: &Config, report: &mut Report) {
        let is_bridge = |name: &str| config.bridges.iter().any(|(key, _)| key.as_str() == name);
        let is_vrf = |name: &str| {
            name == DEFAULT_NAME || config.vrfs.iter().any(|(key, _)| key.as_str() == name)
        };
        for (index, filter) in self.0.filters.iter().enumerate() {
            let mut check = |key: &str, name: &Option<String>, known: &dyn Fn(&str) -> bool| {
                let Some(name) = name.as_ref().filter(|name| !known(name)) else { return };
                let field = format!("port.{port}.qos.filter[{index}].{key}");
                let problem = Problem::new(field, format!("there is no {key} `{name}`"));
                report.push_missing(problem.expected(format!("the name of a {key}")));
            };
            check("bridge", &filter.bridge, &is_bridge);
            check("vrf", &filter.vrf, &is_vrf);
        }
    }

    /// Everything, for telling what changes: a field for each class and filter.
    pub(super) fn told(&self, mut fields: Fields) -> Fields {
        fields = fields.raw("qos", self.head().inline());
        for (id, class) in write::classes(&self.0.root) {
            fields = fields.raw(format!("qos.class.{id}"), class.inline());
        }
        for (index, filter) in self.0.filters.iter().enumerate() {
            fields = fields.raw(format!("qos.filter[{index}]"), filter::write(filter).inline());
        }
        fields
    }

    /// Its sections, below that of the port.
    pub(super) fn write(&self, port: &str, writer: &mut Writer) {
        writer.section(&format!("[{port}.qos]"), &self.head());
        for (_, class) in write::classes(&self.0.root) {
            writer.section(&format!("[[{port}.qos.class]]"), &class);
        }
        for filter in &self.0.filters {
            writer.section(&format!("[[{port}.qos.filter]]"), &filter::write(filter));
        }
    }

    fn head(&self) -> Fields {
        write::alone(&self.0.root)
            .maybe("link_rate", &self.0.link_rate)
            .maybe("pool_packets", &self.0.pool_packets)
    }
}

#[cfg(test)]
mod tests;
