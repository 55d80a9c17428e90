//! The kernel's twins of ports: made with the port, changed as it changes, made again when somebody
//! takes one away.
//!
//! ```text
//!  configuration ─▶ wanted? ─▶ made ── state of the port ─▶ MAC, MTU, addresses, carrier
//!                     ▲         │
//!                     └─ again ─┘ gone: told, and tried every second
//! ```

use crate::interfaces::{OpenPort, OpenPorts};
use crate::router::Router;
use crate::steps::fault;
use control::config::objects::port::PortName;
use control::config::objects::port_twin::Twin as Wanted;
use control::config::objects::twins::Twins as Limits;
use control::engine::ApplyError;
use control::view;
use dataplane::{Dataplane, TwinnedTotals};
use kernel::{KernelError, Namespace, TwinState, Twins, Waker};
use nodes::tables::{Injector, ToTwin, TwinClass};
use packet::Pool;
use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

/// All twins.
pub(crate) struct Twinning {
    supplies: Option<Supplies>,
    twins: Option<Twins>,
    made: BTreeMap<PortName, (u16, Wanted)>,
    /// What is wrong with twins that there should be.
    problems: BTreeMap<PortName, String>,
}

/// What the thread that carries their packets is made from, when the first one is.
struct Supplies {
    pool: Arc<dyn Pool>,
    injector: Injector,
    packets: Receiver<ToTwin>,
    waker: Waker,
    /// Called when frames were injected.
    injected: Arc<dyn Fn() + Send + Sync>,
}

impl Supplies {
    fn start(self) -> Result<Twins, KernelError> {
        Twins::start(&self.pool, self.injector, self.packets, self.waker, self.injected)
    }
}

impl Twinning {
    /// None yet. `waker` is what workers call.
    pub(crate) fn new(
        dataplane: &mut Dataplane,
        pool: &Arc<dyn Pool>,
        waker: Waker,
        injected: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        let supplies = dataplane.take_twin_packets().map(|packets| Supplies {
            pool: Arc::clone(pool),
            injector: dataplane.injector.clone(),
            packets,
            waker,
            injected,
        });
        Self { supplies, twins: None, made: BTreeMap::new(), problems: BTreeMap::new() }
    }

    /// Whether a port has one now.
    pub(crate) fn has(&self, port: &PortName) -> bool {
        self.made.contains_key(port)
    }

    /// Ports by the kernel's numbers of their twins. Numbers of two namespaces may be the same: the
    /// first port's counts.
    pub(crate) fn ports_by_link(&self) -> HashMap<u32, u16> {
        let Some(twins) = &self.twins else { return HashMap::new() };
        let made = self.made.values().rev();
        made.filter_map(|(id, _)| Some((twins.index_of(*id)?, *id))).collect()
    }

    /// Makes, remakes or ends the twin of a port.
    fn refresh(&mut self, name: &PortName, ports: &OpenPorts) -> Result<(), KernelError> {
        let Some(port) = ports.get(name) else { return Ok(()) };
        let wanted = port.config.twin.as_deref();
        if self.made.get(name).map(|(_, made)| made) == wanted {
            return Ok(());
        }
        self.end(name);
        let Some(wanted) = wanted else { return Ok(()) };
        let twins = match (&mut self.twins, self.supplies.take()) {
            (Some(twins), _) => twins,
            (none, Some(supplies)) => none.insert(supplies.start()?),
            (None, None) => return Ok(()),
        };
        let namespace = Namespace::new(wanted.netns.as_deref());
        twins.add(port.id, wanted.name_for(name), &namespace, &state_of(port, ports))?;
        self.made.insert(name.clone(), (port.id, wanted.clone()));
        Ok(())
    }

    fn end(&mut self, name: &PortName) {
        self.problems.remove(name);
        if let (Some((id, _)), Some(twins)) = (self.made.remove(name), &mut self.twins) {
            twins.remove(id);
        }
    }

    /// Makes every twin look as its port does. What the kernel refuses is told once.
    pub(crate) fn settle(&mut self, ports: &OpenPorts) {
        let Some(twins) = &mut self.twins else { return };
        for (name, (id, _)) in &self.made {
            let Some(port) = ports.get(name) else { continue };
            match twins.set(*id, &state_of(port, ports)) {
                Ok(()) => drop(self.problems.remove(name)),
                Err(error) => {
                    let problem = error.to_string();
                    if self.problems.insert(name.clone(), problem.clone()) != Some(problem) {
                        eprintln!("volleyd: port {name}: its twin: {error}");
                    }
                }
            }
        }
    }
}

