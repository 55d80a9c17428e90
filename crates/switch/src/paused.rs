//! Who watches flows and reads slowly: it is told that it misses what comes and what changes, and
//! all of that once it has read what waits.
//!
//! ```text
//!  updates ─▶ many wait ─▶ paused ─▶ which of those it knows go ─▶ all is read
//!          ◀─ as usual ◀─ resumed ◀─ what came and changed since ◀──┘
//! ```
//! So no more waits than there are flows, and what it knows in the end is what there is.

use crate::bridge::Bridge;
use crate::connection::{Connection, Event};
use crate::monitors::Change;
use openflow::message::FlowChange;
use std::sync::Arc;

/// Events that wait when a connection is paused.
const MOST_AHEAD: usize = 4096;

impl Connection {
    /// Whether it misses updates.
    pub fn is_paused(&self) -> bool {
        self.paused_ns.is_some()
    }

    /// Whether it is told of a change now, and not when it goes on.
    pub(crate) fn is_told_now(&mut self, it: &Change) -> bool {
        let (flow, is_gone) = (&it.flow, matches!(it.change, FlowChange::Removed(_)));
        if let Some(since) = self.paused_ns {
            // Of one that came since it does not know.
            return is_gone && flow.created_ns <= since;
        }
        self.latest_ns = self.latest_ns.max(flow.created_ns).max(flow.modified_ns);
        if self.owed.len() < MOST_AHEAD {
            return true;
        }
        self.paused_ns = Some(self.latest_ns);
        self.owed.push_back(Event::Pause { is_over: false });
        is_gone
    }
}

impl Bridge {
    /// Has a connection that was paused go on: it is owed what came and changed meanwhile. What
    /// happened just when it was paused it may be told twice.
    pub fn resume(&self, connection: &mut Connection) {
        let Some(since) = connection.paused_ns.take() else { return };
        self.each_flow(|flow| {
            let change = match flow {
                _ if flow.created_ns >= since => FlowChange::Added,
                _ if flow.modified_ns >= since => FlowChange::Modified,
                _ => return,
            };
            let change = Change { flow: Arc::clone(flow), old: None, change, by: None };
            if connection.watches(&change) != 0 {
                connection.owed.push_back(Event::Flow(Arc::new(change)));
            }
        });
        connection.owed.push_back(Event::Pause { is_over: true });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Nothing;
    use crate::{Bridge, Connection};
    use openflow::message::{Command, FlowMod, Kind, message};
    use openflow::{Field, Match, Version};
    use std::collections::BTreeMap;

    fn connect(bridge: &mut Bridge, version: Version) -> Connection {
        let number = version as u8;
        let mut it = Connection::new(false);
        let hello = [number, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 1 << number];
        assert!(bridge.hear(&mut it, &hello, &mut Nothing, 0).is_empty());
        it
    }

    /// What somebody says to a bridge at a time, each heard by who watches.
    struct Play {
        bridge: Bridge,
        speaker: Connection,
        watcher: Connection,
        now_ns: u64,
    }

    impl Play {
        /// A watcher of all, in 1.4.
        fn new() -> Self {
            let mut bridge = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
            let speaker = connect(&mut bridge, Version::V14);
            let mut watcher = connect(&mut bridge, Version::V14);
            let mut body = vec![0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
            body.extend([0xff; 8]);
            body.extend([0, 0x0e, 0xff, 0, 0, 1, 0, 4, 0, 0, 0, 0]);
            let watch = message(Version::V14, Kind::MultipartRequest, 5, &body);
            bridge.hear(&mut watcher, &watch, &mut Nothing, 0);
            Self { bridge, speaker, watcher, now_ns: 0 }
        }

        fn say(&mut self, command: Command, station: u32, cookie: u64) {
            self.now_ns += 1;
            let matching = Match::any().with(Field::EthDst, station.into());
            let it = FlowMod { command, cookie, ..FlowMod::add(0, 6, matching, vec![]) };
            let it = it.encode(Version::V14, 9);
            let answers = self.bridge.hear(&mut self.speaker, &it, &mut Nothing, self.now_ns);
            assert!(answers.is_empty());
            let events = self.bridge.take_events();
            events.iter().for_each(|event| self.watcher.tell(event));
        }

        /// What it is told, and what it knows then, by station: the cookie.
        fn read(&mut self, known: &mut BTreeMap<u32, u64>) -> Vec<u16> {
            let mut told = Vec::new();
            for message in self.watcher.take_owed() {
                let mut rest = &message[16..];
                while let [a, b, c, d, ..] = *rest {
                    let (entry, behind) = rest.split_at(usize::from(u16::from_be_bytes([a, b])));
                    let event = u16::from_be_bytes([c, d]);
                    told.push(event);
                    if event <= 3 {
                        let cookie = u64::from_be_bytes(*entry[16..].first_chunk().unwrap());
                        let station = u32::from_be_bytes(*entry[34..].first_chunk().unwrap());
                        match event {
                            2 => assert!(known.remove(&station).is_some(), "{station}"),
                            _ => drop(known.insert(station, cookie)),
                        }
                    }
                    rest = behind;
                }
            }
            told
        }
    }

    #[test]
    fn who_reads_slowly_knows_in_the_end_what_there_is() {
        let (mut it, mut known) = (Play::new(), BTreeMap::new());
        (0..5000).for_each(|station| it.say(Command::Add, station, 1));
        assert!(it.watcher.is_paused());
        // One that it knows, one that it does not, and one that comes and goes.
        it.say(Command::DeleteStrict, 7, 0);
        it.say(Command::DeleteStrict, 4999, 0);
        it.say(Command::Add, 6000, 1);
        it.say(Command::DeleteStrict, 6000, 0);
        it.say(Command::Add, 7000, 2);
        it.say(Command::Add, 9, 3);
        let told = it.read(&mut known);
        assert_eq!((told.len(), &told[4096..]), (4098, &[5, 2][..]));
        it.bridge.resume(&mut it.watcher);
        let told = it.read(&mut known);
        assert_eq!((told.last(), it.watcher.is_paused()), (Some(&6), false));
        let mut there = BTreeMap::new();
        it.bridge.each_flow(|flow| {
            there.insert(flow.matching.exact(Field::EthDst).unwrap() as u32, flow.cookie);
        });
        assert_eq!((known.len(), known == there), (5000 - 2 + 1, true));
        // As before: at once.
        it.say(Command::DeleteStrict, 9, 0);
        assert_eq!(it.read(&mut known), [2]);
    }

    #[test]
    fn in_1_0_it_is_told_by_messages_of_their_own() {
        use crate::Event;
        let mut bridge = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
        let mut one = connect(&mut bridge, Version::V10);
        one.owed.extend([false, true].map(|is_over| Event::Pause { is_over }));
        let told: Vec<_> = one.take_owed().iter().map(|it| it[8..].to_vec()).collect();
        assert_eq!(told, [22, 23].map(|kind| vec![0, 0, 0x23, 0x20, 0, 0, 0, kind]));
    }
}
