//! From which packet on the daemon remembers other connections than we, and means to or not:
//! docs/flow-switch.md has why.

use super::case::Case;
use super::talks::SAID_PORTS;
use conntrack::{Table, Tuple};
use openflow::Action;
use wire::ip::protocol;
use wire::tcp::flag;

/// `ct`: a connection of the other direction goes.
const FORCE: u16 = 2;

/// What a table of connections knows.
pub(super) struct Known {
    begun: u64,
    ended: u64,
    /// Packets that went no further, for want of a port that nobody else has.
    refused: u64,
    /// What translated connections look like on both sides.
    translated: Vec<(Tuple, Tuple)>,
    /// Connections that the other side has sent nothing of yet, and those that it has.
    unanswered: Vec<(Tuple, Tuple)>,
    answered: Vec<(Tuple, Tuple)>,
}

impl Known {
    pub(super) fn of(table: &Table, refused: u64) -> Self {
        let (mut translated, mut unanswered, mut answered) = (vec![], vec![], vec![]);
        table.each(0, table.room(), 0, |it| {
            let sides = (it.original, it.reply);
            if it.status.is_translated() {
                translated.push(sides);
            }
            if it.status.is_answered() { &mut answered } else { &mut unanswered }.push(sides);
            false
        });
        let counters = table.counters();
        let (begun, ended) = (counters.begun, counters.ended);
        Self { begun, ended, refused, translated, unanswered, answered }
    }

    /// Whether a frame between both made us know what the daemon does not, or otherwise.
    pub(super) fn differs(&self, after: &Self, frame: &[u8], is_forced: bool) -> bool {
        // A connection of its own begins in the middle: the next segment is `est` to the daemon.
        let begins = after.begun > self.begun && is_middle(frame);
        // It looks like another one already: we drop it, the daemon lets it through.
        let is_refused = after.refused > self.refused;
        // It got another port than its own: which, everybody chooses.
        let has_moved = |(original, reply): &(Tuple, Tuple)| {
            let (own, to) = (original.source_port(), reply.inverse().source_port());
            // The identifier of an echo is none of its ports, which we choose it from as well.
            let is_echo = matches!(original.protocol(), protocol::ICMP4 | protocol::ICMP6);
            own != to && (is_echo || !SAID_PORTS.contains(&to))
        };
        // It ended before its time, by a SYN or by `force`: what it looked like outside is taken
        // for a while longer there. Of a translated one `force` ends nothing, or what it should
        // not.
        let has_ended = after.ended > self.ended && !self.translated.is_empty();
        let is_by_force = is_forced && !after.translated.is_empty();
        // Both sides begin at once: the second SYN answers the first, to the daemon it is `new`.
        let has_met = is_syn(frame) && after.answered.iter().any(|it| self.unanswered.contains(it));
        // So is a SYN of who has answered already.
        let has_met =
            has_met || is_syn(frame) && self.answered.iter().any(|it| is_of(&it.1, frame));
        // To the daemon `force` ends the connection whose answer an error tells of.
        let is_told = is_forced && is_error(frame);
        let has_moved = after.translated.iter().any(has_moved);
        begins || is_refused || has_moved || has_ended || is_by_force || has_met || is_told
    }
}

/// Whether a frame is a segment of TCP that begins no connection.
fn is_middle(frame: &[u8]) -> bool {
    flags(frame).is_some_and(|it| it & (flag::SYN | flag::ACK) != flag::SYN)
}

/// Whether it is one that begins one.
fn is_syn(frame: &[u8]) -> bool {
    flags(frame).is_some_and(|it| it & (flag::SYN | flag::ACK) == flag::SYN)
}

/// Whether a segment has the ports of such a direction.
fn is_of(direction: &Tuple, frame: &[u8]) -> bool {
    let Some((_, segment)) = upper(frame) else { return false };
    let ports = [direction.source_port(), direction.destination_port()].map(u16::to_be_bytes);
    segment.get(..4) == Some(ports.concat().as_slice())
}

/// Whether it is an error of ICMP.
fn is_error(frame: &[u8]) -> bool {
    upper(frame).is_some_and(|(kind, message)| match (kind, message.first()) {
        (protocol::ICMP4, Some(kind)) => matches!(kind, 3 | 4 | 5 | 11 | 12),
        (protocol::ICMP6, Some(kind)) => *kind < 128,
        _ => false,
    })
}

/// The protocol, and what is behind the header of IP.
fn upper(frame: &[u8]) -> Option<(u8, &[u8])> {
    let (protocol_at, at) = if frame[12..14] == [8, 0] { (23, 34) } else { (20, 54) };
    Some((*frame.get(protocol_at)?, frame.get(at..)?))
}

/// Flags of TCP.
fn flags(frame: &[u8]) -> Option<u8> {
    let (kind, segment) = upper(frame)?;
    if kind == protocol::TCP { segment.get(13).copied() } else { None }
}

/// Whether a flow of a case takes connections over.
pub(super) fn forces(case: &Case) -> bool {
    let is_force = |action: &Action| matches!(action, Action::Ct(it) if it.flags & FORCE != 0);
    case.flows.iter().any(|flow| flow.program.iter().any(is_force))
}
