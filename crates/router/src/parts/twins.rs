//! The kernel's twins of ports: made with the port, changed as it changes, made again when somebody
//! takes one away.
//!
//! ```text
//!  configuration ─▶ wanted? ─▶ made ── state of the port ─▶ MAC, MTU, addresses, carrier
//!                     ▲         │
//!                     └─ again ─┘ gone: told, and tried every second
//! ```

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part};
use control::config::change::Replaced;
use control::config::objects::port::PortName;
use control::config::objects::port_twin::Twin as Wanted;
use control::config::objects::twins::Twins as Limits;
use control::engine::ApplyError;
use control::view;
use kernel::{KernelError, Namespace, TwinState, Twins};
use nodes::local::Twin;
use nodes::tables::{Interface, TwinClass};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Between two attempts to make a twin again.
const RETRY_PERIOD: Duration = Duration::from_secs(1);
/// Between two looks whether any is gone.
const LOOK_PERIOD: Duration = Duration::from_millis(200);

/// All twins.
#[derive(Default)]
pub(crate) struct Twinning {
    /// Those that there are; their thread starts with the first.
    twins: Option<Twins>,
    made: BTreeMap<PortName, (u16, Wanted)>,
    /// What is wrong with twins that there should be.
    problems: BTreeMap<PortName, String>,
    next_look: Option<Instant>,
    next_retry: Option<Instant>,
}

impl Twinning {
    /// Whether a port has one now.
    fn has(&self, port: &PortName) -> bool {
        self.made.contains_key(port)
    }

    /// Makes, remakes or ends the twin of a port.
    fn refresh(&mut self, core: &mut Core, name: &PortName) -> Result<(), KernelError> {
        let Some(port) = core.ports.get(name) else { return Ok(()) };
        let wanted = port.config.twin.as_deref();
        if port.closing || self.made.get(name).map(|(_, made)| made) == wanted {
            return Ok(());
        }
        let (id, wanted) = (port.id, wanted.cloned());
        self.end(name);
        core.touch_rows();
        if let (Some(wanted), Some(twins)) = (wanted, start(&mut self.twins, core)?) {
            let Some(port) = core.ports.get(name) else { return Ok(()) };
            let namespace = Namespace::new(wanted.netns.as_deref());
            twins.add(id, wanted.name_for(name), &namespace, &state_of(core, port, &wanted))?;
            self.made.insert(name.clone(), (id, wanted));
        }
        self.tell_link(core, name);
        Ok(())
    }

    /// Others know a port by its twin's number in the kernel.
    fn tell_link(&self, core: &mut Core, name: &PortName) {
        let made = self.made.get(name).map(|(id, _)| *id);
        if let Some(port) = core.ports.get_mut(name) {
            port.twin_link = self.twins.as_ref().and_then(|twins| twins.index_of(made?));
        }
    }

    fn end(&mut self, name: &PortName) {
        self.problems.remove(name);
        if let (Some((id, _)), Some(twins)) = (self.made.remove(name), &mut self.twins) {
            twins.remove(id);
        }
    }

    /// Makes every twin look as its port does. What the kernel refuses is told once.
    fn settle_states(&mut self, core: &Core) {
        let Some(twins) = &mut self.twins else { return };
        for (name, (id, made)) in &self.made {
            let Some(port) = core.ports.get(name) else { continue };
            match twins.set(*id, &state_of(core, port, made)) {
                Ok(()) => drop(self.problems.remove(name)),
                Err(error) => {
                    let problem = error.to_string();
                    if self.problems.insert(name.clone(), problem.clone()) != Some(problem) {
                        tracing::warn!(fault = "twin", "port {name}: its twin: {error}");
                    }
                }
            }
        }
    }
}

fn state_of(core: &Core, port: &OpenPort, wanted: &Wanted) -> TwinState {
    const HOST: u8 = 32;
    let borrowed = core.ports.lent_to(port).into_iter().map(|(address, _)| (address, HOST));
    let ip4 = port.addresses().into_iter().chain(borrowed);
    let ip4 = ip4.map(|(address, length)| (Ipv4Addr::from(address).into(), length));
    let ip6 = port.valid6.iter().map(|&(address, length)| (Ipv6Addr::from(address).into(), length));
    TwinState {
        mac: port.mac,
        mtu: port.config.mtu,
        up: port.config.up,
        carrier: port.carries(),
        vrf: core.vrf_link(&port.config, wanted.netns.as_deref()),
        addresses: ip4.chain(ip6).collect(),
    }
}

