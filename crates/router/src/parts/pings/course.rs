//! What a course is: when it asks, and what it makes of what it hears. It knows neither packets nor
//! workers.

use control::view::PingProblem;
use nodes::tables::{EchoHeard, EchoSaid};
use std::net::IpAddr;
use wire::{icmp4, icmp6};

/// A request that is to go out now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Question {
    /// Its number.
    pub(super) sequence: u16,
    /// Hops that it may take.
    pub(super) ttl: u8,
}

/// What was heard of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// The answer.
    Reply {
        /// From whom.
        from: IpAddr,
        /// Octets of its message.
        bytes: u16,
        /// Its TTL.
        ttl: u8,
        /// When a worker had it, on the time-stamp counter.
        heard_tsc: u64,
    },
    /// It went nowhere.
    Problem {
        /// Who says so; none where nobody needed to be asked.
        from: Option<IpAddr>,
        /// Why.
        problem: PingProblem,
        /// The longest packet that would have gone.
        mtu: Option<u32>,
        /// When a worker had that.
        heard_tsc: Option<u64>,
    },
}

/// A course of questions. Times are on the core's clock but for those that say so.
pub(super) trait Course: Send {
    /// The next question, if it is time for one.
    fn ask(&mut self, now_ns: u64) -> Option<Question>;

    /// It goes out, at this moment of the time-stamp counter.
    fn sent(&mut self, sequence: u16, sent_tsc: u64);

    /// Something is heard of one.
    fn hear(&mut self, now_ns: u64, sequence: u16, outcome: Outcome);

    /// Time passes: what did not come is not waited for any more.
    fn tick(&mut self, now_ns: u64);

    /// When there is something to do.
    fn next_due_ns(&self) -> Option<u64>;

    /// Whether there is nothing more to be asked or heard, or nobody listens.
    fn is_over(&self) -> bool;
}

impl Outcome {
    /// What a message says.
    pub(super) fn of(heard: &EchoHeard) -> Self {
        let EchoHeard { from, ttl, heard_tsc, .. } = *heard;
        match heard.said {
            EchoSaid::Reply { bytes } => Self::Reply { from, bytes, ttl, heard_tsc },
            EchoSaid::Error { cause, rest } => {
                let [kind, code] = cause.to_be_bytes();
                let is_ip6 = heard.target.is_ipv6();
                let problem = if is_ip6 { problem6(kind, code) } else { problem4(kind, code) };
                // RFC 1191 section 4: the low half alone.
                let mtu = if is_ip6 { rest } else { rest & 0xffff };
                let mtu = (problem == PingProblem::TooBig && mtu != 0).then_some(mtu);
                Self::Problem { from: Some(from), problem, mtu, heard_tsc: Some(heard_tsc) }
            }
        }
    }
}

fn problem4(kind: u8, code: u8) -> PingProblem {
    use icmp4::{message, time_exceeded, unreachable};
    match (kind, code) {
        (message::UNREACHABLE, unreachable::FRAGMENTATION_NEEDED) => PingProblem::TooBig,
        (message::UNREACHABLE, unreachable::PROTOCOL) => PingProblem::Protocol,
        (message::UNREACHABLE, unreachable::PORT) => PingProblem::Port,
        // RFC 1122 section 3.2.2.1: networks and hosts that are unknown, isolated or forbidden.
        (message::UNREACHABLE, unreachable::NET | 6 | 11) => PingProblem::Net,
        (message::UNREACHABLE, unreachable::HOST | 7 | 8 | 12) => PingProblem::Host,
        (message::UNREACHABLE, 9 | 10 | unreachable::ADMIN_PROHIBITED..=15) => {
            PingProblem::Prohibited
        }
        (message::TIME_EXCEEDED, time_exceeded::TTL) => PingProblem::TimeExceeded,
        (message::TIME_EXCEEDED, time_exceeded::REASSEMBLY) => PingProblem::Reassembly,
        (message::PARAMETER_PROBLEM, _) => PingProblem::Parameter,
        _ => PingProblem::Other,
    }
}

fn problem6(kind: u8, code: u8) -> PingProblem {
    use icmp6::unreachable::{ADMIN_PROHIBITED, REJECT_ROUTE, SOURCE_POLICY};
    use icmp6::{message, time_exceeded, unreachable};
    match (kind, code) {
        (message::PACKET_TOO_BIG, _) => PingProblem::TooBig,
        (message::UNREACHABLE, unreachable::NO_ROUTE) => PingProblem::Net,
        (message::UNREACHABLE, unreachable::BEYOND_SCOPE) => PingProblem::Scope,
        (message::UNREACHABLE, unreachable::ADDRESS) => PingProblem::Host,
        (message::UNREACHABLE, unreachable::PORT) => PingProblem::Port,
        (message::UNREACHABLE, ADMIN_PROHIBITED | SOURCE_POLICY | REJECT_ROUTE) => {
            PingProblem::Prohibited
        }
        (message::TIME_EXCEEDED, time_exceeded::HOP_LIMIT) => PingProblem::TimeExceeded,
        (message::TIME_EXCEEDED, time_exceeded::REASSEMBLY) => PingProblem::Reassembly,
        (message::PARAMETER_PROBLEM, _) => PingProblem::Parameter,
        _ => PingProblem::Other,
    }
}

/// Nanoseconds between two moments of the time-stamp counter.
pub(super) fn between_ns(sent_tsc: u64, heard_tsc: u64) -> u64 {
    let cycles = u128::from(heard_tsc.saturating_sub(sent_tsc));
    (cycles * 1_000_000_000 / u128::from(graph::tsc_hz().max(1))) as u64
}

/// Nanoseconds of milliseconds.
pub(super) fn ns_of_ms(ms: u32) -> u64 {
    u64::from(ms) * 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_both_families_are_told_in_the_same_words() {
        for (is_ip6, kind, code, problem) in [
            (false, 3, 0, PingProblem::Net),
            (false, 3, 1, PingProblem::Host),
            (false, 3, 2, PingProblem::Protocol),
            (false, 3, 4, PingProblem::TooBig),
            (false, 3, 13, PingProblem::Prohibited),
            (false, 3, 15, PingProblem::Prohibited),
            (false, 11, 0, PingProblem::TimeExceeded),
            (false, 11, 1, PingProblem::Reassembly),
            (false, 12, 0, PingProblem::Parameter),
            (false, 3, 99, PingProblem::Other),
            (true, 1, 0, PingProblem::Net),
            (true, 1, 1, PingProblem::Prohibited),
            (true, 1, 2, PingProblem::Scope),
            (true, 1, 3, PingProblem::Host),
            (true, 1, 4, PingProblem::Port),
            (true, 2, 0, PingProblem::TooBig),
            (true, 3, 0, PingProblem::TimeExceeded),
            (true, 4, 2, PingProblem::Parameter),
        ] {
            let found = if is_ip6 { problem6(kind, code) } else { problem4(kind, code) };
            assert_eq!(found, problem, "{is_ip6} {kind} {code}");
        }
    }

    #[test]
    fn a_second_of_the_counter_is_a_second() {
        assert_eq!(between_ns(7, 7 + graph::tsc_hz()), 1_000_000_000);
        assert_eq!(between_ns(7, 6), 0);
    }
}
