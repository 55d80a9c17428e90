//! What LISP says: messages of our own, routed as packets of ours.

use super::Lisp;
use crate::core::Core;
use lisp::{Probe, Question};
use nodes::ip::{OWN_TTL, PacketRoutes, leaves_by};
use nodes::tables::{Injected, VrfId};
use std::net::IpAddr;
use wire::lisp::{Address, Eid, RequestHead, encapsulate};
use wire::{craft, udp};

const PORT: u16 = udp::port::LISP_CONTROL;

impl Lisp {
    /// The VRF of messages.
    pub(super) fn vrf(&self, core: &Core) -> VrfId {
        core.vrfs.of(self.settings.vrf.as_ref())
    }

    /// Says all that is to be said by now, and forgets what is too old.
    pub(super) fn send_due(&mut self, core: &mut Core) {
        let now_ns = core.now_ns();
        let (questions, given_up) = self.asker.due(now_ns);
        questions.into_iter().for_each(|question| self.ask(core, question));
        for eid in given_up {
            self.told.count("map-request unanswered");
            self.drop_held(core, &eid);
        }
        let (records, nonces) = (self.own.records(), &mut self.nonces);
        for (to, message) in self.registrar.due(now_ns, &records, || nonces.greater()) {
            self.told.count("map-register sent");
            self.send(core, to, PORT, &message);
        }
        for solicit in self.own.due(now_ns) {
            let Some(nonce) = self.nonces.random() else { continue };
            let head = RequestHead { nonce, solicits: true, ..RequestHead::default() };
            let source = Address::Ip(solicit.eid.instance(), solicit.eid.address());
            let askers = self.askers(core, solicit.eid.instance());
            self.told.count("solicit-map-request sent");
            self.send(core, solicit.to, PORT, &head.write(source, &askers, solicit.eid));
        }
        let (notices, lost) = self.server.due(now_ns);
        for (to, from, message) in notices {
            self.told.count("map-notify sent");
            self.send_from(core, Some(from), (to, PORT), &message);
        }
        if lost {
            self.told.count("registration expired");
        }
        self.probe_due(core, now_ns);
        if self.cache.expire(now_ns) {
            self.told.count("map entry expired");
            self.refresh(core);
        }
    }

    fn probe_due(&mut self, core: &mut Core, now_ns: u64) {
        let Some(period) = self.settings.probe else { return };
        let nonces = &self.nonces;
        let (probes, fell_silent) =
            self.prober.due(now_ns, period.as_nanos() as u64, || nonces.random());
        for Probe { locator, eid, nonce } in probes {
            let head = RequestHead { nonce, is_probe: true, ..RequestHead::default() };
            let askers = self.askers(core, eid.instance());
            self.told.count("probe sent");
            self.send(core, locator, PORT, &head.write(Address::None, &askers, eid));
        }
        if fell_silent {
            self.told.count("locator fell silent");
            self.refresh(core);
        }
    }

    /// Asks a map resolver, another one each time.
    fn ask(&mut self, core: &mut Core, question: Question) {
        let Question { eid, nonce, is_solicited, tries } = question;
        let resolvers = &self.settings.map_resolvers;
        let Some(resolver) = resolvers.get(tries as usize % resolvers.len().max(1)) else { return };
        let resolver = *resolver;
        let head = RequestHead { nonce, is_solicited, ..RequestHead::default() };
        let askers = self.askers(core, eid.instance());
        let request = head.write(Address::None, &askers, eid);
        let inner = self.source(core, eid.address());
        let source = inner.unwrap_or(resolver);
        self.told.count("map-request sent");
        self.send(core, resolver, PORT, &encapsulate(source, PORT, eid.address(), &request));
    }

    /// Where answers about an instance are to go: our locators of it.
    pub(super) fn askers(&self, core: &Core, instance: u32) -> Vec<IpAddr> {
        let own = self.forwarding.own_locators(instance);
        if own.is_empty() {
            let any = [IpAddr::from([0, 0, 0, 0]), IpAddr::from([0; 16])];
            return any.into_iter().filter_map(|like| self.source(core, like)).collect();
        }
        own
    }