/// The thread that carries their packets, started with the first twin; none if it ended before.
fn start<'a>(
    twins: &'a mut Option<Twins>,
    core: &mut Core,
) -> Result<Option<&'a mut Twins>, KernelError> {
    if let (None, Some(packets)) = (&twins, core.dataplane.take_twin_packets()) {
        // Workers of their own find what is injected by themselves.
        let injected = match &core.local {
            Some(_) => Arc::clone(&core.wake),
            None => Arc::new(|| ()),
        };
        let (injector, waker) = (core.dataplane.injector.clone(), core.waker.clone());
        *twins = Some(Twins::start(&core.pool, injector, packets, waker, injected)?);
    }
    Ok(twins.as_mut())
}

impl Part for Twinning {
    /// Makes the twin of a port what its configuration says.
    fn follow(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        let outcome = self.refresh(core, name);
        outcome.map_err(|error| fault(&format!("port.{name}.twin"), error.to_string()))
    }

    fn close(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        self.end(name);
        self.tell_link(core, name);
        Ok(())
    }

    fn row(&self, _: &Core, name: &PortName, _: &OpenPort, row: &mut Interface) {
        row.put(self.has(name).then_some(Twin));
    }

    fn published(&mut self, core: &mut Core) {
        self.settle_states(core);
    }

    /// Notices twins that somebody took away, and makes them again after a while.
    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        if self.next_look.is_some_and(|next| now < next) {
            return false;
        }
        self.next_look = Some(now + LOOK_PERIOD);
        while let Some(id) = self.twins.as_mut().and_then(Twins::next_gone) {
            let gone = self.made.iter().find(|(_, (made, _))| *made == id);
            let Some(name) = gone.map(|(name, _)| name.clone()) else { continue };
            tracing::warn!(fault = "twin", "port {name}: its twin is gone: somebody removed it");
            self.made.remove(&name);
            self.tell_link(core, &name);
            self.problems.insert(name, "gone: somebody removed it".to_owned());
            core.touch_rows();
        }
        if self.next_retry.is_none_or(|next| now >= next) {
            self.next_retry = Some(now + RETRY_PERIOD);
            self.make_again(core);
        }
        false
    }
}

impl Makes<Replaced<Limits>> for Twinning {
    /// How much of each class workers hand over.
    fn make(&mut self, core: &mut Core, change: &Replaced<Limits>) -> Result<(), ApplyError> {
        let limits = &change.new;
        let of = [limits.neighbors_pps, limits.routing_pps, limits.tcp_pps, limits.rest_pps];
        for (allowed, limit) in core.dataplane.twin_limits.0.iter().zip(of) {
            allowed.store(limit, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Twinning {
    fn make_again(&mut self, core: &mut Core) {
        let missing = core.ports.iter().filter(|(_, port)| port.config.twin.is_some());
        let missing = missing.map(|(name, _)| name).filter(|name| !self.has(name));
        for name in missing.cloned().collect::<Vec<_>>() {
            match self.refresh(core, &name) {
                Ok(()) => tracing::info!("port {name}: its twin is back"),
                Err(error) => drop(self.problems.insert(name, error.to_string())),
            }
        }
    }

    pub(crate) fn show(&self, core: &Core) -> Vec<view::Twin> {
        let wanted = core.ports.iter();
        let wanted =
            wanted.filter_map(|(name, port)| Some((name, port, port.config.twin.as_deref()?)));
        wanted.map(|(name, port, wanted)| self.show_twin(core, name, port, wanted)).collect()
    }

    fn show_twin(
        &self,
        core: &Core,
        name: &PortName,
        port: &OpenPort,
        wanted: &Wanted,
    ) -> view::Twin {
        let twins = self.twins.as_ref().filter(|_| self.has(name));
        let traffic = twins.and_then(|twins| twins.traffic(port.id));
        let read = |counter: Option<&AtomicU64>| counter.map_or(0, |it| it.load(Ordering::Relaxed));
        view::Twin {
            port: name.to_string(),
            name: wanted.name_for(name).to_owned(),
            netns: wanted.netns.as_ref().map(ToString::to_string),
            index: twins.and_then(|twins| twins.index_of(port.id)),
            problem: self.problems.get(name).cloned(),
            to_kernel: read(traffic.map(|it| &it.to_kernel)),
            refused: read(traffic.map(|it| &it.refused)),
            from_kernel: read(traffic.map(|it| &it.from_kernel)),
            lost: read(traffic.map(|it| &it.lost)),
            classes: classes(core, port.id),
        }
    }
}

fn classes(core: &Core, id: u16) -> Vec<view::TwinClass> {
    let totals = core.twinned_since_cleared(id);
    let limits = &core.dataplane.twin_limits.0;
    let class = |class: TwinClass| view::TwinClass {
        class: class.name().to_owned(),
        limit_pps: limits[class as usize].load(Ordering::Relaxed),
        passed: totals.passed[class as usize],
        limited: totals.limited[class as usize],
    };
    TwinClass::ALL.map(class).into()
}
