//! Bridges of flows: what OpenFlow's tables say is done to frames.
//!
//! ```text
//!  flow_input ┬▶ interface_output     it was the only thing to do
//!   exact,    ├▶ flow_act ┬▶ interface_output, ethernet_input, l2_learn
//!   megaflows │    ▲      └▶ flow_act again: more copies than a call may make
//!             └▶ flow_upcall          nobody remembers such a packet: tables are asked
//! ```
//! What a worker remembers its three nodes hand to each other; tables are values that the control
//! side publishes. Nothing here locks.

nodes! {
    flow_input::FlowInput,
    flow_upcall::FlowUpcall,
    flow_act::FlowAct,
}

#[cfg(test)]
mod tests;
