//! The part of a campaign whose search is `stream`: no load is searched for, TCP finds its own.
//!
//! ```text
//! start ─ round trips alone ─ streams ─ streams ─ … until the sum of their time is reached ─ stop
//! ```
//! Ends of each kind are a matter of their own: guests that do not boot say nothing of containers.

use std::time::Instant;

use lab_record::axes::{Endpoint, Flows};
use lab_record::{DeviceFacts, FailureRecord, QuantityRecord, StreamRecord, Subject, Verdict};
use lab_search::search::Manner;

use crate::Error;
use crate::campaign::{Campaign, Group, Running};
use crate::endpoint::methods::Methods;
use crate::endpoint::{self, Addressing, StreamRig, Streams};
use crate::link::LinkKind;
use crate::scenario::{Case, FunctionKind};
use crate::trial::rig::Wish;

/// Longest time of round trips alone.
const ALONE_S: f64 = 2.0;

/// What the ends can do alone, in bits a second, as far as that is known.
pub(super) type Ceilings = Vec<(Streams, bool, f64)>;

/// Ends with a device between them, and how they are addressed.
type Standing<'a> = Option<(Addressing, StreamRig<'a>)>;

impl Campaign<'_> {
    /// Whether the scenario has streams instead of a generator.
    pub(crate) fn has_streams(&self) -> bool {
        self.scenario.measure.manner() == Manner::Streams
    }

    fn streams_of(&self, case: &Case) -> Streams {
        let traffic = &self.scenario.traffic;
        Streams {
            flows: case.get::<Flows>().unwrap_or(*traffic.flows.get_ref()),
            both: traffic.both_directions,
            // iperf3 counts in whole seconds.
            seconds: self.scenario.measure.trial_s.ceil().max(1.0) as u64,
        }
    }

    /// Trials of one start, each for a comparison.
    pub(crate) fn stream_trials(
        &self,
        subject: &Subject,
        (wish, case): (&Wish, &Case),
        trials: usize,
    ) -> Result<Vec<StreamRecord>, Error> {
        let addressing = endpoints(&subject.device, case)?;
        endpoint::check(self.bench, &subject.device, wish, addressing.endpoint)?;
        let streams = self.streams_of(case);
        let mut rig = StreamRig::start(self.bench, &subject.device, wish, addressing)?;
        rig.first_answer()?;
        let trial = |_| {
            let (found, round_trips) = rig.streams(&streams)?;
            Ok(StreamRecord {
                subject: subject.clone(),
                duration_s: streams.seconds as f64,
                ways: found.ways,
                congestion: found.congestion,
                round_trips,
                ..StreamRecord::default()
            })
        };
        (0..trials).map(trial).collect()
    }
}

impl<'a> Running<'a> {
    /// Every case of a group on one device. What goes wrong with ends of one kind is written down,
    /// and is no matter of the others.
    pub(super) fn streams(&mut self, name: &str, group: &Group, run: u32) -> Result<(), Error> {
        let mut standing: Standing<'a> = None;
        let mut told = self.ends_told(name, group, run);
        // What the device has refused, by the links that it was asked over.
        let mut refusals: Vec<(LinkKind, String)> = Vec::new();
        for case in &group.cases {
            let subject = self.subject(name, case, run);
            let first = Subject { run: 0, ..subject.clone() };
            // What a device cannot do it cannot do at the next restart either.
            if self.earlier.is_over(&subject) || run > 0 && self.refused.contains(&first) {
                self.done += 1;
                continue;
            }
            let bench = self.campaign.bench;
            let possible = endpoints(name, case).and_then(|it| {
                endpoint::check(bench, name, &group.wish, it.endpoint).map(|link| (it, link))
            });
            let error = match possible {
                Err(refusal) => refusal,
                Ok((addressing, link)) => {
                    if let Some((_, reason)) = refusals.iter().find(|it| it.0 == link) {
                        self.fails(subject, true, reason.clone())?;
                        continue;
                    }
                    let at = (addressing, case, run);
                    match self.stream_of(&mut standing, &mut told, (name, group), at) {
                        Ok(()) => {
                            self.finished(subject)?;
                            continue;
                        }
                        Err(error) => {
                            standing = None;
                            if matches!(error, Error::Refused { .. }) {
                                refusals.push((link, error.to_string()));
                            }
                            error
                        }
                    }
                }
            };
            if matches!(error, Error::Stopped | Error::File { .. }) || self.is_stopped() {
                return Err(error);
            }
            let reason = self.reason(name, &error)?;
            self.fails(subject, matches!(error, Error::Refused { .. }), reason)?;
        }
        Ok(())
    }

    /// The kinds of ends between which a device was told already.
    fn ends_told(&self, name: &str, group: &Group, run: u32) -> Vec<Endpoint> {
        let begun = group.cases.iter().filter(|case| {
            let subject = self.subject(name, case, run);
            self.earlier.has_begun(&subject)
        });
        begun.filter_map(|case| Some(endpoints(name, case).ok()?.endpoint)).collect()
    }

    /// Notes that there is nothing of a case, and why.
    fn fails(&mut self, subject: Subject, refused: bool, reason: String) -> Result<(), Error> {
        self.done += 1;
        if refused {
            self.refused.push(Subject { run: 0, ..subject.clone() });
        }
        self.recorder.write(FailureRecord { subject, refused, reason })
    }

