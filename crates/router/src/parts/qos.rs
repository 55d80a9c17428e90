//! Giving ports their schedulers, and telling how those do.

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::objects::port::PortName;
use control::config::objects::qos::Qos;
use control::engine::ApplyError;
use control::view;
use nodes::port::Shaped;
use nodes::tables::{Interface, Leftover};

/// See the module. What a port has stands in the port.
#[derive(Default)]
pub(crate) struct Shaping;

impl Part for Shaping {
    /// Brings a port's scheduler to what its configuration says. Packets that wait move over; those
    /// that the new shape has no room for are dropped, and that is said.
    fn follow(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        let Some(port) = core.ports.get(name) else { return Ok(()) };
        let (id, mtu, wanted) = (port.id, port.config.mtu, port.config.qos.clone());
        if port.closing || port.shaped == wanted {
            return Ok(());
        }
        let spent = core.stands_in;
        let outcome = core.with_workers(|dataplane, waiting| match &wanted {
            Some(qos) => dataplane.shape_port(id, &qos.scheduler(mtu), spent, waiting),
            None => dataplane.unshape_port(id, Leftover::Sent, waiting),
        });
        let packets =
            outcome.map_err(|error| fault(&format!("port.{name}.qos"), error.to_string()))?;
        if packets.dropped != 0 {
            let all = packets.kept + packets.dropped;
            tracing::warn!(
                fault = "shaper",
                "port {name}: of {all} packets that waited, the new scheduler had no room \
                 for {}: dropped",
                packets.dropped
            );
        }
        if let Some(port) = core.ports.get_mut(name) {
            let warnings =
                |qos: &Option<Qos>| qos.iter().flat_map(|qos| qos.warnings(mtu)).collect();
            let (told, now): (Vec<_>, Vec<_>) = (warnings(&port.shaped), warnings(&wanted));
            for warning in now.iter().filter(|warning| !told.contains(warning)) {
                tracing::warn!(fault = "shaper-promise", "port {name}: {warning}");
            }
            port.shaped = wanted;
        }
        Ok(())
    }

    fn row(&self, core: &Core, _: &PortName, _: &OpenPort, row: &mut Interface) {
        row.put(core.dataplane.is_shaped(row.port).then_some(Shaped));
    }

    /// Before a port goes: what waits for it is dropped.
    fn close(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        let Some(port) = core.ports.get_mut(name) else { return Ok(()) };
        let (id, had): (u16, Option<Qos>) = (port.id, port.shaped.take());
        if had.is_none() {
            return Ok(());
        }
        let outcome = core.with_workers(|dataplane, waiting| {
            dataplane.unshape_port(id, Leftover::Dropped, waiting)
        });
        outcome.map_err(|error| fault(&format!("port.{name}.qos"), error.to_string()))?;
        Ok(())
    }
}

impl Shaping {
    pub(crate) fn show(core: &mut Core) -> Vec<view::Qos> {
        let shaped = core.ports.iter().filter(|(_, port)| port.shaped.is_some());
        let shaped: Vec<(String, u16)> =
            shaped.map(|(name, port)| (name.as_str().to_owned(), port.id)).collect();
        let report = |(port, id)| {
            let report =
                core.with_workers(|dataplane, waiting| dataplane.shaping_report(id, waiting));
            // A worker that does not answer has nothing to show.
            Some(view::Qos { port, root: report.ok()?.into() })
        };
        shaped.into_iter().filter_map(report).collect()
    }
}
