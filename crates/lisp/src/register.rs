//! Our own networks, told to map servers (RFC 9301, 5.6): each minute, and sooner where nobody says
//! that it heard.
//!
//! ```text
//!  told ─▶ heard ─▶ told again after 60 s
//!    └── nothing heard: after 1 s, 2 s, 4 s … 60 s
//! ```

use crate::{Key, MINUTE, SECOND};
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::lisp::{MapRecord, Registration, RegistrationHead, kind};

/// Seconds of the longest silence are two to the power of this: above a minute.
const MOST_DOUBLED: u32 = 6;

/// All map servers that hear of us.
#[derive(Default)]
pub struct Registrar {
    servers: BTreeMap<IpAddr, Server>,
    /// Networks that are ours no more, and are told so once.
    withdrawn: Vec<MapRecord>,
}

struct Server {
    key: Key,
    answers: bool,
    next_ns: u64,
    /// Of what is not heard yet.
    nonce: Option<u64>,
    tries: u32,
    heard_ns: Option<u64>,
}

/// How a map server stands to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registered {
    /// When it was heard last.
    pub heard_ns: Option<u64>,
    /// What was told since was not heard yet.
    pub is_waiting: bool,
    /// So often was it told in vain.
    pub tries: u32,
}

/// What a map server said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It heard.
    Yes,
    /// Networks are elsewhere now; it is to be told that that was heard, by this message.
    Changed(Vec<MapRecord>, Vec<u8>),
    /// It is none of ours.
    Unknown,
    /// It was not said by who has the key.
    Unproved,
}

impl Registrar {
    /// Adds a map server, or has it known by another key; it hears of us at once.
    pub fn set(&mut self, now_ns: u64, server: IpAddr, key: Key, answers: bool) {
        let server_of =
            Server { key, answers, next_ns: now_ns, nonce: None, tries: 0, heard_ns: None };
        self.servers.insert(server, server_of);
    }

    /// A map server hears of us no more.
    pub fn remove(&mut self, server: IpAddr) {
        self.servers.remove(&server);
    }

    /// What there is to tell changed: all are told at once, of what is ours no more as well.
    pub fn hurry(&mut self, now_ns: u64, withdrawn: Vec<MapRecord>) {
        self.withdrawn = withdrawn;
        for server in self.servers.values_mut() {
            (server.next_ns, server.tries) = (now_ns, 0);
        }
    }

    /// What is to be told now, and to whom.
    pub fn due(
        &mut self,
        now_ns: u64,
        records: &[MapRecord],
        mut nonce: impl FnMut() -> u64,
    ) -> Vec<(IpAddr, Vec<u8>)> {
        let mut due = Vec::new();
        if records.is_empty() && self.withdrawn.is_empty() {
            return due;
        }
        let told = [records, &self.withdrawn].concat();
        for (address, it) in self.servers.iter_mut().filter(|(_, it)| it.next_ns <= now_ns) {
            // What was told before and not heard is not waited for any more.
            let nonce = nonce();
            it.nonce = Some(nonce);
            let head = RegistrationHead {
                kind: kind::REGISTER,
                nonce,
                answers: it.answers,
                wants_notice: true,
                key: 0,
                algorithm: it.key.algorithm(),
            };
            due.push((*address, it.key.prove(head, &told)));
            it.next_ns = now_ns + (SECOND << it.tries.min(MOST_DOUBLED)).min(MINUTE);
            it.tries = it.tries.saturating_add(1);
        }
        due
    }

    /// A map server's notice.
    pub fn heard(&mut self, now_ns: u64, from: IpAddr, notice: &Registration<'_>) -> Heard {
        let Some(server) = self.servers.get_mut(&from) else { return Heard::Unknown };
        if !server.key.proves(notice) {
            return Heard::Unproved;
        }
        if server.nonce == Some(notice.head.nonce) {
            (server.nonce, server.tries) = (None, 0);
            (server.heard_ns, server.next_ns) = (Some(now_ns), now_ns + MINUTE);
            if self.servers.values().all(|server| server.nonce.is_none()) {
                self.withdrawn.clear();
            }
            return Heard::Yes;
        }
        let records: Vec<MapRecord> =
            notice.records.filter_map(|record| record.to_owned()).collect();
        let head = RegistrationHead { kind: kind::NOTIFY_ACK, ..notice.head };
        let heard = server.key.prove(head, &records);
        Heard::Changed(records, heard)
    }

    /// How each map server stands to us.
    pub fn each(&self) -> impl Iterator<Item = (IpAddr, Registered)> {
        self.servers.iter().map(|(address, it)| {
            let (heard_ns, tries) = (it.heard_ns, it.tries);
            (*address, Registered { heard_ns, is_waiting: it.nonce.is_some(), tries })
        })
    }

