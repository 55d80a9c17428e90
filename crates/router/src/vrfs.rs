//! VRFs: their numbers and tables, and the ports that are in them.
//!
//! ```text
//!  VRF added    tables ─▶ routing, workers ─▶ its ports' routes
//!  port moves   its routes leave the old VRF ─▶ row ─▶ they stand in the new one
//!  VRF removed  its routes leave the tables ─▶ workers
//! ```
//! A name keeps its number for as long as the router runs. So a port or route that names a VRF
//! which is not there (while changes are made, or taken back) reaches no other one.

use crate::router::Router;
use crate::standing::Standing;
use crate::steps::fault;
use control::config::objects::port::PortName;
use control::config::objects::vrf::{DEFAULT_NAME, VrfName};
use control::engine::{ApplyError, EngineError};
use fib::FibError;
use nodes::tables::VrfId;
use std::collections::BTreeMap;

/// The number of what is no VRF.
const NOWHERE: VrfId = VrfId(u16::MAX);

/// Numbers of all VRFs that there are or were.
#[derive(Default)]
pub(crate) struct VrfNumbers(BTreeMap<VrfName, VrfId>);

impl VrfNumbers {
    /// The VRF of what names this one, or none.
    pub(crate) fn of(&self, name: Option<&VrfName>) -> VrfId {
        name.map_or(VrfId::DEFAULT, |name| self.0.get(name).copied().unwrap_or(NOWHERE))
    }

    /// The number of a VRF, its first one if it had none; none if there are no more.
    fn take(&mut self, name: &VrfName) -> Option<VrfId> {
        if let Some(id) = self.0.get(name) {
            return Some(*id);
        }
        let next = u16::try_from(self.0.len() + 1).ok().map(VrfId).filter(|id| *id != NOWHERE)?;
        self.0.insert(name.clone(), next);
        Some(next)
    }

    /// What a VRF is called.
    pub(crate) fn name(&self, id: VrfId) -> &str {
        let named = self.0.iter().find(|(_, other)| **other == id);
        named.map_or(DEFAULT_NAME, |(name, _)| name.as_str())
    }
}

impl Router {
    /// Adds a VRF, or removes it with the routes that it has still.
    pub(crate) fn set_vrf(&mut self, name: &VrfName, wanted: bool) -> Result<(), ApplyError> {
        let refuse = |message: String| fault(&format!("vrf.{name}"), message);
        let number = self.vrfs.take(name).ok_or_else(|| refuse("too many VRFs so far".into()))?;
        let outcome = if wanted { self.add_vrf(number) } else { self.remove_vrf(number) };
        outcome.map_err(|error| refuse(error.to_string()))
    }

    fn add_vrf(&mut self, id: VrfId) -> Result<(), FibError> {
        let tables = self.dataplane.make_vrf_tables()?;
        self.routing.add_vrf(id, tables.clone(), &self.dataplane)?;
        self.dataplane.set_vrf(id, Some(tables));
        self.ports_in(id).iter().try_for_each(|port| self.refresh_port(port))
    }

    fn remove_vrf(&mut self, id: VrfId) -> Result<(), FibError> {
        for port in self.ports.values_mut().filter(|port| port.standing.vrf == id) {
            port.standing = Standing::nothing_in(id);
        }
        self.dataplane.set_vrf(id, None);
        self.change_routes(|routes, _| routes.remove_vrf(id))
    }

    /// The ports that name a VRF.
    pub(crate) fn ports_in(&self, id: VrfId) -> Vec<PortName> {
        let inside = self.ports.iter().filter(|(_, port)| self.vrf_of(&port.config) == id);
        inside.map(|(name, _)| name.clone()).collect()
    }

    /// The VRF that a port names.
    pub(crate) fn vrf_of(&self, config: &control::config::objects::port::Port) -> VrfId {
        self.vrfs.of(config.vrf.as_ref())
    }

    /// The VRF of a name.
    pub(crate) fn vrf_named(&self, name: &str) -> Result<VrfId, EngineError> {
        let mut all = std::iter::once(VrfId::DEFAULT).chain(self.vrfs.0.values().copied());
        let is_there =
            |id: &VrfId| self.vrfs.name(*id) == name && self.routing.ip4.vrf(*id).is_some();
        let unknown = || EngineError::Unknown { what: "vrf", name: name.to_owned() };
        all.find(is_there).ok_or_else(unknown)
    }
}
