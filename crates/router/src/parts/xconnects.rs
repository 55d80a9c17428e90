//! Pairs of ports that hand each other what they receive.

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part};
use control::config::Delta;
use control::config::objects::port::PortName;
use control::config::objects::xconnect::{PortPair, Xconnect};
use control::engine::ApplyError;
use nodes::tables::{Interface, InterfaceId, Mode};
use std::collections::BTreeMap;

/// See the module. Who is whose peer stands in the ports, too: addresses are of use to those
/// without one.
#[derive(Default)]
pub(crate) struct Xconnects {
    /// Both ways. It outlives a port that is opened again.
    peers: BTreeMap<PortName, PortName>,
}

impl Xconnects {
    fn connect(
        &mut self,
        core: &mut Core,
        pair: &PortPair,
        connected: bool,
    ) -> Result<(), ApplyError> {
        let [first, second] = pair.ports();
        for (name, peer) in [(first, second), (second, first)] {
            match connected {
                true => self.peers.insert(name.clone(), peer.clone()),
                false => self.peers.remove(name),
            };
            if core.ports.get(name).is_none() {
                let missing = format!("there is no port `{name}`");
                return Err(fault(&format!("xconnect {pair}"), missing));
            }
            self.follow(core, name)?;
        }
        core.touch_rows();
        Ok(())
    }
}

impl Part for Xconnects {
    fn follow(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        if let Some(port) = core.ports.get_mut(name) {
            port.peer = self.peers.get(name).cloned();
        }
        Ok(())
    }

    fn row(&self, core: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        if let Some(peer) = port.peer.as_ref().and_then(|peer| core.ports.id_of(peer)) {
            row.mode = Mode::CrossConnect(InterfaceId(peer));
        }
    }
}

impl Makes<Delta<PortPair, Xconnect>> for Xconnects {
    fn make(
        &mut self,
        core: &mut Core,
        change: &Delta<PortPair, Xconnect>,
    ) -> Result<(), ApplyError> {
        match change {
            Delta::Removed { key, .. } => self.connect(core, key, false),
            Delta::Added { key, .. } | Delta::Modified { key, .. } => self.connect(core, key, true),
        }
    }
}
