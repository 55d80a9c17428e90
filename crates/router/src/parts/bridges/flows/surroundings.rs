//! What a bridge of flows stands in: counters of its ports, ways out for controllers' packets.

use crate::core::Core;
use fib::mac::MacKey;
use flow::{Step, Told, Verdict, push_vlan_into, write_field};
use graph::Publisher;
use nodes::tables::{
    BridgeId, FlowBridges, FlowClock, FlowRow, Injected, Injector, Stations, WorkerCounters,
};
use openflow::PortNumber;
use openflow::message::PortStats;
use packet::Pool;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use switch::World;

/// See the module.
pub(super) struct Surroundings {
    id: BridgeId,
    pub(super) clock: FlowClock,
    pub(super) publisher: Arc<Mutex<Publisher<FlowBridges>>>,
    pub(super) rows: Arc<BTreeMap<u16, FlowRow>>,
    counters: Vec<Arc<WorkerCounters>>,
    injector: Injector,
    pool: Arc<dyn Pool>,
    stations: Stations,
    told: Vec<(Arc<Told>, Vec<u8>, PortNumber)>,
}

impl Surroundings {
    pub(super) fn new(core: &Core, id: BridgeId) -> Self {
        Self {
            id,
            clock: core.dataplane.flow_clock.clone(),
            publisher: Arc::clone(&core.dataplane.flow_bridges),
            rows: Arc::default(),
            counters: core.dataplane.worker_counters(),
            injector: core.dataplane.injector.clone(),
            pool: Arc::clone(&core.pool),
            stations: core.dataplane.stations.clone(),
            told: Vec::new(),
        }
    }

    /// What controllers' packets told.
    pub(super) fn take_told(&mut self) -> Vec<(Arc<Told>, Vec<u8>, PortNumber)> {
        std::mem::take(&mut self.told)
    }

    fn send_by(&self, frame: &[u8], number: PortNumber) {
        let Some(row) = self.rows.get(&number).filter(|row| !row.is_own) else { return };
        if let Some(packet) = self.pool.cache().copy_of(frame)
            && let Err(refused) =
                self.injector.send(Injected::Frame { interface: row.interface, packet })
            && let Some(packet) = refused.into_packet()
        {
            self.pool.cache().release_one(packet);
        }
    }

    /// As an ordinary bridge: where the station is, else everywhere.
    fn send_normally(&self, frame: &[u8], in_port: PortNumber) {
        let station = frame.first_chunk::<6>().map(|mac| MacKey::new(self.id.0, *mac));
        let known = station.and_then(|key| self.stations.table.lookup(key, self.stations.now()));
        for (&number, row) in self.rows.iter() {
            let is_meant = known.is_none_or(|station| station.port == u32::from(row.interface));
            if number != in_port && is_meant {
                self.send_by(frame, number);
            }
        }
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

    fn send(&mut self, frame: &[u8], in_port: PortNumber, verdict: &Verdict) {
        let mut frame = frame.to_vec();
        for step in &verdict.steps {
            match step {
                Step::Output(number) => self.send_by(&frame, *number),
                Step::Normal => self.send_normally(&frame, in_port),
                Step::Set(field, value, mask) => _ = write_field(&mut frame, *field, *value, *mask),
                Step::PushVlan(tpid, tci) => {
                    frame.splice(0..0, [0; 4]);
                    push_vlan_into(&mut frame, *tpid, *tci);
                }
                Step::PopVlan if frame.len() >= 16 => drop(frame.drain(12..16)),
                Step::Tell(told) => self.told.push((Arc::clone(told), frame.clone(), in_port)),
                Step::PopVlan | Step::Queue(_) | Step::Meter(_) => {}
            }
        }
        for counters in &verdict.counters {
            counters.add(1, frame.len() as u64, self.clock.now_ns());
        }
    }
}
