//! The course of traceroute: requests that come a hop further each, until one is answered.
//!
//! ```text
//!  hop 1: ? ? ?  ─ all heard, or their time is over ─▶ told ─▶ hop 2: ? ? ? ─▶ … ─▶ done
//! ```

use super::course::{Course, Outcome, Question, between_ns, ns_of_ms};
use control::engine::Tell;
use control::view::{HopAnswer, PingProblem, TracerouteLine, TracerouteRequest};

/// How often a hop is asked again with shorter pieces, when one was too long for it.
const MOST_AGAIN: u8 = 8;

/// See the module.
pub(super) struct Hops {
    tell: Tell<TracerouteLine>,
    max_hops: u8,
    count: usize,
    interval_ns: u64,
    timeout_ns: u64,
    df: bool,
    /// The hop that is asked.
    hop: u8,
    /// The number of the last request.
    sequence: u16,
    next_ns: u64,
    /// Those of this hop, in their order.
    asked: Vec<Asked>,
    /// It goes no further.
    is_last: bool,
    reached: bool,
    again: u8,
    is_over: bool,
}

struct Asked {
    asked_ns: u64,
    sent_tsc: u64,
    answer: Option<HopAnswer>,
}

impl Hops {
    /// The first request goes out now.
    pub(super) fn new(
        now_ns: u64,
        request: &TracerouteRequest,
        tell: Tell<TracerouteLine>,
    ) -> Self {
        Self {
            tell,
            max_hops: request.max_hops,
            count: request.count as usize,
            interval_ns: ns_of_ms(request.interval_ms),
            timeout_ns: ns_of_ms(request.timeout_ms),
            df: request.df,
            hop: 1,
            sequence: 0,
            next_ns: now_ns,
            asked: Vec::new(),
            is_last: false,
            reached: false,
            again: 0,
            is_over: false,
        }
    }

    fn say(&mut self, line: TracerouteLine) {
        self.is_over |= !(self.tell)(line);
    }

    /// The request of this number, if it is of this hop.
    fn of_number(&mut self, sequence: u16) -> Option<&mut Asked> {
        let first = self.sequence.wrapping_sub(self.asked.len() as u16).wrapping_add(1);
        self.asked.get_mut(usize::from(sequence.wrapping_sub(first)))
    }

    /// Tells of the hop if all was heard, and goes on to the next.
    fn go_on(&mut self) {
        let all_heard = self.asked.iter().all(|asked| asked.answer.is_some());
        if self.is_over || self.asked.len() < self.count || !all_heard {
            return;
        }
        let answers: Vec<HopAnswer> =
            self.asked.drain(..).map(|asked| asked.answer.unwrap_or_default()).collect();
        let too_big = |answer: &HopAnswer| answer.problem == Some(PingProblem::TooBig);
        if !self.df && self.again < MOST_AGAIN && answers.iter().any(too_big) {
            // What follows is sent in pieces that fit.
            self.again += 1;
            self.is_last = false;
            return;
        }
        let hop = self.hop;
        self.say(TracerouteLine::Hop { hop, answers });
        if self.is_last || hop == self.max_hops {
            let reached = self.reached;
            self.say(TracerouteLine::Done { reached, hops: hop });
            self.is_over = true;
        }
        self.hop = hop.saturating_add(1);
    }
}

impl Course for Hops {
    fn ask(&mut self, now_ns: u64) -> Option<Question> {
        if self.is_over || self.asked.len() >= self.count || now_ns < self.next_ns {
            return None;
        }
        self.next_ns = now_ns + self.interval_ns;
        self.sequence = self.sequence.wrapping_add(1);
        self.asked.push(Asked { asked_ns: now_ns, sent_tsc: 0, answer: None });
        Some(Question { sequence: self.sequence, ttl: self.hop })
    }

    fn sent(&mut self, sequence: u16, sent_tsc: u64) {
        if let Some(asked) = self.of_number(sequence) {
            asked.sent_tsc = sent_tsc;
        }
    }

    fn hear(&mut self, _: u64, sequence: u16, outcome: Outcome) {
        let Some(asked) = self.of_number(sequence).filter(|asked| asked.answer.is_none()) else {
            return;
        };
        let time = |heard_tsc| between_ns(asked.sent_tsc, heard_tsc);
        let (answer, is_last, reached) = match outcome {
            Outcome::Reply { from, heard_tsc, .. } => {
                let (from, time_ns) = (Some(from.to_string()), Some(time(heard_tsc)));
                (HopAnswer { from, time_ns, ..HopAnswer::default() }, true, true)
            }
            Outcome::Problem { from, problem, mtu, heard_tsc } => {
                let is_last = problem != PingProblem::TimeExceeded;
                let (from, time_ns) = (from.map(|from| from.to_string()), heard_tsc.map(time));
                let problem = is_last.then_some(problem);
                (HopAnswer { from, time_ns, problem, mtu }, is_last, false)
            }
        };
        asked.answer = Some(answer);
        self.is_last |= is_last;
        self.reached |= reached;
        self.go_on();
    }

