//! What a bridge of flows stands in: counters of its ports, ways out for controllers' packets.

use super::normal::Domains;
use crate::core::Core;
use crate::flow_connections::FlowConnections;
use crate::world::Clock;
use export::Place;
use flow::{
    InTunnel, Key, Snapshot, Step, Told, Tracked, Verdict, ct_state, extract, pop_mpls_from,
    push_mpls_into, push_vlan_into, translate_again, write_field,
};
use graph::{Publisher, tsc_hz};
use nodes::flow::{Now, track};
use nodes::interface::{Exporter, told};
use nodes::tables::{
    FlowBridges, FlowClock, FlowRow, Injected, Injector, Stations, WorkerCounters,
};
use openflow::action::Sample;
use openflow::action::sample::Direction;
use openflow::message::PortStats;
use openflow::{PortNumber, port};
use packet::{PacketBuf, Pool};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use switch::World;

/// See the module.
pub(super) struct Surroundings {
    pub(super) clock: FlowClock,
    pub(super) publisher: Arc<Mutex<Publisher<FlowBridges>>>,
    pub(super) rows: Arc<BTreeMap<u16, FlowRow>>,
    pub(super) collectors: Arc<BTreeMap<u32, Arc<Exporter>>>,
    counters: Vec<Arc<WorkerCounters>>,
    injector: Injector,
    pool: Arc<dyn Pool>,
    pub(super) stations: Stations,
    /// Where `NORMAL` leads frames that come from no port.
    pub(super) domains: Domains,
    pub(super) connections: Arc<FlowConnections>,
    /// What connections count time by.
    seconds: Clock,
    told: Vec<(Arc<Told>, Vec<u8>, PortNumber)>,
}

impl Surroundings {
    pub(super) fn new(core: &Core) -> Self {
        Self {
            clock: core.dataplane.flow_clock.clone(),
            publisher: Arc::clone(&core.dataplane.flow_bridges),
            rows: Arc::default(),
            collectors: Arc::default(),
            counters: core.dataplane.worker_counters(),
            injector: core.dataplane.injector.clone(),
            pool: Arc::clone(&core.pool),
            stations: core.dataplane.stations.clone(),
            domains: Domains::default(),
            connections: Arc::clone(&core.flow_connections),
            seconds: core.clock.clone(),
            told: Vec::new(),
        }
    }

    /// What controllers' packets told.
    pub(super) fn take_told(&mut self) -> Vec<(Arc<Told>, Vec<u8>, PortNumber)> {
        std::mem::take(&mut self.told)
    }

    /// By a port; `own`: what flows say of it in a tunnel that lets them.
    fn send_by(&self, frame: &[u8], number: PortNumber, own: Option<InTunnel>) {
        let Some(row) = self.rows.get(&number).filter(|row| !row.is_own) else { return };
        let interface = row.interface;
        self.inject(frame, |packet| injected(interface, own, packet));
    }

    /// Gives a copy of a frame to the graph.
    pub(super) fn inject(&self, frame: &[u8], way: impl FnOnce(PacketBuf) -> Injected) {
        if let Some(packet) = self.pool.cache().copy_of(frame)
            && let Err(refused) = self.injector.send(way(packet))
            && let Some(packet) = refused.into_packet()
        {
            self.pool.cache().release_one(packet);
        }
    }
}

/// A frame that leaves by an interface; `own`: what flows say of it in a tunnel.
pub(super) fn injected(interface: u16, own: Option<InTunnel>, packet: PacketBuf) -> Injected {
    match own {
        Some(own) => Injected::InTunnel { interface, own, packet },
        None => Injected::Frame { interface, packet },
    }
}

impl World for Surroundings {
    fn port_stats(&self, number: PortNumber) -> Option<PortStats> {
        let row = self.rows.get(&number)?;
        let sum = |of: fn(&nodes::tables::InterfaceCounters) -> &AtomicU64| {
            let own =
                self.counters.iter().filter_map(|it| it.interfaces.get(usize::from(row.interface)));
            own.map(|it| of(it).load(Ordering::Relaxed)).sum()
        };
        Some(PortStats {
            number,
            rx_packets: sum(|it| &it.rx_packets),
            tx_packets: sum(|it| &it.tx_packets),
            rx_bytes: sum(|it| &it.rx_bytes),
            tx_bytes: sum(|it| &it.tx_bytes),
            // Drops have reasons here (`volley show errors`), which OpenFlow has no place for.
            rx_dropped: u64::MAX,
            tx_dropped: u64::MAX,
            rx_errors: u64::MAX,
            tx_errors: u64::MAX,
            age: Duration::ZERO,
        })
    }

