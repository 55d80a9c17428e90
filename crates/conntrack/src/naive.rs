//! Connections as a list: what the table is compared with.

use crate::packet::Seen;
use crate::status::{Direction, Kind, Status};
use crate::tcp::{self, Step, TcpState};
use crate::timeouts::Timeouts;
use crate::tuple::Tuple;

/// See the module.
#[derive(Default)]
pub(crate) struct Naive(Vec<(Tuple, Tuple, Status)>);

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    New(TcpState),
    Known(Direction, TcpState, bool),
    Invalid,
}

impl Naive {
    pub(crate) fn packet(
        &mut self,
        tuple: &Tuple,
        seen: Seen,
        timeouts: &Timeouts,
        now_s: u32,
    ) -> Fate {
        self.0.retain(|(.., status)| status.expires_s() > now_s);
        let protocol = tuple.protocol();
        let direction = |it: &(Tuple, Tuple, Status)| {
            let original = (it.0 == *tuple).then_some(Direction::Original);
            original.or((it.1 == *tuple).then_some(Direction::Reply))
        };
        let known = self.0.iter().position(|it| direction(it).is_some());
        if let Some(at) = known {
            let direction = direction(&self.0[at]).unwrap();
            let status = &mut self.0[at].2;
            let step = match seen {
                Seen::Tcp(flags) => tcp::step(status.tcp(), status.closed_by(), flags, direction),
                _ => Step::To(TcpState::None, Direction::Original),
            };
            match step {
                Step::Ignored => {
                    return Fate::Known(direction, status.tcp(), status.is_answered());
                }
                Step::Invalid => return Fate::Invalid,
                Step::Anew => drop(self.0.remove(at)),
                Step::To(state, by) => {
                    let is_answered = status.is_answered() || direction == Direction::Reply;
                    *status = status.with_tcp(state, by);
                    if is_answered {
                        *status = status.answered();
                    }
                    let until = now_s + timeouts.of(protocol, *status);
                    *status = status.until(until);
                    return Fate::Known(direction, state, is_answered);
                }
            }
        }
        let state = match seen {
            Seen::Tcp(flags) => match tcp::begin(flags, timeouts.tcp_loose) {
                Some(state) => state,
                None => return Fate::Invalid,
            },
            Seen::Other if tuple.is_echo() => return Fate::Invalid,
            _ => TcpState::None,
        };
        let status = Status::new(Kind::Connection, state, 0);
        let status = status.until(now_s + timeouts.of(protocol, status));
        self.0.push((*tuple, tuple.inverse(), status));
        Fate::New(state)
    }
}