    fn tick(&mut self, now_ns: u64) {
        let timeout_ns = self.timeout_ns;
        let late = |asked: &&mut Asked| now_ns >= asked.asked_ns.saturating_add(timeout_ns);
        for asked in self.asked.iter_mut().filter(late) {
            asked.answer.get_or_insert_default();
        }
        self.go_on();
    }

    fn next_due_ns(&self) -> Option<u64> {
        let next_ns = (self.asked.len() < self.count).then_some(self.next_ns);
        let waiting = self.asked.iter().find(|asked| asked.answer.is_none());
        let late_ns = waiting.map(|asked| asked.asked_ns.saturating_add(self.timeout_ns));
        next_ns.into_iter().chain(late_ns).min()
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;
    use std::sync::mpsc::{Receiver, channel};

    const MS: u64 = 1_000_000;

    fn hops(max_hops: u8, df: bool) -> (Hops, Receiver<TracerouteLine>) {
        let request = TracerouteRequest {
            address: IpAddr::from([10, 0, 0, 9]),
            port: None,
            vrf: None,
            source: None,
            count: 2,
            interval_ms: 10,
            size: 56,
            timeout_ms: 100,
            max_hops,
            df,
        };
        let (lines, told) = channel();
        (Hops::new(0, &request, Box::new(move |line| lines.send(line).is_ok())), told)
    }

    fn told(last: u8, problem: PingProblem, mtu: Option<u32>) -> Outcome {
        let heard_tsc = Some(graph::tsc_hz());
        Outcome::Problem { from: Some(IpAddr::from([192, 0, 2, last])), problem, mtu, heard_tsc }
    }

    fn reply() -> Outcome {
        let heard_tsc = graph::tsc_hz();
        Outcome::Reply { from: IpAddr::from([10, 0, 0, 9]), bytes: 64, ttl: 63, heard_tsc }
    }

    /// Both requests of a hop, asked at this time and the next; their numbers.
    fn ask(hops: &mut Hops, at_ms: u64, ttl: u8) -> [u16; 2] {
        [0, 10].map(|more| {
            let question = hops.ask((at_ms + more) * MS).unwrap();
            hops.sent(question.sequence, 0);
            assert_eq!((question.ttl, hops.ask((at_ms + more) * MS)), (ttl, None));
            question.sequence
        })
    }

    fn words(told: &Receiver<TracerouteLine>) -> Vec<String> {
        told.try_iter().map(|line| line.text().trim_end().to_owned()).collect()
    }

    #[test]
    fn hops_are_told_one_after_the_other_until_the_address_answers() {
        let (mut hops, lines) = hops(30, false);
        let [first, second] = ask(&mut hops, 0, 1);
        hops.hear(0, first, told(7, PingProblem::TimeExceeded, None));
        hops.hear(0, second, told(8, PingProblem::TimeExceeded, None));
        let [third, _] = ask(&mut hops, 100, 2);
        // Of another hop, and of none.
        hops.hear(0, first, reply());
        hops.hear(0, 99, reply());
        hops.tick(199 * MS);
        assert_eq!(hops.next_due_ns(), Some(200 * MS));
        hops.tick(210 * MS);
        hops.hear(0, third, reply());
        let [last, very_last] = ask(&mut hops, 300, 3);
        hops.hear(0, last, reply());
        assert!(!hops.is_over());
        hops.hear(0, very_last, reply());
        assert!(hops.is_over());
        let expected = [
            " 1  192.0.2.7  1000.000 ms 192.0.2.8  1000.000 ms",
            " 2  * *",
            " 3  10.0.0.9  1000.000 ms  1000.000 ms",
            "",
        ];
        assert_eq!(words(&lines), expected);
    }

    #[test]
    fn it_ends_where_nobody_goes_further_or_after_so_many_hops() {
        let (mut hops1, lines) = hops(30, true);
        let [first, second] = ask(&mut hops1, 0, 1);
        hops1.hear(0, first, told(7, PingProblem::Host, None));
        hops1.hear(0, second, told(7, PingProblem::TooBig, Some(1400)));
        assert!(hops1.is_over());
        let expected = [" 1  192.0.2.7  1000.000 ms !H  1000.000 ms !F-1400", ""];
        assert_eq!(words(&lines), expected);
        let (mut hops2, lines) = hops(1, true);
        ask(&mut hops2, 0, 1);
        hops2.tick(1000 * MS);
        assert!(hops2.is_over() && hops2.ask(2000 * MS).is_none());
        let last = lines.try_iter().last();
        assert_eq!(last, Some(TracerouteLine::Done { reached: false, hops: 1 }));
    }

    #[test]
    fn a_hop_that_was_sent_too_much_is_asked_again() {
        let (mut hops, lines) = hops(30, false);
        for at_ms in [0, 100] {
            for number in ask(&mut hops, at_ms, 1) {
                hops.hear(0, number, told(7, PingProblem::TooBig, Some(1400)));
            }
        }
        for number in ask(&mut hops, 200, 1) {
            hops.hear(0, number, told(7, PingProblem::TimeExceeded, None));
        }
        assert_eq!(words(&lines), [" 1  192.0.2.7  1000.000 ms  1000.000 ms"]);
        assert!(!hops.is_over());
    }
}
