//! Answers of many entries: flows, tables, ports, groups and meters.

use crate::bridge::{Bridge, World};
use crate::check::{LAST_TABLE, is_set};
use crate::flows::{Wanted, leads_to_group};
use crate::groups::MOST_GROUPS;
use crate::meters::{MOST_METERS, leads_to_meter};
use flow::Flow;
use openflow::message::{
    Description, FlowQuery, FlowStats, GroupDesc, GroupMod, GroupStats, MeterConfig, MeterMod,
    MeterStats, Multipart, StatsRequest, TableFeatures, TableStats, aggregate, group_features,
    meter_features,
};
use openflow::{Fault, Field, PortNumber, Version, port};
use std::sync::Arc;
use std::time::Duration;

fn since(then_ns: u64, now_ns: u64) -> Duration {
    Duration::from_nanos(now_ns.saturating_sub(then_ns))
}

/// A flow as it is told of.
pub(crate) fn stats_of(flow: &Flow, now_ns: u64) -> FlowStats<'_> {
    let (packets, bytes) = flow.counters.get();
    let used_ns = flow.counters.used_ns().max(flow.modified_ns);
    FlowStats {
        table: flow.table,
        matching: &flow.matching,
        priority: flow.priority,
        cookie: flow.cookie,
        idle: flow.idle,
        hard: flow.hard,
        flags: flow.flags,
        importance: flow.importance,
        age: since(flow.created_ns, now_ns),
        idle_age: since(used_ns, now_ns),
        hard_age: since(flow.modified_ns, now_ns),
        packets,
        bytes,
        program: &flow.program,
    }
}

impl Bridge {
    pub(crate) fn answer_stats(
        &self,
        wanted: &StatsRequest,
        version: Version,
        xid: u32,
        world: &dyn World,
        now_ns: u64,
    ) -> Result<Vec<Vec<u8>>, Fault> {
        let new = |kind: u16| Multipart::new(version, xid, kind);
        Ok(match wanted {
            StatsRequest::Description => {
                let mut it = new(0);
                it.entry(|_, out| {
                    let description = Description {
                        manufacturer: "Volley",
                        hardware: "DPDK",
                        software: env!("CARGO_PKG_VERSION"),
                        serial: "None",
                        datapath: &self.name,
                    };
                    description.encode(out);
                });
                it.finish()
            }
            StatsRequest::Flows(query) => {
                let mut it = query.answer(version, xid, false);
                for flow in self.queried(query)? {
                    it.entry(|version, out| {
                        stats_of(&flow, now_ns).encode(query.form, version, out)
                    });
                }
                it.finish()
            }
            StatsRequest::Aggregate(query) => {
                let mut it = query.answer(version, xid, true);
                let flows = self.queried(query)?;
                let sum = |(packets, bytes): (u64, u64), flow: &Arc<Flow>| {
                    let own = flow.counters.get();
                    (packets + own.0, bytes + own.1)
                };
                let (packets, bytes) = flows.iter().fold((0, 0), sum);
                let count = flows.len() as u32;
                it.entry(|version, out| aggregate(packets, bytes, count, query.form, version, out));
                it.finish()
            }
            StatsRequest::Tables => {
                let mut it = new(3);
                for table in 0..=LAST_TABLE {
                    it.entry(|version, out| self.table_stats(table).encode(version, out));
                }
                it.finish()
            }
            StatsRequest::TableDescs => {
                let mut it = new(14);
                for table in 0..=LAST_TABLE {
                    it.entry(|_, out| self.table_desc(table).encode(out));
                }
                it.finish()
            }
            StatsRequest::TableFeatures => {
                let set: Vec<Field> = Field::ALL.iter().copied().filter(|it| is_set(*it)).collect();
                let last = LAST_TABLE;
                let mut it = new(12);
                for table in 0..=LAST_TABLE {
                    let (name, most) = (self.name_of_table(table), self.most_of(table) as u32);
                    let matched = Field::ALL;
                    let can = TableFeatures { table, name, last, most, matched, set: &set };
                    it.entry(|version, out| can.encode(version, out));
                }
                it.finish()
            }
            StatsRequest::Ports(number) => {
                let mut it = new(4);
                for number in self.meant_ports(*number)? {
                    let Some(mut stats) = world.port_stats(number) else { continue };
                    stats.number = number;
                    stats.age = since(self.ports[&number].since_ns, now_ns);
                    it.entry(|version, out| stats.encode(version, out));
                }
                it.finish()
            }
            StatsRequest::PortDescs(number) => {
                let mut it = new(13);
                for number in self.meant_ports(*number)? {
                    it.entry(|version, out| self.ports[&number].desc(number).encode(version, out));
                }
                it.finish()
            }
            StatsRequest::Queues(number, _) => {
                // Queues of schedulers are not numbered for controllers: there is none to tell of.
                self.meant_ports(*number).map_err(|_| Fault::BadQueuePort)?;
                new(5).finish()
            }
            StatsRequest::Groups(number) => {
                let mut it = new(6);
                for (number, group) in self.meant(&self.snapshot.groups, *number, GroupMod::ALL) {
                    let stats = GroupStats {
                        group: number,
                        references: self.count(|flow| leads_to_group(&flow.program, number)),
                        packets: group.counters.get(),
                        age: since(group.created_ns, now_ns),
                        buckets: group.bucket_counters.iter().map(|it| it.get()).collect(),
                    };
                    it.entry(|_, out| stats.encode(out));
                }
                it.finish()
            }
            StatsRequest::GroupDescs(number) => {
                let mut it = new(7);
                for (number, group) in self.meant(&self.snapshot.groups, *number, GroupMod::ALL) {
                    let desc =
                        GroupDesc { group: number, kind: group.kind, buckets: &group.buckets };
                    it.entry(|version, out| desc.encode(version, out));
                }
                it.finish()
            }
            StatsRequest::GroupFeatures => {
                let mut it = new(8);
                it.entry(|_, out| group_features(MOST_GROUPS as u32, out));
                it.finish()
            }
            StatsRequest::Meters(number) => {
                let mut it = new(9);
                for (number, meter) in self.meant_meters(*number)? {
                    let stats = MeterStats {
                        meter: number,
                        flows: self.count(|flow| leads_to_meter(&flow.program, number)),
                        packets: meter.counters.get(),
                        age: since(meter.created_ns, now_ns),
                        bands: meter.dropped.iter().map(|it| it.get()).collect(),
                    };
                    it.entry(|_, out| stats.encode(out));
                }
                it.finish()
            }
            StatsRequest::MeterConfigs(number) => {
                let mut it = new(10);
                for (number, meter) in self.meant_meters(*number)? {
                    let (flags, bands) = (meter.flags, &meter.bands[..]);
                    it.entry(|_, out| MeterConfig { meter: number, flags, bands }.encode(out));
                }
                it.finish()
            }
            StatsRequest::MeterFeatures => {
                let mut it = new(11);
                it.entry(|_, out| meter_features(MOST_METERS as u32, out));
                it.finish()
            }
            // It is the connection's.
            StatsRequest::Monitor(_) => return Err(Fault::BadSubtype),
        })
    }

