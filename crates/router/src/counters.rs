//! What was counted since counters were cleared.

use crate::cleared::Cleared;
use crate::core::Core;
use crate::devices::Device;
use crate::interfaces::OpenPort;
use control::config::objects::port::PortName;
use dataplane::{
    BridgedTotals, DropCount, InterfaceTotals, MirroredTotals, NodeTotals, TwinnedTotals,
};
use fib::adjacency::AdjacencyId;
use nodes::tables::is_outbound;

impl Core {
    /// Sets every counter to zero.
    pub(crate) fn clear_counters(&mut self) {
        let (tsc, nodes) = (graph::tsc(), self.dataplane.node_totals(None));
        self.cleared = Cleared { tsc, nodes, ..Cleared::default() };
        let next_hops = self.routing.next_hops().into_iter();
        next_hops.for_each(|next_hop| self.clear_next_hop(next_hop.id));
        let rows: Vec<u16> = self.ports.values().flat_map(OpenPort::rows).collect();
        rows.into_iter().for_each(|id| self.clear_interface(id));
    }

    /// Sets the counters of one interface to zero: all of them, or those that a new one finds of
    /// who had its number before.
    pub(crate) fn clear_interface(&mut self, id: u16) {
        self.neighborhood.machine.clear_counts(id);
        let Self { cleared, dataplane, .. } = self;
        cleared.interfaces.insert(id, dataplane.interface_totals(id));
        cleared.bridged.insert(id, dataplane.bridged_totals(id));
        cleared.mirrored.insert(id, dataplane.mirrored_totals(id));
        cleared.twinned.insert(id, dataplane.twinned_totals(id));
        for count in dataplane.drops_of(id) {
            cleared.drops.insert((id, count.node, count.reason), count.packets);
        }
    }

    /// Sets what is counted by one next hop to zero.
    fn clear_next_hop(&mut self, id: AdjacencyId) {
        match self.dataplane.next_hop_totals(id.0) {
            [0, 0] => _ = self.cleared.next_hops.remove(&id.0),
            totals => _ = self.cleared.next_hops.insert(id.0, totals),
        }
    }

    /// Next hops that began since the last call count from now on.
    pub(crate) fn begin_next_hops(&mut self) {
        for id in self.routing.take_begun() {
            self.clear_next_hop(id);
        }
    }

    /// Packets and octets that left by a next hop.
    pub(crate) fn left_by(&self, id: AdjacencyId) -> [u64; 2] {
        let then = self.cleared.next_hops.get(&id.0).copied().unwrap_or_default();
        let now = self.dataplane.next_hop_totals(id.0);
        std::array::from_fn(|at| now[at].wrapping_sub(then[at]))
    }

    /// What a port carried, over all its interfaces.
    pub(crate) fn carried(&self, port: &OpenPort) -> InterfaceTotals {
        let mut sum = InterfaceTotals::default();
        for id in port.rows() {
            let now = self.dataplane.interface_totals(id);
            let then = self.cleared.interfaces.get(&id).copied().unwrap_or_default();
            sum.rx_packets =
                sum.rx_packets.wrapping_add(now.rx_packets.wrapping_sub(then.rx_packets));
            sum.rx_bytes = sum.rx_bytes.wrapping_add(now.rx_bytes.wrapping_sub(then.rx_bytes));
            sum.tx_packets =
                sum.tx_packets.wrapping_add(now.tx_packets.wrapping_sub(then.tx_packets));
            sum.tx_bytes = sum.tx_bytes.wrapping_add(now.tx_bytes.wrapping_sub(then.tx_bytes));
        }
        sum
    }

    /// What it taught its bridge.
    pub(crate) fn taught(&self, port: &OpenPort) -> BridgedTotals {
        let mut sum = BridgedTotals::default();
        for id in port.rows() {
            let now = self.dataplane.bridged_totals(id);
            let then = self.cleared.bridged.get(&id).copied().unwrap_or_default();
            sum.learned = sum.learned.wrapping_add(now.learned.wrapping_sub(then.learned));
            sum.moved = sum.moved.wrapping_add(now.moved.wrapping_sub(then.moved));
            sum.not_learned =
                sum.not_learned.wrapping_add(now.not_learned.wrapping_sub(then.not_learned));
        }
        sum
    }

    /// What of its packets was dropped: of each reason of each of its interfaces, how many.
    pub(crate) fn dropped(&self, port: &OpenPort) -> Vec<DropCount> {
        let since = |mut count: DropCount| {
            let key = (count.interface, count.node, count.reason.clone());
            let then = self.cleared.drops.get(&key).copied().unwrap_or_default();
            count.packets = count.packets.wrapping_sub(then);
            (count.packets != 0).then_some(count)
        };
        port.rows().flat_map(|id| self.drops_of(id)).filter_map(since).collect()
    }

