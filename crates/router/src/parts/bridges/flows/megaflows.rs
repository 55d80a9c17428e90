//! What workers remember of bridges of flows: each is asked, and answers between packets.

use super::super::Bridges;
use crate::core::Core;
use control::engine::EngineError;
use control::view::{Megaflow, MegaflowFilter, Megaflows};
use flow::words::{self, Names};
use nodes::tables::{BridgeId, MOST_MEGAFLOWS};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long workers may take: one that is stopped is left out.
const PATIENCE: Duration = Duration::from_secs(5);

impl Bridges {
    pub(crate) fn show_megaflows(
        &self,
        core: &Core,
        filter: &MegaflowFilter,
    ) -> Result<impl FnOnce() -> Megaflows + Send + 'static, EngineError> {
        let wanted = filter.bridge.as_deref().map(|name| self.bridge_id(name)).transpose()?;
        let of = |id: &BridgeId, names: bool| -> Names {
            let numbers = self.flows.open.get(id).filter(|_| names).map(|open| &open.numbers);
            let numbers = numbers.into_iter().flatten();
            numbers.map(|(name, number)| (*number, name.to_string())).collect()
        };
        let bridges = self.names.iter();
        let bridges: BTreeMap<u16, (String, Names)> =
            bridges.map(|(id, name)| (id.0, (name.to_string(), of(id, filter.names)))).collect();
        let (clock, limit) =
            (core.dataplane.flow_clock.clone(), filter.limit.unwrap_or(usize::MAX));
        let answers = core.dataplane.ask_flows();
        Ok(move || {
            let end = Instant::now() + PATIENCE;
            let mut shown = Megaflows { limit: MOST_MEGAFLOWS, ..Megaflows::default() };
            for (worker, answer) in answers.into_iter().enumerate() {
                let left = end.saturating_duration_since(Instant::now());
                let told = answer.recv_timeout(left).unwrap_or_default();
                shown.workers.push(told.len());
                for (id, it) in told {
                    if wanted.is_some_and(|wanted| wanted != id.0) {
                        continue;
                    }
                    shown.total += 1;
                    let Some((bridge, names)) = bridges.get(&id.0) else { continue };
                    if shown.megaflows.len() >= limit {
                        continue;
                    }
                    let ago = |used: u64| clock.now_ns().saturating_sub(used) / 1_000_000;
                    shown.megaflows.push(Megaflow {
                        bridge: bridge.clone(),
                        worker: worker as u16,
                        flow: words::datapath_key(&it.key, &it.verdict.mask, names),
                        packets: it.packets,
                        bytes: it.bytes,
                        used_ms: (it.packets != 0).then(|| ago(it.used_ns)),
                        actions: words::actions(&it.verdict.steps, &it.key, names, None),
                    });
                }
            }
            shown.megaflows.sort();
            shown
        })
    }
}
