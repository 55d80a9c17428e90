//! How TCP connections come and go, as one sees it who stands between both ends (RFC 9293 section
//! 3.3.2): by flags alone, without windows.
//!
//! ```text
//!  SYN ─▶ syn-sent ─ SYN, SYN+ACK back ─▶ syn-received ─ ACK ─▶ established
//!  FIN ─▶ fin-wait ─ ACK back ─▶ close-wait ─ FIN back ─▶ last-ack ─ ACK ─▶ time-wait
//!  RST ─▶ close;   who sent a reset and goes on, did not send it (RFC 7857 section 2.2): established
//! ```
//! A new SYN in time-wait or close begins anew (RFC 9293 section 3.10.7.4, RFC 6191). A SYN within
//! a connection may be a forged one, or one's that started anew: it passes, and the other end
//! challenges it (RFC 5961 section 4); here it changes nothing.

use crate::status::Direction;
use wire::tcp::flag;

/// Where a TCP connection stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum TcpState {
    /// It is none of TCP.
    None = 0,
    /// One side wants it.
    SynSent = 1,
    /// The other side, too.
    SynReceived = 2,
    /// Both know of each other.
    Established = 3,
    /// One side says no more.
    FinWait = 4,
    /// The other side has heard so.
    CloseWait = 5,
    /// Both say no more.
    LastAck = 6,
    /// Both have heard so.
    TimeWait = 7,
    /// It was reset.
    Close = 8,
}

impl TcpState {
    /// Every state, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::SynSent,
        Self::SynReceived,
        Self::Established,
        Self::FinWait,
        Self::CloseWait,
        Self::LastAck,
        Self::TimeWait,
        Self::Close,
    ];

    /// As people read it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "",
            Self::SynSent => "syn-sent",
            Self::SynReceived => "syn-received",
            Self::Established => "established",
            Self::FinWait => "fin-wait",
            Self::CloseWait => "close-wait",
            Self::LastAck => "last-ack",
            Self::TimeWait => "time-wait",
            Self::Close => "close",
        }
    }

    #[inline]
    pub(crate) const fn of(number: u8) -> Self {
        Self::ALL[(number & 15) as usize % Self::ALL.len()]
    }
}

/// What a segment makes of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// It stands there now; for a close, who began it.
    To(TcpState, Direction),
    /// It belongs to it, and keeps it no longer alive.
    Ignored,
    /// It cannot be.
    Invalid,
    /// It begins a new connection in place of this one.
    Anew,
}

/// Whether flags can stand together at all (RFC 9293 section 3.10.7: others are no segments of any
/// TCP).
#[inline]
pub(crate) const fn can_be(flags: u8) -> bool {
    const ALL: u8 = flag::SYN | flag::FIN | flag::RST | flag::ACK;
    const SYN_ACK: u8 = flag::SYN | flag::ACK;
    const FIN_ACK: u8 = flag::FIN | flag::ACK;
    const RST_ACK: u8 = flag::RST | flag::ACK;
    matches!(flags & ALL, flag::SYN | SYN_ACK | flag::ACK | FIN_ACK | flag::RST | RST_ACK)
}

/// What the first segment makes that is seen of a connection.
#[inline]
pub(crate) fn begin(flags: u8, is_loose: bool) -> Option<TcpState> {
    const ALL: u8 = flag::SYN | flag::FIN | flag::RST | flag::ACK;
    match flags & ALL {
        flag::SYN => Some(TcpState::SynSent),
        flag::ACK if is_loose => Some(TcpState::Established),
        both if is_loose && both == flag::ACK | flag::FIN => Some(TcpState::FinWait),
        _ => None,
    }
}

