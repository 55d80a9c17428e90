//! The course of ping: a request now and then, and what comes of each.
//!
//! ```text
//!  asked ─▶ waits ─┬─ answer ─▶ answered ─ another answer ─▶ duplicate
//!                  ├─ error ──▶ answered
//!                  └─ time ───▶ silent ─── answer, late ──▶ answered: it is counted then
//! ```

use super::course::{Course, Outcome, Question, between_ns, ns_of_ms};
use control::engine::Tell;
use control::view::{PingLine, PingRequest, PingTally};
use std::collections::BTreeMap;
use std::time::Duration;

/// So many of the latest requests are known of: what comes later than that is not.
const KEPT: usize = 1024;

/// See the module.
pub(super) struct Series {
    tell: Tell<PingLine>,
    tally: PingTally,
    count: Option<u32>,
    interval_ns: u64,
    timeout_ns: u64,
    ttl: u8,
    began_ns: u64,
    /// When the next goes out.
    next_ns: u64,
    /// How many have.
    asked: u32,
    /// The latest, by their numbers.
    known: BTreeMap<u32, Known>,
    is_over: bool,
}

struct Known {
    asked_ns: u64,
    sent_tsc: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waits,
    Silent,
    Answered,
}

impl Series {
    /// The first request goes out now.
    pub(super) fn new(now_ns: u64, request: &PingRequest, tell: Tell<PingLine>) -> Self {
        Self {
            tell,
            tally: PingTally::default(),
            count: request.count,
            interval_ns: ns_of_ms(request.interval_ms),
            timeout_ns: ns_of_ms(request.timeout_ms),
            ttl: request.ttl,
            began_ns: now_ns,
            next_ns: now_ns,
            asked: 0,
            known: BTreeMap::new(),
            is_over: false,
        }
    }

    fn say(&mut self, line: PingLine) {
        self.tally.count(&line);
        self.is_over |= !(self.tell)(line);
    }

    fn has_asked_all(&self) -> bool {
        self.count.is_some_and(|count| self.asked >= count)
    }

    fn waits(&self) -> bool {
        self.known.values().any(|known| known.state == State::Waits)
    }

    fn end_if_done(&mut self, now_ns: u64) {
        if !self.is_over && self.has_asked_all() && !self.waits() {
            let elapsed = Duration::from_nanos(now_ns.saturating_sub(self.began_ns));
            let summary = self.tally.summary(elapsed);
            self.say(PingLine::Done(summary));
            self.is_over = true;
        }
    }

    /// The number of the latest request whose low half this is.
    fn whole(&self, sequence: u16) -> Option<u32> {
        let ago = (self.asked as u16).wrapping_sub(sequence);
        self.asked.checked_sub(ago.into())
    }
}

impl Course for Series {
    fn ask(&mut self, now_ns: u64) -> Option<Question> {
        if self.is_over || self.has_asked_all() || now_ns < self.next_ns {
            return None;
        }
        // Who was kept for long does not make up for it at once.
        self.next_ns += self.interval_ns;
        if self.next_ns <= now_ns {
            self.next_ns = now_ns + self.interval_ns;
        }
        self.asked += 1;
        let known = Known { asked_ns: now_ns, sent_tsc: 0, state: State::Waits };
        self.known.insert(self.asked, known);
        if self.known.len() > KEPT {
            self.known.pop_first();
        }
        self.say(PingLine::Sent { sequence: self.asked });
        Some(Question { sequence: self.asked as u16, ttl: self.ttl })
    }

    fn sent(&mut self, sequence: u16, sent_tsc: u64) {
        let known = self.whole(sequence).and_then(|number| self.known.get_mut(&number));
        if let Some(known) = known {
            known.sent_tsc = sent_tsc;
        }
    }

    fn hear(&mut self, now_ns: u64, sequence: u16, outcome: Outcome) {
        let Some(sequence) = self.whole(sequence) else { return };
        let Some(known) = self.known.get_mut(&sequence) else { return };
        let duplicate = known.state == State::Answered;
        let line = match outcome {
            Outcome::Reply { from, bytes, ttl, heard_tsc } => {
                let (from, time_ns) = (from.to_string(), between_ns(known.sent_tsc, heard_tsc));
                PingLine::Reply { sequence, from, bytes, ttl, time_ns, duplicate }
            }
            // One is enough.
            Outcome::Problem { .. } if duplicate => return,
            Outcome::Problem { from, problem, mtu, .. } => {
                let from = from.map(|from| from.to_string());
                PingLine::Problem { sequence, from, problem, mtu }
            }
        };
        known.state = State::Answered;
        self.say(line);
        self.end_if_done(now_ns);
    }

    fn tick(&mut self, now_ns: u64) {
        let timeout_ns = self.timeout_ns;
        let late = |known: &Known| {
            known.state == State::Waits && now_ns >= known.asked_ns.saturating_add(timeout_ns)
        };
        let silent =
            self.known.iter_mut().filter(|(_, known)| late(known)).map(|(sequence, known)| {
                known.state = State::Silent;
                *sequence
            });
        for sequence in silent.collect::<Vec<_>>() {
            self.say(PingLine::Silence { sequence });
        }
        self.end_if_done(now_ns);
    }