    /// One case, between the ends that stand if they are such as it needs.
    fn stream_of(
        &mut self,
        standing: &mut Standing<'a>,
        told: &mut Vec<Endpoint>,
        (name, group): (&str, &Group),
        (addressing, case, run): (Addressing, &Case, u32),
    ) -> Result<(), Error> {
        let bench = self.campaign.bench;
        let streams = self.campaign.streams_of(case);
        // Others' ends would be in the way of a test without a device.
        let known = |(of, six, _): &&(Streams, bool, f64)| *of == streams && *six == addressing.six;
        let ceiling_bps = match self.stream_ceilings.iter().find(known) {
            // What two guests do with nothing in between is not known: no two cards of theirs
            // can be joined without somebody who forwards.
            _ if addressing.endpoint == Endpoint::Vm => None,
            Some(&(_, _, ceiling_bps)) => Some(ceiling_bps),
            None => {
                *standing = None;
                self.tell("the endpoints alone");
                let found = endpoint::ceiling_bps(bench, &streams, addressing.six)?;
                self.stream_ceilings.push((streams, addressing.six, found));
                Some(found)
            }
        };
        if standing.as_ref().is_none_or(|(of, _)| *of != addressing) {
            // Those before are gone before others come.
            *standing = None;
            let mut started = StreamRig::start(bench, name, &group.wish, addressing)?;
            started.first_answer()?;
            *standing = Some((addressing, started));
        }
        let Some((_, running)) = standing else { return Ok(()) };
        if run == 0 && !told.contains(&addressing.endpoint) {
            told.push(addressing.endpoint);
            let facts = DeviceFacts { name: name.to_owned(), ..running.facts() };
            self.recorder.write(facts)?;
        }
        self.stream_case(running, name, case, (streams, ceiling_bps), run)
    }

    /// Round trips alone, then trials with streams.
    fn stream_case(
        &mut self,
        rig: &mut StreamRig<'_>,
        name: &str,
        case: &Case,
        (streams, ceiling_bps): (Streams, Option<f64>),
        run: u32,
    ) -> Result<(), Error> {
        let (deadline, emulated) = (self.deadline(), rig.emulated());
        let measure = &self.campaign.scenario.measure;
        let subject = self.subject(name, case, run);
        self.tell(&format!("{name}: {}", subject.case()));
        let begin = |running: &mut Self| {
            let (index, at_s) = (running.trials, running.began.elapsed().as_secs_f64());
            running.trials += 1;
            StreamRecord { subject: subject.clone(), index, at_s, ..StreamRecord::default() }
        };
        // Of a case that was cut off, what is there: round trips alone first, then streams.
        let earlier = self.campaign.earlier.streams.iter().filter(|it| it.subject == subject);
        let earlier = earlier.count() as u64;
        if earlier == 0 {
            let record = begin(self);
            let round_trips = rig.round_trips(measure.trial_s.min(ALONE_S))?;
            let duration_s = round_trips.time_s;
            self.recorder.write(StreamRecord { duration_s, round_trips, ..record })?;
        }
        let sum_s = *measure.duration_sum_s.get_ref();
        let trials = (sum_s / streams.seconds as f64).round().max(1.0) as u64;
        for trial in earlier.saturating_sub(1)..trials {
            if trial > 0 && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break;
            }
            let record = begin(self);
            let (found, round_trips) = rig.streams(&streams)?;
            let record = StreamRecord {
                duration_s: streams.seconds as f64,
                ways: found.ways,
                congestion: found.congestion,
                ceiling_bps,
                round_trips,
                verdicts: emulated.iter().cloned().collect(),
                ..record
            };
            self.recorder.write(record.judged())?;
        }
        let note = emulated.as_ref().and_then(Verdict::emulated).map(str::to_owned);
        let terms = measure.terms(0.0, 0.0);
        let methods = Methods::of(&terms);
        let mut found: Vec<QuantityRecord> = Vec::new();
        for _ in 0..terms.repeated(1) {
            for (metric, unit, value) in rig.methods(&methods, streams.seconds)? {
                match found.iter_mut().find(|it| it.metric == metric) {
                    Some(record) => record.values.push(value),
                    None => found.push(QuantityRecord {
                        subject: subject.clone(),
                        metric: metric.to_owned(),
                        unit,
                        values: vec![value],
                        note: note.clone(),
                    }),
                }
            }
        }
        found.into_iter().try_for_each(|record| self.recorder.write(record))
    }
}

/// How the endpoints of a case are addressed; a refusal where the lab has no such endpoints.
fn endpoints(device: &str, case: &Case) -> Result<Addressing, Error> {
    let refuse = |reason: &str| Error::Refused {
        device: device.to_owned(),
        job: format!("{} between endpoints", case.function.name()),
        reason: reason.to_owned(),
    };
    let endpoint = case.get::<Endpoint>().unwrap_or(Endpoint::Namespace);
    let plain =
        [FunctionKind::CrossConnect, FunctionKind::Bridge, FunctionKind::Ip4, FunctionKind::Ip6];
    if !plain.contains(&case.function.kind) {
        return Err(refuse("streams go through cross-connects, bridges and routers"));
    }
    let addressing = Addressing::of(case.function.kind, case.ethertype).ok_or_else(|| {
        refuse("TCP goes over IPv4 or IPv6, between ends that know no tags, tunnels or lists")
    })?;
    Ok(Addressing { endpoint, ..addressing })
}