/// What a segment makes of a connection that stands in `state`, closed by `by` if it is closing.
#[inline]
pub(crate) fn step(state: TcpState, by: Direction, flags: u8, direction: Direction) -> Step {
    use TcpState as S;
    if !can_be(flags) {
        return Step::Invalid;
    }
    let is_original = direction == Direction::Original;
    if flags & flag::RST != 0 {
        return match state {
            // RFC 1337: a late reset ends no waiting.
            S::TimeWait | S::Close => Step::Ignored,
            _ => Step::To(S::Close, direction),
        };
    }
    if flags & flag::SYN != 0 {
        let has_ack = flags & flag::ACK != 0;
        return match state {
            S::SynSent if is_original && !has_ack => Step::To(state, by),
            S::SynSent if !is_original => Step::To(S::SynReceived, by),
            S::SynReceived => Step::To(state, by),
            S::TimeWait | S::Close if !has_ack => Step::Anew,
            S::SynSent | S::TimeWait | S::Close | S::None => Step::Invalid,
            _ => Step::Ignored,
        };
    }
    if flags & flag::FIN != 0 {
        return match state {
            S::None | S::SynSent => Step::Invalid,
            S::SynReceived | S::Established => Step::To(S::FinWait, direction),
            S::FinWait | S::CloseWait if direction == by => Step::To(state, by),
            S::FinWait | S::CloseWait => Step::To(S::LastAck, by),
            S::LastAck | S::TimeWait => Step::To(state, by),
            S::Close => Step::Ignored,
        };
    }
    match state {
        S::None => Step::Invalid,
        // RFC 9293 section 3.5.1: who has half a connection left acknowledges, and is reset.
        S::SynSent if is_original => Step::Invalid,
        S::SynSent => Step::Ignored,
        S::SynReceived if is_original => Step::To(S::Established, by),
        S::FinWait if direction != by => Step::To(S::CloseWait, by),
        S::LastAck if direction == by => Step::To(S::TimeWait, by),
        S::Close if direction == by => Step::To(S::Established, by),
        S::Close => Step::Ignored,
        _ => Step::To(state, by),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Original as O, Reply as R};
    use TcpState as S;

    const SYN: u8 = flag::SYN;
    const ACK: u8 = flag::ACK;
    const FIN: u8 = flag::FIN | ACK;
    const RST: u8 = flag::RST;

    /// The states that segments lead through, from the first of them on.
    fn walk(segments: &[(Direction, u8)]) -> Vec<S> {
        let mut at = (begin(segments[0].1, true).unwrap(), segments[0].0);
        let mut all = vec![at.0];
        for (direction, flags) in &segments[1..] {
            match step(at.0, at.1, *flags, *direction) {
                Step::To(state, by) => at = (state, by),
                Step::Ignored => {}
                other => panic!("{:?} {flags:#x} {direction:?}: {other:?}", at.0),
            }
            all.push(at.0);
        }
        all
    }

    #[test]
    fn a_connection_comes_and_goes() {
        let open = [(O, SYN), (R, SYN | ACK), (O, ACK)];
        assert_eq!(walk(&open), [S::SynSent, S::SynReceived, S::Established]);
        let gone = [(O, FIN), (R, ACK), (R, FIN), (O, ACK)];
        let states = walk(&[&open[..], &gone].concat());
        assert_eq!(states[3..], [S::FinWait, S::CloseWait, S::LastAck, S::TimeWait]);
        let other_first = [(R, FIN), (O, FIN), (O, ACK), (R, ACK)];
        let states = walk(&[&open[..], &other_first].concat());
        assert_eq!(states[3..], [S::FinWait, S::LastAck, S::LastAck, S::TimeWait]);
    }

    #[test]
    fn both_may_open_at_once() {
        let crossed = [(O, SYN), (R, SYN), (O, SYN | ACK), (R, SYN | ACK), (O, ACK)];
        let states = walk(&crossed);
        assert_eq!(states[1..], [S::SynReceived, S::SynReceived, S::SynReceived, S::Established]);
    }

    #[test]
    fn a_forged_reset_is_undone_by_who_did_not_send_it() {
        let open = [(O, SYN), (R, SYN | ACK), (O, ACK), (R, RST)];
        assert_eq!(walk(&open)[3], S::Close);
        assert_eq!(walk(&[&open[..], &[(O, ACK)]].concat())[4], S::Close);
        assert_eq!(walk(&[&open[..], &[(R, ACK)]].concat())[4], S::Established);
    }

    #[test]
    fn what_no_tcp_sends_is_invalid() {
        for flags in [0, flag::FIN, SYN | flag::FIN, SYN | RST, RST | flag::FIN, 0x29] {
            assert_eq!(step(S::Established, O, flags, O), Step::Invalid, "{flags:#x}");
            assert_eq!(begin(flags, true), None, "{flags:#x}");
        }
        assert_eq!(step(S::SynSent, O, SYN | ACK, O), Step::Invalid);
        assert_eq!(step(S::SynSent, O, ACK, O), Step::Invalid);
        assert_eq!(step(S::SynSent, O, FIN, R), Step::Invalid);
    }

    #[test]
    fn the_middle_of_a_connection_begins_one_only_where_that_is_wished() {
        assert_eq!(begin(ACK, false), None);
        assert_eq!(begin(ACK, true), Some(S::Established));
        assert_eq!(begin(SYN | ACK, true), None);
        assert_eq!(begin(RST, true), None);
        assert_eq!(begin(SYN, false), Some(S::SynSent));
    }

    #[test]
    fn a_syn_begins_anew_what_is_over_and_changes_nothing_of_what_is_not() {
        for state in [S::TimeWait, S::Close] {
            assert_eq!(step(state, O, SYN, O), Step::Anew);
            assert_eq!(step(state, O, SYN | ACK, R), Step::Invalid);
            assert_eq!(step(state, O, RST, R), Step::Ignored);
        }
        for state in [S::Established, S::FinWait, S::CloseWait, S::LastAck] {
            assert_eq!(step(state, O, SYN, O), Step::Ignored);
        }
    }
}
