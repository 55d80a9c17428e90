//! The last packets dropped for each reason, with what the reason means.

use super::observe::{described, hex};
use crate::router::Router;
use control::engine::EngineError;
use control::view::{DroppedPacket, WhyDropped, WhyDroppedFilter};
use graph::{Layout, Reason, tsc_hz};
use nodes::tables::{Setup, is_outbound};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What workers kept, taken down.
struct Kept {
    layout: Arc<Layout<Setup>>,
    /// Ports by the numbers of their interfaces.
    ports: HashMap<u16, String>,
    /// How many were dropped, by node and reason.
    counts: HashMap<(&'static str, String), u64>,
    /// Worker, reason, packet.
    packets: Vec<(usize, u16, nodes::tables::DroppedPacket)>,
    now: SystemTime,
    now_tsc: u64,
}

impl Router {
    pub(super) fn show_why_dropped(
        &self,
        filter: &WhyDroppedFilter,
    ) -> Result<impl FnOnce() -> Vec<WhyDropped> + Send + 'static + use<>, EngineError> {
        let layout = Arc::clone(&self.core.dataplane.layout);
        self.knows(filter, &layout)?;
        let (mut ports, mut counts) = (HashMap::new(), HashMap::new());
        for (name, port) in self.core.ports.iter() {
            ports.extend(port.rows().map(|id| (id, name.as_str().to_owned())));
            if filter.port.as_ref().is_none_or(|wanted| wanted == name.as_str()) {
                for count in self.core.dropped(port) {
                    *counts.entry((count.node, count.reason)).or_default() += count.packets;
                }
            }
        }
        let cleared_tsc = self.core.cleared.tsc;
        let mut packets = self.core.dataplane.last_dropped();
        packets.retain(|(_, _, packet)| packet.tsc >= cleared_tsc);
        let (now, now_tsc) = (SystemTime::now(), graph::tsc());
        let (kept, filter) =
            (Kept { layout, ports, counts, packets, now, now_tsc }, filter.clone());
        Ok(move || kept.show(&filter))
    }

    /// Refuses names that nothing has.
    fn knows(&self, filter: &WhyDroppedFilter, layout: &Layout<Setup>) -> Result<(), EngineError> {
        if let Some(port) = &filter.port {
            self.core.port_named(port)?;
        }
        let nodes: Vec<&str> = layout.reasons.iter().map(|it| it.node).collect();
        if let Some(node) = filter.node.as_deref().filter(|node| !nodes.contains(node)) {
            return Err(EngineError::unknown("node that drops packets", node, nodes));
        }
        let names: Vec<&str> = layout.reasons.iter().map(|it| &it.exit[..]).collect();
        if let Some(reason) = filter.reason.as_deref().filter(|reason| !names.contains(reason)) {
            return Err(EngineError::unknown("reason to drop packets", reason, names));
        }
        Ok(())
    }
}

impl Kept {
    /// Reasons that something was dropped for, those of the newest packets first.
    fn show(mut self, filter: &WhyDroppedFilter) -> Vec<WhyDropped> {
        self.packets.sort_unstable_by_key(|(_, _, packet)| std::cmp::Reverse(packet.tsc));
        let mut shown: Vec<WhyDropped> = Vec::new();
        for (number, why) in (0..).zip(&self.layout.reasons) {
            let fits = |wanted: &Option<String>, name: &str| {
                wanted.as_ref().is_none_or(|wanted| wanted == name)
            };
            if !fits(&filter.node, why.node) || !fits(&filter.reason, &why.exit) {
                continue;
            }
            let of_reason = self.packets.iter().filter(|(_, reason, _)| *reason == number);
            let last = of_reason.filter_map(|(worker, _, packet)| {
                let packet = self.packet(*worker, why, packet);
                let charged = if packet.to.is_some() { &packet.to } else { &packet.port };
                (filter.port.is_none() || *charged == filter.port).then_some(packet)
            });
            let last: Vec<DroppedPacket> = last.collect();
            let packets = self.counts.get(&(why.node, why.exit.clone())).copied().unwrap_or(0);
            if packets == 0 && last.is_empty() {
                continue;
            }
            shown.push(WhyDropped {
                node: why.node.to_owned(),
                reason: why.exit.clone(),
                meaning: why.about.clone(),
                help: why.mend.to_owned(),
                packets,
                last,
            });
        }
        let youngest = |it: &WhyDropped| it.last.first().map_or(u64::MAX, |packet| packet.age_ms);
        shown.sort_by_key(youngest);
        shown
    }

    fn packet(
        &self,
        worker: usize,
        why: &Reason,
        packet: &nodes::tables::DroppedPacket,
    ) -> DroppedPacket {
        let cycles = self.now_tsc.saturating_sub(packet.tsc);
        let age_ms = cycles / (tsc_hz() / 1000).max(1);
        let now_ms = self.now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
        let name = |id: u16| self.ports.get(&id).cloned();
        DroppedPacket {
            unix_ms: now_ms.saturating_sub(age_ms),
            age_ms,
            port: name(packet.rx),
            to: is_outbound(why.node).then(|| name(packet.tx)).flatten(),
            worker: worker as u32,
            bytes: packet.length,
            detail: described(packet.bytes(), packet.consumed.into(), packet.length as usize),
            hex: hex(packet.bytes()),
        }
    }
}
