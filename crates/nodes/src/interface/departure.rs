//! Where frames go that leave by an interface, by what it stands on.
//!
//! ```text
//!  interface_output, interface_leave ┬▶ port_tx        a port
//!                                    ├▶ shape          a port with a scheduler
//!                                    ├▶ vlan_output    a VLAN of a port
//!                                    ├▶ bond_output    a bond of ports
//!                                    ├▶ l2_forward     the router's own station in a bridge
//!                                    ├▶ flow_input     the same, where flows bridge
//!                                    ├▶ tunnel_encap   a tunnel
//!                                    └▶ lisp_encap     LISP
//! ```

use crate::port::Shaped;
use crate::tables::{BridgePort, Interface, Link, Mode, WorkerCounters};
use packet::{Frame, Group};

/// The ways out. `departures!` makes an exit of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departure {
    /// To the port.
    Transmit,
    /// To wait for its turn.
    Shape,
    /// To get its tags.
    Tag,
    /// To a member of the bond.
    Bond,
    /// Into the bridge.
    Bridge,
    /// Into the bridge, by its flows.
    Flow,
    /// Into a packet to the tunnel's other end.
    Encap,
    /// Into a packet to a locator.
    Map,
}

/// Declares the exits of a node that frames leave by: an exit for each [`Departure`], which turns
/// into it, and the node's own ones behind those.
macro_rules! departures {
    ($(#[$meta:meta])* pub enum $name:ident { $($own:tt)* }) => {
        graph::exits! {
            $(#[$meta])*
            pub enum $name {
                /// To the port.
                Transmit => node "port-tx",
                /// To wait for its turn: the port is shaped. Counted when it leaves.
                Shape => node "shape",
                /// To get its tags.
                Tag => node "vlan-output",
                /// To a member of the bond.
                Bond => node "bond-output",
                /// Into the bridge, as if its interface there had received it.
                Bridge => node "l2-forward",
                /// Into the bridge, by its flows.
                Flow => node "flow-input",
                /// Into a packet to the tunnel's other end.
                Encap => node "tunnel-encap",
                /// Into a packet to the site of its endpoint.
                Map => node "lisp-encap",
                $($own)*
            }
        }

        impl From<$crate::interface::Departure> for $name {
            #[inline]
            fn from(departure: $crate::interface::Departure) -> Self {
                use $crate::interface::Departure;
                match departure {
                    Departure::Transmit => Self::Transmit,
                    Departure::Shape => Self::Shape,
                    Departure::Tag => Self::Tag,
                    Departure::Bond => Self::Bond,
                    Departure::Bridge => Self::Bridge,
                    Departure::Flow => Self::Flow,
                    Departure::Encap => Self::Encap,
                    Departure::Map => Self::Map,
                }
            }
        }
    };
}
pub(crate) use departures;

impl Departure {
    /// Lets the packets of a group leave by interface `tx`: counts them, unless they wait first
    /// and are counted then, or have to find their way to a tunnel's other end, and says where they
    /// go.
    #[inline]
    pub fn of(
        interface: &Interface,
        tx: u16,
        frame: &mut Frame,
        group: &Group,
        counters: &WorkerCounters,
    ) -> Self {
        let departure = interface.departure();
        if !interface.has::<Shaped>() && !matches!(departure, Self::Encap | Self::Map) {
            counters.count_sent(tx, frame.count_of(group) as u64, frame.bytes_of(group));
        }
        if matches!(departure, Self::Bridge | Self::Flow) {
            group.slots(frame.len()).each(|slot| frame.view(slot).set_rx(tx));
        }
        departure
    }
}

impl Interface {
    /// True if its frames leave as they are: nothing is put in front of them, no feature may mark
    /// them, and none waits for its turn, to be marked perhaps. Others may hold such a frame's
    /// buffer, too.
    pub fn sends_unchanged(&self) -> bool {
        self.departure() == Departure::Transmit && !self.output.may_change()
    }

    /// Whether it is in a bridge of flows.
    #[inline]
    pub(crate) fn is_in_flows(&self) -> bool {
        matches!(self.mode, Mode::Bridged(BridgePort { flow: Some(_), .. }))
    }

    /// Where its frames go. Only what leaves by a port itself waits: an interface on another one
    /// has its own way there.
    #[inline]
    pub fn departure(&self) -> Departure {
        match self.link {
            Link::Port if self.has::<Shaped>() => Departure::Shape,
            Link::Port => Departure::Transmit,
            Link::Vlan(_) => Departure::Tag,
            Link::Bond => Departure::Bond,
            Link::Bridge if self.is_in_flows() => Departure::Flow,
            Link::Bridge => Departure::Bridge,
            Link::Tunnel(_) => Departure::Encap,
            Link::Lisp(_) => Departure::Map,
        }
    }
}
