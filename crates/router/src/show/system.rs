//! The router as a program.

use crate::router::Router;
use control::view;
use dataplane::Dataplane;
use fib::pages::PageSize;
use rights::{Capability, capabilities, filter};
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn show_process() -> view::Process {
    let names = |all: &[Capability]| all.iter().map(|it| it.name().to_owned()).collect();
    let count = |folder: &str| fs::read_dir(folder).map_or(0, Iterator::count) as u32;
    view::Process {
        pid: std::process::id(),
        user: rights::own_user(),
        capabilities: names(&capabilities::held().unwrap_or_default()),
        given_up: names(capabilities::given_up()),
        no_new_privileges: capabilities::no_new_privileges(),
        calls: filter::takes().map(|count| count as u32),
        refused: filter::refused().into_iter().map(refused).collect(),
        threads: count("/proc/self/task"),
        descriptors: count("/proc/self/fd"),
    }
}

fn refused((number, times): (i64, u64)) -> view::RefusedCall {
    view::RefusedCall { call: filter::name_of(number), times }
}

impl Router {
    pub(super) fn show_version(&self) -> view::Version {
        let facts = self.core.devices.facts();
        let mut abilities = Vec::new();
        match (facts, &self.core.devices.without_dpdk) {
            (Some(facts), _) => abilities.push(facts.to_string()),
            (None, Some(why)) => abilities.push(format!("without DPDK: {why}")),
            (None, None) => {}
        }
        abilities.push(format!("frames split by the {:?} kernel", packet::Splitter::detect()));
        view::Version {
            volley: env!("CARGO_PKG_VERSION").to_owned(),
            dpdk: facts.map(|facts| facts.version.trim_start_matches("DPDK ").to_owned()),
            pid: std::process::id(),
            uptime_s: self.core.now_ns() / 1_000_000_000,
            abilities,
        }
    }

    pub(super) fn show_memory(&self) -> view::Memory {
        let pool = self.core.pool.usage();
        let part = |name: &str, used: usize, capacity: usize, bytes: usize| view::MemoryUse {
            name: name.to_owned(),
            used: used as u64,
            capacity: capacity as u64,
            bytes: bytes as u64,
            page_bytes: None,
        };
        let mut parts =
            vec![part("packet buffers", pool.total - pool.free, pool.total, pool.memory_bytes)];
        for (name, pool) in dpdk::pools_of_ports() {
            parts.push(part(name, pool.total - pool.free, pool.total, pool.memory_bytes));
        }
        parts.extend(self.show_tables(part));
        parts.extend([
            part("neighbours", self.core.neighborhood.machine.len(), 0, 0),
            part("packets waiting for a neighbour", self.core.neighborhood.held_packets(), 0, 0),
        ]);
        view::Memory { resident_bytes: resident_bytes(), parts }
    }

    /// Routes as they were given, and the tables that packets are forwarded by.
    fn show_tables(
        &self,
        part: impl Fn(&str, usize, usize, usize) -> view::MemoryUse,
    ) -> Vec<view::MemoryUse> {
        let Dataplane { ip4, ip4_nodes, adjacencies, groups, stations, .. } = &self.core.dataplane;
        let (ip4, groups, stations) = (ip4.memory(), groups.memory(), stations.table.memory());
        let [rib, rib_most, rib_bytes] = self.core.routing.ip4.size();
        let [rib6, rib6_most, rib6_bytes] = self.core.routing.ip6.size();
        let (ip6, ip6_memory) = (&self.core.dataplane.ip6, self.core.dataplane.ip6.memory());
        let others = self.core.dataplane.vrfs().others().map(|tables| tables.ip4.memory());
        let others = others.fold((0, 0), |(routes, bytes), one| {
            (routes + one.routes, bytes + one.root_bytes + one.record_bytes)
        });
        let on_pages = |mut part: view::MemoryUse, pages: PageSize| {
            part.page_bytes = Some(pages.bytes() as u64);
            part
        };
        let ip4_bytes = ip4.root_bytes + ip4.record_bytes;
        vec![
            part("IPv4 routes of all sources", rib, rib_most, rib_bytes),
            on_pages(part("IPv4 table", ip4.routes, ip4.max_routes, ip4_bytes), ip4.page_size),
            on_pages(
                part(
                    "IPv4 table beyond /24",
                    ip4_nodes.used(),
                    ip4_nodes.capacity(),
                    ip4_nodes.bytes(),
                ),
                ip4.page_size,
            ),
            part("IPv4 tables of other VRFs", others.0, 0, others.1),
            part("IPv6 routes of all sources", rib6, rib6_most, rib6_bytes),
            on_pages(
                part("IPv6 table", ip6.len(), ip6.max_routes(), ip6_memory.used_bytes),
                ip4.page_size,
            ),
            on_pages(
                part("next hops", adjacencies.used(), adjacencies.capacity(), adjacencies.bytes()),
                PageSize::Huge,
            ),
            on_pages(
                part("groups of next hops", groups.groups, groups.max_groups, groups.bytes),
                PageSize::Small,
            ),
            part("stations", stations.entries, stations.capacity, stations.bytes),
        ]
    }

