//! Giving ports their schedulers, and telling how those do.

use crate::router::Router;
use crate::steps::{PATIENCE, fault};
use control::config::objects::port::PortName;
use control::config::objects::qos::Qos;
use control::engine::ApplyError;
use control::view;
use dataplane::{Dataplane, Waiting};
use nodes::tables::Leftover;
use std::time::Duration;

/// Between two looks whether a worker has answered.
const LOOK: Duration = Duration::from_micros(100);

impl Router {
    /// Brings a port's scheduler to what its configuration says. Packets that wait move over; those
    /// that the new shape has no room for are dropped, and that is said.
    pub(crate) fn refresh_qos(&mut self, name: &PortName) -> Result<(), ApplyError> {
        let Some(port) = self.ports.get(name) else { return Ok(()) };
        let (id, mtu, wanted) = (port.id, port.config.mtu, port.config.qos.clone());
        if port.shaped == wanted {
            return Ok(());
        }
        let outcome = self.with_workers(|dataplane, waiting| match &wanted {
            Some(qos) => dataplane.shape_port(id, &qos.scheduler(mtu), waiting),
            None => dataplane.unshape_port(id, Leftover::Sent, waiting),
        });
        let packets =
            outcome.map_err(|error| fault(&format!("port.{name}.qos"), error.to_string()))?;
        if packets.dropped != 0 {
            let all = packets.kept + packets.dropped;
            eprintln!(
                "volleyd: port {name}: of {all} packets that waited, the new scheduler had no room \
                 for {}: dropped",
                packets.dropped
            );
        }
        if let Some(port) = self.ports.get_mut(name) {
            port.shaped = wanted;
        }
        Ok(())
    }

    /// Before a port goes: what waits for it is dropped.
    pub(crate) fn end_qos(&mut self, name: &PortName) -> Result<(), ApplyError> {
        let Some(port) = self.ports.get_mut(name) else { return Ok(()) };
        let (id, had): (u16, Option<Qos>) = (port.id, port.shaped.take());
        if had.is_none() {
            return Ok(());
        }
        let outcome = self.with_workers(|dataplane, waiting| {
            dataplane.unshape_port(id, Leftover::Dropped, waiting)
        });
        outcome.map_err(|error| fault(&format!("port.{name}.qos"), error.to_string()))?;
        Ok(())
    }

    pub(crate) fn show_qos(&mut self) -> Vec<view::Qos> {
        let shaped = self.ports.iter().filter(|(_, port)| port.shaped.is_some());
        let shaped: Vec<(String, u16)> =
            shaped.map(|(name, port)| (name.as_str().to_owned(), port.id)).collect();
        let report = |(port, id)| {
            let report =
                self.with_workers(|dataplane, waiting| dataplane.shaping_report(id, waiting));
            // A worker that does not answer has nothing to show.
            Some(view::Qos { port, root: report.ok()?.into() })
        };
        shaped.into_iter().filter_map(report).collect()
    }

    /// Turns the worker, or waits for those that turn by themselves, while the data plane asks
    /// them.
    fn with_workers<T>(&mut self, call: impl FnOnce(&mut Dataplane, &mut Waiting<'_>) -> T) -> T {
        let mut local = self.take_local();
        let mut turn = || match &mut local {
            Some(worker) => {
                worker.turn();
            }
            None => std::thread::sleep(LOOK),
        };
        let mut waiting = Waiting { patience: PATIENCE, turn: &mut turn };
        let answer = call(&mut self.dataplane, &mut waiting);
        self.give_back_local(local);
        answer
    }
}