    /// Every drop there was of one interface's packets, and to a router before this one.
    fn drops_of(&self, id: u16) -> Vec<DropCount> {
        let mut drops = self.dataplane.drops_of(id);
        let of_id = (id, "", String::new())..(id.saturating_add(1), "", String::new());
        let reasons = &self.dataplane.layout.reasons;
        for (_, node, reason) in self.cleared.drops.range(of_id).map(|(key, _)| key) {
            if !drops.iter().any(|it| (it.node, &it.reason) == (node, reason)) {
                let known = reasons.iter().find(|it| it.node == *node && it.exit == *reason);
                let answered = known.is_some_and(|it| it.answer.is_some());
                let (outbound, reason) = (is_outbound(node), reason.clone());
                drops.push(DropCount {
                    interface: id,
                    outbound,
                    answered,
                    node,
                    reason,
                    packets: 0,
                });
            }
        }
        drops
    }

    /// What the twin of one interface was handed since counters were cleared.
    pub(crate) fn twinned_since_cleared(&self, id: u16) -> TwinnedTotals {
        let mut totals = self.dataplane.twinned_totals(id);
        let then = self.cleared.twinned.get(&id).copied().unwrap_or_default();
        for (now, then) in totals.passed.iter_mut().zip(then.passed) {
            *now = now.wrapping_sub(then);
        }
        for (now, then) in totals.limited.iter_mut().zip(then.limited) {
            *now = now.wrapping_sub(then);
        }
        totals
    }

    /// What the device of a port could not receive, and not send.
    pub(crate) fn device_errors(&self, port: &OpenPort) -> [u64; 2] {
        let stats = match &port.device {
            // A device that went a moment ago has none: that it went is told by the link's watch.
            Some(Device::Dpdk(device)) => device.stats().unwrap_or_default(),
            Some(Device::Given(_) | Device::Memory | Device::Virtual) | None => {
                dpdk::PortStats::default()
            }
        };
        let [rx, tx] = self.cleared.errors.get(&port.id).copied().unwrap_or_default();
        let received = stats.rx_errors + stats.rx_missed + stats.rx_no_buffers;
        [received.saturating_add(rx), stats.tx_errors.saturating_add(tx)]
    }

    /// Node totals since counters were cleared.
    pub(crate) fn nodes_since_cleared(&self) -> Vec<NodeTotals> {
        let mut totals = self.dataplane.node_totals(None);
        for (now, then) in totals.iter_mut().zip(&self.cleared.nodes) {
            let less = |now: &mut u64, then: u64| *now = now.wrapping_sub(then);
            less(&mut now.calls, then.calls);
            less(&mut now.packets, then.packets);
            less(&mut now.cycles, then.cycles);
            less(&mut now.taken, then.taken);
            now.exits.iter_mut().zip(&then.exits).for_each(|(now, then)| less(now, *then));
        }
        totals
    }

    /// Copies of a port's frames since counters were cleared, over all its interfaces.
    pub(crate) fn mirrored_since_cleared(&self, port: &PortName) -> MirroredTotals {
        let mut sum = MirroredTotals::default();
        for id in self.ports.get(port).into_iter().flat_map(OpenPort::rows) {
            let now = self.dataplane.mirrored_totals(id);
            let then = self.cleared.mirrored.get(&id).copied().unwrap_or_default();
            sum.received = sum.received.wrapping_add(now.received.wrapping_sub(then.received));
            sum.sent = sum.sent.wrapping_add(now.sent.wrapping_sub(then.sent));
            sum.lost = sum.lost.wrapping_add(now.lost.wrapping_sub(then.lost));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use crate::Router;
    use control::config::{Config, Host, Source, parse};
    use control::engine::Engine;
    use std::sync::Arc;
    use std::time::Duration;

    fn config(ports: &str) -> Config {
        let fixed = "workers.mode = \"single-thread\"\n\
                     memory = { buffers = 4096, hugepages = \"never\" }\n";
        parse(&Source::new("router.toml", format!("{fixed}{ports}")), &Host::any()).unwrap()
    }

    #[test]
    fn a_new_port_does_not_show_what_another_of_its_number_counted() {
        let frame = "ffffffffffff02000000000188b5";
        let old = config(&format!("port.p1 = {{ kind = \"memory\", frames = [\"{frame}\"] }}\n"));
        let new = config("port.p2 = { kind = \"memory\" }\n");
        let mut router = Router::start(&old, Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&config(""), &old)).unwrap();
        let mut turns = 0;
        while router.show_ports()[0].rx.drops == 0 {
            router.tick(Duration::ZERO);
            turns += 1;
            assert!(turns < 100_000, "nothing is received");
        }
        let number = |router: &Router| router.core.ports.values().map(|port| port.id).next();
        let (before, counted) = (number(&router), router.show_ports()[0].rx);
        assert!(counted.packets > 0 && counted.bytes >= 14 * counted.packets);
        router.apply_all(&Config::diff(&old, &new)).unwrap();
        assert_eq!(number(&router), before, "numbers are used again");
        let shown = &router.show_ports()[0];
        assert_eq!((&shown.name[..], shown.rx, shown.tx), ("p2", <_>::default(), <_>::default()));
        let port = router.core.ports.values().next().unwrap();
        assert!(router.core.dropped(port).is_empty(), "{:?}", router.core.dropped(port).len());
    }
}