    fn send(&mut self, frame: &[u8], in_port: PortNumber, verdict: &Verdict, tables: &Snapshot) {
        self.act(frame, in_port, verdict, tables);
    }
}

impl Surroundings {
    /// Takes a frame through steps of a verdict.
    fn act(&mut self, frame: &[u8], in_port: PortNumber, verdict: &Verdict, tables: &Snapshot) {
        self.steps(&mut frame.to_vec(), in_port, &verdict.steps, tables);
        for counters in &verdict.counters {
            counters.add(1, frame.len() as u64, self.clock.now_ns());
        }
    }

    /// Has a controller's packet noted for collectors, by what the first worker notes with: where
    /// that is in its hands just then it counts as missed, as what it finds no room for.
    fn sample(&self, frame: &[u8], in_port: PortNumber, sample: &Sample) {
        let Some(exporter) = self.collectors.get(&sample.set) else { return };
        let told = |number: &PortNumber| self.rows.get(number).map_or(0, |row| told(row.interface));
        let place = Place {
            input: told(&in_port),
            output: told(&sample.port),
            is_sent: match sample.direction {
                Direction::Unsaid => sample.port != port::NONE,
                Direction::Ingress => false,
                Direction::Egress => true,
            },
        };
        exporter.sample(0, frame, place, sample, self.seconds.tsc());
    }

    fn steps(
        &mut self,
        frame: &mut Vec<u8>,
        in_port: PortNumber,
        steps: &[Step],
        tables: &Snapshot,
    ) {
        let (mut tracked, mut next, mut own) = (Tracked::default(), 0, None);
        while let Some(step) = steps.get(next) {
            next += 1;
            match step {
                Step::Tunnel(it) => own = Some(*it),
                Step::Output(number) => self.send_by(frame, *number, own.take()),
                Step::Normal => self.send_normally(frame, in_port, own.take()),
                Step::Set(field, value, mask) => _ = write_field(frame, *field, *value, *mask),
                Step::PushVlan(tpid, tci) => {
                    frame.splice(0..0, [0; 4]);
                    push_vlan_into(frame, *tpid, *tci);
                }
                Step::PopVlan if frame.len() >= 16 => drop(frame.drain(12..16)),
                Step::PushMpls { kind, label, tags } => {
                    frame.splice(0..0, [0; 4]);
                    if !push_mpls_into(frame, *kind, *label, *tags) {
                        frame.drain(..4);
                    }
                }
                Step::PopMpls { kind, tags } => {
                    if pop_mpls_from(frame, *kind, *tags) {
                        frame.drain(..4);
                    }
                }
                Step::Tell(told) => self.told.push((Arc::clone(told), frame.clone(), in_port)),
                Step::Track(step) => {
                    let tracking = self.connections.wanted();
                    let was = if tracked.zone == step.zone { tracked.state } else { 0 };
                    let was = was & (ct_state::SNAT | ct_state::DNAT);
                    let second = (self.seconds.tsc() / tsc_hz()) as u32;
                    let now = Now { second, only_looks: false };
                    // Who is refused goes no further; nobody is there to be told.
                    let Ok((said, change)) = track(frame, step, was, &tracking, now) else { break };
                    if let Some(change) = change {
                        change.apply(frame);
                    }
                    tracked = said;
                }
                Step::Recirculate(_, frozen) => {
                    let mut key = Key::default();
                    key.begin_again(frozen, 1, &tracked);
                    extract(frame, in_port, &mut key);
                    let then = translate_again(tables, &key, frozen);
                    self.act(frame, in_port, &then, tables);
                }
                Step::Fork(many) => {
                    let copy = steps.get(next..next + many - 1).unwrap_or_default();
                    self.steps(&mut frame.clone(), in_port, copy, tables);
                    next += many - 1;
                }
                Step::Sample(sample) => self.sample(frame, in_port, sample),
                Step::End | Step::PopVlan | Step::Queue(_) | Step::Meter(_) => {}
            }
        }
    }
}
