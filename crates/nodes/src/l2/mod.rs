//! Ethernet: demultiplexing, VLAN tags, cross-connects and bridges.
//!
//! ```text
//!  ethernet_input ─▶ ip4_input, ip6_input, arp_input, …     vlan_input ─▶ a sub-interface ─▶ vlan_output
//!  l2_xconnect ───▶ interface_output
//!  l2_spanning ─▶ what a bridge's frames go to, where its ports are part of a spanning tree
//!  l2_learn ─▶ l2_forward ┬▶ interface_output
//!                         ├▶ l2_arp, l2_nd       answered for stations that are known
//!                         ├▶ l2_multicast       to groups, where it is known who listens
//!                         └▶ l2_flood
//!  bond_input ─▶ what the bond's frames go to      bond_output ─▶ interface_output of a member
//! ```

mod came_back;
mod copies;
mod keys;
mod suppression;

pub(crate) use ethernet_input::{destination_word, mac_word};
pub use suppression::Suppression;

nodes! {
    ethernet_input::EthernetInput,
    vlan_input::VlanInput,
    l2_xconnect::L2Xconnect,
    l2_spanning::L2Spanning,
    l2_learn::L2Learn,
    l2_forward::L2Forward,
    l2_arp::L2Arp,
    l2_nd::L2Nd,
    l2_multicast::L2Multicast,
    l2_flood::L2Flood,
    vlan_output::VlanOutput,
    bond_input::BondInput,
    bond_output::BondOutput,
}