    fn next_due_ns(&self) -> Option<u64> {
        let waiting = self.known.values().find(|known| known.state == State::Waits);
        let late_ns = waiting.map(|known| known.asked_ns.saturating_add(self.timeout_ns));
        let next_ns = (!self.has_asked_all()).then_some(self.next_ns);
        next_ns.into_iter().chain(late_ns).min()
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::view::PingProblem;
    use std::net::IpAddr;
    use std::sync::mpsc::{Receiver, channel};

    const MS: u64 = 1_000_000;

    fn series(count: Option<u32>) -> (Series, Receiver<PingLine>) {
        let request = PingRequest {
            address: IpAddr::from([10, 0, 0, 9]),
            port: None,
            vrf: None,
            source: None,
            count,
            interval_ms: 100,
            size: 56,
            timeout_ms: 250,
            ttl: 9,
            df: false,
        };
        let (lines, told) = channel();
        (Series::new(0, &request, Box::new(move |line| lines.send(line).is_ok())), told)
    }

    fn reply(heard_tsc: u64) -> Outcome {
        Outcome::Reply { from: IpAddr::from([10, 0, 0, 9]), bytes: 64, ttl: 63, heard_tsc }
    }

    fn words(told: &Receiver<PingLine>) -> Vec<String> {
        told.try_iter()
            .map(|line| line.text().trim().to_owned())
            .filter(|it| !it.is_empty())
            .collect()
    }

    #[test]
    fn requests_go_out_at_their_times_and_each_comes_to_something() {
        let (mut series, told) = series(Some(4));
        let sent = |series: &mut Series, now_ns| {
            let question = series.ask(now_ns).unwrap();
            series.sent(question.sequence, 1000);
            assert_eq!(series.ask(now_ns), None);
            (question.sequence, question.ttl)
        };
        assert_eq!(sent(&mut series, 0), (1, 9));
        assert_eq!((series.next_due_ns(), series.ask(99 * MS)), (Some(100 * MS), None));
        series.hear(MS, 1, reply(1000 + graph::tsc_hz()));
        series.hear(MS, 1, reply(1000 + graph::tsc_hz()));
        sent(&mut series, 100 * MS);
        sent(&mut series, 200 * MS);
        let from = Some(IpAddr::from([192, 0, 2, 9]));
        let (problem, mtu, heard_tsc) = (PingProblem::Host, None, Some(7));
        let problem = Outcome::Problem { from, problem, mtu, heard_tsc };
        series.hear(210 * MS, 3, problem);
        series.hear(210 * MS, 3, problem);
        // Of what was never asked nothing is heard.
        series.hear(210 * MS, 4, reply(0));
        series.hear(210 * MS, 0, reply(0));
        sent(&mut series, 300 * MS);
        series.tick(349 * MS);
        assert_eq!(series.next_due_ns(), Some(350 * MS));
        series.tick(350 * MS);
        series.hear(360 * MS, 2, reply(1000 + graph::tsc_hz() / 2));
        assert!(!series.is_over());
        series.tick(550 * MS);
        assert!(series.is_over());
        let expected = [
            "64 bytes from 10.0.0.9: icmp_seq=1 ttl=63 time=1000.000 ms",
            "64 bytes from 10.0.0.9: icmp_seq=1 ttl=63 time=1000.000 ms (DUP!)",
            "icmp_seq=3 destination unreachable (host) from 192.0.2.9",
            "icmp_seq=2 no answer",
            "64 bytes from 10.0.0.9: icmp_seq=2 ttl=63 time=500.000 ms",
            "icmp_seq=4 no answer",
            "--- ping statistics ---\n4 packets transmitted, 2 received, +1 duplicates, +1 errors, \
             50% packet loss, time 550ms\nrtt min/avg/max/mdev = 500.000/750.000/1000.000/250.000 ms",
        ];
        // The counter's hertz may be odd: half of it is then a nanosecond less.
        let words: Vec<_> = words(&told)
            .into_iter()
            .map(|it| it.replace("749.999", "750.000").replace("499.999", "500.000"))
            .collect();
        assert_eq!(words, expected);
    }

    #[test]
    fn who_was_kept_for_long_does_not_make_up_for_it() {
        let (mut series, _told) = series(None);
        assert!(series.ask(0).is_some());
        assert!(series.ask(10_000 * MS).is_some() && series.ask(10_000 * MS).is_none());
        assert_eq!(series.next_due_ns(), Some(250 * MS), "the first waits still");
        assert!(series.ask(10_100 * MS).is_some());
    }

    #[test]
    fn it_ends_when_nobody_listens() {
        let (mut series, told) = series(None);
        assert!(series.ask(0).is_some() && !series.is_over());
        drop(told);
        series.hear(MS, 1, reply(0));
        assert!(series.is_over());
        assert_eq!(series.ask(100 * MS), None);
    }

    #[test]
    fn numbers_go_on_where_those_of_messages_begin_anew() {
        let (mut series, told) = series(None);
        for n in 0..65_540 {
            let question = series.ask(n * 100 * MS).unwrap();
            series.hear(n * 100 * MS, question.sequence, reply(0));
        }
        let last = told.try_iter().last();
        assert!(matches!(last, Some(PingLine::Reply { sequence: 65_540, .. })), "{last:?}");
        assert!(series.known.len() <= KEPT);
        // What came so late is that of nobody.
        series.hear(0, 5, reply(0));
        assert_eq!(told.try_iter().count(), 0);
    }
}
