//! Which bridges a port is in: one at most that bridges its frames, and one of flows in front of
//! that.
//!
//! ```text
//!  port ─▶ flows of br0 ─ NORMAL ─▶ br0 itself, or the bridge of its VLAN, which is behind br0
//! ```

use control::config::objects::bridge::Bridge;
use control::config::objects::port::PortName;
use nodes::tables::{BridgeId, BridgePort};
use std::collections::HashMap;

/// The places of all ports.
#[derive(Default)]
pub(super) struct Places(HashMap<PortName, Place>);

#[derive(Default)]
struct Place {
    bridged: Option<BridgePort>,
    flows: Option<BridgePort>,
}

impl Places {
    /// Ports of a bridge, with what they may do there.
    pub(super) fn set(
        &mut self,
        config: &Bridge,
        ports: impl Iterator<Item = (PortName, BridgePort)>,
    ) {
        for (name, port) in ports {
            let place = self.0.entry(name).or_default();
            match config.has_flows() {
                true => place.flows = Some(port),
                false => place.bridged = Some(port),
            }
        }
    }

    /// A bridge has none. Another may have taken some over before.
    pub(super) fn clear(&mut self, bridge: BridgeId) {
        self.0.retain(|_, place| {
            for had in [&mut place.bridged, &mut place.flows] {
                had.take_if(|port| port.bridge == bridge);
            }
            place.bridged.is_some() || place.flows.is_some()
        });
    }

    /// What a port may do where its frames are bridged, if it is in a bridge.
    pub(super) fn port(&self, name: &PortName) -> Option<BridgePort> {
        let place = self.0.get(name)?;
        place.bridged.or(place.flows)
    }

    /// The bridge of flows that it is in.
    pub(super) fn flows(&self, name: &PortName) -> Option<BridgeId> {
        self.0.get(name)?.flows.map(|port| port.bridge)
    }
}
