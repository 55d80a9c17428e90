//! VRFs: their tables, the ports that are in them, and the kernel's VRFs that stand for them.
//!
//! ```text
//!  VRF added    tables ─▶ routing, workers ─▶ its ports' routes
//!  port moves   its routes leave the old VRF ─▶ row ─▶ they stand in the new one
//!  VRF removed  its routes leave the tables ─▶ workers
//!  twin         a VRF of the kernel's ─▶ twins of its ports, mailboxes of EVPN; gone: made again
//! ```

use crate::core::{Core, VrfTwin, fault};
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part};
use crate::standing::Standing;
use control::config::Delta;
use control::config::objects::port::PortName;
use control::config::objects::vrf::{Vrf, VrfName, name_of};
use control::config::objects::vrf_twin::VrfTwin as Wanted;
use control::engine::ApplyError;
use fib::FibError;
use kernel::{KernelError, Namespace, VrfLink, VrfOptions};
use nodes::tables::{Interface, Mode, VrfId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between two looks whether any is gone, and two attempts to make one again.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// See the module. Their numbers are the core's.
#[derive(Default)]
pub(crate) struct Vrfs {
    twins: BTreeMap<VrfName, Twin>,
    next_look: Option<Instant>,
}

/// The kernel's VRF that there should be.
struct Twin {
    id: VrfId,
    wanted: Wanted,
    /// None: somebody removed it, and it cannot be made again yet.
    link: Option<VrfLink>,
}

impl Part for Vrfs {
    fn row(&self, core: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        row.vrf = core.vrf_of(&port.config);
        // In a bridge or a cross-connect it is routed nowhere.
        if row.mode == Mode::Routed {
            row.vrf_name = name_of(port.config.vrf.as_ref()).to_owned();
        }
    }

    /// Notices twins that somebody took away, and makes them again.
    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        if self.next_look.is_some_and(|next| now < next) {
            return false;
        }
        self.next_look = Some(now + LOOK_PERIOD);
        for (name, twin) in &mut self.twins {
            if twin.link.as_mut().is_some_and(VrfLink::is_there) {
                continue;
            }
            if twin.link.take().is_some() {
                tracing::warn!(fault = "twin", "VRF {name}: its twin is gone: somebody removed it");
                tell(core, twin);
            }
            match make(name, &twin.wanted) {
                Ok(link) => {
                    twin.link = Some(link);
                    tell(core, twin);
                    tracing::info!("VRF {name}: its twin is back");
                }
                Err(error) => tracing::debug!("VRF {name}: its twin: {error}"),
            }
        }
        false
    }
}

impl Makes<Delta<VrfName, Vrf>> for Vrfs {
    fn make(&mut self, core: &mut Core, change: &Delta<VrfName, Vrf>) -> Result<(), ApplyError> {
        let (name, wanted) = change.outcome();
        let refuse = |message: String| fault(&format!("vrf.{name}"), message);
        let number = core.vrfs.take(name).ok_or_else(|| refuse("too many VRFs so far".into()))?;
        let outcome = match (change.before(), wanted) {
            (None, Some(_)) => add(core, number),
            (Some(_), None) => remove(core, number),
            _ => Ok(()),
        };
        outcome.map_err(|error| refuse(error.to_string()))?;
        let twin = wanted.and_then(|wanted| wanted.twin.as_deref());
        self.set_twin(core, name, number, twin).map_err(|error| {
            // What was made of the change is taken back: one that fails changed nothing.
            if change.before().is_none()
                && let Err(again) = remove(core, number)
            {
                tracing::warn!(fault = "vrf", "VRF {name}, while taking back: {again}");
            }
            fault(&format!("vrf.{name}.twin"), error.to_string())
        })
    }
}

impl Vrfs {
    /// Makes the kernel's VRF of one of ours what its configuration says.
    fn set_twin(
        &mut self,
        core: &mut Core,
        name: &VrfName,
        id: VrfId,
        wanted: Option<&Wanted>,
    ) -> Result<(), KernelError> {
        if self.twins.get(name).map(|twin| &twin.wanted) == wanted {
            return Ok(());
        }
        let Some(wanted) = wanted else {
            self.end_twin(core, name);
            return Ok(());
        };
        // Of the same name, the one before has to go first.
        let before = self.end_twin(core, name);
        let link = make(name, wanted).inspect_err(|_| {
            let Some(wanted) = before else { return };
            let link = make(name, &wanted).ok();
            let twin = Twin { id, wanted, link };
            tell(core, &twin);
            self.twins.insert(name.clone(), twin);
        })?;
        let twin = Twin { id, wanted: wanted.clone(), link: Some(link) };
        tell(core, &twin);
        self.twins.insert(name.clone(), twin);
        Ok(())
    }

    fn end_twin(&mut self, core: &mut Core, name: &VrfName) -> Option<Wanted> {
        let Twin { id, wanted, .. } = self.twins.remove(name)?;
        core.vrf_twins.remove(&id);
        core.touch_rows();
        Some(wanted)
    }

    /// The number of the kernel's VRF that stands for one of ours, if that is there.
    pub(crate) fn twin_of(&self, name: &str) -> Option<(u32, Option<u32>)> {
        let (_, twin) = self.twins.iter().find(|(vrf, _)| vrf.as_str() == name)?;
        Some((twin.wanted.table, twin.link.as_ref().map(VrfLink::index)))
    }
}

fn make(name: &VrfName, wanted: &Wanted) -> Result<VrfLink, KernelError> {
    VrfLink::make(&VrfOptions {
        namespace: Namespace::new(wanted.netns.as_deref()),
        name: wanted.name_for(name).to_owned(),
        table: wanted.table,
    })
}

/// Twins of ports, EVPN and FPM go by it.
fn tell(core: &mut Core, twin: &Twin) {
    let netns = twin.wanted.netns.as_deref().map(str::to_owned);
    match &twin.link {
        Some(link) => {
            let told = VrfTwin { netns, table: twin.wanted.table, link: link.index() };
            core.vrf_twins.insert(twin.id, told);
        }
        None => _ = core.vrf_twins.remove(&twin.id),
    }
    core.touch_rows();
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
