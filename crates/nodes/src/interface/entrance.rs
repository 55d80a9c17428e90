//! Where received frames go first, by the interface that they came in by.
//!
//! ```text
//!  port_rx, vlan_input, tunnel_decap ┬▶ ip_express          routed
//!                                    ├▶ l2_xconnect         cross-connected
//!                                    ├▶ l2_learn            bridged
//!                                    ├▶ l2_forward          bridged, and nothing is to be learned
//!                                    ├▶ flow_input          bridged by flows
//!                                    ├▶ l2_spanning         bridged, and part of a spanning tree
//!                                    ├▶ bond_input          a member of a bond
//!                                    └▶ drop                down, or gone
//! ```
//! What interfaces with features receive takes its turns at those first, by `interface_input`.

use crate::tables::{Interfaces, Link, Mode, Spanning, WorkerCounters};

/// The ways in. `entrances!` makes an exit of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entrance {
    /// To be routed, or for us.
    Ethernet,
    /// To the interface that this one is cross-connected with.
    CrossConnect,
    /// To be bridged.
    Bridge,
    /// To be bridged, and nothing is to be learned from it.
    BridgeUnlearned,
    /// To the flows of its bridge.
    Flow,
    /// To the spanning tree that its bridge takes part in, and then to be bridged.
    Spanning,
    /// To the bond that the interface is a member of.
    Bond,
    /// Nowhere: the interface is down, or gone.
    InterfaceDown,
}

/// Declares the exits of a node that receives frames: an exit for each [`Entrance`], which turns
/// into it, and the node's own ones behind those.
macro_rules! entrances {
    ($(#[$meta:meta])* pub enum $name:ident { $($own:tt)* }) => {
        graph::exits! {
            $(#[$meta])*
            pub enum $name {
                /// To be routed, or for us.
                Ethernet => node "ip-express",
                /// To the interface that this one is cross-connected with.
                CrossConnect => node "l2-xconnect",
                /// To be bridged.
                Bridge => node "l2-learn",
                /// To be bridged, and nothing is to be learned from it.
                BridgeUnlearned => node "l2-forward",
                /// To the flows of its bridge.
                Flow => node "flow-input",
                /// To the spanning tree that its bridge takes part in, and then to be bridged.
                Spanning => node "l2-spanning",
                /// To the bond that the interface is a member of.
                Bond => node "bond-input",
                /// The interface is administratively down.
                InterfaceDown => drop "`volley port set NAME up`, if the port is to carry \
                    traffic.",
                $($own)*
            }
        }

        impl From<$crate::interface::Entrance> for $name {
            #[inline]
            fn from(entrance: $crate::interface::Entrance) -> Self {
                use $crate::interface::Entrance;
                match entrance {
                    Entrance::Ethernet => Self::Ethernet,
                    Entrance::CrossConnect => Self::CrossConnect,
                    Entrance::Bridge => Self::Bridge,
                    Entrance::BridgeUnlearned => Self::BridgeUnlearned,
                    Entrance::Flow => Self::Flow,
                    Entrance::Spanning => Self::Spanning,
                    Entrance::Bond => Self::Bond,
                    Entrance::InterfaceDown => Self::InterfaceDown,
                }
            }
        }
    };
}
pub(crate) use entrances;

impl Interfaces {
    /// Where frames go that interface `id` receives, its features aside.
    #[inline]
    pub fn entrance(&self, id: u16) -> Entrance {
        let Some(row) = self.get(id).filter(|row| row.up) else { return Entrance::InterfaceDown };
        match row.mode {
            Mode::Routed => Entrance::Ethernet,
            Mode::CrossConnect(_) => Entrance::CrossConnect,
            // The router's own station gets what the bridge has for it.
            Mode::Bridged(_) if row.link == Link::Bridge => Entrance::Ethernet,
            Mode::Bridged(port) if port.spanning != Spanning::None => Entrance::Spanning,
            Mode::Bridged(port) if port.flow.is_some() => Entrance::Flow,
            Mode::Bridged(port) if port.learn => Entrance::Bridge,
            Mode::Bridged(_) => Entrance::BridgeUnlearned,
            Mode::Member(_) => Entrance::Bond,
        }
    }
}

/// Counts what interfaces receive: frames that follow each other and are of one interface at once,
/// the last ones when it goes.
pub struct ReceivedRun<'a> {
    counters: &'a WorkerCounters,
    interface: u16,
    packets: u64,
    bytes: u64,
}

impl<'a> ReceivedRun<'a> {
    /// Nothing yet.
    #[inline]
    pub fn new(counters: &'a WorkerCounters) -> Self {
        Self { counters, interface: u16::MAX, packets: 0, bytes: 0 }
    }

    /// One frame more.
    #[inline(always)]
    pub fn add(&mut self, interface: u16, bytes: usize) {
        if interface != self.interface {
            self.counters.count_received(self.interface, self.packets, self.bytes);
            (self.interface, self.packets, self.bytes) = (interface, 0, 0);
        }
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

impl Drop for ReceivedRun<'_> {
    fn drop(&mut self) {
        self.counters.count_received(self.interface, self.packets, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Interface;
    use crate::testing::rows;
    use std::sync::atomic::Ordering;

    #[test]
    fn the_mode_says_where_frames_go() {
        let interfaces = Interfaces::new(rows());
        let found = [0, 2, 6, 9, 4, 99].map(|id| interfaces.entrance(id));
        assert_eq!(
            found,
            [
                Entrance::Ethernet,
                Entrance::CrossConnect,
                Entrance::Bridge,
                Entrance::BridgeUnlearned,
                Entrance::InterfaceDown,
                Entrance::InterfaceDown
            ]
        );
    }

    #[test]
    fn a_port_of_a_spanning_tree_is_looked_at_first_whatever_its_bridge_does() {
        let mut all = rows();
        for (id, flow) in [(6, false), (7, true)] {
            if let Some(Some(Interface { mode: Mode::Bridged(port), .. })) = all.get_mut(id) {
                port.spanning = Spanning::Forwarding;
                *port = if flow { port.with_flows(1) } else { *port };
            }
        }
        let interfaces = Interfaces::new(all);
        assert_eq!(
            [6, 7, 9].map(|id| interfaces.entrance(id)),
            [Entrance::Spanning, Entrance::Spanning, Entrance::BridgeUnlearned]
        );
    }

    #[test]
    fn runs_of_frames_are_counted_each_on_its_interface() {
        let counters = WorkerCounters::new(&[]);
        let mut run = ReceivedRun::new(&counters);
        for (interface, bytes) in [(3, 60), (3, 40), (5, 1), (3, 7), (u16::MAX, 9)] {
            run.add(interface, bytes);
        }
        drop(run);
        let counted = |id: usize| {
            let row = &counters.interfaces[id];
            (row.rx_packets.load(Ordering::Relaxed), row.rx_bytes.load(Ordering::Relaxed))
        };
        assert_eq!([3, 5, 0].map(counted), [(3, 107), (1, 1), (0, 0)]);
    }
}
