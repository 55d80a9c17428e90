//! What was counted since counters were cleared.

use crate::cleared::Cleared;
use crate::core::Core;
use crate::interfaces::OpenPort;
use control::config::objects::port::PortName;
use dataplane::{BridgedTotals, DropCount, InterfaceTotals, MirroredTotals};
use fib::adjacency::AdjacencyId;

impl Core {
    /// Sets every counter to zero.
    pub(crate) fn clear_counters(&mut self) {
        self.cleared = Cleared { nodes: self.dataplane.node_totals(None), ..Cleared::default() };
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
        std::array::from_fn(|at| now[at].saturating_sub(then[at]))
    }

    /// What a port carried, over all its interfaces.
    pub(crate) fn carried(&self, port: &OpenPort) -> InterfaceTotals {
        let mut sum = InterfaceTotals::default();
        for id in port.rows() {
            let now = self.dataplane.interface_totals(id);
            let then = self.cleared.interfaces.get(&id).copied().unwrap_or_default();
            sum.rx_packets += now.rx_packets - then.rx_packets;
            sum.rx_bytes += now.rx_bytes - then.rx_bytes;
            sum.tx_packets += now.tx_packets - then.tx_packets;
            sum.tx_bytes += now.tx_bytes - then.tx_bytes;
        }
        sum
    }

    /// What it taught its bridge.
    pub(crate) fn taught(&self, port: &OpenPort) -> BridgedTotals {
        let mut sum = BridgedTotals::default();
        for id in port.rows() {
            let now = self.dataplane.bridged_totals(id);
            let then = self.cleared.bridged.get(&id).copied().unwrap_or_default();
            sum.learned += now.learned - then.learned;
            sum.moved += now.moved - then.moved;
            sum.not_learned += now.not_learned - then.not_learned;
        }
        sum
    }

    /// What of its packets was dropped: of each reason of each of its interfaces, how many.
    pub(crate) fn dropped(&self, port: &OpenPort) -> Vec<DropCount> {
        let since = |mut count: DropCount| {
            let key = (count.interface, count.node, count.reason.clone());
            count.packets -= self.cleared.drops.get(&key).copied().unwrap_or_default();
            (count.packets != 0).then_some(count)
        };
        port.rows().flat_map(|id| self.dataplane.drops_of(id)).filter_map(since).collect()
    }

    /// Copies of a port's frames since counters were cleared, over all its interfaces.
    pub(crate) fn mirrored_since_cleared(&self, port: &PortName) -> MirroredTotals {
        let mut sum = MirroredTotals::default();
        for id in self.ports.get(port).into_iter().flat_map(OpenPort::rows) {
            let now = self.dataplane.mirrored_totals(id);
            let then = self.cleared.mirrored.get(&id).copied().unwrap_or_default();
            sum.received += now.received - then.received;
            sum.sent += now.sent - then.sent;
            sum.lost += now.lost - then.lost;
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
