//! What was counted since counters were cleared.

use crate::cleared::Cleared;
use crate::core::Core;
use crate::interfaces::OpenPort;
use control::config::objects::port::PortName;
use dataplane::{BridgedTotals, DropCount, InterfaceTotals, MirroredTotals};

impl Core {
    /// Sets every counter to zero.
    pub(crate) fn clear_counters(&mut self) {
        let mut cleared = Cleared { nodes: self.dataplane.node_totals(None), ..Cleared::default() };
        for id in self.ports.values().flat_map(OpenPort::rows) {
            cleared.interfaces.insert(id, self.dataplane.interface_totals(id));
            cleared.bridged.insert(id, self.dataplane.bridged_totals(id));
            cleared.mirrored.insert(id, self.dataplane.mirrored_totals(id));
            cleared.twinned.insert(id, self.dataplane.twinned_totals(id));
            for count in self.dataplane.drops_of(id) {
                cleared.drops.insert((id, count.node, count.reason), count.packets);
            }
        }
        self.cleared = cleared;
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
