//! Bridges of flows: what OpenFlow's tables say is done to frames.
//!
//! ```text
//!  flow_input ┬▶ interface_output     it was the only thing to do
//!   exact,    ├▶ flow_act ┬▶ interface_output, ethernet_input, l2_learn
//!   megaflows │    ▲      ├▶ flow_normal ─▶ l2_learn: in the bridge of a VLAN
//!             │    │      └▶ flow_act again: more copies than a call may make
//!             └▶ flow_upcall          nobody remembers such a packet: tables are asked
//! ```
//! A packet that passes connection tracking is looked at by `tracking`, and what the tables do with
//! it then is found within `flow_act`: it is in hand.
//! What a worker remembers its three nodes hand to each other; tables are values that the control
//! side publishes. Nothing here locks.

nodes! {
    flow_input::FlowInput,
    flow_upcall::FlowUpcall,
    flow_act::FlowAct,
    flow_normal::FlowNormal,
}

mod asking;
mod headers;
mod held;
mod rewriting;
mod said_before;
mod tracking;

pub use crate::l2::vlan_input::{FirstTag, first_tag};
pub use flow_normal::{Part, Refused, part_for_normal};
pub use tracking::{Change, Now, Said, Untracked, track};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tracking_tests;
