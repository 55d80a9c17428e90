//! What IPv6 wants of the control thread beside what both families want: addresses that are
//! tried before they are used, and routers that advertise themselves.

use crate::dad::State;
use crate::listening;
use crate::router::Router;
use crate::router_advertisement;
use crate::steps::PATIENCE;
use control::config::objects::port::PortName;
use control::config::objects::port_ra::Ra;
use nodes::tables::{Injected, NdNews, NdSaid};
use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wire::ipv6;

impl Router {
    /// Brings what is tried and advertised to what the port's configuration and link say.
    pub(crate) fn watch_addresses(&mut self, name: &PortName) {
        let now_ns = self.now_ns();
        let Some(port) = self.ports.get_mut(name) else { return };
        let (id, mac, routed) = (port.id, port.mac, port.carries() && port.peer.is_none());
        let configured = if routed { port.addresses6() } else { Vec::new() };
        if port.config.kind.is_point_to_point() {
            // Nobody else is on the link.
            port.valid6 = configured;
            return;
        }
        let addresses: Vec<u128> = configured.iter().map(|&(own, _)| own).collect();
        let untried = self.dad.set(now_ns, id, &addresses);
        // RFC 4862 section 5.4.2: whoever tries an address listens where others ask for it.
        self.listening.set(now_ns, id, listening::groups_of(&addresses));
        for new in untried {
            self.neighborhood.probe(id, mac, new);
        }
        let is = |own: u128, wanted: fn(State) -> bool| self.dad.state(id, own).is_some_and(wanted);
        let valid = |&&(own, _): &&(u128, u8)| is(own, |state| state == State::Valid);
        port.valid6 = configured.iter().filter(valid).copied().collect();
        let tentative = |&own: &u128| is(own, |state| matches!(state, State::Tentative { .. }));
        port.tentative6 = addresses.into_iter().filter(tentative).collect();
        let has_link_local = port.valid6.iter().any(|&(own, _)| ipv6::is_link_local(own));
        let advertises = port.config.ra.as_ref().filter(|_| has_link_local);
        let interval_ns = advertises.map(|ra| ra.interval.as_nanos() as u64);
        self.advertiser.set(now_ns, id, interval_ns);
    }

    /// Lets the time pass: addresses that nobody claimed are used, routers advertised.
    pub(crate) fn turn_ip6(&mut self) {
        let now_ns = self.now_ns();
        let valid: BTreeSet<u16> = self.dad.tick(now_ns).into_iter().map(|(id, _)| id).collect();
        valid.into_iter().for_each(|id| self.refresh_interface(id));
        self.tell_listeners(now_ns);
        for id in self.advertiser.due(now_ns) {
            let Some((_, port)) = self.port_of(id) else { continue };
            let frame =
                port.config.ra.as_ref().and_then(|ra| router_advertisement::frame(port, ra));
            if let Some(frame) = frame {
                self.neighborhood.send(id, &frame);
            }
        }
    }

    /// Tells switches which groups are listened to, where that is due.
    fn tell_listeners(&mut self, now_ns: u64) {
        for (id, groups) in self.listening.due(now_ns) {
            let Some((_, port)) = self.port_of(id) else { continue };
            let reports = listening::reports(port, &groups);
            reports.iter().for_each(|report| self.neighborhood.send(id, report));
        }
    }

    /// A port is about to advertise itself no more: hosts are told not to use it as their router
    /// (RFC 4861 section 6.2.5), while frames still leave by it.
    pub(crate) fn end_advertising(&mut self, name: &PortName) {
        let Some(port) = self.ports.get(name) else { return };
        let id = port.id;
        let ra = port.config.ra.as_ref().filter(|_| self.advertiser.is_set(id));
        let last = ra.map(|ra| Ra { lifetime: Duration::ZERO, ..ra.clone() });
        let Some(frame) = last.and_then(|ra| router_advertisement::frame(port, &ra)) else {
            return;
        };
        let now_ns = self.now_ns();
        self.advertiser.set(now_ns, id, None);
        self.neighborhood.send(id, &frame);
        self.await_injected();
    }

    /// Lets what was injected leave.
    fn await_injected(&mut self) {
        let left = Arc::new(AtomicBool::new(false));
        if self.dataplane.injector.send(Injected::Fence(Arc::clone(&left))).is_err() {
            return;
        }
        let (mut local, start) = (self.take_local(), Instant::now());
        while !left.load(Ordering::Acquire) && start.elapsed() < PATIENCE {
            match &mut local {
                Some(worker) => {
                    worker.turn();
                }
                None => std::thread::sleep(Duration::from_micros(100)),
            }
        }
        self.give_back_local(local);
    }

    /// Follows a change of what is known of a port's IPv6 addresses.
    fn refresh_interface(&mut self, id: u16) {
        let Some(name) = self.port_of(id).map(|(name, _)| name.clone()) else { return };
        if let Err(error) = self.refresh_port(&name) {
            eprintln!("volleyd: port {name}: {error}");
        }
        self.publish_rows();
    }

    /// Believes what neighbour discovery says of neighbours. A claim on an address of ours ends its
    /// trial, or is told and answered.
    pub(crate) fn hear_nd(&mut self, now_ns: u64, news: &NdNews) {
        let interface = news.interface;
        let claimed = match news.said {
            NdSaid::Solicited { target } if news.source == 0 => Some(target),
            NdSaid::Advertised { target, .. } => Some(target),
            NdSaid::Solicited { .. } => None,
            NdSaid::RouterWanted => {
                self.advertiser.asked(now_ns, interface);
                None
            }
        };
        let mac = news.mac.unwrap_or_default();
        let own = claimed.and_then(|address| Some((address, self.dad.state(interface, address)?)));
        match own {
            Some((address, State::Tentative { .. })) => {
                self.dad.claimed(interface, address);
                let (ours, theirs) = (Ipv6Addr::from(address), wire::MacAddr(mac));
                eprintln!("volleyd: {ours} is not used: {theirs} has it");
                self.refresh_interface(interface);
            }
            Some((address, State::Valid)) => {
                let Some(own_mac) = self.port_of(interface).map(|(_, port)| port.mac) else {
                    return;
                };
                let own = Ipv6Addr::from(address).into();
                self.neighborhood.defend(now_ns, interface, own, mac, own_mac);
            }
            Some((_, State::Duplicate)) | None if news.source != 0 => {
                self.neighborhood.heard_nd(now_ns, news);
            }
            _ => {}
        }
    }
}
