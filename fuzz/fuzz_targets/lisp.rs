//! LISP's control plane, told anything at any time: it keeps to its bounds, believes no answer that
//! it did not ask for and no registration without the key, and what it says can be read.
//!
//! ```text
//! input: ( choice │ length │ message … )*
//! choice: 0 as it is │ 1 proved with a site's key │ 2 with the nonce of a question │ 3 time passes
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use lisp::{Asker, Key, Learned, MapCache, MapServer, Registrar, Site, Verdict};
use std::net::IpAddr;
use wire::lisp::{Algorithm, Eid, MapRecord, Message, RegistrationHead, kind, reply};

const SECOND: u64 = 1_000_000_000;
/// Networks that may be learned, and endpoints that may be asked for.
const MOST: usize = 8;

fuzz_target!(|bytes: &[u8]| World::new().play(bytes));

struct World {
    now_ns: u64,
    nonce: u64,
    asker: Asker,
    cache: MapCache,
    server: MapServer,
    registrar: Registrar,
    key: Key,
}

fn from() -> IpAddr {
    [192, 0, 2, 1].into()
}

impl World {
    fn new() -> Self {
        let key = Key::new(Algorithm::Sha256, b"fuzz");
        let eids = [(0, 10, 8), (7, 172, 12)];
        let eids = eids.into_iter().filter_map(|(instance, first, length)| {
            Eid::new(instance, [first, 16, 0, 0].into(), length)
        });
        let (name, eids) = ("site".to_owned(), eids.collect());
        let site = Site { name, key: key.clone(), eids, more_specifics: true, answers: true };
        let (mut server, mut registrar) = (MapServer::default(), Registrar::default());
        server.set_sites(vec![site]);
        registrar.set(0, from(), key.clone(), false);
        let (asker, cache) = (Asker::new(MOST), MapCache::default());
        Self { now_ns: 0, nonce: 0, asker, cache, server, registrar, key }
    }

    fn play(mut self, mut bytes: &[u8]) {
        while let [choice, length, rest @ ..] = bytes {
            let (message, rest) = rest.split_at((*length as usize).min(rest.len()));
            bytes = rest;
            match choice % 4 {
                0 => self.hear(message, false),
                1 => self.hear_proved(message),
                2 => self.hear_asked(message),
                _ => self.pass(u64::from(*length)),
            }
            assert!(self.asker.len() <= MOST && self.cache.each().count() <= MOST);
        }
    }

    fn hear(&mut self, message: &[u8], is_asked: bool) {
        match Message::parse(message) {
            Ok(Message::Request(request)) => request.networks().for_each(|it| self.ask(it)),
            Ok(Message::Reply(reply)) => {
                for record in reply.records.filter_map(|it| it.to_owned()) {
                    if self.asker.answered(reply.nonce, &record.eid).is_some() {
                        assert!(is_asked || reply.nonce <= self.nonce);
                        let learned = self.cache.learn(self.now_ns, &record, MOST);
                        assert!(learned != Learned::Full || self.cache.each().count() == MOST);
                    }
                }
            }
            Ok(Message::Registration(message)) => {
                let at = (from(), from());
                let taken = self.server.register(self.now_ns, at, &message, self.nonce);
                assert!(taken.is_err() || self.key.proves(&message));
                self.server.confirmed(from(), &message);
                self.registrar.heard(self.now_ns, from(), &message);
            }
            Ok(Message::Encapsulated(message)) if !is_asked => self.hear(message.message, true),
            _ => {}
        }
    }

    /// The same with the right proof.
    fn hear_proved(&mut self, message: &[u8]) {
        let Ok(Message::Registration(message)) = Message::parse(message) else { return };
        let records: Vec<MapRecord> = message.records.filter_map(|it| it.to_owned()).collect();
        let head = RegistrationHead { kind: kind::REGISTER, ..message.head };
        self.hear(&self.key.prove(head, &records), false);
    }

    /// An answer to the last question.
    fn hear_asked(&mut self, message: &[u8]) {
        let Ok(Message::Reply(answer)) = Message::parse(message) else { return };
        let records: Vec<MapRecord> = answer.records.filter_map(|it| it.to_owned()).collect();
        self.hear(&reply(self.nonce, false, &records), true);
    }

    fn ask(&mut self, network: Eid) {
        self.nonce += 1;
        self.asker.want(self.now_ns, network, false, self.nonce);
        if let Verdict::Answer(record) = self.server.asked(&network) {
            assert!(record.eid.overlaps(&network), "{record:?} for {network}");
        }
    }

    fn pass(&mut self, seconds: u64) {
        self.now_ns += seconds * SECOND;
        self.asker.due(self.now_ns);
        self.cache.expire(self.now_ns);
        for (_, _, notice) in self.server.due(self.now_ns).0 {
            assert!(matches!(Message::parse(&notice), Ok(Message::Registration(_))));
        }
        for (_, told) in self.registrar.due(self.now_ns, &[], || 1) {
            assert!(Message::parse(&told).is_ok());
        }
    }
}
