//! What `show runtime` tells of nodes.
//!
//! ```text
//!  Name      State    Calls   Vectors   Suspends   Packet-Clocks   Vectors/Call
//!  l2-fwd    active      40      8192          0          2.31e1         204.80
//! ```
//! A table for each thread; states may have blanks in them, so what is read stands at the end.

use std::collections::BTreeMap;

use lab_record::NodeCost;

/// What nodes that saw packets cost so far, of all threads together.
///
/// Three digits are shown of what a packet cost since the last `clear runtime`: added up from one
/// look to the next they stay three digits of what was between.
#[derive(Default)]
pub(super) struct Nodes(BTreeMap<String, NodeCost>);

impl Nodes {
    /// Adds what was told since it was cleared.
    pub(super) fn add(&mut self, text: &str) {
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, .., calls, packets, _suspends, clocks, _per_call] = words[..] else {
                continue;
            };
            let (Ok(calls), Ok(packets), Ok(clocks)) =
                (calls.parse::<u64>(), packets.parse::<u64>(), clocks.parse::<f64>())
            else {
                continue;
            };
            if packets == 0 {
                continue;
            }
            let node = self.0.entry(name.to_owned()).or_insert_with(|| NodeCost {
                node: name.to_owned(),
                calls: 0,
                packets: 0,
                cycles: 0.0,
            });
            node.calls = node.calls.saturating_add(calls);
            node.packets = node.packets.saturating_add(packets);
            // The clocks are those of a packet.
            node.cycles += clocks * packets as f64;
        }
    }

    /// All of them, by name.
    pub(super) fn all(&self) -> Vec<NodeCost> {
        self.0.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_added_and_what_saw_no_packet_is_left_out() {
        let text = "Thread 0 vpp_main (lcore 1)\n\
            Time 50.7, 10.000000 sec internal node vector rate 0.00 loops/sec 1568352.62\n\
            \x20 vector rates in 0.0000e0, out 0.0000e0, drop 0.0000e0, punt 0.0000e0\n\
            \x20            Name                 State         Calls          Vectors        Suspends      Packet-Clocks   Vectors/Call  \n\
            bfd-process                   \"event wait\"               0               0               1          3.00e4            0.00\n\
            l2-fwd                           active                 10            1000               0          2.50e1          100.00\r\n\
            ---------------\nThread 1 vpp_wk_0 (lcore 2)\n\
            l2-fwd                           active                 20            3000               0          3.50e1          150.00\n";
        let mut nodes = Nodes::default();
        nodes.add(text);
        let mut expected =
            NodeCost { node: "l2-fwd".into(), calls: 30, packets: 4_000, cycles: 130_000.0 };
        assert_eq!(nodes.all(), [expected.clone()]);
        nodes.add("l2-fwd  active  5  100  0  1.00e1  20.00");
        (expected.calls, expected.packets, expected.cycles) = (35, 4_100, 131_000.0);
        assert_eq!(nodes.all(), [expected]);
    }
}