    pub(super) fn show_workers(&self) -> Vec<view::Worker> {
        let cores = self.core.dataplane.worker_cores().into_iter().enumerate();
        cores.map(|(number, core)| self.show_worker(number, core)).collect()
    }

    fn show_worker(&self, number: usize, core: Option<usize>) -> view::Worker {
        let worker = self.core.dataplane.worker(number);
        let read = |pick: fn(&graph::GraphCounters) -> &AtomicU64| {
            worker.map_or(0, |worker| pick(worker.counters()).load(Ordering::Relaxed))
        };
        let (loops, idle) = (read(|c| &c.loops), read(|c| &c.idle_loops));
        let nodes = self.core.dataplane.node_totals(Some(number));
        let received = nodes.iter().find(|node| node.name == "port-rx");
        view::Worker {
            id: number as u32,
            core: core.map(|core| core as u16),
            loops,
            packets: received.map_or(0, |node| node.packets),
            busy: busy_share(loops, idle),
            sleeps: read(|c| &c.sleeps),
            stalls: worker.map(|worker| stalls(&worker.counters().stalls)).unwrap_or_default(),
            queues: self.queues_of(number),
        }
    }

    /// The receive queues that a worker polls: they were dealt out in turn.
    fn queues_of(&self, number: usize) -> Vec<String> {
        let workers = self.core.dataplane.worker_cores().len().max(1);
        let of_port = |(name, port): (&_, &crate::interfaces::OpenPort)| {
            let queues = (0..usize::from(port.config.rx_queues)).filter(|q| q % workers == number);
            let name: &control::config::objects::port::PortName = name;
            queues.map(|queue| format!("{name}/{queue}")).collect::<Vec<_>>()
        };
        self.core.ports.iter().flat_map(of_port).collect()
    }
}

/// The worker counts on while both are read: an idle one may have counted more of `idle`, read
/// later, than of `loops`.
fn busy_share(loops: u64, idle: u64) -> f64 {
    loops.saturating_sub(idle) as f64 / loops.max(1) as f64
}

fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// A worker's stalls, cycles turned into times by both clocks now.
fn stalls(counters: &graph::StallCounters) -> view::Stalls {
    let cycles_per_us = graph::tsc_hz() as f64 / 1e6;
    let us = |cycles: u64| cycles as f64 / cycles_per_us;
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let latest = counters.latest();
    let now_tsc = graph::tsc();
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let stall = |stall: &graph::Stall| view::Stall {
        ended_unix_s: now_s - us(now_tsc.saturating_sub(stall.ended_tsc)) / 1e6,
        length_us: us(stall.cycles),
    };
    view::Stalls {
        count: read(&counters.stalls),
        total_us: us(read(&counters.cycles)),
        longest_us: us(read(&counters.longest_cycles)),
        latest: latest.iter().map(stall).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::busy_share;

    #[test]
    fn a_worker_that_counts_on_while_it_is_read_is_not_busy() {
        let shares =
            [(0, 0), (0, 3), (100, 103), (100, 25)].map(|(all, idle)| busy_share(all, idle));
        assert_eq!(shares, [0.0, 0.0, 0.0, 0.75]);
    }
}
