//! Pairs of ports that hand each other what they receive.

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part};
use control::config::Delta;
use control::config::objects::port::PortName;
use control::config::objects::xconnect::{PortPair, Xconnect};
use control::engine::ApplyError;
use nodes::tables::{Interface, InterfaceId, Mode};

/// See the module. Who is whose peer stands in the ports: addresses are of use to those without
/// one.
#[derive(Default)]
pub(crate) struct Xconnects;

impl Part for Xconnects {
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
            Delta::Removed { key, .. } => connect(core, key, false),
            Delta::Added { key, .. } | Delta::Modified { key, .. } => connect(core, key, true),
        }
    }
}

fn connect(core: &mut Core, pair: &PortPair, connected: bool) -> Result<(), ApplyError> {
    let [first, second] = pair.ports();
    for (name, peer) in [(first, second), (second, first)] {
        let Some(port) = core.ports.get_mut(name) else {
            return Err(fault(&format!("xconnect {pair}"), format!("there is no port `{name}`")));
        };
        port.peer = connected.then(|| peer.clone());
    }
    core.touch_rows();
    Ok(())
}