fn state_of(port: &OpenPort, ports: &OpenPorts) -> TwinState {
    const HOST: u8 = 32;
    let borrowed = port.borrowed(ports).into_iter().map(|(address, _)| (address, HOST));
    let ip4 = port.addresses().into_iter().chain(borrowed);
    let ip4 = ip4.map(|(address, length)| (Ipv4Addr::from(address).into(), length));
    let ip6 = port.valid6.iter().map(|&(address, length)| (Ipv6Addr::from(address).into(), length));
    TwinState {
        mac: port.mac,
        mtu: port.config.mtu,
        up: port.config.up,
        carrier: port.carries(),
        addresses: ip4.chain(ip6).collect(),
    }
}

impl Router {
    /// Makes the twin of a port what its configuration says.
    pub(crate) fn refresh_twin(&mut self, name: &PortName) -> Result<(), ApplyError> {
        let outcome = self.twinning.refresh(name, &self.ports);
        self.publish_rows();
        outcome.map_err(|error| fault(&format!("port.{name}.twin"), error.to_string()))
    }

    /// Ends the twin of a port.
    pub(crate) fn end_twin(&mut self, name: &PortName) {
        self.twinning.end(name);
    }

    /// Notices twins that somebody took away, and makes them again when `retry` says that it is
    /// time.
    pub(crate) fn look_after_twins(&mut self, retry: bool) {
        let mut changed = false;
        while let Some(id) = self.twinning.twins.as_mut().and_then(Twins::next_gone) {
            let made = &mut self.twinning.made;
            let gone = made.iter().find(|(_, (made, _))| *made == id);
            let Some(name) = gone.map(|(name, _)| name.clone()) else { continue };
            eprintln!("volleyd: port {name}: its twin is gone: somebody removed it");
            made.remove(&name);
            self.twinning.problems.insert(name, "gone: somebody removed it".to_owned());
            changed = true;
        }
        for (name, port) in self.ports.iter().filter(|_| retry) {
            if port.config.twin.is_none() || self.twinning.has(name) {
                continue;
            }
            match self.twinning.refresh(name, &self.ports) {
                Ok(()) => {
                    eprintln!("volleyd: port {name}: its twin is back");
                    changed = true;
                }
                Err(error) => drop(self.twinning.problems.insert(name.clone(), error.to_string())),
            }
        }
        if changed {
            self.publish_rows();
        }
    }

    /// How much of each class workers hand over.
    pub(crate) fn limit_twins(&self, limits: &Limits) {
        let of = [limits.neighbors_pps, limits.routing_pps, limits.tcp_pps, limits.rest_pps];
        for (allowed, limit) in self.dataplane.twin_limits.0.iter().zip(of) {
            allowed.store(limit, Ordering::Relaxed);
        }
    }

    pub(crate) fn show_twins(&self) -> Vec<view::Twin> {
        let wanted = self.ports.iter();
        let wanted =
            wanted.filter_map(|(name, port)| Some((name, port, port.config.twin.as_deref()?)));
        wanted.map(|(name, port, wanted)| self.show_twin(name, port, wanted)).collect()
    }

    fn show_twin(&self, name: &PortName, port: &OpenPort, wanted: &Wanted) -> view::Twin {
        let twins = self.twinning.twins.as_ref().filter(|_| self.twinning.has(name));
        let traffic = twins.and_then(|twins| twins.traffic(port.id));
        let read = |counter: Option<&AtomicU64>| counter.map_or(0, |it| it.load(Ordering::Relaxed));
        view::Twin {
            port: name.to_string(),
            name: wanted.name_for(name).to_owned(),
            netns: wanted.netns.clone(),
            index: twins.and_then(|twins| twins.index_of(port.id)),
            problem: self.twinning.problems.get(name).cloned(),
            to_kernel: read(traffic.map(|it| &it.to_kernel)),
            refused: read(traffic.map(|it| &it.refused)),
            from_kernel: read(traffic.map(|it| &it.from_kernel)),
            lost: read(traffic.map(|it| &it.lost)),
            classes: self.twin_classes(port.id),
        }
    }

    fn twin_classes(&self, id: u16) -> Vec<view::TwinClass> {
        let now = self.dataplane.twinned_totals(id);
        let then = self.cleared.twinned.get(&id).copied().unwrap_or_default();
        let since = |pick: fn(&TwinnedTotals) -> [u64; TwinClass::COUNT], class: TwinClass| {
            pick(&now)[class as usize] - pick(&then)[class as usize]
        };
        let limits = &self.dataplane.twin_limits.0;
        let class = |class: TwinClass| view::TwinClass {
            class: class.name().to_owned(),
            limit_pps: limits[class as usize].load(Ordering::Relaxed),
            passed: since(|totals| totals.passed, class),
            limited: since(|totals| totals.limited, class),
        };
        TwinClass::ALL.map(class).into()
    }
}
