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
}

impl Known {
    pub(super) fn of(table: &Table, refused: u64) -> Self {
        let mut translated = Vec::new();
        table.each(0, table.room(), 0, |it| {
            if it.status.is_translated() {
                translated.push((it.original, it.reply));
            }
            false
        });
        let counters = table.counters();
        Self { begun: counters.begun, ended: counters.ended, refused, translated }
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
        begins || is_refused || after.translated.iter().any(has_moved) || has_ended || is_by_force
    }
}

/// Whether a frame is a segment of TCP that begins no connection.
fn is_middle(frame: &[u8]) -> bool {
    let (protocol_at, flags_at) = if frame[12..14] == [8, 0] { (23, 47) } else { (20, 67) };
    let is_tcp = frame[protocol_at] == protocol::TCP;
    is_tcp && frame[flags_at] & (flag::SYN | flag::ACK) != flag::SYN
}

/// Whether a flow of a case takes connections over.
pub(super) fn forces(case: &Case) -> bool {
    let is_force = |action: &Action| matches!(action, Action::Ct(it) if it.flags & FORCE != 0);
    case.flows.iter().any(|flow| flow.program.iter().any(is_force))
}
