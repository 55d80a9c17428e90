//! VLANs of other ports.
//!
//! ```text
//!  p1 ── device        p1.100 ── VLAN 100 of p1: its link is p1's, its frames leave by p1's queues
//! ```

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::objects::port::PortName;
use control::config::objects::port_kind::PortKind;
use control::config::objects::port_kind::vlan::{Protocol, Vid, Vlan as VlanConfig};
use nodes::tables::{CustomerVlans, Interface, Link, Vlan, VlanTags};
use wire::ethernet::ethertype;

/// See the module.
#[derive(Default)]
pub(crate) struct Vlans;

impl Part for Vlans {
    fn row(&self, core: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        let PortKind::Vlan(config) = &port.config.kind else { return };
        match core.ports.get(&config.parent) {
            Some(parent) => {
                row.port = parent.id;
                row.link = Link::Vlan(vlan(config, parent.id));
                let customers = Some(&config.customers).filter(|vlans| !vlans.is_empty());
                row.put(customers.map(|vlans| CustomerVlans::new(vlans.iter().copied())));
                row.up &= parent.config.up;
            }
            None => row.up = false,
        }
    }
}

fn vlan(config: &VlanConfig, parent: u16) -> Vlan {
    let tags = match (config.vlan, config.inner) {
        (Vid::Exact(outer), Some(Vid::Exact(inner))) => VlanTags::Two(outer, inner),
        (Vid::Exact(outer), Some(_)) => VlanTags::AnyInner(outer),
        (Vid::Exact(outer), None) => VlanTags::One(outer),
        (Vid::Any, _) => VlanTags::Any,
        (Vid::Untagged, _) => VlanTags::Untagged,
    };
    let protocol = match config.protocol {
        Protocol::Customer => ethertype::VLAN,
        Protocol::Service => ethertype::QINQ,
    };
    let priority = config.priority.map(|priority| priority as u8);
    Vlan { parent, tags, protocol, priority, is_native: config.native }
}
