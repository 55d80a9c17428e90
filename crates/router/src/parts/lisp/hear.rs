//! What LISP hears: endpoints that are wanted, and messages. What nobody asked for teaches nothing.

use super::Lisp;
use crate::core::Core;
use lisp::{Heard, Learned, Outcome, Refusal, Verdict};
use nodes::tables::{EidWanted, Injected, LispSaid};
use std::net::IpAddr;
use wire::lisp::{
    Eid, Encapsulated, MapRecord, Message, Registration, Reply, Request, encapsulate, kind, reply,
};
use wire::udp::Datagram;
use wire::{ip, ipv4, ipv6};

/// Who said something, where an answer goes, and which address of ours it was said to.
#[derive(Clone, Copy)]
struct From {
    address: IpAddr,
    port: u16,
    own: IpAddr,
}

impl Lisp {
    /// An endpoint is to be asked for.
    pub(super) fn want(&mut self, core: &mut Core, punt: EidWanted) {
        let EidWanted { interface, endpoint, packet } = punt;
        let is_asked = self.forwarding.number_at(interface).is_some_and(|instance| {
            let eid = Eid::host(instance, endpoint);
            !self.settings.map_resolvers.is_empty() && self.begin_asking(core, eid, false)
        });
        let Some(packet) = packet else { return };
        let number = self.forwarding.number_at(interface);
        let eid = number.map(|instance| Eid::host(instance, endpoint)).filter(|_| is_asked);
        let Some(eid) = eid else {
            self.told.count("packet for whom nobody is asked");
            return core.neighborhood.discard(packet);
        };
        let waiting = self.held.entry(eid).or_default();
        waiting.push((interface, packet));
        if waiting.len() > usize::from(self.settings.hold_packets) {
            let (_, oldest) = waiting.remove(0);
            core.neighborhood.discard(oldest);
        }
        self.send_due(core);
    }

    fn begin_asking(&mut self, core: &Core, eid: Eid, is_solicited: bool) -> bool {
        let Some(nonce) = self.nonces.random() else { return false };
        self.asker.want(core.now_ns(), eid, is_solicited, nonce)
    }

    /// A message came.
    pub(super) fn hear_message(&mut self, core: &mut Core, punt: LispSaid) {
        let LispSaid { interface, upper, packet } = punt;
        let bytes = packet.bytes().to_vec();
        core.neighborhood.release_buffer(packet);
        if core.dataplane.interfaces().vrf(interface) != self.vrf(core) {
            return self.told.count("message in another vrf");
        }
        let ends: Option<(IpAddr, IpAddr)> = match ip::version(&bytes) {
            6 => ipv6::Header::new(&bytes)
                .map(|it| (it.source_addr().into(), it.destination_addr().into())),
            _ => ipv4::Header::new(&bytes)
                .map(|it| (it.source_addr().into(), it.destination_addr().into())),
        };
        let datagram = bytes.get(upper..).and_then(|bytes| Datagram::parse(bytes).ok());
        let (Some((address, own)), Some(datagram)) = (ends, datagram) else {
            return self.told.count("message malformed");
        };
        let from = From { address, port: datagram.header.source_port(), own };
        match Message::parse(datagram.payload) {
            Ok(Message::Request(request)) if request.head.solicits => self.solicited(core, request),
            Ok(Message::Request(request)) => self.asked(core, from, request),
            Ok(Message::Reply(reply)) => self.answered(core, reply),
            Ok(Message::Registration(message)) => self.registration(core, from, &message),
            Ok(Message::Encapsulated(message)) => self.encapsulated(core, own, message),
            Err(_) => self.told.count("message malformed"),
        }
    }

    /// A question in a packet: of who asks the mapping system.
    fn encapsulated(&mut self, core: &mut Core, own: IpAddr, message: Encapsulated<'_>) {
        let from = From { address: message.source, port: message.source_port, own };
        let Ok(Message::Request(request)) = Message::parse(message.message) else {
            return self.told.count("message malformed");
        };
        let Some(network) = request.networks().next() else {
            return self.told.count("map-request for what is not known here");
        };
        if !self.settings.map_server || self.own.find(&network).is_some() {
            return self.asked(core, from, request);
        }
        self.told.count("map-request heard");
        match self.server.asked(&network) {
            Verdict::Answer(record) => self.answer(core, from, &request, record),
            Verdict::HandOn(site) => {
                self.told.count("map-request handed on");
                let packet =
                    encapsulate(from.address, from.port, network.address(), message.message);
                self.send(core, site, wire::udp::port::LISP_CONTROL, &packet);
            }
        }
    }

    /// A question for a network of ours, or for whether we are reached.
    fn asked(&mut self, core: &mut Core, from: From, request: Request<'_>) {
        self.told.count("map-request heard");
        let network = request.networks().next();
        let own = network.and_then(|network| self.own.find(&network)).cloned();
        let (Some(network), Some(record)) = (network, own) else {
            return self.told.count("map-request for what is not ours");
        };
        if request.head.is_probe {
            self.told.count("map-reply sent");
            let answer = reply(request.head.nonce, true, &[record]);
            return self.reply_to(core, from, from.address, &answer);
        }
        for asker in request.askers().take(4) {
            self.own.asked_by(network, asker);
        }
        self.answer(core, from, &request, record);
    }

