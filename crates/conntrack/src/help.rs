//! Connections that others are told of: of FTP and TFTP, whose data has a connection of its own.
//!
//! ```text
//!  control connection, with a helper ─ "I wait at port p" ─▶ Expected: from one host, to a port
//!  what begins nothing that is known ─ is it expected? ─▶ related to the control connection
//! ```
//! What is expected is an entry like others: two tuples, one by which it is found, one by which its
//! control connection finds it. So there is room for a bounded number, and each connection expects
//! one at most, as in Linux. It goes with the control connection, or after some minutes.

use crate::nat::Refused;
use crate::packet::Seen;
use crate::status::{Direction, End, Kind, Status};
use crate::table::{Found, Parent, Table};
use crate::tcp::TcpState;
use crate::timeouts::Timeouts;
use crate::tuple::Tuple;
use std::sync::atomic::Ordering;

/// How long somebody is waited for (as in Linux).
const EXPECTED_S: u32 = 300;

/// Of which protocol connections are that bring others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Helper {
    /// FTP (RFC 959, RFC 2428).
    Ftp = 1,
    /// TFTP (RFC 1350).
    Tftp = 2,
}

/// A connection that is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expected {
    /// The control connection, in the direction of who told of it.
    pub of: Found,
}

/// What a connection is besides one of two ends.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Begins {
    /// The end that is translated, perhaps to what it is already.
    pub translated: Option<End>,
    /// Whether it brings others.
    pub helper: Option<Helper>,
    /// The connection that brought it.
    pub expected: Option<Expected>,
}

impl Table {
    /// Begins a connection by a packet, of a kind. What there is of this tuple already, another
    /// worker has just made.
    pub fn begin(
        &self,
        (original, reply): (&Tuple, &Tuple),
        begins: Begins,
        seen: Seen,
        timeouts: &Timeouts,
        now_s: u32,
    ) -> Result<Found, Refused> {
        let tcp = timeouts.begin(original.protocol(), seen).ok_or(Refused::Invalid)?;
        let mut status = Status::new(Kind::Connection, tcp, 0).helped(begins.helper);
        if let Some(end) = begins.translated {
            status = status.translated(end);
        }
        let parent = begins.expected.map(|it| parent_of(&it.of));
        if parent.is_some() {
            status = status.related();
        }
        let until = now_s.saturating_add(timeouts.of(original.protocol(), status));
        let found = self.create_entry(original, reply, status.until(until), parent, now_s)?;
        if let Some(it) = begins.expected {
            self.keep(it.of.slot, it.of.status.generation(), until, false);
        }
        Ok(found)
    }

    /// From now on whoever a connection's packet was sent to is expected to connect to a port of
    /// its sender: in place of whom it expected before.
    pub fn expect(&self, found: &Found, port: u16, now_s: u32) {
        let Some((expected, by)) = self.expectation(found, port) else { return };
        if let Some(before) = self.find(&by, now_s) {
            if self.find(&expected, now_s).is_some_and(|it| it.slot == before.slot) {
                return;
            }
            self.end_found(&before);
        }
        let status = Status::new(Kind::Pieces, TcpState::None, 0).until(now_s + EXPECTED_S);
        // Where there is no room, or somebody else is expected so, nobody is.
        let made = self.create_entry(&expected, &by, status, Some(parent_of(found)), now_s);
        if made.is_ok() {
            self.expects().store(true, Ordering::Release);
        }
    }

    /// Who is expected, and by what a connection finds that again.
    fn expectation(&self, found: &Found, port: u16) -> Option<(Tuple, Tuple)> {
        // Who tells of it, as the other end knows it.
        let other = self.entries().get(found.slot)?;
        let to_it = other.tuple(found.status, found.direction.other())?;
        let own = other.tuple(found.status, Direction::Original)?;
        Some((to_it.expected(port), own.expecting()))
    }

    /// Whether a packet that begins a connection is expected, and by whom.
    pub fn expected(&self, tuple: &Tuple, now_s: u32) -> Option<Expected> {
        // Where nobody expects anything, nothing is looked for.
        if !self.expects().load(Ordering::Acquire) {
            return None;
        }
        let found = self.find(&tuple.expected(tuple.destination_port()), now_s)?;
        let (slot, generation, direction) = self.entries().get(found.slot)?.parent(found.status)?;
        let status = self.entries().get(slot)?.status();
        let is_there = status.generation() == generation && !status.is_free();
        is_there.then_some(Expected { of: Found { slot, direction, status } })
    }