    /// When something is to be told next, if there is anything to tell.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.servers.values().map(|it| it.next_ns).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::lisp::{Action, Algorithm, Eid, Message, ttl};

    fn server() -> IpAddr {
        [192, 0, 2, 53].into()
    }

    fn key() -> Key {
        Key::new(Algorithm::Sha256, b"secret")
    }

    fn record() -> MapRecord {
        MapRecord {
            ttl_minutes: ttl::ANY,
            eid: Eid::new(0, [10, 1, 0, 0].into(), 16).unwrap(),
            action: Action::None,
            is_authoritative: true,
            locators: Vec::new(),
        }
    }

    fn registrar() -> Registrar {
        let mut registrar = Registrar::default();
        registrar.set(0, server(), key(), true);
        registrar
    }

    fn read(message: &[u8]) -> Registration<'_> {
        let Ok(Message::Registration(read)) = Message::parse(message) else { panic!() };
        read
    }

    /// Seconds at which the server is told in a time.
    fn told(registrar: &mut Registrar, seconds: std::ops::Range<u64>) -> Vec<u64> {
        let mut nonce = 0;
        let mut next = || {
            nonce += 1;
            nonce
        };
        let mut is_told =
            |second: &u64| !registrar.due(second * SECOND, &[record()], &mut next).is_empty();
        seconds.filter(|second| is_told(second)).collect()
    }

    #[test]
    fn who_says_nothing_is_told_ever_later_and_at_least_each_minute() {
        let mut registrar = registrar();
        assert_eq!(told(&mut registrar, 0..250), [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
        registrar.hurry(250 * SECOND, Vec::new());
        assert_eq!(told(&mut registrar, 250..254), [250, 251, 253]);
        assert_eq!(registrar.due(u64::MAX / 2, &[], || 1), []);
    }

    #[test]
    fn who_heard_is_told_each_minute() {
        let mut registrar = registrar();
        let due = registrar.due(0, &[record()], || 9);
        let message = read(&due[0].1);
        assert!(key().proves(&message) && message.head.answers && message.head.wants_notice);
        assert!(message.records.map(|it| it.to_owned().unwrap()).eq([record()]));
        let head = RegistrationHead { kind: kind::NOTIFY, ..message.head };
        let notice = key().prove(head, &[record()]);
        assert_eq!(registrar.heard(5, server(), &read(&notice)), Heard::Yes);
        let stands = registrar.each().next().unwrap().1;
        assert_eq!(stands, Registered { heard_ns: Some(5), is_waiting: false, tries: 0 });
        assert_eq!(registrar.next_due_ns(), Some(5 + MINUTE));
    }

    #[test]
    fn what_others_say_is_no_notice() {
        let mut registrar = registrar();
        let due = registrar.due(0, &[record()], || 9);
        let head = RegistrationHead { kind: kind::NOTIFY, ..read(&due[0].1).head };
        let wrong = Key::new(Algorithm::Sha256, b"guess").prove(head, &[]);
        assert_eq!(registrar.heard(5, server(), &read(&wrong)), Heard::Unproved);
        let notice = key().prove(head, &[]);
        assert_eq!(registrar.heard(5, [9, 9, 9, 9].into(), &read(&notice)), Heard::Unknown);
        assert_eq!(registrar.each().next().unwrap().1.heard_ns, None);
    }

    #[test]
    fn a_notice_that_nobody_waited_for_is_a_change_and_confirmed() {
        let mut registrar = registrar();
        let head = RegistrationHead {
            kind: kind::NOTIFY,
            nonce: 77,
            answers: false,
            wants_notice: false,
            key: 0,
            algorithm: Algorithm::Sha256,
        };
        let notice = key().prove(head, &[record()]);
        let Heard::Changed(records, heard) = registrar.heard(5, server(), &read(&notice)) else {
            panic!()
        };
        assert_eq!(records, [record()]);
        let confirmed = read(&heard);
        assert!(confirmed.head.kind == kind::NOTIFY_ACK && confirmed.head.nonce == 77);
        assert!(key().proves(&confirmed));
    }

    #[test]
    fn what_is_ours_no_more_is_told_until_it_is_heard() {
        let mut registrar = registrar();
        let gone = MapRecord { ttl_minutes: 0, ..record() };
        registrar.hurry(0, vec![gone.clone()]);
        let due = registrar.due(0, &[], || 9);
        let message = read(&due[0].1);
        assert!(message.records.map(|it| it.to_owned().unwrap()).eq([gone]));
        let notice = key().prove(RegistrationHead { kind: kind::NOTIFY, ..message.head }, &[]);
        assert_eq!(registrar.heard(5, server(), &read(&notice)), Heard::Yes);
        assert_eq!(registrar.due(u64::MAX / 2, &[], || 1), []);
    }
}
