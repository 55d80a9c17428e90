//! Exporters: who is told of packets of ports, each by a thread of its own.
//!
//! ```text
//!  configuration ─▶ an exporter ─▶ rows of the ports that name it ─▶ workers note packets
//!                        └─▶ a thread: asks workers, tells collectors
//! ```

mod collector;
mod teller;

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part};
use control::config::Delta;
use control::config::objects::export::{Export, ExportName, ExportProtocol};
use control::config::objects::port::PortName;
use control::engine::ApplyError;
use control::view;
use export::Counters;
use nodes::interface::{ExportInput, ExportOutput, ExportTo, Exporter, Noted, Wanted, told};
use nodes::tables::Interface;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use teller::Teller;

/// All exporters.
#[derive(Default)]
pub(crate) struct Exporting {
    made: BTreeMap<ExportName, Made>,
    /// Those that are gone, until all is told.
    ending: Vec<Teller>,
}

struct Made {
    config: Export,
    exporter: Arc<Exporter>,
    teller: Teller,
    /// When counters of ports are told next.
    counters_ns: Option<u64>,
}

/// Who is told of what a port receives: its own, and its bridge's.
fn input(port: &OpenPort) -> Vec<&ExportName> {
    let mut names: Vec<_> = port.config.exported.export_in.iter().collect();
    for name in &port.bridge_exports {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

impl Exporting {
    fn to<'a>(&self, names: impl IntoIterator<Item = &'a ExportName>) -> Option<ExportTo> {
        let made = names.into_iter().filter_map(|name| self.made.get(name));
        let all: Vec<_> = made.map(|made| Arc::clone(&made.exporter)).collect();
        (!all.is_empty()).then_some(ExportTo(all))
    }

    fn start(core: &Core, name: &ExportName, config: &Export) -> std::io::Result<Made> {
        let chance = || {
            let given = core.clock.given_chance();
            given.unwrap_or_else(|| RandomState::new().hash_one("export"))
        };
        let wanted = match config.protocol {
            ExportProtocol::Sflow5 => Wanted::Octets(config.header.into()),
            _ => Wanted::Flows,
        };
        let exporter = Arc::new(Exporter::new(wanted, config.sample, core.workers(), chance()));
        let (clock, own) = (core.clock.clone(), Arc::clone(&exporter));
        let teller = Teller::start(name.to_string(), config, own, clock, chance())?;
        let tells_counters =
            config.protocol == ExportProtocol::Sflow5 && !config.counters.is_zero();
        let counters_ns = tells_counters.then(|| core.now_ns());
        Ok(Made { config: config.clone(), exporter, teller, counters_ns })
    }
}

impl Part for Exporting {
    fn row(&self, _: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        row.set::<ExportInput>(self.to(input(port)));
        row.set::<ExportOutput>(self.to(&port.config.exported.export_out));
    }

    /// Workers know no more of those that are gone.
    fn published(&mut self, _: &mut Core) {
        self.ending.iter_mut().for_each(Teller::end);
    }

    fn turn(&mut self, core: &mut Core, _: Instant) -> bool {
        self.ending.retain(|teller| !teller.has_ended());
        let now_ns = core.now_ns();
        for (name, made) in &mut self.made {
            let Some(due_ns) = made.counters_ns.filter(|due_ns| now_ns >= *due_ns) else {
                continue;
            };
            let period_ns = made.config.counters.as_nanos() as u64;
            made.counters_ns = Some(due_ns.max(now_ns.saturating_sub(period_ns)) + period_ns);
            let ports = core.ports.values().filter(|port| {
                input(port).contains(&name) || port.config.exported.export_out.contains(name)
            });
            made.teller.counters(ports.map(|port| counters(core, port)).collect());
        }
        false
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.made.values().filter_map(|made| made.counters_ns).min()
    }
}

/// What is counted of a port since the router began: collectors look at differences.
fn counters(core: &Core, port: &OpenPort) -> Counters {
    let mut counters = Counters {
        interface: told(port.id),
        speed: u64::from(port.link.mbps) * 1_000_000,
        admin_up: port.config.up,
        is_up: port.link.up,
        ..Counters::default()
    };
    for id in port.rows() {
        let now = core.dataplane.interface_totals(id);
        counters.received[0] += now.rx_bytes;
        counters.received[1] += now.rx_packets;
        counters.sent[0] += now.tx_bytes;
        counters.sent[1] += now.tx_packets;
        let drops = core.dataplane.drops_of(id);
        for drop in drops.iter().filter(|drop| !drop.answered) {
            let side = if drop.outbound { &mut counters.sent } else { &mut counters.received };
            side[2] += drop.packets;
        }
    }
    [counters.received[3], counters.sent[3]] = core.device_errors(port);
    counters
}

impl Makes<Delta<ExportName, Export>> for Exporting {
    fn make(
        &mut self,
        core: &mut Core,
        change: &Delta<ExportName, Export>,
    ) -> Result<(), ApplyError> {
        let (name, config) = change.outcome();
        let made = config.map(|config| Self::start(core, name, config)).transpose();
        let made = made.map_err(|error| {
            fault(&format!("export.{name}"), format!("it has no thread: {error}"))
        })?;
        core.flow_collectors.remove(name);
        if let (Some(made), Some(set)) = (&made, config.and_then(|config| config.set)) {
            core.flow_collectors.insert(name.clone(), (set, Arc::clone(&made.exporter)));
        }
        let old = match made {
            Some(made) => self.made.insert(name.clone(), made),
            None => self.made.remove(name),
        };
        self.ending.extend(old.map(|old| old.teller));
        core.touch_rows();
        Ok(())
    }
}

impl Exporting {
    pub(crate) fn show(&self, core: &Core) -> Vec<view::Export> {
        let show = |(name, made): (&ExportName, &Made)| {
            let told = made.teller.told();
            let sum = |pick: fn(&Noted) -> &AtomicU64| {
                let each = made.exporter.noted().iter();
                each.map(|noted| pick(noted).load(Ordering::Relaxed)).sum::<u64>()
            };
            let ports = core.ports.iter();
            let ports = ports.map(|(port, open)| view::ExportPort {
                port: port.to_string(),
                number: nodes::interface::told(open.id),
                received: input(open).contains(&name) || open.bridge_samples.contains(name),
                sent: open.config.exported.export_out.contains(name)
                    || open.bridge_samples.contains(name),
            });
            view::Export {
                name: name.to_string(),
                protocol: made.config.protocol.word().to_owned(),
                sample: made.config.sample,
                ports: ports.filter(|port| port.received || port.sent).collect(),
                packets: sum(|noted| &noted.seen),
                noted: sum(|noted| &noted.noted),
                missed: sum(|noted| &noted.missed),
                flows: told.flows as u64,
                told: told.records,
                early: told.early,
                left_out: told.left_out,
                collectors: told
                    .collectors
                    .into_iter()
                    .map(|it| view::Collector {
                        address: it.address,
                        datagrams: it.datagrams,
                        lost: it.lost,
                        problem: it.problem,
                    })
                    .collect(),
            }
        };
        self.made.iter().map(show).collect()
    }
}

impl Drop for Exporting {
    /// All end at once, and each is waited for.
    fn drop(&mut self) {
        let made = self.made.values_mut().map(|made| &mut made.teller);
        made.chain(&mut self.ending).for_each(Teller::end);
    }
}