    /// What an expected packet is on the other side of a control connection that is translated,
    /// and which end of it is.
    pub fn expected_as(&self, tuple: &Tuple, expected: &Expected) -> Option<(Tuple, End)> {
        let (of, status) = (&expected.of, expected.of.status);
        let entry = self.entries().get(of.slot)?;
        let [original, reply] =
            [Direction::Original, Direction::Reply].map(|it| entry.tuple(status, it));
        let (original, reply) = (original?, reply?);
        let of_destination = status.is_translated()
            && status.translated_end(Direction::Original) == End::Destination;
        let to = match (of.direction, of_destination) {
            (Direction::Reply, true) => (tuple.to_host_of(&reply, End::Source), End::Destination),
            (Direction::Reply, false) => {
                (tuple.with_host_of(&reply, End::Destination), End::Source)
            }
            (Direction::Original, true) => {
                (tuple.with_host_of(&original, End::Destination), End::Source)
            }
            (Direction::Original, false) => {
                (tuple.to_host_of(&original, End::Source), End::Destination)
            }
        };
        // Who asks by TFTP waits at the port that it asks from.
        let is_own = status.helper() == Some(Helper::Tftp) && to.1 == End::Destination;
        Some(if is_own { (to.0.to_port(original.source_port()), to.1) } else { to })
    }

    /// What who began a connection sends, or who began the one that brought it; none if it has
    /// ended meanwhile.
    #[inline]
    pub fn origin(&self, found: &Found) -> Option<Tuple> {
        let entry = self.entries().get(found.slot)?;
        if found.status.is_related()
            && let Some((slot, generation, _)) = entry.parent(found.status)
            && let Some(parent) = self.entries().get(slot)
        {
            let status = parent.status();
            if status.generation() == generation && !status.is_free() {
                return parent.tuple(status, Direction::Original);
            }
        }
        entry.tuple(found.status, Direction::Original)
    }

    /// By how many octets each end of a connection says more than it sent: who began it, the other.
    pub fn skews(&self, found: &Found) -> [i16; 2] {
        self.entries().get(found.slot).map_or([0; 2], |entry| entry.skews())
    }

    /// Whether what a connection's packets say was changed last in the one of this sequence number.
    pub fn was_edited(&self, found: &Found, sequence: u32) -> bool {
        self.entries().get(found.slot).is_some_and(|entry| entry.edited() == sequence)
    }

    /// It is now, and the end says so much more, or less; false where that is too much.
    pub fn edited(&self, found: &Found, sequence: u32, more: i16) -> bool {
        let entry = self.entries().get(found.slot);
        entry.is_some_and(|entry| {
            entry.add_skew(found.direction, more) && entry.set_edited(sequence)
        })
    }
}

