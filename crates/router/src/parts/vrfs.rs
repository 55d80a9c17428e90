//! VRFs: their tables, and the ports that are in them.
//!
//! ```text
//!  VRF added    tables ─▶ routing, workers ─▶ its ports' routes
//!  port moves   its routes leave the old VRF ─▶ row ─▶ they stand in the new one
//!  VRF removed  its routes leave the tables ─▶ workers
//! ```

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part};
use crate::standing::Standing;
use control::config::Delta;
use control::config::objects::port::PortName;
use control::config::objects::vrf::{Vrf, VrfName, name_of};
use control::engine::ApplyError;
use fib::FibError;
use nodes::tables::{Interface, Mode, VrfId};

/// See the module. Their numbers are the core's.
#[derive(Default)]
pub(crate) struct Vrfs;

impl Part for Vrfs {
    fn row(&self, core: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        row.vrf = core.vrf_of(&port.config);
        // In a bridge or a cross-connect it is routed nowhere.
        if row.mode == Mode::Routed {
            row.vrf_name = name_of(port.config.vrf.as_ref()).to_owned();
        }
    }
}

impl Makes<Delta<VrfName, Vrf>> for Vrfs {
    fn make(&mut self, core: &mut Core, change: &Delta<VrfName, Vrf>) -> Result<(), ApplyError> {
        let (name, wanted) = change.outcome();
        let refuse = |message: String| fault(&format!("vrf.{name}"), message);
        let number = core.vrfs.take(name).ok_or_else(|| refuse("too many VRFs so far".into()))?;
        let outcome = if wanted.is_some() { add(core, number) } else { remove(core, number) };
        outcome.map_err(|error| refuse(error.to_string()))
    }
}

fn add(core: &mut Core, id: VrfId) -> Result<(), FibError> {
    let tables = core.dataplane.make_vrf_tables()?;
    core.routing.add_vrf(id, tables.clone(), &core.dataplane)?;
    core.dataplane.set_vrf(id, Some(tables));
    core.ports_in(id).into_iter().for_each(|port| core.touch(port));
    Ok(())
}

fn remove(core: &mut Core, id: VrfId) -> Result<(), FibError> {
    let inside = core.ports.iter().filter(|(_, port)| port.standing.vrf == id);
    for name in inside.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
        core.ports.set_standing(&name, Standing::nothing_in(id));
    }
    core.dataplane.set_vrf(id, None);
    core.change_routes(|routes, _| routes.remove_vrf(id))
}