    /// An address of ours, of the family of another one, that others reach: a locator if there is
    /// one.
    fn source(&self, core: &Core, like: IpAddr) -> Option<IpAddr> {
        let fits = |address: &IpAddr| address.is_ipv4() == like.is_ipv4();
        let locators = self.forwarding.all_own_locators();
        let own = locators.into_iter().find(fits);
        own.or_else(|| self.speaking(core, like).map(|(_, address)| address))
    }

    /// A port of the VRF of messages with an address of a family, and that: the one by which
    /// packets to an address leave, if it is known.
    fn speaking(&self, core: &Core, like: IpAddr) -> Option<(u16, IpAddr)> {
        let vrf = self.vrf(core);
        if let Some(towards) = towards(core, vrf, like) {
            return Some(towards);
        }
        let ports = core.ports.values().filter(|port| core.vrf_of(&port.config) == vrf);
        let mut own = ports.flat_map(|port| {
            let addresses = port.config.addresses.iter().map(|own| own.address());
            addresses.map(|address| (port.id, address))
        });
        own.find(|(_, address)| {
            let on_link =
                matches!(address, IpAddr::V6(it) if wire::ipv6::is_link_local((*it).into()));
            address.is_ipv4() == like.is_ipv4() && !on_link
        })
    }

    /// Sends a message.
    pub(super) fn send(&mut self, core: &mut Core, to: IpAddr, port: u16, message: &[u8]) {
        self.send_from(core, None, (to, port), message);
    }

    /// Sends a message from an address of ours: that which an answer's question was for.
    pub(super) fn send_from(
        &mut self,
        core: &mut Core,
        from: Option<IpAddr>,
        (to, port): (IpAddr, u16),
        message: &[u8],
    ) {
        let from = from.filter(|from| from.is_ipv4() == to.is_ipv4());
        let source = from.or_else(|| self.source(core, to));
        let (Some(source), Some((rx, _))) = (source, self.speaking(core, to)) else {
            self.told.count("message without source");
            return;
        };
        let packet = match (source, to) {
            (IpAddr::V4(source), IpAddr::V4(to)) => {
                let packet = craft::ipv4(source, to).ttl(OWN_TTL).udp(PORT, port);
                packet.payload(message).build()
            }
            (IpAddr::V6(source), IpAddr::V6(to)) => {
                let packet = craft::ipv6(source, to).hop_limit(OWN_TTL).udp(PORT, port);
                packet.payload(message).build()
            }
            _ => return,
        };
        core.neighborhood.inject_copy(&packet, |packet| Injected::Own { rx, packet });
    }

    /// Whether a message to an address could be sent.
    pub(super) fn can_reach(&self, core: &Core, to: IpAddr) -> bool {
        self.source(core, to).is_some() && self.speaking(core, to).is_some()
    }

    /// Packets that waited for an endpoint which nobody knows are dropped.
    pub(super) fn drop_held(&mut self, core: &mut Core, eid: &Eid) {
        for (_, packet) in self.held.remove(eid).unwrap_or_default() {
            core.neighborhood.discard(packet);
        }
    }
}

/// The port by which packets to an address leave, and our address there.
fn towards(core: &Core, vrf: VrfId, to: IpAddr) -> Option<(u16, IpAddr)> {
    let routes = PacketRoutes::of_vrf(core.dataplane.vrfs(), vrf);
    let way = match to {
        IpAddr::V4(to) => routes.to(u32::from(to)),
        IpAddr::V6(to) => routes.to(u128::from(to)),
    };
    let id = leaves_by(way, &core.dataplane.adjacencies)?;
    let row = core.dataplane.interfaces().get(id).filter(|row| row.vrf == vrf)?;
    let own = match to {
        IpAddr::V4(to) => IpAddr::V4(row.ip4_towards(to.into())?.into()),
        IpAddr::V6(to) => IpAddr::V6(row.ip6_towards(to.into())?.into()),
    };
    Some((id, own))
}