    fn queried(&self, query: &FlowQuery) -> Result<Vec<Arc<Flow>>, Fault> {
        if query.table.is_some_and(|table| table > LAST_TABLE) {
            return Err(Fault::BadTableId);
        }
        let mut found = self.wanted(&Wanted {
            table: query.table,
            matching: &query.matching,
            strict: None,
            out_port: query.out_port,
            out_group: query.out_group,
            cookie: query.cookie,
            cookie_mask: query.cookie_mask,
        });
        // The same order each time, whatever hashes say.
        found.sort_by_key(|flow| (flow.table, std::cmp::Reverse(flow.priority), flow.created_ns));
        Ok(found)
    }

    fn count(&self, is_meant: impl Fn(&Flow) -> bool) -> u32 {
        let mut count = 0;
        self.each_flow(|flow| count += u32::from(is_meant(flow)));
        count
    }

    fn table_stats(&self, table: u8) -> TableStats<'_> {
        let (mut flows, mut matches, mut misses) = (0, 0, 0);
        if let Some(it) = self.snapshot.tables.get(&table) {
            flows = it.flows.len() as u32;
            misses = it.misses.get().0;
            it.flows.each(|flow| matches += flow.counters.get().0);
        }
        let (name, most) = (self.name_of_table(table), self.most_of(table) as u32);
        TableStats { table, name, flows, most, lookups: matches + misses, matches }
    }

    fn meant_ports(&self, number: PortNumber) -> Result<Vec<PortNumber>, Fault> {
        if number == port::NONE {
            // Real ports first, the bridge's own last, as tools expect them.
            return Ok(self.ports.keys().copied().collect());
        }
        if self.ports.contains_key(&number) { Ok(vec![number]) } else { Err(Fault::BadPort) }
    }

    fn meant<'a, T>(
        &self,
        all: &'a std::collections::BTreeMap<u32, Arc<T>>,
        number: u32,
        every: u32,
    ) -> impl Iterator<Item = (u32, &'a Arc<T>)> + use<'a, T> {
        let is_meant = move |it: &(&u32, &Arc<T>)| number == every || *it.0 == number;
        all.iter().filter(is_meant).map(|(number, it)| (*number, it))
    }

    fn meant_meters(&self, number: u32) -> Result<Vec<(u32, &Arc<flow::Meter>)>, Fault> {
        if number != MeterMod::ALL && !self.snapshot.meters.contains_key(&number) {
            return Err(Fault::UnknownMeter);
        }
        Ok(self.meant(&self.snapshot.meters, number, MeterMod::ALL).collect())
    }
}