    /// Answers who asks, at the first of its locators that we reach.
    fn answer(&mut self, core: &mut Core, from: From, request: &Request<'_>, record: MapRecord) {
        let Some(to) = request.askers().find(|asker| self.can_reach(core, *asker)) else {
            return self.told.count("map-request from nowhere");
        };
        self.told.count("map-reply sent");
        self.reply_to(core, from, to, &reply(request.head.nonce, false, &[record]));
    }

    /// Sends an answer, from the address that was asked.
    fn reply_to(&mut self, core: &mut Core, from: From, to: IpAddr, message: &[u8]) {
        self.send_from(core, Some(from.own), (to, from.port), message);
    }

    /// Another site has us ask again for a network that we know of it.
    fn solicited(&mut self, core: &mut Core, request: Request<'_>) {
        self.told.count("solicit-map-request heard");
        let Some(network) = request.networks().next() else { return };
        for eid in self.cache.learned_in(&network).into_iter().take(8) {
            self.begin_asking(core, eid, true);
        }
        self.send_due(core);
    }

    /// An answer: believed of what was asked, once.
    fn answered(&mut self, core: &mut Core, reply: Reply<'_>) {
        if reply.is_probe {
            match self.prober.answered(reply.nonce) {
                Some(was_silent) => {
                    self.told.count("probe answered");
                    if was_silent {
                        self.refresh(core);
                    }
                }
                None => self.told.count("map-reply that nobody asked for"),
            }
            return;
        }
        let records = reply.records.filter_map(|record| record.to_owned());
        let asked = records.into_iter().find_map(|record| {
            let eid = self.asker.answered(reply.nonce, &record.eid)?;
            Some((eid, record))
        });
        let Some((eid, record)) = asked else {
            return self.told.count("map-reply that nobody asked for");
        };
        self.told.count("map-reply heard");
        // A network that was cut up or joined: what was known of it is old.
        let most = self.settings.entries as usize;
        for old in self.cache.learned_in(&record.eid) {
            if old != record.eid && (record.eid.contains(&old) || old == eid) {
                let gone = MapRecord { ttl_minutes: 0, eid: old, ..record.clone() };
                self.cache.learn(core.now_ns(), &gone, most);
            }
        }
        if self.cache.learn(core.now_ns(), &record, most) == Learned::Full {
            self.told.count("map entry without room");
            return self.drop_held(core, &eid);
        }
        self.news.push(record.eid);
    }

    /// Has workers forward by what answers told, and packets go that waited for it.
    pub(super) fn tell_news(&mut self, core: &mut Core) {
        if self.news.is_empty() {
            return;
        }
        self.refresh(core);
        for network in std::mem::take(&mut self.news) {
            self.release_held(core, &network);
        }
    }

    /// Packets that waited for an endpoint of a network go.
    fn release_held(&mut self, core: &mut Core, network: &Eid) {
        let known: Vec<Eid> =
            self.held.keys().filter(|eid| network.contains(eid)).copied().collect();
        for eid in known {
            self.asker.forget(&eid);
            for (interface, packet) in self.held.remove(&eid).unwrap_or_default() {
                let rx = packet.rx();
                core.neighborhood.hand_over(Injected::Mapped { interface, rx, packet });
            }
        }
    }

    /// A site registers, a map server heard us, or somebody heard a change.
    fn registration(&mut self, core: &mut Core, from: From, message: &Registration<'_>) {
        match message.head.kind {
            kind::REGISTER => self.register(core, from, message),
            kind::NOTIFY => match self.registrar.heard(core.now_ns(), from.address, message) {
                Heard::Yes => {
                    self.told.count("map-notify heard");
                    if self.registrar.each().all(|(_, it)| !it.is_waiting) {
                        self.own.is_told();
                    }
                }
                Heard::Changed(records, heard) => {
                    self.told.count("map-notify of a change");
                    self.reply_to(core, from, from.address, &heard);
                    for record in records {
                        self.moved(core, record.eid);
                    }
                }
                Heard::Unknown => self.told.count("map-notify of no map server"),
                Heard::Unproved => self.told.count("map-notify refused: wrong key"),
            },
            _ => {
                self.told.count("map-notify-ack heard");
                self.server.confirmed(from.address, message);
            }
        }
    }

    /// A network of ours is at another router now: who sends here is told to ask again.
    fn moved(&mut self, core: &mut Core, network: Eid) {
        let Some(own) = self.own.find(&network).map(|record| record.eid) else { return };
        tracing::info!(eid = %own, "a network of ours was told of by another router");
        if self.settings.solicit {
            self.solicit(core.now_ns(), own);
        }
    }

    fn register(&mut self, core: &mut Core, from: From, message: &Registration<'_>) {
        if !self.settings.map_server {
            return self.told.count("map-register heard, and this is no map server");
        }
        let Some(nonce) = self.nonces.random() else { return };
        let whence = (from.address, from.own);
        match self.server.register(core.now_ns(), whence, message, nonce) {
            Ok(Outcome { notice, moved }) => {
                self.told.count("map-register heard");
                for eid in moved {
                    tracing::info!(%eid, by = %from.address, "a network of LISP is elsewhere now");
                }
                if let Some(notice) = notice {
                    self.told.count("map-notify sent");
                    self.reply_to(core, from, from.address, &notice);
                }
                self.send_due(core);
            }
            Err(refusal) => self.told.count(match refusal {
                Refusal::NoSite => "map-register refused: no site has the network",
                Refusal::Unproved => "map-register refused: wrong key",
                Refusal::Replayed => "map-register refused: replayed",
                Refusal::Full => "map-register refused: too many networks",
            }),
        }
    }
}