fn parent_of(found: &Found) -> Parent {
    Parent { slot: found.slot, generation: found.status.generation(), direction: found.direction }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::ip::protocol;

    const CLIENT: u32 = 0x0a00_0001;
    const SERVER: u32 = 0x0a00_0002;
    const SEEN: u32 = 0xc000_0207;

    fn tcp(from: (u32, u16), to: (u32, u16)) -> Tuple {
        Tuple::ip4(from, to, protocol::TCP, 3)
    }

    const SYN: Seen = Seen::Tcp(wire::tcp::flag::SYN);

    fn begin(table: &Table, original: &Tuple, reply: &Tuple, begins: Begins) -> Found {
        table.begin((original, reply), begins, SYN, &Timeouts::default(), 10).unwrap()
    }

    #[test]
    fn who_is_expected_is_related_and_one_at_a_time() {
        let table = Table::new(64, 1);
        let control = tcp((CLIENT, 1000), (SERVER, 21));
        let helper = Begins { helper: Some(Helper::Ftp), ..Begins::default() };
        let found = begin(&table, &control, &control.inverse(), helper);
        assert_eq!(found.status.helper(), Some(Helper::Ftp));
        let data = |port| tcp((SERVER, 20), (CLIENT, port));
        assert_eq!(table.expected(&data(5000), 10), None);
        table.expect(&found, 5000, 10);
        let expected = table.expected(&data(5000), 10).unwrap();
        assert_eq!(expected.of.slot, found.slot);
        // From another host, to another port, in another zone, later: nobody.
        assert_eq!(table.expected(&tcp((SEEN, 20), (CLIENT, 5000)), 10), None);
        assert_eq!(table.expected(&data(5001), 10), None);
        assert_eq!(table.expected(&data(5000).in_zone(4), 10), None);
        assert_eq!(table.expected(&data(5000), 10 + EXPECTED_S), None);
        let begins = Begins { expected: Some(expected), ..Begins::default() };
        let brought = begin(&table, &data(5000), &data(5000).inverse(), begins);
        assert!(brought.status.is_related() && !found.status.is_related());
        assert_eq!(table.origin(&brought), Some(control));
        assert_eq!(table.origin(&found), Some(control));
        // Another in its place; the same again changes nothing.
        for _ in 0..2 {
            table.expect(&found, 6000, 10);
            assert!(table.expected(&data(6000), 10).is_some());
        }
        assert_eq!(table.expected(&data(5000), 10), None);
        assert_eq!(table.counters().begun - table.counters().ended, 3);
        // It goes with who waits.
        let control = table.find(&control, 10).unwrap();
        assert!(table.end_found(&control));
        assert_eq!(table.expected(&data(6000), 10), None);
    }

    #[test]
    fn no_more_are_expected_than_there_is_room_for() {
        let table = Table::new(16, 1);
        for port in 0..200 {
            let control = tcp((CLIENT, 1000 + port), (SERVER, 21));
            let found = table.begin(
                (&control, &control.inverse()),
                Begins { helper: Some(Helper::Ftp), ..Begins::default() },
                SYN,
                &Timeouts::default(),
                10,
            );
            if let Ok(found) = found {
                (0..50).for_each(|to| table.expect(&found, to + 1, 10));
            }
            let counters = table.counters();
            assert!(counters.begun - counters.ended <= 16);
        }
    }

    #[test]
    fn an_expected_packet_is_translated_as_its_control_connection_is() {
        let control = tcp((CLIENT, 1000), (SERVER, 21));
        let cases = [
            // The client is known as another: whoever connects to that one reaches it.
            (
                tcp((SEEN, 1000), (SERVER, 21)),
                End::Source,
                Direction::Original,
                tcp((SERVER, 20), (SEEN, 5000)),
                tcp((SERVER, 20), (CLIENT, 5000)),
                End::Destination,
            ),
            // And who connects to the server is known as that one.
            (
                tcp((SEEN, 1000), (SERVER, 21)),
                End::Source,
                Direction::Reply,
                tcp((CLIENT, 1001), (SERVER, 5000)),
                tcp((SEEN, 1001), (SERVER, 5000)),
                End::Source,
            ),
            // The same of a server that stands for another.
            (
                tcp((CLIENT, 1000), (SEEN, 21)),
                End::Destination,
                Direction::Original,
                tcp((SEEN, 20), (CLIENT, 5000)),
                tcp((SERVER, 20), (CLIENT, 5000)),
                End::Source,
            ),
            (
                tcp((CLIENT, 1000), (SEEN, 21)),
                End::Destination,
                Direction::Reply,
                tcp((CLIENT, 1001), (SERVER, 5000)),
                tcp((CLIENT, 1001), (SEEN, 5000)),
                End::Destination,
            ),
        ];
        for (to, end, direction, packet, as_sent, which) in cases {
            let table = Table::new(64, 1);
            let begins = Begins { translated: Some(end), ..Begins::default() };
            let found = begin(&table, &control, &to.inverse(), begins);
            table.expect(&Found { direction, ..found }, 5000, 10);
            let expected = table.expected(&packet, 10).expect("it is expected");
            assert_eq!(table.expected_as(&packet, &expected), Some((as_sent, which)));
        }
    }

    #[test]
    fn each_end_may_say_more_than_it_sent() {
        let table = Table::new(64, 1);
        let control = tcp((CLIENT, 1000), (SERVER, 21));
        let found = begin(&table, &control, &control.inverse(), Begins::default());
        table.set_mark(&found, 7);
        assert!(table.edited(&found, 100, 5) && table.edited(&found.reversed(), 200, -2));
        assert!(table.was_edited(&found, 200) && !table.was_edited(&found, 100));
        assert!(table.edited(&found, 300, 1) && !table.edited(&found, 400, i16::MAX));
        assert_eq!(table.skews(&found), [6, -2]);
        table.set_mark(&found, u32::MAX);
        assert_eq!((table.skews(&found), table.mark(&found)), ([6, -2], Some(u32::MAX)));
    }
}
